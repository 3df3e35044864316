"""Prompts to Gemini in "My Activity" of Google Takeout, in JSON.

The export has one activity per prompt, newest first, without conversations: prompts without a long pause between them
form one. Activities of other products are skipped."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, timedelta
from typing import Any, NamedTuple

from memory.nouns import Document, Turn
from plugins.readers import sign
from plugins.readers.chats.messages import as_list, as_mapping, clip, make_chat, shorten, time_of
from plugins.readers.common.html import convert

PAUSE = timedelta(minutes=30)

_PRODUCT = re.compile(r"\b(?:Gemini|Bard)\b")
_ASKED = re.compile(r"(?:Prompted|Asked|Said|Branched|Answered)(?: with| Gemini| Bard)?:?[\s\u00a0]+")
_NOT_SAID = re.compile(
    "(?:Created|Used|Added|Gave|Selected|Shared|Deleted|Viewed|Visited|Searched|Edited|Pinned|Renamed|Exported|Updated"
    "|Listened)[\\s\u00a0]"
)
_ATTACHED = re.compile(r"\s*Attached \d+ files?\.?(?:\s*[-•] .*)?\s*$", re.DOTALL)


class _Exchange(NamedTuple):
    """A prompt and its answer, or only the prompt."""

    turns: tuple[Turn, ...]

    def follows(self, earlier: "_Exchange") -> bool:
        """Whether there is no long pause between the two."""
        at, before = self.turns[0].at, earlier.turns[0].at
        return at is not None and before is not None and abs(at - before) <= PAUSE


def is_activity(value: Any) -> bool:
    """Whether a JSON value has the shape of an activity, of any product."""
    return isinstance(value, Mapping) and {"header", "title", "time", "products"} <= value.keys()


def read_activities(items: Iterable[Any]) -> Iterator[Document]:
    """The conversations in a list of activities, newest first."""
    talk: list[_Exchange] = []
    for exchange in filter(None, map(_parse, items)):
        if talk and not exchange.follows(talk[-1]):
            yield _make_conversation(talk)
            talk = []
        talk.append(exchange)
    if talk:
        yield _make_conversation(talk)


def _make_conversation(newest_first: list[_Exchange]) -> Document:
    newest_first.reverse()
    oldest_first = sorted(newest_first, key=lambda entry: entry.turns[0].at.timestamp() if entry.turns[0].at else 0)
    turns = [turn for entry in oldest_first for turn in entry.turns]
    title, at = shorten(turns[0].text), turns[0].at
    return sign(make_chat(at.astimezone(UTC).isoformat(timespec="milliseconds") if at else title, title, turns))


def _parse(value: Any) -> _Exchange | None:
    """The prompt and answer of an activity; None for other products and for clicks. In an unknown language the words
    before the prompt stay, and a prompt without an answer is skipped."""
    if not is_activity(value):
        return None
    title = str(value["title"])
    is_gemini = any(_PRODUCT.search(str(name)) for name in (value["header"], *as_list(value["products"])))
    if not is_gemini or _NOT_SAID.match(title):
        return None
    pages = (as_mapping(item).get("html") for item in as_list(value.get("safeHtmlItem")))
    answer = "\n\n".join(convert(page).text.strip() for page in pages if isinstance(page, str)).strip()
    asked = _ASKED.match(title)
    prompt = _ATTACHED.sub("", title[asked.end() :] if asked else title).strip()
    if not prompt or not (asked or answer):
        return None
    at = time_of(value["time"])
    turns = [Turn("user", clip(prompt), at)]
    if answer:
        turns.append(Turn("assistant", clip(answer), at))
    return _Exchange(tuple(turns))
