"""Converts a note without a file to JSON and back; its passages keep their hashes, to which decisions refer."""

from dataclasses import replace
from typing import Any

from memory.facts.rules.extract import extract_by_rules
from memory.facts.rules.fields import find_headings
from memory.ingest.chunk import Draft
from memory.ingest.draft import DocumentDraft
from memory.nouns import TOLD, Document, TurnStart
from memory.store import shared
from memory.store.connect import Connection
from memory.text import mentions as mention_rules
from memory.text.sentences import sentences
from memory.time.timestamps import from_wall, to_wall

FIELDS = ("kind", "reader", "ref", "conversation", "policy", "properties")


def pack_note(conn: Connection, source: int) -> dict[str, Any]:
    """Returns the note as JSON; times are ms of wall time, which is the same in every zone."""
    document = shared.read_document(conn, source)
    passages = [
        {
            "title": row.title, "text": row.text, "at": to_wall(row.at), "until": to_wall(row.until),
            "speaker": row.speaker, "refs": list(row.refs), "sha": sha, "line": row.line, "end_line": row.end_line,
            "turns": [[turn.start, turn.number, turn.speaker, to_wall(turn.at)] for turn in row.turns],
        }
        for row, sha in shared.read_passages(conn, source)
    ]  # fmt: skip
    fields = {name: getattr(document, name) for name in FIELDS}
    rest = {"at": to_wall(document.at), "tags": list(document.tags), "title": document.title}
    return {"uri": document.uri, "document": fields | rest, "passages": passages}


def draft_note(note: Any, rules: bool) -> DocumentDraft:
    """Drafts the note for a memory. `rules`: also extract facts by rules."""
    fields = dict(note["document"])
    at, tags, title = from_wall(fields.pop("at")), tuple(fields.pop("tags")), fields.pop("title")
    document = Document(note["uri"], title=title, at=at, tags=tags, **fields)
    passages = note["passages"]
    opening = passages[0]["text"] if passages else ""
    is_titled = not opening.startswith(title.rstrip("…")) and (document.reader != TOLD or bool(document.properties))
    drafts = tuple(
        _draft_passage(document, passage, number, is_titled, rules) for number, passage in enumerate(passages)
    )
    shared_mentions = tuple(mention_rules.property_mentions(document.properties))
    return DocumentDraft(document, title, drafts, shared_mentions, tuple(draft.sha256 for draft in drafts))


def _draft_passage(document: Document, passage: Any, number: int, is_titled: bool, rules: bool) -> Draft:
    text, title = passage["text"], passage["title"] if is_titled else ""
    turns = tuple(TurnStart(start, count, speaker, from_wall(at)) for start, count, speaker, at in passage["turns"])
    spans, at = tuple(sentences(text)), from_wall(passage["at"])
    draft = Draft(
        passage["title"], text, passage["line"], passage["end_line"], at, from_wall(passage["until"]),
        passage["speaker"], tuple(passage["refs"]), passage["sha"], spans,
        tuple(mention_rules.mentions(text, title, "columns" in document.properties)), turns=turns,
    )  # fmt: skip
    if not rules:
        return draft
    facts = extract_by_rules(
        text, title, at, passage["speaker"], document.properties, number == 0, chat=bool(turns), spans=spans,
        headings=find_headings(text, document.title or ""), typed=document.reader == TOLD,
    )  # fmt: skip
    return replace(draft, extraction=facts)
