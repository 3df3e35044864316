"""Splits an episode's text into sentences, its theses until a model writes better ones; and distinguishes statements in
a chat from questions, without a model.

Invariants, for any string: spans are in order, do not overlap, are stripped and contain a letter or digit;
every letter and digit is in a span, except in a line's leading marks ("- [x] ") and in a fence's opening line
("```python"). Linear in the length of the text.

Two steps. Lines are first joined into segments: a heading, a list item, a table row, a line of code, a
"Speaker:" turn each begin their own, and so does every line of a paragraph that is not hard-wrapped prose.
A segment of prose is then cut at sentence ends. In doubt it is not cut: a thesis of two sentences can still
be found and quoted, half a sentence has another meaning.

In doubt a text of a chat is a question: a missed statement is answered as before. A sentence is a statement if it asks
to be remembered ("remember that ..."), or if it is about its writer, in a language with patterns for that (`telling` in
`data/`), and neither asks nor addresses the reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise

from memory.text.languages import tables, word_numbers, word_set
from memory.text.words import count_words

Span = tuple[int, int]

_WORD = re.compile(r"[^\W_]")

# Lines ----------------------------------------------------------------------------------------

# Quote marks, then the mark of a heading, a bullet, a dash and a checkbox.
_MARKS = re.compile(
    r"[^\S\n]*+(?:>[^\S\n]?)*+[^\S\n]*+"
    r"(?:(?P<heading>\#{1,6}(?=\s|$))|(?P<bullet>[-*+•◦‣▪☐☑✓✔✗✘](?=\s|$)|[-=]>|→)|[·–—](?=\s|$))?+"
    r"[^\S\n]*+(?:\[[ xX/-]\](?=\s|$)[^\S\n]*+)?+"
)
_NUMBER = re.compile(r"(\(?(?:\d{1,3}|[A-Za-z])\)|\d{1,3}\.)\s")
_FIRST_NUMBERS = frozenset("1. 1) (1) a) (a) A) (A)".split())
_SPEAKER = re.compile(r"[^\W\d_a-z][^\s:]*+(?: [^\s:]++){0,3}+:(?:\s|$)")
_LABEL = re.compile(r"[^\s:;][^:;\n]{0,40}+:(?:\s|$)")  # of a field, or of the first cell of a row
_FENCE = re.compile(r"(?:`{3,}+|~{3,}+)(?![^`\n]*+`)")
_RULE = re.compile(r"[-=_*:|+ \t\r]{2,}$")
_WRAP_WIDTHS = range(45, 121)  # columns at which people and programs wrap prose
_RAGGED = 4  # columns by which a full line may be shorter
_FULL_LINES = 0.8  # share of full lines above which the newlines of a paragraph have no meaning

# Sentence ends --------------------------------------------------------------------------------

_THAI = "\u0e01-\u0e4e"
# Starting only at the first of a run of marks keeps a text of full stops linear.
_END = re.compile(
    r"(?<![.!?…؟।።۔॥։\u037e])(?P<mark>[.!?…؟।።۔॥։\u037e]++)(?P<closers>[\"'”’»›)\]}*_]*+(?:\[\^?\w{1,3}\])*+)(?=\s)"
    r"|[。！？｡．။។]++(?P<cjk_closers>[」』）”’》】\"')]*+)"
    r"|(?<=[\u0370-\u03ff\u1f00-\u1fff]);(?=\s)"  # the Greek question mark
    rf"|(?<=[{_THAI}]{{20}})(?<!ๆ)[^\S\n]++(?=[{_THAI}]{{20}})"  # Thai has no mark; a long clause counts as a sentence
)
_NEXT = re.compile(r"[\s\"'“‘„«‹(\[*_¿¡]*+([#+@](?=\w))?+(\w*+)(\.?)")
_OPENING = "([{\"'“‘„«‹*_"
_DOTTED = re.compile(r"(?:[^\W\d_]{1,3}\.)+[^\W\d_]{1,3}")
_SHORTENED = re.compile(r"(?:(?![aeiouyäöüáéíóúàèêåæø])[^\W\d_]){1,5}", re.IGNORECASE)  # a word without a vowel

# "am 5. Mai", "zum 2. Mal": a number that is an ordinal.
_BEFORE_ORDINAL = re.compile(
    r"(?:(?:^|\s)(?:der|die|das|dem|den|des|am|im|zum|zur|vom|beim|seit|ab|bis)|[,(])\s?\d{1,2}$|[:;]\s1$",
    re.IGNORECASE,
)


def sentences(text: str) -> list[Span]:
    """Returns (start, end) of each sentence of `text`, in characters. A span of hard-wrapped lines contains the
    newlines, in a quotation also the ">"; others stay within one line."""
    spans: list[Span] = []
    for start, end, prose in _find_segments(text):
        begin = start
        if prose:
            for match in _END.finditer(text, start, end):
                if _is_end(text, begin, end, match):
                    _add(spans, text, begin, match.end())
                    begin = match.end()
        _add(spans, text, begin, end)
    return spans


def _add(spans: list[Span], text: str, start: int, end: int) -> None:
    """Appends the stripped span if it contains a letter or digit."""
    sentence = text[start:end]
    if _WORD.search(sentence):
        start += len(sentence) - len(sentence.lstrip())
        spans.append((start, start + len(sentence.strip())))


def _find_segments(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yields (start, end, prose) of segments that no sentence crosses. Only prose may be cut further."""
    paragraph: list[tuple[int, int, int]] = []  # (start of the line, start of its words, end)
    numbered = ""  # mark after the numbers of the current list
    fences = "`~"  # fences that can open: after an unclosed one no other is closed either
    after = -1
    while after < len(text):
        line = after + 1
        after = text.find("\n", line)
        if after < 0:
            after = len(text)
        marks = _MARKS.match(text, line, after)
        assert marks is not None  # all parts are optional
        words = marks.end()
        first = text[words : min(words + 1, after)]
        if not first or _RULE.match(text, words, after):
            yield from _join_lines(text, paragraph)
            paragraph, numbered = [], ""
        elif first in fences and (opening := _FENCE.match(text, words, after)):
            rule = rf"^[ \t>]*+{first}{{{len(opening[0])},}}+[ \t\r]*+$"
            closing = re.compile(rule, re.MULTILINE).search(text, after)
            if closing is None:
                fences = fences.replace(first, "")
                paragraph.append((line, words, after))
                continue
            yield from _join_lines(text, paragraph)
            paragraph, numbered = [], ""
            yield from _split_lines(text, after + 1, closing.start())
            after = closing.end()
        elif first == "|" or marks["heading"]:
            yield from _join_lines(text, paragraph)
            paragraph, numbered = [], ""
            row = text[words:after]
            begin = words + len(row) - len(row.lstrip("| \t"))
            yield begin, max(begin, words + len(row.rstrip("| \t\r"))), False
        else:
            number = _NUMBER.match(text, words, after)
            if number and paragraph and number[1] not in _FIRST_NUMBERS and number[1][-1] != numbered:
                number = None  # "..., born on the\n5. May": only a first number may interrupt a paragraph
            if number or marks["bullet"] or _SPEAKER.match(text, words, after):
                yield from _join_lines(text, paragraph)
                paragraph, numbered = [], number[1][-1] if number else ""
            paragraph.append((line, words, after))
            if text[max(words, after - 3) : after].rstrip("\r").endswith(("  ", "\\")):  # Markdown's hard line break
                yield from _join_lines(text, paragraph)
                paragraph = []
    yield from _join_lines(text, paragraph)


def _split_lines(text: str, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """Yields the lines of a code block: each at most one sentence."""
    for line in text[start:end].split("\n"):
        yield start, start + len(line), False
        start += len(line) + 1


def _join_lines(text: str, lines: list[tuple[int, int, int]]) -> Iterator[tuple[int, int, bool]]:
    """Returns one segment for hard-wrapped prose, else one per line. Lines are hard-wrapped if nearly all are full (the
    first word of the next line would not fit) and one begins in lower case; most lines of a list of fields begin with a
    label."""
    if len(lines) < 2:
        for _, words, end in lines:
            yield words, end, True
        return
    width = max(end - line for line, _, end in lines)
    full = continued = labelled = 0
    # A text may begin inside a line, whose width then means nothing.
    counted = lines[1:] if lines[0][0] == 0 and len(lines) > 2 else lines
    if width in _WRAP_WIDTHS:
        for (line, _, end), (_, words, following) in pairwise(counted):
            word = text[words:following].split(maxsplit=1)[0]
            full += end - line + 1 + len(word) + _RAGGED > width
            continued += word.lstrip(_OPENING)[:1].islower()
            labelled += _LABEL.match(text, words, following) is not None
    if labelled:  # a label of the first line alone may be a speaker's name
        labelled += _LABEL.match(text, counted[0][1], counted[0][2]) is not None
    if continued and 2 * labelled < len(counted) and full >= _FULL_LINES * (len(counted) - 1):
        yield lines[0][1], lines[-1][2], True
    else:
        for _, words, end in lines:
            yield words, end, True


def _is_end(text: str, begin: int, end: int, match: re.Match[str]) -> bool:
    """Whether the matched marks end the sentence from `begin`, in a segment that ends at `end`."""
    if match["mark"] is None:  # a quotation inside a sentence also ends in a mark and a closer
        return not match["cjk_closers"] or match.end() == end or text[match.end()].isspace()
    head = text[max(begin, match.start() - 24) : match.start()]
    following = _NEXT.match(text, match.end(), end)
    assert following is not None  # all parts are optional
    in_brackets = ")" not in match["closers"] and head.rfind("(") > head.rfind(")")  # a short aside, "(dir. Platform)"
    if in_brackets or following[1]:  # "call mum! #family": a tag belongs to the text before it
        return False
    lower = following[2][:1].islower()
    if match["closers"] or match["mark"] != ".":
        # '"Really?" he said', "Wait... what", "the Impulse! label"; but who writes "what? no" starts in lower case too
        begins_lower = text[begin : begin + 8].lstrip()[:1].islower()
        if lower or match["mark"] != ".":
            return not lower or (not match["closers"] and match["mark"][-1] in "!?" and begins_lower)
    if not head or head[-1].isspace():  # ". . ."
        return not lower and following[3] != "."
    token = head.split()[-1].lstrip(_OPENING)
    if token.isdigit() and len(token) <= 3:
        is_number = match.start() - begin < 8 and text[begin : match.start()].strip() == token  # "1. Buy bread"
        return not (is_number or lower or _is_ordinal(head, following[2]))
    return _ends_with(token, following[2], bool(following[3]))


def _is_ordinal(head: str, word: str) -> bool:
    lower = word.lower()
    named = lower in word_set("sentences", "after_ordinal") or lower in word_numbers("time", "months")
    return named or _BEFORE_ORDINAL.search(head) is not None


def _ends_with(token: str, word: str, abbreviated: bool) -> bool:
    """Whether a point after `token` ends a sentence, given the next `word`, which may be `abbreviated` itself."""
    never, sometimes, before_number, first_words = _read_endings()
    lower, digit = word[:1].islower(), word[:1].isdigit()
    begins = word in first_words and not abbreviated
    before = token.lower() in before_number and (digit or (lower and token[0].isupper()))  # "No. 5", "No. of guests"
    if before or token.lower() in never:
        return False
    if token in sometimes or _DOTTED.fullmatch(token):
        return begins
    if len(token) == 1 and token.isalpha():  # an initial, or "option b."
        return begins or (token.islower() and not lower and not digit)
    return not ((lower or digit) and _SHORTENED.fullmatch(token) and not token.isupper())


@cache
def _read_endings() -> tuple[frozenset[str], ...]:
    """Returns abbreviations: those that never end a sentence, those that may, those before a number; and words that
    begin a sentence."""
    keys = ("abbreviations", "abbreviations_or_ends", "before_number", "first_words")
    return tuple(word_set("sentences", key) for key in keys)


# Statements -----------------------------------------------------------------------------------

MAX_CHARS = 1000  # longer texts are pasted, to ask about
MIN_WORDS, MIN_KEPT_WORDS = 3, 2  # of a sentence; of a text to remember
MAX_OPENINGS = 3  # "ok, by the way, today ..."
MAX_NOUN_WORDS = 5  # between "my" and its verb

ASKS = re.compile(r"\?[\"'”’)*_\s]*$")
_SIGNED = re.compile(r"[.!…]*$")


def find_statement(text: str) -> tuple[str, str] | None:
    """Returns (statements, questions) of a person in their words, from a typed text; None without a statement."""
    if len(text) > MAX_CHARS or "\n\n" in text.strip():
        return None
    statements: list[str] = []
    questions: list[str] = []
    for start, end in sentences(text):
        sentence = text[start:end].strip()
        parts = _split(sentence)
        statements += [part for is_statement, part in parts if is_statement]
        questions += [part for is_statement, part in parts if not is_statement]
    return (" ".join(statements), " ".join(questions)) if statements else None


def _split(sentence: str) -> list[tuple[bool, str]]:
    """Returns (whether it is a statement, part) of a sentence. "I moved to Bergen, where is the town hall?" has two."""
    if not ASKS.search(sentence):
        return [(_is_statement(sentence), sentence)]
    for language in _read_languages():
        for match in language["turn"].finditer(sentence):
            first = sentence[: match.start()].strip()
            if _is_statement(first):
                return [(True, first), (False, sentence[match.start("asked") :])]
    return [(False, sentence)]


def _is_statement(sentence: str) -> bool:
    return not ASKS.search(sentence) and any(_is_statement_in(language, sentence) for language in _read_languages())


def _is_statement_in(language: Mapping[str, re.Pattern[str]], sentence: str) -> bool:
    """Whether a sentence without a question mark is a statement in this language."""
    bare = _SIGNED.sub("", sentence).strip()
    if keep := language["keep"].match(bare):
        return count_words(bare[keep.end() :]) >= MIN_KEPT_WORDS
    for _ in range(MAX_OPENINGS):
        opening = language["opening"].match(bare)
        bare = bare[opening.end() :] if opening else bare
    if not (language["speaker"].match(bare) or language["own"].match(bare)) or count_words(bare) < MIN_WORDS:
        return False
    return not language["no_telling"].search(bare) and not language["unfinished"].search(bare)


@cache
def _read_languages() -> tuple[dict[str, re.Pattern[str]], ...]:
    """Returns the patterns of statements and questions in each language, by their purpose."""
    return tuple(map(_compile, tables("telling")))


def _compile(table: Mapping[str, str]) -> dict[str, re.Pattern[str]]:
    parts = {key: value.replace("\n", "") for key, value in table.items()}
    noun = rf"(?:[^\s,.;:!?]+\s+){{1,{MAX_NOUN_WORDS}}}?"
    turn = rf"(?:[,;:]|\s[–—-])\s*(?:(?:{parts['joins']})\s+)?|\s(?:{parts['joins']})\s+"
    patterns = {
        "keep": rf"\W{{0,3}}(?:{parts['keep']})",
        "opening": rf"\W{{0,3}}(?:{parts['opening']})",
        "speaker": rf"\W{{0,3}}(?:{parts['speaker']})\s+\S",
        "own": rf"\W{{0,3}}(?:{parts['own']})\s+{noun}(?:{parts['holds']})\s+\S",
        "no_telling": "|".join((parts["no_telling"], parts["addressed"], parts["asks_within"])),
        "unfinished": rf"\b(?:{parts['unfinished']})$",
        "turn": rf"(?:{turn})(?P<asked>(?:{parts['asked']})\b)",
    }
    return {key: re.compile(pattern, re.IGNORECASE) for key, pattern in patterns.items()}
