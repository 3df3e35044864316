"""Mailboxes: each mail by itself, what it quotes left out, again only what is new; and mails in a Maildir."""

from __future__ import annotations

import tracemalloc
from io import BytesIO
from pathlib import Path

import pytest

from memory.nouns import Document
from plugins.manager import Plugins
from plugins.readers import MIB, Unread, Unreadable, mail
from tests.plugins.conftest import Read
from tests.plugins.places import find_facts, find_place

FIRST = """From ada@x.example Mon Mar  9 10:15:00 2026
From: Ada Holm <ada@x.example>
To: Ana <ana@x.example>
Subject: Prisms / lamp #2
Message-ID: <1@x.example>
Date: Mon, 09 Mar 2026 10:15:00 +0000

The prisms cost 450 euros.
>From here on the road is closed.
"""
REPLY = """From ana@x.example Mon Mar  9 11:00:00 2026
From: Ana <ana@x.example>
To: Ada Holm <ada@x.example>
Subject: Re: Prisms / lamp #2
Message-ID: <2@x.example>
In-Reply-To: <1@x.example>
Date: Mon, 09 Mar 2026 11:00:00 +0000

Too much!

On Mon, 9 Mar 2026 at 10:15, Ada Holm <ada@x.example>
wrote:
> The prisms cost 450 euros.
"""
SPAM = """From s@y.example Mon Mar  9 12:00:00 2026
X-Gmail-Labels: Spam,"Unread"
From: s@y.example
Subject: Win

Money
"""
STRANGER = """From bo@y.example Mon Mar  9 13:00:00 2026
From: bo@y.example
Subject: Re: a mail that is not here
In-Reply-To: <9@x.example>

Yes.

> Rent: 1 euro?
"""


def parts(text: str) -> list[Document | Unread]:
    return [*mail.stream(Path("a.mbox"), BytesIO(text.encode()))]


def test_a_mailbox(read: Read) -> None:
    first, reply, stranger = found = read("2026.mbox", "\n".join((FIRST, REPLY, FIRST, SPAM, STRANGER)))
    assert first.uri.endswith("/2026.mbox#Prisms - lamp 2, 2026-03-09 10:15")
    assert (reply.title, reply.speaker, reply.properties["thread"]) == (
        "Re: Prisms / lamp #2",
        "Ana",
        "Prisms / lamp #2",
    )
    assert first.text.endswith("The prisms cost 450 euros.\nFrom here on the road is closed.")
    assert reply.text.endswith("\n\nToo much!") and stranger.text.endswith("Yes.\n\n> Rent: 1 euro?")
    assert reply.at is not None and reply.at.isoformat().startswith("2026-03-09T11:00")
    assert find_place(found, "450 euros") == "2026.mbox, Prisms - lamp 2, 2026-03-09 10:15"
    assert not [fact for fact in find_facts(found) if "1 euro" in fact[2]]


def test_only_marks_of_replies_at_the_start_are_no_part_of_a_thread() -> None:
    (mail,) = parts(FIRST.replace("Subject: Prisms / lamp #2", "Subject: Re: Picture: postgres: ours"))
    assert isinstance(mail, Document) and mail.properties["thread"] == "Picture: postgres: ours"


def test_of_a_mailbox_that_grew_only_what_is_new_differs() -> None:
    before, after = parts(FIRST + "\n" + REPLY), parts(FIRST + "\n" + REPLY + "\n" + STRANGER)
    assert [one.sha256 for one in after if isinstance(one, Document)][:2] == [
        one.sha256 for one in before if isinstance(one, Document)
    ]
    assert len(after) == 3


def test_mails_with_one_subject_in_one_minute_are_counted() -> None:
    again = FIRST.replace("<1@", "<3@")
    assert [one.uri for one in parts(FIRST + "\n" + again)] == [
        "Prisms - lamp 2, 2026-03-09 10:15", "Prisms - lamp 2, 2026-03-09 10:15 (2)",
    ]  # fmt: skip


def test_a_mailbox_with_a_mail_that_is_damaged_and_one_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail, "MAX_MAIL", 1000)
    broken = "From x Mon Mar  9 10:15:00 2026\nno header at all\n\nwords\n"
    large = STRANGER.replace("Yes.", "Yes.\n" * 1000)
    found = parts("\n".join((broken, large, FIRST)) + "\nFrom x Mon Mar  9 10:1")
    assert [one.uri for one in found] == ["message 1", "message 2", "Prisms - lamp 2, 2026-03-09 10:15"]
    assert isinstance(found[0], Unread) and found[0].reason.startswith("not a mail")
    assert isinstance(found[1], Unread) and found[1].reason.startswith("a mail of more than")


@pytest.mark.parametrize("text", ["", "\n\n", "only words", "<html>", "From: a@b.example\n\nno mailbox"])
def test_what_is_no_mailbox(text: str) -> None:
    with pytest.raises(Unreadable, match="not a mailbox"):
        parts(text)


def test_a_mailbox_is_never_held(tmp_path: Path) -> None:
    path = tmp_path / "big.mbox"
    with path.open("w") as file:
        for number in range(40):
            file.write(FIRST.replace("<1@", f"<{number}@") + "AAAA " * 60_000 + "\n\n")
    tracemalloc.start()
    with path.open("rb") as stream:
        count = sum(1 for _ in mail.stream(path, stream))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 40 and path.stat().st_size > 11 * MIB > 2 * peak


def test_a_mail_in_a_maildir(read: Read, plugins: Plugins) -> None:
    mail = FIRST.partition("\n")[2]
    (one,) = read("Maildir/cur/1773051300.M1P2.host:2,S", mail)
    assert (one.title, one.reader) == ("Prisms / lamp #2", "eml")
    for name in ("Maildir/tmp/1773051300.M1P2.host", "Maildir/cur/dovecot.index", "notes/1773051300.M1P2.host"):
        assert not plugins.reads(Path(name)), name
