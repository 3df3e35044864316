"""The nouns of a question that clients share: its scope, the events of `ask`, the placeholders of secrets in its text.

A separate module that imports the standard library only: a client needs these and few of `memory.nouns`, which
re-exports them, and each dataclass takes half a millisecond to create."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time
from typing import Any, Literal

AnswerKind = Literal["answer", "closest", "none"]


@dataclass(frozen=True, slots=True)
class Scope:
    """Limits a question to a part of the memory; empty means no limit. `within=` of every question."""

    sources: tuple[str, ...] = ()  # uris
    folders: tuple[str, ...] = ()  # uri prefixes
    tags: tuple[str, ...] = ()
    conversation: str | None = None  # a chat's name, in upper or lower case
    since: datetime | None = None
    until: datetime | None = None


class Event:
    """The base of the events in a stream."""

    __slots__ = ()


# The events of `ask`, in the order they may come; the last one is always an Answer.


@dataclass(frozen=True, slots=True)
class Step(Event):
    """A completed stage of a question, with its result and cost."""

    name: str
    ms: float
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Visit(Event):
    """A vertex that a question touched. `score` is the stage's own measure, larger is better. `parent` is the vertex
    that led to it by the edge `parent_edge`, `depth` edges from the start; `relation`: the words of that edge, "" for a
    mention, and it leads from this vertex to its parent if it is `inverse`. Without a parent it is a start: an object
    that the question names, or a passage with its words."""

    node_id: int
    kind: Literal["episode", "thesis", "object"]
    label: str
    score: float
    stage: str
    status: Literal["seed", "selected"] = "selected"
    parent_edge: int | None = None
    depth: int = 0
    parent: int | None = None
    relation: str = ""
    inverse: bool = False


@dataclass(frozen=True, slots=True)
class Token(Event):
    """The next piece of the answer's text."""

    text: str


NOTHING_READ = "Nothing has been read yet."  # the whole text of an answer from an empty memory
NOT_PLAIN = "Your memory does not say this plainly."  # begins the text of an answer without a clear line
STAMPED = "file of "  # before the day of a file without another date


@dataclass(frozen=True, slots=True)
class Citation(Event):
    """The proof of a line of an answer. `n`: the number shown, from 1; `quote`: the exact words; `value`: the words of
    that line that are the requested value, "" if unclear. Of a chat, `at` and `speaker` belong to the cited `message`,
    by its number in the chat. `stamped`: `at` is only the time stamp of its file. `verdict`: whether it proves a
    model's claim before its number, or is only cited for it."""

    n: int
    episode_id: int
    uri: str
    title: str
    quote: str
    line: int | None = None
    end_line: int | None = None
    at: datetime | None = None
    speaker: str | None = None
    passage: str = ""
    earlier: bool = False  # an older value of what another line says
    folded: bool = False  # of a line that is shown when it is asked for
    value: str = ""
    message: int | None = None
    stamped: bool = False
    verdict: Literal["proved", "unproved"] = "proved"
    is_markdown: bool = False  # the text of its passage

    @property
    def label(self) -> str:
        """`path:line` or `path, page 3` for a file, `title, speaker, day 18:05` for a chat or a note without a file."""
        if self.line is not None and not self.uri.startswith("note:"):
            return name_place(self.uri, self.line)
        return ", ".join(part for part in (self.title or self.uri, self.speaker, self.moment) if part)

    @property
    def moment(self) -> str:
        """Returns the day; of a message the minute, or its number if its minute is unknown; "" without any."""
        if self.at is None:
            return f"message {self.message}" if self.message else ""
        if self.message is None:
            return f"{STAMPED if self.stamped else ''}{self.at.date().isoformat()}"
        if self.at.time() == time.min:  # a chat that tells days alone
            return f"{self.at.date().isoformat()}, message {self.message}"
        return f"{self.at:%Y-%m-%d %H:%M}"


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """A line of an answer without its marks and numbers; `citations` are the numbers. `kind`: an answer, an earlier
    value of the answer above it, a folded line, or text around these. `value`: the words of `text` that are the
    requested value, if clear."""

    text: str
    kind: Literal["answer", "earlier", "folded", "text"]
    citations: tuple[int, ...] = ()
    value: str = ""

    @property
    def is_doubt(self) -> bool:
        """Whether it tells that the next lines only come close."""
        return self.kind == "text" and self.text.startswith(NOT_PLAIN)


@dataclass(frozen=True, slots=True)
class Preview(Event):
    """The extractive lines, shown at once while a model is asked, which may take a minute; replaced by the next
    Preview, Token, Citation or Answer. `is_loading`: the model is loaded first."""

    text: str
    citations: tuple[Citation, ...] = ()
    model: str = ""
    is_loading: bool = False

    @property
    def lines(self) -> tuple[AnswerLine, ...]:
        """The text as lines with their kinds."""
        return tuple(split_lines(self.text, self.citations))


@dataclass(frozen=True, slots=True)
class Writing(Event):
    """The model has begun to write. Its text follows as Tokens, sentence by sentence."""


_COUNTED = {
    "pdf": "page", "pptx": "slide", "odp": "slide", "xlsx": "row", "xlsm": "row", "ods": "row", "docx": "paragraph",
    "odt": "paragraph", "rtf": "paragraph", "epub": "part", "ipynb": "cell", "mbox": "message",
    "jpg": "picture", "jpeg": "picture", "png": "picture", "tif": "picture", "tiff": "picture", "webp": "picture",
    "srt": "second", "vtt": "second", "ass": "second", "ssa": "second",
}  # fmt: skip
_IN_DOCUMENT = re.compile(
    rf"(?P<file>.+\.(?P<suffix>{'|'.join(_COUNTED)}))(?:#(?P<inside>.*))?", re.IGNORECASE | re.DOTALL
)


_LISTED = re.compile(
    r"(?P<file>.+\.(?:txt|bib|ris|json|vcf))#.*", re.IGNORECASE | re.DOTALL
)  # several sources, by lines


def file_of(uri: str) -> str:
    """Returns the path of the file that is or contains a source."""
    match = _IN_DOCUMENT.fullmatch(uri) or _LISTED.fullmatch(uri)
    return match["file"] if match else uri


def counted_in(uri: str) -> str:
    """Returns the unit that the `line` of a place in that source counts: lines of a text, else pages, slides, rows,
    ...; lines for a "message" in a file of several."""
    match = _IN_DOCUMENT.fullmatch(uri)
    return _COUNTED[match["suffix"].lower()] if match else "line"


def name_position(uri: str, line: int) -> str:
    """Returns a position within a source: `line 14`, `page 3`, `00:12:31`; "" in a picture."""
    noun = counted_in(uri)
    if noun == "second":
        return f"{line // 3600:02}:{line // 60 % 60:02}:{line % 60:02}"
    if noun == "picture":
        return ""
    return f"{'line' if noun == 'message' else noun} {line}"


def name_place(uri: str, line: int) -> str:
    """Returns a place as people name it: `notes/fog.md:14`, `report.pdf, page 3`, `costs.xlsx, sheet Rent, row 7`,
    `talk.srt, 00:12:31`, `2019.mbox, Re: prisms, 2019-04-02 10:15`."""
    match = _IN_DOCUMENT.fullmatch(uri)
    if match is None:
        return f"{file_of(uri)}:{line}"
    noun, inside = _COUNTED[match["suffix"].lower()], match["inside"]
    within = (f"sheet {inside}" if noun == "row" else inside) if inside else ""
    return ", ".join(filter(None, (match["file"], within, "" if noun == "message" else name_position(uri, line))))


_LINE = re.compile(r"(?P<item>- )?(?P<earlier>earlier: )?(?P<said>.*?)(?P<cited>(?: \[\d+\])*)\s*")


def split_lines(text: str, citations: Sequence[Citation]) -> Iterator[AnswerLine]:
    """Yields the lines of an answer's text that are not empty, with their kinds and values from its citations."""
    known = {citation.n: citation for citation in citations}
    for written in filter(str.strip, text.splitlines()):
        match = _LINE.fullmatch(written)
        assert match is not None
        numbers = tuple(int(n) for n in re.findall(r"\d+", match["cited"]))
        proofs = [known[n] for n in numbers if n in known]
        if not match["item"]:
            yield AnswerLine(written, "text", numbers)
        elif proofs and proofs[0].folded:
            yield AnswerLine(f"{match['earlier'] or ''}{match['said']}", "folded", numbers)
        else:
            value = next((proof.value for proof in proofs if proof.value in match["said"]), "")
            yield AnswerLine(match["said"], "earlier" if match["earlier"] else "answer", numbers, value)


@dataclass(frozen=True, slots=True)
class Answer(Event):
    """The end of `ask`. With `no_answer`, `text` is the refusal, with the closest lines if it has citations, and
    `missing` what would be needed. `model` wrote the text; "" for an extractive answer. `note`: a sentence for the
    person why no model wrote, or what it was not shown."""

    text: str
    citations: tuple[Citation, ...] = ()
    no_answer: bool = False
    missing: tuple[str, ...] = ()
    trace_id: int | None = None
    confidence: float = 0.0
    model: str = ""
    note: str = ""

    @property
    def kind(self) -> AnswerKind:
        """ "closest": no line states it plainly, but some come close; "none": there are no such lines."""
        if not self.no_answer and not self.text.startswith(NOT_PLAIN):
            return "answer"
        return "closest" if self.citations else "none"

    @property
    def is_of_empty_memory(self) -> bool:
        return self.text == NOTHING_READ

    @property
    def lines(self) -> tuple[AnswerLine, ...]:
        """The text as lines with their kinds."""
        return tuple(split_lines(self.text, self.citations))


AskEvent = Step | Visit | Preview | Writing | Citation | Token | Answer


# Placeholders of secrets, as in "wifi password: ‹password-kdfqrw›". One names the kind of the secret in words, so that
# its line can be found, and identifies it by letters derived from it and a key of this memory: equal secrets get equal
# letters, so that a changed password is a changed fact. -----------------------------------------------------------

SECRET_LETTERS = "bcdfghjklmnpqrstvwxz"  # without vowels: never a word
SECRET_CHARS = 6
_PLACEHOLDER = re.compile(rf"‹[a-z]+(?:-[a-z]+)?-[{SECRET_LETTERS}]{{{SECRET_CHARS}}}›")


def drop_letters(text: str) -> str:
    """Returns the text with the kinds of secrets only, for embedding: the letters carry no meaning."""
    return _PLACEHOLDER.sub(lambda match: match[0][1 : -SECRET_CHARS - 2], text)


def find_placeholders(text: str) -> Iterator[str]:
    """Returns the placeholders of a text in order, with repetitions."""
    return (match[0] for match in _PLACEHOLDER.finditer(text))


def fill_placeholders(text: str, secrets: Mapping[str, str]) -> str:
    """Returns the text with secrets in place of known placeholders."""
    return _PLACEHOLDER.sub(lambda match: secrets.get(match[0], match[0]), text)
