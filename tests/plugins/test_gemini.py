"""What Gemini was asked, of Google's Takeout: prompts and answers as conversations again."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from plugins.manager import Plugins
from plugins.readers import Unreadable
from tests.plugins.chats import activity, gemini
from tests.plugins.conftest import Read
from tests.plugins.exports import packed
from tests.plugins.test_chat_exports import said, unread


def test_prompts_without_a_pause_are_a_conversation(read: Read) -> None:
    tiller, pinne = read("MyActivity.json", json.dumps(gemini()))
    assert said(tiller) == [
        ("user", "How often do I oil the tiller of the Kestrel?"),
        ("assistant", "Twice a year:\n\n- spring\n- autumn"),
        ("user", "And in winter?"),
        ("assistant", "Every month."),
    ]
    assert tiller.title == tiller.conversation == "How often do I oil the tiller of the Kestrel?"
    assert tiller.turns[0].at == datetime(2026, 3, 5, 19, 30, 0, 123_000, tzinfo=UTC)
    assert said(pinne)[0] == ("user", "Gestellt: Was ist eine Pinne?")


def test_a_newer_export_leaves_what_is_known(read: Read) -> None:
    before = {one.uri: one.sha256 for one in read("a.json", json.dumps(gemini()))}
    newer = [activity("Prompted What is a cleat?", "2026-04-01T10:00:00Z"), *gemini()]
    after = {one.uri: one.sha256 for one in read("a.json", json.dumps(newer))}
    assert before.items() < after.items() and len(after) == 3


def test_a_takeout_holds_much_else(read: Read) -> None:
    search = [activity("Searched for a boat", "2026-03-01T08:00:00Z", header="Search", products=["Search"])]
    files = {
        "Takeout/My Activity/Gemini Apps/MyActivity.json": gemini(),
        "Takeout/My Activity/Search/MyActivity.json": search,
        "Takeout/archive_browser.html": b"<html><body>Gemini</body></html>",
        "Takeout/Mail/All.mbox": b"From x",
    }
    tiller, _ = read("takeout-20260306.zip", packed(files))
    assert said(tiller)[0][1].startswith("How often")


def test_activities_that_are_damaged_or_none_of_gemini(plugins: Plugins, tmp_path: Path, read: Read) -> None:
    broken = [*gemini(), {"header": "Gemini Apps"}, 7, activity("Prompted Still here?", "no time", "<p>Yes")]
    found = read("a.json", json.dumps(broken))
    assert said(found[-1]) == [("user", "Still here?"), ("assistant", "Yes")] and found[-1].turns[0].at is None
    cut = json.dumps(gemini())[:-80]
    path = tmp_path / "b.zip"
    assert (
        "not valid JSON from here on"
        in unread(plugins, path, packed({"MyActivity.json": cut.encode()}))["MyActivity.json"]
    )
    with pytest.raises(Unreadable, match="no text in it"):
        read("c.json", json.dumps([activity("Searched", "2026-03-01T08:00:00Z", header="Search", products=["Search"])]))
