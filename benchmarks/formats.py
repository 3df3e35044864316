"""Visible words that the readers bring back, per format: `python -m benchmarks.formats [--json]`.

Each document is made with its format's own library, or written by hand where there is none. Every word in it is unique:
visible words must come back, and words that nobody sees (deleted text, comments of a format, scripts) must not."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.samples import chats, markup, office, records
from benchmarks.samples.words import Words
from plugins import manager
from plugins.readers import documents

FORMATS: dict[str, tuple[str, Callable[[Words], bytes]]] = {
    "Word": ("a.docx", office.make_docx),
    "Word, strict": ("a.docx", lambda words: office.make_strict(office.make_docx(words))),
    "PowerPoint": ("a.pptx", office.make_pptx),
    "PowerPoint, strict": ("a.pptx", lambda words: office.make_strict(office.make_pptx(words))),
    "Excel": ("a.xlsx", office.make_xlsx),
    "Excel, strict": ("a.xlsx", lambda words: office.make_strict(office.make_xlsx(words))),
    "LibreOffice": ("a.odt", office.make_odt),
    "PDF": ("a.pdf", office.make_pdf),
    "RTF": ("a.rtf", office.make_rtf),
    "mail": ("a.eml", records.make_mail),
    "mail without a suffix": ("17", records.make_mail),
    "mailbox": ("a.mbox", lambda words: records.make_mail(words, is_mbox=True)),
    "calendar": ("a.ics", records.make_ics),
    "contacts": ("a.vcf", records.make_vcf),
    "CSV": ("a.csv", records.make_csv),
    "CSV with semicolons": ("a.csv", lambda words: records.make_csv(words, ";")),
    "Org": ("a.org", markup.make_org),
    "Logseq": ("pages/a.md", markup.make_logseq),
    "Markdown": ("a.md", markup.make_markdown),
    "HTML": ("a.html", markup.make_html),
    "JSON": ("a.json", records.make_json),
    "JSON lines": ("a.jsonl", records.make_jsonl),
    "YAML": ("a.yaml", records.make_yaml),
    "TOML": ("a.toml", records.make_toml),
    "Python": ("a.py", markup.make_python),
    "Go": ("a.go", markup.make_go),
    "notebook": ("a.ipynb", markup.make_notebook),
    "Messenger": ("message_1.json", chats.make_meta),
    "Telegram": ("result.json", chats.make_telegram),
    "Discord": ("general.json", chats.make_discord),
    "Slack": ("general/2026-03-04.json", chats.make_slack),
    "WhatsApp": ("a.txt", chats.make_whatsapp),
    "subtitles": ("a.srt", markup.make_subtitles),
    "BibTeX": ("a.bib", records.make_bibtex),
    "RIS": ("a.ris", records.make_ris),
}
"""{format: (name of a file, function that makes it)}."""


def measure(name: str, plugins: manager.Plugins) -> dict[str, Any]:
    """What comes back of a document of that format: counts of words, and the lost and leaked words."""
    file, make = FORMATS[name]
    words = Words()
    data = make(words)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        read = documents(plugins.reader_for(path, len(data)), path, data, path.stat())
    text = "\n".join(map(_show, read)).casefold()
    return {
        "format": name,
        "visible": len(words.shown),
        "lost": [word for word in words.shown if word.casefold() not in text],
        "hidden": len(words.hidden),
        "leaked": [word for word in words.hidden if word.casefold() in text],
    }


def _show(document: Any) -> str:
    """All that can be found of a document."""
    turns = (f"{turn.speaker}: {turn.text}" for turn in document.turns)
    return "\n".join(map(str, (document.title, document.text, *turns, *document.tags, *document.properties.values())))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.formats", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object per format, one a line")
    as_json = parser.parse_args().json
    plugins = manager.load()
    rows = [measure(name, plugins) for name in FORMATS]
    for row in rows:
        if as_json:
            print(json.dumps(row))
        else:
            back = row["visible"] - len(row["lost"])
            print(f"{row['format']:22} {back:4} of {row['visible']:4}  {' '.join((*row['lost'], *row['leaked']))}")
    if not as_json:
        visible, lost = sum(row["visible"] for row in rows), sum(len(row["lost"]) for row in rows)
        print(f"{'all':22} {visible - lost:4} of {visible:4}  {100 * (1 - lost / visible):.1f} %")


if __name__ == "__main__":
    main()
