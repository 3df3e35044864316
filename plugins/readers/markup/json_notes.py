"""Notes that a program keeps as JSON: canvases of Obsidian, notebooks of Jupyter."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from memory.nouns import Document
from plugins.readers import Unreadable
from plugins.readers.common.decode import text_of
from plugins.readers.common.laid_out import LaidOut
from plugins.readers.markup import first_heading, open_callouts

_ITEM = re.compile(r'\{[^{}]*?"id"\s*:\s*"([^"\\]*)"')
MAX_CARD_NAME = 60  # characters of a card's first line that name it in an arrow
MAX_OUTPUT = 4000  # characters of the output of a cell; logs repeat themselves


def read_canvas(path: Path, data: bytes) -> list[Document]:
    """Cards of text, notes, pages and names of groups, and arrows between them. A citation names the line on which the
    card or arrow begins."""
    text = text_of(data)
    try:
        canvas = json.loads(text)
    except ValueError as error:
        raise Unreadable(f"not a valid canvas: {error}") from error
    if not isinstance(canvas, Mapping):
        raise Unreadable("not a canvas of Obsidian")
    cards = [node for node in _list_items(canvas, "nodes") if isinstance(node.get("id"), str)]
    places = _find_places(text)
    names = {node["id"]: _name_card(node) for node in cards}
    out = LaidOut()
    line = 1
    for card in cards:
        line = max(line, places.get(card["id"], line))
        if words := _read_card(card):
            out.add(words, line)
    arrows = [*_write_arrows(_list_items(canvas, "edges"), names)]
    if arrows:
        out.add("Arrows", max(line, places.get(arrows[0][0], line)), level=2)
    for own_id, words in arrows:
        line = max(line, places.get(own_id, line))
        out.add(words, line, apart=False)
    return [out.close(path.stem)]


def _list_items(canvas: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    items = canvas.get(key)
    return [item for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []


def _find_places(text: str) -> dict[str, int]:
    """Returns the first line of each card and arrow, by its id."""
    places: dict[str, int] = {}
    line, end = 1, 0
    for item in _ITEM.finditer(text):
        line, end = line + text.count("\n", end, item.start()), item.start()
        places.setdefault(item[1], line)
    return places


def _read_card(card: Mapping[str, Any]) -> str:
    """Returns the text of a card, the name of a group, or a link to a note or page."""
    kind = card.get("type")
    if kind == "group":
        return _get_string(card, "label")
    if kind == "text":
        return open_callouts(_get_string(card, "text"))
    if kind == "file" and (file := _get_string(card, "file")):
        return f"[[{_name_note(file)}{_get_string(card, 'subpath')}]]"
    return _get_string(card, "url") if kind == "link" else ""


def _name_note(file: str) -> str:
    """Returns the name of a note in a wikilink."""
    path = PurePosixPath(file)
    return path.stem if path.suffix.lower() in (".md", ".canvas") else path.name


def _name_card(card: Mapping[str, Any]) -> str:
    """Returns the name of a card in an arrow."""
    first = next((line for line in _read_card(card).split("\n") if line.strip("#*->[] \t")), "")
    bare = first.strip().lstrip("#").strip().replace("**", "").strip("*")
    return bare if len(bare) <= MAX_CARD_NAME else bare[:MAX_CARD_NAME].rsplit(" ", 1)[0] + "…"


def _write_arrows(edges: Iterable[Mapping[str, Any]], names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yields (id, words) of each arrow between named cards."""
    for edge in edges:
        start, end = (names.get(_get_string(edge, key), "") for key in ("fromNode", "toNode"))
        if start and end:
            label = _get_string(edge, "label")
            yield _get_string(edge, "id"), f"- {start} → {label} → {end}" if label else f"- {start} → {end}"


def _get_string(card: Mapping[str, Any], key: str) -> str:
    value = card.get(key)
    return value.strip() if isinstance(value, str) else ""


def read_notebook(path: Path, data: bytes) -> list[Document]:
    """Notes, code and output; a citation names the cell, counted from 1."""
    try:
        notebook = json.loads(text_of(data))
    except ValueError as error:
        raise Unreadable(f"not a valid notebook: {error}") from error
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise Unreadable("not a notebook of version 4 or newer: open it in Jupyter and save it")
    text = LaidOut()
    heading = None
    for number, cell in enumerate(cells, 1):
        if not isinstance(cell, dict) or not (source := _join_parts(cell.get("source")).strip()):
            continue
        if cell.get("cell_type") == "code":
            text.add(_fence(source, _find_language(notebook)), number)
            for printed in _list_outputs(cell):
                text.add(_fence(printed), number)
        else:
            heading = heading or first_heading(source)
            text.add(source, number)
    return [text.close(heading)]


def _list_outputs(cell: dict[str, Any]) -> Iterator[str]:
    """Yields the texts that a cell printed, returned or failed with; pictures and HTML are skipped."""
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        if not isinstance(output, dict):
            continue
        data = output.get("data")
        shown = output.get("text") or (data.get("text/plain") if isinstance(data, dict) else None)
        if output.get("output_type") == "error":
            shown = f"{output.get('ename')}: {output.get('evalue')}"
        if words := _join_parts(shown).strip():
            yield words[:MAX_OUTPUT]


def _join_parts(value: Any) -> str:
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


def _fence(text: str, language: str = "") -> str:
    mark = "```"
    while mark in text:
        mark += "`"
    return f"{mark}{language}\n{text}\n{mark}"


def _find_language(notebook: dict[str, Any]) -> str:
    metadata = notebook.get("metadata")
    kernel = metadata.get("kernelspec") if isinstance(metadata, dict) else None
    language = kernel.get("language") if isinstance(kernel, dict) else None
    return language if isinstance(language, str) and language.isalnum() else ""
