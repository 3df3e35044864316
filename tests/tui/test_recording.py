"""A chat is recorded as lines of JSON, and a replay shows the same without a daemon."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from tests.tui import world
from tests.tui.conftest import chatting
from tui.link import Link
from tui.recording import IN_REPLAY, RecordingError, RecordingLink, ReplayLink, read_recording
from tui.widgets.citation_list import CitationList


async def test_what_was_recorded_is_shown_again_without_a_daemon(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    client = world.client(answers=[world.answer(), world.refusal()])
    async with chatting(client, make_link=partial(RecordingLink, path=path)) as chat:
        await chat.ask(world.QUESTION)
        await chat.ask("Where is Atlantis?")
        said = [answer.text for answer in chat.answers]
    assert path.stat().st_mode & 0o777 == 0o600
    lines = [json.loads(line) for line in path.read_text("ascii").splitlines()]
    assert [line["asked"] for line in lines if "asked" in line] == [world.QUESTION, "Where is Atlantis?"]
    assert (times := [line["at"] for line in lines[1:]]) == sorted(times)

    path.write_text("".join(json.dumps(line | {"at": 0.0}) + "\n" for line in lines), "ascii")  # nobody waits here
    recording = read_recording(path)
    nobody = world.client()

    def replay(connect: object, target: object) -> Link:
        return ReplayLink(target, recording)  # type: ignore[arg-type]

    async with chatting(nobody, make_link=replay) as chat:
        await chat.until(lambda: len(chat.answers) == 2 and chat.answers[1].ready.is_set())
        assert [answer.text for answer in chat.answers] == said and not nobody.asked
        assert chat.screen.query_one(CitationList).option_count == 0, "the refusal cites nothing"
        await chat.send("And now?")
        await chat.until(lambda: IN_REPLAY in chat.words())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"recording": 7}', "line 1: it is of another version"),
        ("[]", "line 1"),
        ('{"recording": 1}\n{"at": 1}', "line 2: nothing that is known"),
        ('{"recording": 1}\n{"at": 1, "ticket": 1, "event": {"type": "Nothing"}}', "line 2"),
        ('{"recording": 1}\n{"at": 1, "status": {"pid": "x"}}', "line 2"),
        ('{"recording": 1}\nhalf a li', "line 2"),
        ("\ud800", "cannot be read"),
    ],
)
def test_what_is_no_recording_is_said_with_its_line(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "a").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(RecordingError, match=problem):
        read_recording(tmp_path / "a")


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("mine")
    for place, problem in ((tmp_path / "a", "exists already"), (tmp_path / "none" / "a", "cannot be written")):
        with pytest.raises(RecordingError, match=problem):
            RecordingLink(world.client().connect, None, place)  # type: ignore[arg-type]
    assert (tmp_path / "a").read_text() == "mine"
