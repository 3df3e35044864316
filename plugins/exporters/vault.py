"""A folder of Markdown that Obsidian opens: a page for each person, place and thing, with what is known of it now, how
that changed, where it is told, and links to the others.

Text of notes stands in it as it was written: nothing in it links, tags or embeds anything.
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
UNSEEN = ("Cf", "Co", "Cs")  # categories of characters that nobody sees, or that are none
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
                yield Part(f"{name}.md", "".join(_page(fields, pages)).encode("utf-8", "replace"))
        elif line.kind == LAST:
            yield Part(f"{INDEX}.md", "".join(_index(pages)).encode("utf-8", "replace"))


class Pages:
    """What the pages are called. A thing keeps the name of its page as long as it is there, whatever comes later."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._page_of: dict[str, int] = {}
        self._taken = {_fold(INDEX)}
        self.kinds: dict[str, list[tuple[str, str]]] = {}

    def add(self, thing: dict[str, Any]) -> None:
        """A thing: it has a page of its own, or is told of on another one's."""
        if thing["page"] == thing["id"]:
            name = make_name(thing["name"]) or f"Object {thing['id']}"
            if _fold(name) in self._taken:
                name = f"{name} ({thing['id']})"
            self._taken.add(_fold(name))
            self._names[thing["id"]] = name
            self.kinds.setdefault(thing["kind"], []).append((name, thing["name"]))
        for title in (thing["name"], *thing["names"]) if thing["page"] else ():
            self._page_of.setdefault(_fold(title), thing["page"])

    def name_of(self, id: int) -> str | None:
        return self._names.get(id)

    def has(self, title: str) -> bool:
        """Whether there is a page of what is called so."""
        return self._page_of.get(_fold(title), 0) in self._names

    def link(self, title: str) -> str:
        """A link to the page of what is called so, or its name alone where it has none."""
        name = self._names.get(self._page_of.get(_fold(title), 0))
        if name is None:
            return _plain(title)
        label = re.sub(r"[\[\]|\s]+", " ", title).strip()
        return f"[[{name}]]" if label == name else f"[[{name}|{label}]]"


def make_name(title: str) -> str:
    """The name of a file for a title, on every file system; "" if nothing of it can stand in one."""
    seen = (one for one in unicodedata.normalize("NFC", title) if unicodedata.category(one) not in UNSEEN)
    name = " ".join(_FORBIDDEN.sub(" ", "".join(seen)).split())
    name = name.encode("utf-8", "replace")[:MAX_NAME_BYTES].decode("utf-8", "ignore").strip(". ")
    return f"{name}_" if _DEVICES.fullmatch(name) else name


def _page(of: dict[str, Any], pages: Pages) -> Iterator[str]:
    others = [name for name in of["names"] if name != of["name"]]
    yield _frontmatter(
        {"aliases": others, "facts": len(of["facts"]), "notes": of["notes_total"], "palimpsest": of["id"]}
    )
    yield f"# {_plain(of['name'])}\n"
    if of["facts"]:
        yield "\n## Now\n\n"
        yield from (f"- {_fact(fact, of, pages)}\n" for fact in of["facts"])
    if timeline := list(_timeline(of["strands"], of, pages)):
        yield "\n## Timeline\n\n"
        yield from timeline
    if of["notes"]:
        yield "\n## Told in\n"
        yield from map(_mention, of["notes"])
        if (more := of["notes_total"] - len(of["notes"])) > 0:
            yield f"\nand in {more:,} more.\n"
    own = {_fold(name) for name in (of["name"], *of["names"])}
    if beside := [one for one in of["neighbours"] if pages.has(one["name"]) and _fold(one["name"]) not in own]:
        yield "\n## Beside\n\n"
        yield from (f"- {_neighbour(one, pages)}\n" for one in beside)


def _fact(fact: dict[str, Any], of: dict[str, Any], pages: Pages) -> str:
    """`phone: 0161 496 07, since 2026-03-09 ([Ozzie](...), line 4)`."""
    when = f", since {fact['since']}" if fact["since"] else f", until {fact['until']}" if fact["until"] else ""
    return f"{_value(fact, of, pages)}{when} ({_place(fact['uri'], fact['title'], fact['line'])})"


def _value(fact: dict[str, Any], of: dict[str, Any], pages: Pages) -> str:
    if not fact["predicate"]:
        return _plain(fact["text"])
    called = {_fold(name) for name in (of["name"], *of["names"])}
    subject, value = fact["objects"][0], fact["objects"][-1]
    about = "" if _fold(subject) in called else f"{pages.link(subject)} "
    meant = "" if fact["modality"] == "asserted" else f" ({fact['modality']})"
    return f"{about}**{_plain(fact['predicate'])}**: {pages.link(value)}{meant}"


def _timeline(strands: Iterable[dict[str, Any]], of: dict[str, Any], pages: Pages) -> Iterator[str]:
    """Values of what changed at all, by time."""
    changed = [one for one in strands if len(one["values"]) > 1 or any(value["ended"] for value in one["values"])]
    values = [value for one in changed for value in one["values"]]
    for value in sorted(values, key=lambda value: (_began(value["fact"]), value["fact"]["id"])):
        fact, ended = value["fact"], value["ended"]
        until = f" to {fact['until']}" if fact["until"] else ""
        why = f"; {_plain(ended['reason'])}" if ended and ended["reason"] else ""
        where = _place(fact["uri"], fact["title"], fact["line"])
        yield f"- {_began(fact)}{until}: {_value(fact, of, pages)} ({where}{why})\n"


def _began(fact: dict[str, Any]) -> str:
    return str(fact["since"] or (fact["valid_from"] or fact["recorded"])[:10])


def _mention(of: dict[str, Any]) -> str:
    day = f", {of['at'][:10]}" if of["at"] else ""
    text = _plain(of["quote"]) if of["quote"].strip() else "…"
    return f"\n> {text}\n> — {_place(of['uri'], of['title'], of['line'])}{day}\n"


def _neighbour(of: dict[str, Any], pages: Pages) -> str:
    name = pages.link(of["name"])
    if not of["relation"]:
        return f"{name} (in {of['passages']:,} {'passage' if of['passages'] == 1 else 'passages'})"
    relation = _plain(of["relation"])
    return f"{relation} → {name}" if of["forward"] else f"{name} → {relation}"


def _place(uri: str, title: str, line: int | None) -> str:
    """A link to the note, where it is a file."""
    file, _, _ = uri.partition("#")
    label = _plain(title or PurePosixPath(uri).name or uri)
    where = f"[{label}](<file://{quote(file)}>)" if PurePosixPath(file).is_absolute() else label
    return f"{where}, line {line}" if line is not None and "#" not in uri else where


def _index(pages: Pages) -> Iterator[str]:
    yield _frontmatter({"aliases": ["Memory"]})
    yield "# Index\n"
    for kind, found in sorted(pages.kinds.items()):
        yield f"\n## {_plain(kind.capitalize()) or 'Things'}\n\n"
        yield from (f"- {pages.link(title)}\n" for _, title in sorted(found, key=lambda one: one[1].casefold()))


def _frontmatter(values: dict[str, Any]) -> str:
    import yaml  # 20 ms, which other formats need not pay

    given = {name: value for name, value in values.items() if value not in ([], None)}
    return f"---\n{yaml.safe_dump(given, allow_unicode=True, sort_keys=False, width=1000)}---\n\n"


def _plain(text: str) -> str:
    """Text on one line that Markdown reads as it stands."""
    return _MARKS.sub(lambda match: f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}", " ".join(text.split()))


def _fold(name: str) -> str:
    """What two names have in common that some file system cannot tell apart."""
    return unicodedata.normalize("NFKD", " ".join(name.split())).casefold()
