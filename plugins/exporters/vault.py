"""A folder of Markdown that Obsidian opens: a page for each person, place and thing with its facts, their history,
their sources, and links to related pages.

Text of notes is escaped: nothing in it links, tags or embeds anything.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from plugins.exporters.contract import LAST, Line, Part

KINDS = ("thing", "page")
INDEX = "Index"
MAX_NAME_BYTES = 120
UNSEEN = ("Cf", "Co", "Cs")  # categories of invisible and invalid characters
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*#^\[\]%]+')  # by some file system, or in a link
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_MARKS = re.compile(r"([\\`*_\[\]<>#|$]|(?<=~)~|(?<==)=|(?<=%)%|^[-+](?= )|^\d+(?=[.)] ))")


def write(lines: Iterator[Line]) -> Iterator[Part]:
    """A page for each notable thing, and an index of all."""
    pages = Pages()
    for line in lines:
        if line.kind == "thing":
            pages.add(line.fields)
        elif line.kind == "page":
            fields = line.fields
            if (name := pages.name_of(fields["id"])) is not None:
                yield Part(f"{name}.md", "".join(_write_page(fields, pages)).encode("utf-8", "replace"))
        elif line.kind == LAST:
            yield Part(f"{INDEX}.md", "".join(_index(pages)).encode("utf-8", "replace"))


class Pages:
    """The names of the pages. A thing keeps its page name whatever is added later."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._page_of: dict[str, int] = {}
        self._taken = {_fold(INDEX)}
        self.kinds: dict[str, list[tuple[str, str]]] = {}

    def add(self, thing: dict[str, Any]) -> None:
        """Adds a thing; if an earlier thing has one of its names, it is described on that page."""
        titles = [_fold(title) for title in (thing["name"], *thing["names"])]
        page = next((self._page_of[title] for title in titles if title in self._page_of), thing["page"])
        if page and page == thing["id"]:
            name = make_name(thing["name"]) or f"Object {page}"
            if _fold(name) in self._taken:
                name = f"{name} ({page})"
            self._taken.add(_fold(name))
            self._names[page] = name
            self.kinds.setdefault(thing["kind"], []).append((name, thing["name"]))
        for title in titles if page else ():
            self._page_of.setdefault(title, page)

    def name_of(self, id: int) -> str | None:
        return self._names.get(id)

    def has(self, title: str) -> bool:
        """Whether there is a page with this title."""
        return self._page_of.get(_fold(title), 0) in self._names

    def link(self, title: str) -> str:
        """A link to the page with this title, or the title alone without a page."""
        name = self._names.get(self._page_of.get(_fold(title), 0))
        if name is None:
            return _escape(title)
        label = re.sub(r"[\[\]|\s]+", " ", title).strip()
        return f"[[{name}]]" if label == name else f"[[{name}|{label}]]"


def make_name(title: str) -> str:
    """A file name for a title, valid on every file system; "" if no character is usable."""
    visible = (char for char in unicodedata.normalize("NFC", title) if unicodedata.category(char) not in UNSEEN)
    name = " ".join(_FORBIDDEN.sub(" ", "".join(visible)).split())
    name = name.encode("utf-8", "replace")[:MAX_NAME_BYTES].decode("utf-8", "ignore").strip(". ")
    return f"{name}_" if _DEVICES.fullmatch(name) else name


def _write_page(thing: dict[str, Any], pages: Pages) -> Iterator[str]:
    aliases = [name for name in thing["names"] if name != thing["name"]]
    yield _write_frontmatter(
        {"aliases": aliases, "facts": len(thing["facts"]), "notes": thing["notes_total"], "palimpsest": thing["id"]}
    )
    yield f"# {_escape(thing['name'])}\n"
    if thing["facts"]:
        yield "\n## Now\n\n"
        yield from (f"- {_describe_fact(fact, thing, pages)}\n" for fact in thing["facts"])
    if timeline := list(_write_timeline(thing["strands"], thing, pages)):
        yield "\n## Timeline\n\n"
        yield from timeline
    if thing["notes"]:
        yield "\n## Sources\n"
        yield from map(_describe_mention, thing["notes"])
        if (more := thing["notes_total"] - len(thing["notes"])) > 0:
            yield f"\nand in {more:,} more.\n"
    own = {_fold(name) for name in (thing["name"], *thing["names"])}
    if related := [
        other for other in thing["neighbours"] if pages.has(other["name"]) and _fold(other["name"]) not in own
    ]:
        yield "\n## Related\n\n"
        yield from (f"- {_describe_neighbour(other, pages)}\n" for other in related)


def _describe_fact(fact: dict[str, Any], thing: dict[str, Any], pages: Pages) -> str:
    """`phone: 0161 496 07, since 2026-03-09 ([Ozzie](...), line 4)`."""
    when = f", since {fact['since']}" if fact["since"] else f", until {fact['until']}" if fact["until"] else ""
    return f"{_describe_value(fact, thing, pages)}{when} ({_place(fact['uri'], fact['title'], fact['line'])})"


def _describe_value(fact: dict[str, Any], thing: dict[str, Any], pages: Pages) -> str:
    if not fact["predicate"]:
        return _escape(fact["text"])
    called = {_fold(name) for name in (thing["name"], *thing["names"])}
    subject, value = fact["objects"][0], fact["objects"][-1]
    about = "" if _fold(subject) in called else f"{pages.link(subject)} "
    modality = "" if fact["modality"] == "asserted" else f" ({fact['modality']})"
    return f"{about}**{_escape(fact['predicate'])}**: {pages.link(value)}{modality}"


def _write_timeline(strands: Iterable[dict[str, Any]], thing: dict[str, Any], pages: Pages) -> Iterator[str]:
    """Changed values, by time."""
    changed = [item for item in strands if len(item["values"]) > 1 or any(value["ended"] for value in item["values"])]
    values = [value for item in changed for value in item["values"]]
    for value in sorted(values, key=lambda value: (_find_begin(value["fact"]), value["fact"]["id"])):
        fact, ended = value["fact"], value["ended"]
        until = f" to {fact['until']}" if fact["until"] else ""
        why = f"; {_escape(ended['reason'])}" if ended and ended["reason"] else ""
        place = _place(fact["uri"], fact["title"], fact["line"])
        yield f"- {_find_begin(fact)}{until}: {_describe_value(fact, thing, pages)} ({place}{why})\n"


def _find_begin(fact: dict[str, Any]) -> str:
    return str(fact["since"] or (fact["valid_from"] or fact["recorded"])[:10])


def _describe_mention(note: dict[str, Any]) -> str:
    day = f", {note['at'][:10]}" if note["at"] else ""
    text = _escape(note["quote"]) if note["quote"].strip() else "…"
    return f"\n> {text}\n> — {_place(note['uri'], note['title'], note['line'])}{day}\n"


def _describe_neighbour(other: dict[str, Any], pages: Pages) -> str:
    name = pages.link(other["name"])
    if not other["relation"]:
        return f"{name} (in {other['passages']:,} {'passage' if other['passages'] == 1 else 'passages'})"
    relation = _escape(other["relation"])
    return f"{relation} → {name}" if other["forward"] else f"{name} → {relation}"


def _place(uri: str, title: str, line: int | None) -> str:
    """A link to the note, where it is a file."""
    file, _, _ = uri.partition("#")
    label = _escape(title or PurePosixPath(uri).name or uri)
    place = f"[{label}](<file://{quote(file)}>)" if PurePosixPath(file).is_absolute() else label
    return f"{place}, line {line}" if line is not None and "#" not in uri else place


def _index(pages: Pages) -> Iterator[str]:
    yield _write_frontmatter({"aliases": ["Memory"]})
    yield "# Index\n"
    for kind, titles in sorted(pages.kinds.items()):
        yield f"\n## {_escape(kind.capitalize()) or 'Things'}\n\n"
        yield from (f"- {pages.link(title)}\n" for _, title in sorted(titles, key=lambda entry: entry[1].casefold()))


def _write_frontmatter(values: dict[str, Any]) -> str:
    import yaml  # 20 ms, which other formats need not pay

    present = {name: value for name, value in values.items() if value not in ([], None)}
    return f"---\n{yaml.safe_dump(present, allow_unicode=True, sort_keys=False, width=1000)}---\n\n"


def _escape(text: str) -> str:
    """Text escaped for Markdown, on one line."""
    return _MARKS.sub(lambda match: f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}", " ".join(text.split()))


def _fold(name: str) -> str:
    """What two names have in common that some file system cannot tell apart."""
    return unicodedata.normalize("NFKD", " ".join(name.split())).casefold()
