"""Word and RTF: the text of a document; a citation names the paragraph; a table row counts as one. In Word all tracked
changes are accepted.

Elements are found by local names: "Strict Open XML" uses other namespaces."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from memory.nouns import Document
from memory.time.dates import parse_date
from plugins.readers import Unreadable
from plugins.readers.common import import_library
from plugins.readers.common.laid_out import LaidOut
from plugins.readers.office import attribute_of, find_date, name_of, open_package, parse_xml, read_relations

_WRAPPERS = frozenset("sdt sdtContent ins moveTo customXml smartTag AlternateContent Choice".split())
_REMOVED = frozenset("del moveFrom Fallback rPr pPr sectPr sdtPr instrText delText delInstrText".split())
_MARKS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_MATHS = {
    "f": "{num}/{den}", "sSup": "{e}^{sup}", "sSub": "{e}_{sub}", "sSubSup": "{e}_{sub}^{sup}", "rad": "{deg}√{e}",
    "nary": "{chr}_{sub}^{sup} {e}",
}  # fmt: skip
_REFERENCES = {"footnoteReference": "footnotes", "endnoteReference": "endnotes", "commentReference": "comments"}
_EDGES = ("headers", "footers")
_NO_TEXT = {"word/charts/chart": "charts", "word/embeddings/": "embedded files", "word/diagrams/data": "diagrams"}
_CELL_CHARS = 400  # a longer cell belongs to a layout table
_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
_LIST = re.compile(r"List (?:Bullet|Number)")


def read(path: Path, data: bytes) -> list[Document]:
    with open_package(data, "docx") as package:
        return [_Word(package).read()]


class _Word:
    """A document, its parts and the lines made from them."""

    def __init__(self, package: ZipFile) -> None:
        self._package = package
        self._text = LaidOut()
        self._number = 0
        self._in_list = False
        self._main = next((path for kind, path in read_relations(package, "").values() if kind == "officeDocument"), "")
        self._links = read_relations(package, self._main)
        self._styles = {attribute_of(style, "styleId"): style for style in self._read_part("styles")}
        self._asides = {
            (kind, attribute_of(aside, "id")): aside for kind in _REFERENCES.values() for aside in self._read_part(kind)
        }

    def read(self) -> Document:
        root = parse_xml(self._package.read(self._main))
        self._add_blocks(root)
        for kind in _EDGES:
            self._add_edges(kind.removesuffix("s"))
        names = self._package.namelist()
        for start, what in _NO_TEXT.items():
            if count := sum(name.startswith(start) for name in names):
                self._text.note(f"{what} were not read: {count}")
        core = "docProps/core.xml"
        stated = {name_of(field): field.text for field in parse_xml(self._package.read(core))} if core in names else {}
        at = find_date(parse_date(stated.get("modified") or stated.get("created") or ""))
        properties = {"author": stated.get("creator"), **{key: stated.get(key) for key in ("subject", "keywords")}}
        return self._text.close(stated.get("title") or None, at, properties)

    def _read_part(self, kind: str) -> Any:
        """Returns the root of the part of that kind, or () without one."""
        path = next((path for name, path in self._links.values() if name == kind), "")
        return parse_xml(self._package.read(path)) if path in self._package.namelist() else ()

    def _add_edges(self, kind: str) -> None:
        """Headers or footers, each text once, below the rest."""
        seen = set()
        for name, path in self._links.values():
            if name == kind and path in self._package.namelist():
                root = parse_xml(self._package.read(path))
                words = " ".join(self._collect_words(root).split())
                if words not in seen:
                    seen.add(words)
                    self._add_blocks(root)

    def _add_blocks(self, tree: Any) -> None:
        for block in _walk_children(tree):
            name = name_of(block)
            if name == "tbl":
                self._add_table(block)
            elif name == "p":
                self._add_paragraph(block)
            elif name == "altChunk":
                self._text.note("a part in another format was not read")
            else:
                self._add_blocks(block)

    def _add_paragraph(self, paragraph: Any) -> None:
        self._number += 1
        level, is_item = self._find_kind(paragraph)
        words = self._collect_words(paragraph)
        if self._in_list and not is_item:
            self._text.add("", self._number)
        if words.strip():
            self._text.add(f"- {words}" if is_item else words, self._number, level, apart=not is_item)
        self._in_list = is_item
        self._add_asides(paragraph)

    def _add_asides(self, tree: Any) -> None:
        """Adds text boxes, footnotes and comments below their paragraph; comments are quoted."""
        for child in _walk(tree):
            name = name_of(child)
            if name == "txbxContent":
                self._add_blocks(child)
            elif name in _REFERENCES and (
                aside := self._asides.pop((_REFERENCES[name], attribute_of(child, "id")), None)
            ):
                words = " ".join(self._collect_words(aside, "\n").split())
                is_comment = name == "commentReference"
                self._text.add(f"> {attribute_of(aside, 'author')}: {words}" if is_comment else words, self._number)

    def _add_table(self, table: Any) -> None:
        self._text.add("", self._number)
        above: dict[int, str] = {}
        for row in _walk_rows(table):
            cells = [cell for cell in _walk_children(row) if name_of(cell) == "tc"]
            words, column = [], 0
            for cell in cells:
                merge, span = _find(cell, "tcPr", "vMerge"), attribute_of(_find(cell, "tcPr", "gridSpan"), "val")
                is_below = merge is not None and attribute_of(merge, "val") != "restart"
                above[column] = above.get(column, "") if is_below else " ".join(self._collect_words(cell, "\n").split())
                words.append(above[column])
                column += int(span or 1)
            if max(map(len, words), default=0) > _CELL_CHARS or (
                len(cells) == 1 and _find(cells[0], "tbl") is not None
            ):
                for cell in cells:  # a layout table
                    self._add_blocks(cell)
                continue
            self._number += 1
            self._text.add(f"| {' | '.join(words)} |" if any(words) else "", self._number, apart=False)
            self._add_asides(row)
        self._text.add("", self._number)
        self._in_list = False

    def _collect_words(self, tree: Any, between: str = "") -> str:
        """Returns the text in an element without its boxes; links as Markdown, formulas in one line. `between`
        separates paragraphs."""
        parts = []
        for child in _walk_children(tree):
            name = name_of(child)
            if name == "t":
                parts.append(child.text or "")
            elif name in _MARKS:
                parts.append(_MARKS[name])
            elif name == "r" and _find(child, "rPr", "vanish") is not None:
                continue
            elif name in _MATHS:
                parts.append(self._write_formula(child))
            elif name == "ddList":
                parts.append(_find_choice(child))
            elif name == "d":
                begin, end = (_find(child, "dPr", f"{edge}Chr") for edge in ("beg", "end"))
                inner = "|".join(self._collect_words(side) for side in child if name_of(side) == "e")
                parts += [
                    "(" if begin is None else attribute_of(begin, "val"),
                    inner,
                    ")" if end is None else attribute_of(end, "val"),
                ]
            elif name == "hyperlink" and (words := self._collect_words(child)):
                url = self._links.get(attribute_of(child, "id"), ("", ""))[1]
                parts.append(f"[{words}]({url})" if words.strip() and url and words.strip() != url else words)
            elif name == "tbl":
                rows = (
                    ", ".join(self._collect_words(cell, " ").strip() for cell in _walk_children(row))
                    for row in _walk_rows(child)
                )
                parts.append(f"{'; '.join(rows)}{between}")
            elif name != "txbxContent":
                parts.append(self._collect_words(child, between))
                if name == "p":
                    parts.append(between)
        return "".join(parts)

    def _write_formula(self, tree: Any) -> str:
        """Returns a part of a formula in one line: (a + b)/2."""
        sides: defaultdict[str, str] = defaultdict(str)
        for side in tree:
            words = self._collect_words(side)
            sides[name_of(side)] = f"({words})" if re.search(r"[\s+*/−-]", words) else words
        sides["chr"] = attribute_of(_find(tree, "naryPr", "chr"), "val") or "∫"
        return _MATHS[name_of(tree)].format_map(sides)

    def _find_kind(self, paragraph: Any) -> tuple[int, bool]:
        """Returns (level of a heading in any language or 0, whether the paragraph is an item)."""
        own = _find(paragraph, "pPr")
        style_id = attribute_of(_find(own, "pStyle"), "val")
        is_item = attribute_of(_find(own, "numPr", "numId"), "val") not in ("", "0")
        outline = attribute_of(_find(own, "outlineLvl"), "val")
        for _ in range(10):  # a style can be based on itself
            style = self._styles.get(style_id)
            name = attribute_of(_find(style, "name"), "val")
            if (heading := _HEADING.fullmatch(name)) or name == "Title":
                return int(heading[1]) if heading else 1, False
            is_item = is_item or _LIST.match(name) is not None or _find(style, "pPr", "numPr") is not None
            outline = outline or attribute_of(_find(style, "pPr", "outlineLvl"), "val")
            style_id = attribute_of(_find(style, "basedOn"), "val")
        level = int(outline) + 1 if outline.isdecimal() and outline != "9" else 0
        return level, is_item and not level


def _walk_children(tree: Any) -> Iterator[Any]:
    """Yields the child elements after accepting all changes; wrappers are replaced by their children."""
    for child in tree:
        name = name_of(child)
        if name in _WRAPPERS:
            yield from _walk_children(child)
        elif name not in _REMOVED:
            yield child


def _walk(tree: Any) -> Iterator[Any]:
    """Yields the outermost boxes and the references below an element."""
    for child in _walk_children(tree):
        if name_of(child) == "txbxContent" or name_of(child) in _REFERENCES:
            yield child
        else:
            yield from _walk(child)


def _find_choice(choices: Any) -> str:
    """Returns the chosen entry of a list in a form."""
    entries = [attribute_of(entry, "val") for entry in choices if name_of(entry) == "listEntry"]
    number = attribute_of(_find(choices, "result"), "val") or attribute_of(_find(choices, "default"), "val") or "0"
    return entries[int(number)] if number.isdecimal() and int(number) < len(entries) else ""


def _walk_rows(table: Any) -> Iterator[Any]:
    return (row for row in _walk_children(table) if name_of(row) == "tr" and _find(row, "trPr", "del") is None)


def _find(tree: Any, *path: str) -> Any:
    """Returns the element at a path below another, or None."""
    for name in path:
        tree = next((child for child in tree if name_of(child) == name), None) if tree is not None else None
    return tree


_TITLE = re.compile(r"\{\\title ([^{}\\]{1,300})\}")
_WRITTEN = re.compile(r"\{\\(?:revtim|creatim)\\yr(\d{4})\\mo(\d{1,2})\\dy(\d{1,2})")
_ASIDE = re.compile(r"\{(?:\\\*)?\\(?:footnote|annotation|shptxt|header[lrf]?|footer[lrf]?)(?![a-z])")
_SHAPE = re.compile(r"\\shp(?![a-z])|\\\*\\shpinst(?![a-z])")
_UNSEEN = re.compile(  # a group of deleted or hidden text
    r"\{(?:\\\*?[a-z]{1,30}-?\d{0,9} ?){0,30}?\\(?:deleted|v)(?![a-z0-9])(?:\\[{}]|[^{}])*\}"
)
_HEAD = 64 * 1024  # characters in which the format is declared


def read_rtf(path: Path, data: bytes) -> list[Document]:
    if not data.startswith(b"{\\rtf"):
        raise Unreadable("not RTF")
    striprtf = import_library("striprtf.striprtf", "striprtf")
    written = data.decode("cp1252", "replace")
    text = LaidOut()
    seen = _SHAPE.sub("", _ASIDE.sub(r"{\\par ", _UNSEEN.sub("", written)))  # the library skips notes and edges
    for number, line in enumerate(striprtf.rtf_to_text(seen, errors="replace").split("\n"), 1):
        text.add(line, number)
    title = _TITLE.search(written, 0, _HEAD)
    days = ["-".join((year, month.zfill(2), day.zfill(2))) for year, month, day in _WRITTEN.findall(written[:_HEAD])]
    return [text.close(title[1] if title else None, parse_date(max(days)) if days else None)]
