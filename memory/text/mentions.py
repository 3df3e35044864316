"""The objects that a passage mentions, found by rules: no model, no dictionary, no network.

Mentions depend only on the passage and its source's properties, never on the rest of the memory: reading the same texts
in any order finds the same."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

from memory.nouns import ENTRY_VERSIONS
from memory.text.languages import ENGLISH, alternatives, guess_language, languages, stop_words, word_numbers, word_set
from memory.text.words import TASK_DAYS, TASK_STATES, UNSPACED, drop_optional_accents
from memory.time.dates import CalendarDate, find_dates

HEADINGS = " › "  # between the headings of a title
MAX_NAME_CHARS = 80  # characters; a longer "name" is a sentence in capitals

MIN_LANGUAGE_STOP_WORDS = 4  # stop words of a language that a passage needs before they are excluded as names

# All capitals of the Latin, Greek, Cyrillic and Armenian scripts.
_UPPER = "".join(
    chr(c) for c in (*range(0x590), *range(0x1E00, 0x2000)) if unicodedata.category(chr(c)) in ("Lu", "Lt")
)
_WORD = rf"[{_UPPER}][\w’'\-]*(?:(?<=\d)\.\d+)*(?:\.(?=[{_UPPER}]\.))?|[{_UPPER}]\.(?=[\s{_UPPER}])"
# "and", "in", "for" are left out: they join names more often than they belong to one (mean R@5 82.4 -> 83.2 on three
# question sets).
_LINK = r"(?:of|the|de|del|della|der|den|des|di|da|do|dos|du|la|le|van|von|zu|y|e|al|el|bin|ibn|&)"
_NAME = re.compile(
    rf"(?<![\w@#/])(?:{_WORD}|(?<![+:.,–-])\d{{1,4}}(?:st|nd|rd|th)?(?=\s[{_UPPER}]))"
    rf"(?:(?:\s|,\s(?=(?:Jr|Sr|Inc|Ltd)\b))(?:{_LINK}\s){{0,2}}(?:{_WORD}|[IVX]+\b|\d+\b(?![.,:]\d)))*"
)
_HEADING = re.compile(r"^[ ]{0,3}#{1,6}[ \t].*\n", re.MULTILINE)  # ends a name
TASK, STATE, VALUE = "task", "state", "value"  # types of objects that a fact has and that are no names
_MAIL_TIMES = ("date", "sent")
_NO_THINGS = (ENTRY_VERSIONS, "columns", "aliases", "alias", "tags", "tag")  # properties
_HEAD = re.compile(r"\A(?:(?:From|To|Cc|Bcc|Subject|Date|Reply-To|Sent): .*(?:\n|\Z)){2,}")  # of a mail
_HEAD_LABEL = re.compile(r"^[\w-]+(?=:)", re.MULTILINE)
# What outlines write before the words of a task, and before its due dates.
_TASK_MARK = re.compile(
    rf"^[ \t]*(?:#{{1,6}}[ \t]+|[-*+•][ \t]+)?(?:{TASK_STATES})(?=:?[ \t]+\S)"
    rf"|\b(?:{TASK_DAYS})(?=: ?[<\[]\d{{4}}-\d\d-\d\d)",
    re.MULTILINE,
)
_TABLE_HEAD = re.compile(r"^[ \t]*\|.*(?=\n[ \t]*\|[ \t:|+-]*-[ \t:|+-]*$)", re.MULTILINE)
_SETTING = re.compile(r"(?<!\S)[A-Z-]+=[\w,+-]+(?:;[A-Z-]+=[\w,+-]+)+")  # a rule of a calendar: FREQ=WEEKLY;BYDAY=TU
_ZONE = re.compile(rf"(?<=\d )[{_UPPER}]\w+(?:/[{_UPPER}]\w+)+|(?<=:\d\d )[A-Z]{{3,4}}\b")  # of a time: 08:45 UTC
_GOES_ON = re.compile(r" [a-zß-ÿ]")  # a word in small letters
# What stands before the first word of a line, an item, a cell or a sentence.
_BEFORE_UNIT = re.compile(r"(?:\A|[\n\0|]|[.!?:…][\"”’)*_]*\s)[\s>*+•_#(\[\]x\"“'‘–—-]*(?:\d{1,3}[.)]\s+)?\Z")
MIN_WRAPPED_CHARS = 40  # of a line, from which a name may go on in the next line
MAX_LIST_MARK = 16  # characters before a word in which the mark of its item is looked for
_WIKILINK = re.compile(r"\[\[([^\[\]|#\n]{1,120})(?:#[^\[\]|\n]*)?(?:\|([^\[\]\n]{1,120}))?\]\]")
_EMAIL = re.compile(r"[\w.+\-]{1,64}@[\w\-]{1,63}(?:\.[\w\-]{1,63})+")
_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»\n]{2,80})[\"”“»]|(?<![\w*])[*_]([^*_\n]{2,80})[*_](?![\w*])")
_QUOTES = re.compile('["“„«*_]')
_HAN, _KANA = "\u3005\u4e00-\u9fff", "\u30a1-\u30fa\u30fc"
_HIRAGANA = re.compile("[\u3041-\u3096\u30fc]+")  # 「はい」 is no title
_TITLE_MARKS = re.compile(
    r"『([^『』\n]{1,40})』|《([^《》\n]{1,40})》|〈([^〈〉\n]{1,40})〉|【([^【】\n]{1,40})】|「([^「」\n。！？!?、，,]{2,20})」"
)
_KATAKANA = re.compile(f"[{_KANA}]{{3,}}(?:[・＝][{_KANA}]{{2,}})*|[{_KANA}]{{2,}}(?:[・＝][{_KANA}]{{2,}})+")
_MAX_KANJI = 3  # of a family name; of a longer run the last two count: 昨日田中さん
_POSSESSIVE = re.compile(r"[’']s?$")
_PARENTHESIS = re.compile(r"\s*\([^()]*\)\s*$")
_ISO_DATE = re.compile(r"(?:1\d|20)\d\d(?:-\d\d(?:-\d\d)?)?|-\d\d-\d\d")
_SPACES = re.compile(r"\s+")
_NUMBERS = re.compile(r"\d+|\b[ivxlcdm]+\b")


@dataclass(frozen=True, slots=True)
class Mention:
    """An object in a text: `start`, `end` are character offsets, -1 outside the text. `kind` is name | link |
    email | title | date | property. `titles`: the object is the title of the passage. `sure`: it is more than a word
    with a capital at the beginning of lines and sentences, which is an object only where the memory knows one of that
    name."""

    surface: str
    norm: str
    kind: str
    start: int = -1
    end: int = -1
    titles: bool = False
    sure: bool = True


@lru_cache(maxsize=65536)
def norm(surface: str) -> str:
    """Returns the form of a name that identifies an object: without case, article, possessive and optional accents."""
    folded = drop_optional_accents(unicodedata.normalize("NFKC", surface)).casefold().replace("’", "'")
    folded = unicodedata.normalize("NFC", folded)
    folded = _SPACES.sub(" ", folded.replace("_", " ")).strip(" .,;:!?\"'-–—()[]")
    if folded.endswith("'s"):
        folded = folded[:-2]
    return folded.removeprefix("the ")


def same_numbers(name: str, other: str) -> bool:
    """Whether two norms contain the same numbers in the same order: bus 14 is not bus 41, nor James II James III."""
    return _NUMBERS.findall(name) == _NUMBERS.findall(other)


def is_date(name: str) -> bool:
    """Whether a norm is a date, whatever mentions it: also the title of a diary page."""
    return _ISO_DATE.fullmatch(name) is not None


def mentions(text: str, title: str = "", in_columns: bool = False) -> list[Mention]:
    """Returns the objects that `text` and its `title` mention, title first, then by position. A part of a longer name
    in the same passage ("Porcaro" after "Jeff Porcaro") counts as a mention of the longer one. `in_columns`: the text
    is rows of data, in which a number is no year."""
    collected = list(_find_in_title(title)) if title else []
    taken: list[tuple[int, int]] = []
    for mention in (*_find_marked(text), *_find_date_mentions(text, in_columns), *_find_caseless(text)):
        if not any(start < mention.end and mention.start < end for start, end in taken):
            taken.append((mention.start, mention.end))
            collected.append(mention)
    taken.sort()
    collected.extend(_find_name_mentions(text, taken))
    return _join_short_forms(sorted(collected, key=lambda m: (m.start, m.end)))


def property_mentions(properties: Mapping[str, Any]) -> list[Mention]:
    """Returns the objects in frontmatter or headers: values that are links, addresses or written as names. A key, a tag
    or the head of a column names no thing, nor does the time of a mail; an alias is another name of the note."""
    collected = []
    is_mail = "from" in properties
    for key, value in properties.items():
        if key in _NO_THINGS or (is_mail and key in _MAIL_TIMES):
            continue
        for item in value if isinstance(value, (list, tuple)) else (value,):
            surface = str(item).strip()
            link = _WIKILINK.fullmatch(surface)
            address = _EMAIL.search(surface)
            if address:
                collected.append(Mention(address[0], address[0].casefold(), "email"))
                surface = surface[: address.start()].strip(' <"')
            surface = link.group(1).strip() if link else surface
            if 0 < len(surface) <= MAX_NAME_CHARS and (link or any(map(str.isupper, surface))) and norm(surface):
                collected.append(Mention(surface, norm(surface), "property"))
    return collected


def title_names(title: str) -> list[str]:
    """Returns the names in a title: without "(film)", and the title."""
    bare = _PARENTHESIS.sub("", title).strip()
    return list(dict.fromkeys(name for name in (bare, title.strip()) if name))


def _find_in_title(title: str) -> Iterator[Mention]:
    """Yields the objects of a title. In a path of headings the note has its name whatever that is, the last heading
    only if it is a name and nothing else; a date is one however it is written."""
    name, _, heading = title.partition(HEADINGS)
    names = title_names(name)
    dated = next((date for date in find_dates(name) if name.strip() == name[date.start : date.end]), None)
    if dated is not None:
        yield Mention(name, dated.iso(), "date", titles=True)
    else:
        fit = (name for name in names if norm(name) and len(name) <= MAX_NAME_CHARS)
        yield from (Mention(name, norm(name), "name", titles=True) for name in fit)
    heading = heading.rpartition(HEADINGS)[2]
    for part in (names[0] if names else "", heading):
        for mention in _find_name_mentions(part, []):
            if mention.norm != norm(name):
                is_whole = mention.sure and mention.norm == norm(heading)
                yield replace(mention, start=-1, end=-1, titles=is_whole)


def _find_marked(text: str) -> Iterator[Mention]:
    """Yields objects that the writer marked: links, addresses, quoted titles."""
    for match in _WIKILINK.finditer(text):
        target = match.group(1).strip()
        if norm(target):
            yield Mention(target, norm(target), "link", match.start(), match.end())
    for match in _EMAIL.finditer(text) if "@" in text else ():  # a search without result takes a tenth of a millisecond
        yield Mention(match.group(), match.group().casefold(), "email", match.start(), match.end())
    for match in _QUOTED.finditer(text) if _QUOTES.search(text) else ():
        surface = (match.group(1) or match.group(2)).strip(" ,.;:!?")
        words = surface.split()
        if 1 <= len(words) <= 10 and (surface[:1].isupper() or surface[:1].isdigit()) and norm(surface):
            place = match.start() + match[0].index(surface)
            named = is_name(surface) and (len(words) > 1 or _is_name(text, surface, place, ENGLISH))
            yield Mention(surface, norm(surface), "title", match.start(), match.end(), sure=named)


def is_name(value: str) -> bool:
    """Whether a value is written as a name: a link, or a few words that begin with capitals, short ones aside."""
    words = value.split()
    return value.startswith("[[") or (
        0 < len(words) <= 5
        and words[0][:1].isupper()
        and all(word[:1].isupper() or not word[:1].isalpha() or len(word) < 4 for word in words)
    )


def _find_caseless(text: str) -> Iterator[Mention]:
    """Yields names in Chinese, Japanese and Korean, which have no capitals: in title marks, before a form of address,
    or in katakana; surer ones first, overlaps included. Few and sure: full text finds the unmarked names."""
    if text.isascii() or not UNSPACED.search(text):
        return
    chinese, japanese, korean = _compile_addresses()
    candidates: list[tuple[str, str, int, int]] = []
    for match in _TITLE_MARKS.finditer(text):
        surface = next(group for group in match.groups() if group)
        if not _HIRAGANA.fullmatch(surface):
            candidates.append((surface, "title", *match.span()))
    no_names = word_set("names", "none")
    candidates += [(match[1], "name", *match.span(1)) for match in korean.finditer(text) if match[1] not in no_names]
    for match in (*chinese.finditer(text), *japanese.finditer(text)):
        name, end = match[1], match.end(1)
        if len(name) > _MAX_KANJI and name[0] >= "\u4e00":
            name = name[-2:]
        if len(name) == 1:  # one character is ambiguous
            name, end = match[0], match.end()
        candidates.append((name, "name", end - len(name), end))
    candidates += [(match[0], "name", *match.span()) for match in _KATAKANA.finditer(text)]
    for surface, kind, start, end in candidates:
        if norm(surface):
            yield Mention(surface, norm(surface), kind, start, end)


@cache
def _compile_addresses() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Returns patterns of names before a form of address, in Chinese, Japanese and Korean."""
    address = {language: alternatives("names", "address", language=language) for language in ("zh", "ja", "ko")}
    family = {language: alternatives("names", "family", language=language) for language in ("zh", "ko")}
    return (
        re.compile(f"([{family['zh']}][{_HAN}]{{0,2}}?)({address['zh']})"),
        re.compile(f"([{_HAN}]{{1,8}}|[{_KANA}]{{2,10}})({address['ja']})"),
        re.compile(f"(?<![가-힣])([{family['ko']}][가-힣]{{1,2}})(?=(?: ?(?:{address['ko']})))"),
    )


def _find_date_mentions(text: str, in_columns: bool) -> Iterator[Mention]:
    """Yields dates as objects, named by their ISO form at their precision."""
    for date in find_dates(text):
        if not date.month and (in_columns or text[max(0, date.start - 1) : date.start] == "-"):
            continue  # "form-1099"
        if not date.name or _is_month(date):
            yield Mention(text[date.start : date.end], date.iso(), "date", date.start, date.end)
        elif date.year:
            yield Mention(text[date.end - 4 : date.end], str(date.year), "date", date.end - 4, date.end)


def _is_month(date: CalendarDate) -> bool:
    """Whether a month name is unambiguous; short ones in other languages are not."""
    is_english = date.name.lower() in word_numbers("time", "months", language=ENGLISH)
    return is_english or len(date.name) > 3 or not date.name.isascii()


@cache
def _list_common_words(language: str) -> frozenset[str]:
    """Returns words that begin sentences in capitals without being names, and words that never are names."""
    own = stop_words(language) if language != ENGLISH else frozenset[str]()
    other_scripts = (word_set("stop_words", language=code) for code, data in languages().items() if "script" in data)
    days = word_numbers("time", "weekdays", language=language)
    return word_set("no_names").union(own, *other_scripts, days, (f"{day}s" for day in days))


def _find_name_mentions(text: str, taken: list[tuple[int, int]]) -> Iterator[Mention]:
    language = guess_language(text, MIN_LANGUAGE_STOP_WORDS)
    common = _list_common_words(language)
    text = _strip_marks(text)
    for surface, start in _find_capitalised(text):
        while True:  # drop words that only begin a sentence, and numbers before a common word
            first, _, rest = surface.partition(" ")
            counts = first.isdigit() and (" " not in rest or _strip_word(rest.partition(" ")[0]) in common)
            if not counts and _strip_word(first) not in common:
                break
            start += len(first) + 1
            surface = rest
            if not surface:
                break
        while (
            " " in surface
            and _strip_word(surface.rpartition(" ")[2]) in common
            and not (
                surface.endswith(" I")
                and not _GOES_ON.match(text, start + len(surface))  # "Elizabeth I", "Gwenda & I are"
            )
        ):
            surface = surface.rpartition(" ")[0].removesuffix(" &")
        surface = _POSSESSIVE.sub("", surface.strip())
        if not surface or len(surface) > MAX_NAME_CHARS or not any(map(str.isalpha, surface)):
            continue
        end = start + len(surface)
        if any(a < end and start < b for a, b in taken):
            continue
        key = norm(surface)
        if len(key) > 1 and key not in common:
            yield Mention(surface, key, "name", start, end, sure=_is_name(text, surface, start, language))


def _is_name(text: str, word: str, start: int, language: str) -> bool:
    """Whether a name has its capital not only from its place: it is of several words, has another capital, is somewhere
    in the text not at the beginning of a line or sentence, or is what a verb is about ("Ana teaches"). A word with a
    number is one word."""
    first, _, rest = word.partition(" ")
    if not (first[1:].islower() or first.isupper()) or (rest and not rest.isdigit()) or not _begins_unit(text, start):
        return True
    return _compile_verb(language).match(text, start + len(word)) is not None or not all(
        _begins_unit(text, match.start()) for match in re.finditer(rf"\b{re.escape(word)}\b", text)
    )


@cache
def _compile_verb(language: str) -> re.Pattern[str]:
    """Returns a verb of what names do, after a name. Stop words follow any noun: "Tasting is at six"."""
    others = sorted(word_set("facts", "third_person", language=language))
    verbs = "|".join(filter(None, [alternatives("telling", "holds", language=language), *others])) or "(?!)"
    return re.compile(rf"[^\S\n]+(?!(?:{'|'.join(stop_words(language))})\b)(?:{verbs})\b")


def _begins_unit(text: str, start: int) -> bool:
    return _BEFORE_UNIT.search(text, max(0, start - MAX_LIST_MARK), start) is not None


def _strip_marks(text: str) -> str:
    """Returns the text without the marks and labels of its format; no character moves."""
    if head := _HEAD.match(text):
        text = _HEAD_LABEL.sub(_blank, head[0]) + text[head.end() :]
    text = _TASK_MARK.sub(_blank, text)
    for sign, pattern in (("|", _TABLE_HEAD), ("=", _SETTING), (":", _ZONE)):
        text = pattern.sub(_blank, text) if sign in text else text
    return _HEADING.sub(lambda heading: f"{heading[0][:-1]}\0", text) if "#" in text else text


def _blank(match: re.Match[str]) -> str:
    return "\0" * len(match[0])


def _strip_word(word: str) -> str:
    return _POSSESSIVE.sub("", word).casefold().strip(".,")


def _find_capitalised(text: str) -> Iterator[tuple[str, int]]:
    """Yields the runs of capitalised words, each with its start; a line's end ends a run, unless the line is long
    enough to have been wrapped: of text wrapped at 72 characters, a tenth of the names would be lost."""
    for match in _NAME.finditer(text):
        start = match.start()
        before, rest = text[text.rfind("\n", 0, start) + 1 : start], match[0].partition("\n")[2]
        is_wrapped = len(before) >= MIN_WRAPPED_CHARS and rest[:1].isalpha() and "\n" not in rest
        # "Hamid: yes" in the next line; columns
        is_wrapped = is_wrapped and not text.startswith(":", match.end()) and "   " not in before
        for line in [match[0]] if is_wrapped else match[0].split("\n"):
            yield line.removesuffix(","), start
            start += len(line) + 1


def _join_short_forms(mentions: list[Mention]) -> list[Mention]:
    """Returns the mentions with short forms renamed to the one longer name that begins or ends with them."""
    long = {m.norm for m in mentions if m.kind in ("name", "link", "title") and " " in m.norm}
    if not long:
        return mentions
    owners: dict[str, set[str]] = {}
    for name in long:
        words = name.split()
        for part in (words[0], words[-1]):
            owners.setdefault(part, set()).add(name)
    joined = []
    for m in mentions:
        own = owners.get(m.norm, ()) if m.kind == "name" and not m.titles else ()
        joined.append(Mention(m.surface, next(iter(own)), m.kind, m.start, m.end) if len(own) == 1 else m)
    return joined
