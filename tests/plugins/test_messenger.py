"""Chats that messengers export as text."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import Memory
from memory.nouns import Answer
from plugins.manager import Plugins
from plugins.readers.chats.chat_lines import turns_of
from tests.plugins.conftest import Read
from tests.plugins.exports import packed

ANDROID = """13/04/2026, 18:03 - Messages and calls are end-to-end encrypted.
13/04/2026, 18:03 - Anna: The deadline moved
to 14 May.

Sorry!
13/04/2026, 18:05 - Ben Okoro: <Media omitted>
14/04/2026, 09:10 - Ben Okoro: Fine: see you on Tuesday
14/04/2026, 09:11 - Anna left
"""
IPHONE = """[13.04.26, 18:03:11] Anna: \u200eMessages are encrypted.
[13.04.26, 18:03:12] Anna: Hello
\u200e[13.04.26, 18:04:00] Ben: \u200eimage omitted
[13.04.26, 18:05:00] Ben: Hello yourself
"""


def at(*when: int) -> datetime:
    return datetime(*when).astimezone()  # type: ignore[arg-type]


def test_android() -> None:
    assert [(turn.speaker, turn.text, turn.at) for turn in turns_of(ANDROID)] == [
        ("Anna", "The deadline moved\nto 14 May.\n\nSorry!", at(2026, 4, 13, 18, 3)),
        ("Ben Okoro", "Fine: see you on Tuesday", at(2026, 4, 14, 9, 10)),
    ]


def test_iphone() -> None:
    assert [(turn.speaker, turn.text, turn.at) for turn in turns_of(IPHONE)] == [
        ("Anna", "Hello", at(2026, 4, 13, 18, 3, 12)),
        ("Ben", "Hello yourself", at(2026, 4, 13, 18, 5)),
    ]


def test_what_was_deleted_and_edited_on_android() -> None:
    said = ["Hi", "This message was deleted", "null", "The code is 4711 <This message was edited>", "Du hast null"]
    text = "\n".join(f"13/1/2567 18:0{minute} - Anna: {one}" for minute, one in enumerate(said))
    turns = turns_of(text)
    assert [turn.text for turn in turns] == ["Hi", "The code is 4711", "Du hast null"]
    assert turns[0].at == at(2024, 1, 13, 18, 0)  # in Thailand it is 2567


@pytest.mark.parametrize(
    ("first", "second", "days"),
    [
        ("3/4/26, 9:05 PM", "3/13/26, 9:05 AM", [(3, 4, 21), (3, 13, 9)]),  # no 13th month
        ("13/3/26, 21:05", "3/4/26, 9:05", [(3, 13, 21), (4, 3, 9)]),
        ("3/4/26, 21:05", "2/5/26, 9:05", [(4, 3, 21), (5, 2, 9)]),  # a chat goes on, not back
        ("3/4/26, 21:05", "4/3/26, 22:05", [(3, 4, 21), (4, 3, 22)]),
        ("5.5.26, 21:05", "4.6.26, 22:05", [(5, 5, 21), (6, 4, 22)]),
        ("03.04.26, 21:05", "05.06.26, 22:05", [(4, 3, 21), (6, 5, 22)]),  # dots: the day is first
        ("2026-04-03, 21:05", "2026-05-06, 22:05", [(4, 3, 21), (5, 6, 22)]),
        ("5/5/26, 21:05", "5/5/26, 22:05", [(5, 5, 21), (5, 5, 22)]),
    ],
)
def test_the_order_of_day_and_month_is_that_of_the_whole_file(
    first: str, second: str, days: list[tuple[int, int, int]]
) -> None:
    turns = turns_of(f"{first} - Anna: one\n{second} - Ben: two\n")
    assert [(turn.at.month, turn.at.day, turn.at.hour) for turn in turns if turn.at] == days


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("12/04/2026 à 18:03 - ", "13/04/2026 à 18:04 - "),  # French
        ("12.4.2026 klo 18.03 - ", "13.4.2026 klo 18.04 - "),  # Finnish
        ("12-04-2026 18:03 - ", "13-04-2026 18:04 - "),  # Dutch
        ("12/4/26, 6:03 p. m. - ", "13/4/26, 6:04 p. m. - "),  # Mexico
        ("12. 4. 2026 18:03 - ", "13. 4. 2026 18:04 - "),  # Czech
        ("2026. 04. 12. 18:03 - ", "2026. 04. 13. 18:04 - "),  # Hungarian
        ("12.04.26 г., 18:03 - ", "13.04.26 г., 18:04 - "),  # Bulgarian
        ("12/04/2026, 6:03 μ.μ. - ", "13/04/2026, 6:04 μ.μ. - "),  # Greek
        ("\u200f12\u200f/4\u200f/2026، 6:03 م - ", "\u200f13\u200f/4\u200f/2026، 6:04 م - "),  # Arabic
        ("2026. 4. 12. 오후 6:03, ", "2026. 4. 13. 오후 6:04, "),  # Korean
        ("2026년 4월 12일 오후 6:03, ", "2026년 4월 13일 오후 6:04, "),
        ("[2026/4/12 下午6:03:11] ", "[2026/4/13 下午6:04:11] "),  # Chinese
        ("2026/04/12 18:03 - ", "2026/04/13 18:04 - "),  # Japanese
        ("4/12/26, 6:03\u202fPM - ", "4/13/26, 6:04\u202fPM - "),  # the United States
        ("[18:03, 12/04/2026] ", "[18:04, 13/04/2026] "),  # copied
        ("12-4-2026 at 18-03-11 - ", "13-4-2026 at 18-04-11 - "),  # Element
    ],
)
def test_days_and_minutes_as_each_country_writes_them(first: str, second: str) -> None:
    turns = turns_of(f"{first}Anna: one\n{second}Ben : two\n")
    assert [(turn.speaker, turn.text) for turn in turns] == [("Anna", "one"), ("Ben", "two")]
    times = [turn.at.replace(second=0) for turn in turns if turn.at]
    assert times == [at(2026, 4, 12, 18, 3), at(2026, 4, 13, 18, 4)]


def test_what_an_iphone_says_itself_is_no_message() -> None:
    text = (
        "[13.04.26, 18:03:11] Anna: \u200eMessages are encrypted.\n"
        "[13.04.26, 18:04:00] Ben: \u200eBild weggelassen\n"
        "[13.04.26, 18:05:00] Ben: The tiller \u200e<attached: 0001.jpg>\n"
        "[13.04.26, 18:06:00] Anna: Oil it in May. \u200e<This message was edited>\n"
    )
    assert [turn.text for turn in turns_of(text)] == ["The tiller", "Oil it in May."]


def test_a_chat_in_a_zip_has_the_name_of_one_of_them(read: Read) -> None:
    (iphone,) = read("WhatsApp Chat - Anna.zip", packed({"_chat.txt": IPHONE.encode(), "0001.jpg": b"x"}))
    assert (iphone.conversation, len(iphone.turns)) == ("WhatsApp Chat - Anna", 2)
    files = {"WhatsApp Chat with Anna.txt": ANDROID.encode(), "notes.txt": b"no chat"}
    (android,) = read("export.zip", packed(files))
    assert android.conversation == "WhatsApp Chat with Anna" and android.uri.endswith("#WhatsApp Chat with Anna.txt")


@pytest.mark.parametrize(
    "text",
    [
        "03/04/2026, 18:03 - Anna: one\n05/06/2026, 18:03 - Ben: two\n",  # either way
        "13/04/2026, 18:03 - Anna: one\n04/13/2026, 18:03 - Ben: two\n",  # neither
        "13/04/2026, 18:03 - Anna: only one\n",
        "My notes\n" + ANDROID,
        "13/04/2026, 18:03 - Anna: one\n14/04/2026, 18:03 - Ben: two\n" + "more prose\n" * 5,
        "2026-04-13 18:03:11 - INFO: started\n2026-04-13 18:03:12 - ERROR: stopped\n",
        "13/04/2026, 25:03 - Anna: one\n14/04/2026, 18:03 - Ben: two\n",
        "2026-04-13: the deadline moved\n2026-04-14: it moved again\n",
        "",
    ],
)
def test_what_is_no_chat_or_cannot_be_sorted_is_text(text: str, read: Read) -> None:
    assert turns_of(text) == ()
    if text:
        assert read("a.txt", text)[0].text == text


def test_the_month_in_the_name_tells_the_days_from_the_months(read: Read) -> None:
    chat = "03/04/2019, 10:00 - Anna: one\n05/04/2019, 10:00 - Ben: two\n"
    (named,) = read("2019-04 crew.txt", chat)
    assert [turn.at for turn in named.turns] == [at(2019, 4, 3, 10), at(2019, 4, 5, 10)]
    assert read("crew.txt", chat)[0].turns == read("crew 2019_06.txt", chat)[0].turns == ()


def test_a_file_becomes_a_chat(read: Read) -> None:
    (chat,) = read("WhatsApp Chat with Anna.txt", ANDROID)
    assert (chat.kind, chat.title, chat.conversation) == ("chat", *["WhatsApp Chat with Anna"] * 2)
    assert (chat.at, len(chat.turns), chat.parts) == (at(2026, 4, 13, 18, 3), 2, ())


def test_it_is_asked_like_any_chat(read: Read, tmp_path: Path, plugins: Plugins) -> None:
    with Memory.open(tmp_path / "memory.db", embedder=plugins.embedder("static")) as memory:
        memory.ingest.remember_many(read("WhatsApp Chat with Anna.txt", ANDROID))
        *_, answer = memory.questions.ask("when will Ben and Anna meet?")
        assert isinstance(answer, Answer)
        assert "see you on Tuesday" in answer.text
        (cited,) = [one for one in answer.citations if "Tuesday" in one.quote]
        assert cited.label == "WhatsApp Chat with Anna, Ben Okoro, 2026-04-14 09:10"
        assert (cited.message, cited.at) == (2, at(2026, 4, 14, 9, 10))


_SAID = st.text(st.characters(codec="utf-8", exclude_characters="\n\r<"), min_size=1, max_size=30).map(
    lambda words: f"x{words}x"
)


@given(st.lists(st.tuples(st.sampled_from(["Anna", "Ben Okoro", "+49 170 1234"]), _SAID), min_size=2, max_size=20))
def test_every_message_comes_back(messages: list[tuple[str, str]]) -> None:
    begin = datetime(2026, 4, 13, 18, 3)
    text = "".join(
        f"{begin + timedelta(hours=7 * n):%d/%m/%Y, %H:%M} - {who}: {said}\n" for n, (who, said) in enumerate(messages)
    )
    turns = turns_of(text)
    assert [(turn.speaker, turn.text) for turn in turns] == messages
    assert [turn.at for turn in turns] == [(begin + timedelta(hours=7 * n)).astimezone() for n in range(len(messages))]


@given(st.text(max_size=200))
def test_nothing_fails(text: str) -> None:
    assert all(turn.text and turn.at for turn in turns_of(text))
