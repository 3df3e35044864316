"""Notebooks of Jupyter: notes, code and output; a citation names the cell, counted from 1."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memory.nouns import Document
from plugins.readers import Unreadable
from plugins.readers.common.decode import text_of
from plugins.readers.common.laid_out import LaidOut
from plugins.readers.markup.markdown import first_heading

MAX_OUTPUT = 4000  # characters of the output of a cell; logs repeat themselves


def read(path: Path, data: bytes) -> list[Document]:
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
    """The texts that a cell printed, returned or failed with; pictures and HTML are skipped."""
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
