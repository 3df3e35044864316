"""Splits a text into blocks: paragraphs, headings, code, tables, list items, quotes.

Invariants, for any string: blocks are in order and do not overlap, each is an exact slice of the text
(`text[start:end]`), and every letter and digit is in one of them. A line ends at "\\n"; "\\r" and form feeds are
white space.

markdown-it-py's block parser says which lines belong together; the lines of its tokens are all that is
taken from it, offsets are computed here. Notes are often plain text, so what Markdown does to plain text
by accident is switched off: indentation makes no code, HTML and link definitions are paragraphs, an
underlined heading is one short line over a real rule.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, groupby
from typing import Literal, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from memory.nouns import Document
from memory.text.sentences import sentences
from memory.text.words import count_words

BlockKind = Literal["paragraph", "heading", "code", "table", "list_item", "quote", "frontmatter"]

_PARSER = MarkdownIt("commonmark").enable("table").disable(["code", "html_block", "reference"])
_PARSER_WITHOUT_FENCES = MarkdownIt("commonmark").enable("table").disable(["code", "html_block", "reference", "fence"])

_TITLE_WORDS = 12
MAX_TITLE_CHARS = 300  # each word of a title is compared with a question, in every passage under it
_WORD = re.compile(r"[^\W_]")
# A line that may begin or rule a Markdown structure; other texts have paragraphs only.
_STRUCTURE = re.compile(
    r"^[ \t\f]*+(?:\#{1,6}(?:\s|$)|[-*+](?:\s|$)|\d{1,9}[.)](?:\s|$)|>|```|~~~|[-=_*:|][-=_*:| \t\r]*+$)", re.MULTILINE
)
_PARAGRAPH = re.compile(r"\S[^\n]*+(?:\n[^\S\n]*+\S[^\n]*+)*+")
_YAML_KEY = re.compile(r"""["'\w][^:]{0,80}:(?:\s|$)|#|-\s""")
# Inline marks around a heading's words: [[page|label]], [label](address), emphasis, code.
_INLINE = re.compile(
    r"!?\[\[(?:[^\]|]*\|)?([^\]]*)\]\]|!?\[([^\]]*)\]\([^)]*\)|\*{1,3}|`+|~~|(?<!\w)_{1,3}(?=\w)|(?<=\w)_{1,3}(?!\w)"
)
_KINDS: dict[str, BlockKind] = {  # of tokens; a heading may be none
    "fence": "code", "table_open": "table", "list_item_open": "list_item", "blockquote_open": "quote",
    "paragraph_open": "paragraph", "heading_open": "paragraph",
}  # fmt: skip
_HEADING_LENGTH = 120  # characters of a heading used as a title
_LOST_FENCE = 40  # lines; an unclosed fence with more lines after it is a mistake of the writer


@dataclass(frozen=True)
class Block:
    """`text == source[start:end]`; `headings` are those above it. `level` is 1-6 for a heading, else 0. `title` is a
    heading's text without marks, else ""."""

    kind: BlockKind
    text: str
    start: int
    end: int
    headings: tuple[str, ...] = ()
    level: int = 0
    title: str = ""

    @property
    def path(self) -> tuple[str, ...]:
        """Its headings; last the text of a heading itself."""
        return (*self.headings, self.title) if self.title else self.headings

    @cached_property
    def words(self) -> int:
        """The number of words."""
        return count_words(self.text)


class _Openings(list[Token]):
    """The block-opening tokens of the parser: all tokens of a table of half a million cells would take a gigabyte."""

    def append(self, token: Token) -> None:
        is_title = token.type == "inline" and token.level == 1 and bool(self) and self[-1].type == "heading_open"
        is_outer = token.type in ("fence", "table_open") or token.level == (token.type == "list_item_open")
        if is_title or (token.type in _KINDS and is_outer):
            super().append(token)


class _Lines(NamedTuple):
    """A half-open range of lines that belong together."""

    kind: BlockKind
    first: int
    after: int
    level: int = 0
    title: str = ""


def has_words(text: str) -> bool:
    """Whether a text contains a letter or digit."""
    return _WORD.search(text) is not None


def has_structure(text: str) -> bool:
    """Returns False if the text certainly contains paragraphs only."""
    return _STRUCTURE.search(text) is not None


def split_blocks(text: str) -> list[Block]:
    """Returns the blocks of Markdown or plain text, in order. Linear in the length of the text; never fails. A list
    item is one block including nested ones, except code and tables, which are always separate. Rules ("---") and blank
    lines are in no block."""
    if not has_structure(text):
        paragraphs = ((match.start(), match.group().rstrip()) for match in _PARAGRAPH.finditer(text))
        return [Block("paragraph", words, start, start + len(words)) for start, words in paragraphs]
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    spans = [*_find_ranges(lines)]
    owner: list[int | None] = [None] * len(lines)
    for number, span in enumerate(spans):  # a container comes before its contents, which replace it on their lines
        owner[span.first : span.after] = [number] * (span.after - span.first)

    blocks: list[Block] = []
    path: list[tuple[int, str]] = []
    above: tuple[str, ...] = ()
    for first, after in _find_runs(lines, owner):
        block_number = owner[first]
        # Lines outside all tokens are a rule, or at worst a paragraph.
        span = _Lines("paragraph", first, after) if block_number is None else spans[block_number]
        start = starts[first] + len(lines[first]) - len(lines[first].lstrip())
        end = starts[after - 1] + len(lines[after - 1].rstrip())
        if span.kind == "heading":
            while path and path[-1][0] >= span.level:
                path.pop()
            above = tuple(title for _, title in path)
        if block_number is not None or has_words(text[start:end]):
            blocks.append(Block(span.kind, text[start:end], start, end, above, span.level, span.title))
        if span.kind == "heading" and span.title:
            path.append((span.level, span.title))
            above = (*above, span.title)
    return blocks


def _find_runs(lines: Sequence[str], owner: Sequence[int | None]) -> Iterator[tuple[int, int]]:
    """Yields (first, end) of consecutive lines with one owner, without blank lines at the ends; without owner a blank
    line ends the run."""
    is_filled = [bool(line) and not line.isspace() for line in lines]
    for _, run in groupby(range(len(lines)), lambda index: (owner[index], owner[index] is None and is_filled[index])):
        filled = [index for index in run if is_filled[index]]
        if filled:
            yield filled[0], filled[-1] + 1


def _find_ranges(lines: Sequence[str]) -> Iterator[_Lines]:
    """Yields the blocks by lines, in order; code and tables follow the list item or quote around them."""
    first = _find_frontmatter_end(lines)
    if first:
        yield _Lines("frontmatter", 0, first)
    for span, unclosed in _parse_lines(lines, first, _PARSER):
        if unclosed:  # once is enough: without fences no other token extends to the end
            yield from (other for other, _ in _parse_lines(lines, span.first, _PARSER_WITHOUT_FENCES))
            return
        yield span


def _find_frontmatter_end(lines: Sequence[str]) -> int:
    """Returns the number of lines of a leading YAML block with its rules, or 0."""
    if lines[0].rstrip() != "---":
        return 0
    after = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), 0)
    inside = next((line for line in lines[1:after] if line.strip()), "")
    return after + 1 if after and _YAML_KEY.match(inside) else 0


def _parse_lines(lines: Sequence[str], first: int, parser: MarkdownIt) -> Iterator[tuple[_Lines, bool]]:
    """Yields (ranges of `lines[first:]`, whether one is a fence that extends to the end of a long text)."""
    source = "\n".join([line.rstrip() for line in lines[first:]]).replace("\r", " ").replace("\f", " ")
    tokens = _Openings()
    parser.block.parse(source, parser, {}, tokens)
    for index, token in enumerate(tokens):
        if token.map is None or token.type not in _KINDS:
            continue
        begin, after = token.map[0] + first, min(token.map[1] + first, len(lines))
        block, unclosed = _Lines(_KINDS[token.type], begin, after), False
        if token.type == "fence" and token.level == 0 and after - begin > _LOST_FENCE:
            unclosed = not lines[after - 1].strip(" \t\r>").startswith(token.markup)
        elif token.type == "heading_open" and _is_heading(token, tokens[index + 1].content, lines[begin:after]):
            title = _strip_marks(tokens[index + 1].content)
            block = block._replace(kind="heading", level=int(token.tag[1]), title=title)
        yield block, unclosed


def _is_heading(token: Token, content: str, lines: Sequence[str]) -> bool:
    """Excludes comments in indented code, the "--" of a signature, and prose above a rule."""
    if token.markup[0] == "#":
        return len(lines[0].expandtabs(4)) - len(lines[0].expandtabs(4).lstrip()) < 4
    return (
        len(lines) == 2
        and len(lines[1].strip()) >= 3
        and len(content) <= _HEADING_LENGTH
        and content[-1:] not in (".", "!", "?", ",", ";", "…")
    )


def _strip_marks(heading: str) -> str:
    words = " ".join(_INLINE.sub(lambda m: m[1] or m[2] or "", heading[: 2 * _HEADING_LENGTH]).split())
    if len(words) <= _HEADING_LENGTH:
        return words
    return words[:_HEADING_LENGTH].rsplit(" ", 1)[0] + "…"


# Titles -----------------------------------------------------------------------------------------


def given_title(document: Document) -> str:
    """Returns the document's title up to MAX_TITLE_CHARS, else its first heading; "" without both."""
    title = " ".join((document.title or "").split())[:MAX_TITLE_CHARS]
    return title or next((block.title for block in split_blocks(document.text) if has_words(block.title)), "")


def title_of(document: Document) -> str:
    """Returns the document's title, else its first heading, else the start of its first sentence."""
    if title := given_title(document):
        return title
    texts = [turn.text for turn in document.turns]
    texts = texts or [block.text for block in split_blocks(document.text) if block.kind != "frontmatter"]
    opening = next(filter(has_words, texts), document.text).lstrip()[:2000]
    begin, end = next(iter(sentences(opening)), (0, len(opening)))
    words = opening[begin:end].split()
    return " ".join(words[:_TITLE_WORDS]) + "…" if len(words) > _TITLE_WORDS else " ".join(words).rstrip(".。:")
