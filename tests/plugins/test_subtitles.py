"""Subtitles: sentences in paragraphs, who says them, and the time at which each begins."""

from __future__ import annotations

import pytest

from memory.nouns import name_position
from plugins.readers import Unreadable
from tests.plugins.conftest import Read
from tests.plugins.places import find_facts, find_place

TALK = """WEBVTT - Fog and lamps

NOTE nobody says this

STYLE
::cue { color: red }

intro
00:00:01.000 --> 00:00:03.000
<v Ada Holm>Welcome. The horn is heard

00:03.000 --> 00:06.000
for three&nbsp;miles. <i>Always</i>.

00:07.000 --> 00:08.000
[music]

00:12:31.500 --> 00:12:33.000 align:start position:0%
<v.loud Bo>My rent is <00:12:32.000><c>690 euros</c>.
"""
FILM = """1
00:00:01,000 --> 00:00:03,000
- Where is the key?
- Under the pot.

2
01:02:03,000 --> 01:02:05,000
{\\an8}KEEPER: It was me.
"""


def test_web_subtitles_have_speakers_and_times(read: Read) -> None:
    (talk,) = found = read("talk.vtt", TALK)
    assert talk.title == "Fog and lamps" and talk.speaker == "unknown"
    assert talk.text == ("Ada Holm: Welcome. The horn is heard for three miles. Always.\n\nBo: My rent is 690 euros.")
    assert find_place(found, "three miles") == "talk.vtt, 00:00:01"
    assert find_place(found, "690 euros") == "talk.vtt, 00:12:31"
    assert not [fact for fact in find_facts(found) if "owner" in fact]


def test_subtitles_of_a_film(read: Read) -> None:
    (film,) = found = read("film.srt", FILM.replace("\n", "\r\n"))
    assert film.text == "Where is the key?\nUnder the pot.\n\nKeeper: It was me."
    assert find_place(found, "Under the pot") == "film.srt, 00:00:01"
    assert find_place(found, "It was me") == "film.srt, 01:02:03"


def test_captions_that_roll_say_each_word_once(read: Read) -> None:
    cues = ("the lamp", "the lamp is lit", "is lit", "by the keeper")
    text = "".join(f"00:00:0{n},000 --> 00:00:0{n + 1},000\n{words}\n\n" for n, words in enumerate(cues))
    assert read("a.srt", text)[0].text == "the lamp is lit by the keeper"


def test_a_file_that_is_damaged_is_read_as_far_as_it_goes(read: Read) -> None:
    (one,) = read("a.srt", "1\n00:00:01,000 --> 00:00:0\nlost\n\n2\n00:00:02,000 --> 00:00:03,000\nkept\n3\n00:00:04,0")
    assert one.text == "kept 3 00:00:04,0"


@pytest.mark.parametrize("name", ["a.srt", "a.vtt"])
@pytest.mark.parametrize("text", ["WEBVTT\n\n", "no times", "00:01.000 --> 00:02.000\n[music]\n"])
def test_subtitles_without_a_word(read: Read, name: str, text: str) -> None:
    with pytest.raises(Unreadable, match="subtitles without a word"):
        read(name, text)


def test_a_range_of_places() -> None:
    assert name_position("a.md", 3) == "line 3" and name_position("a.pdf", 3) == "page 3"
    assert name_position("a.srt", 3723) == "01:02:03"
