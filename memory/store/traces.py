"""Traces: what each question did and what came of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any, NamedTuple

from memory.errors import NotFoundError
from memory.llm import NOTHING, Usage
from memory.nouns import Answer, Scope, Step, Trace, Visit
from memory.stages import (
    FURTHER,
    TEXT_ONLY,
    UNKNOWN,
    AgentNote,
    ComposeNote,
    GuidedNote,
    RankNote,
    RouteNote,
    ScopeNote,
    notes,
)
from memory.store.connect import Connection
from memory.store.rows import citations_from_json, citations_to_json, id_list, to_json
from memory.time.timestamps import from_ms, to_ms
from memory.trace import PLAIN, Asked, Plan, Traced, opinion

REFUSALS = 20  # of one question that are looked at


class Refused(NamedTuple):
    """A refusal: which model, when, whether it looked `further` than what was found first; the fingerprints of the
    `requests` for an answer, and what it called `missing`."""

    model: str
    at: datetime
    further: bool
    requests: frozenset[str]
    missing: tuple[str, ...]


class Outcome(NamedTuple):
    """What a question came to, in node ids: the objects it named, the episodes shown and those cited, each once.

    `text_only` are the shown episodes that the graph alone would not have shown, None where the trace does not tell:
    it is of a version that did not note it, or broke off before. `tokens` of all model calls; `unknown` are the names
    in the question that nothing is known by, as they stand there.
    """

    id: int
    question: str
    no_answer: bool
    ms: float
    llm_calls: int = 0
    tokens: int = 0
    seeds: tuple[int, ...] = ()
    shown: tuple[int, ...] = ()
    cited: tuple[int, ...] = ()
    text_only: tuple[int, ...] | None = None
    unknown: tuple[str, ...] = ()


def store(
    conn: Connection,
    trace: Trace,
    answer: Answer | None,
    now: int,
    plan: Plan = PLAIN,
    calls: int = 0,
    usage: Usage = NOTHING,
    tier: str | None = None,
    parent: int | None = None,
) -> int:
    """Keeps a trace with the answer it led to, if it did, how it was asked, and what models took for it; returns its
    id. A `parent` that is no longer there is left out."""
    (id,) = conn.execute(
        "INSERT INTO trace(t, question, as_of, plan, tier, ms, llm_calls, tok_in, tok_out, parent_id)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT id FROM trace WHERE id = ?)) RETURNING id",
        (
            now,
            trace.question,
            to_ms(plan.as_of),
            _plan_to_json(plan, answer),
            tier,
            trace.ms,
            calls,
            usage.read,
            usage.written,
            parent,
        ),
    ).fetchone()
    if answer is not None:
        conn.execute(
            "UPDATE trace SET answer = ?, citations = ?, missing = ?, confidence = ?, no_answer = ? WHERE id = ?",
            (
                answer.text,
                citations_to_json(answer.citations),
                to_json(answer.missing),
                answer.confidence,
                answer.no_answer,
                id,
            ),
        )
    conn.executemany(
        "INSERT INTO trace_step(trace_id, step, stage, detail, ms) VALUES (?, ?, ?, ?, ?)",
        [(id, n, step.name, to_json(dict(step.detail)), step.ms) for n, step in enumerate(trace.steps)],
    )
    conn.executemany(
        "INSERT INTO trace_visit(trace_id, visit, node_id, stage, parent_edge, depth, score, status)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (id, n, visit.node_id, visit.stage, visit.parent_edge, visit.depth, float(visit.score), visit.status)
            for n, visit in enumerate(trace.visits)
        ],
    )
    return int(id)


def get(conn: Connection, id: int) -> Traced:
    """One trace, whole. NotFoundError."""
    row = conn.execute(
        f"SELECT {_ROW}, as_of, answer, citations, missing, confidence FROM trace WHERE id = ?", (id,)
    ).fetchone()
    if row is None:
        raise NotFoundError(f"There is no trace {id}; it may have been forgotten with what it showed.")
    asked, held = _asked(row[:_COLUMNS]), _held(row[_COLUMNS - 1])
    as_of, text, citations, missing, confidence = row[_COLUMNS:]
    answer = None
    if text is not None:
        answer = Answer(
            text, citations_from_json(citations), bool(asked.no_answer), tuple(json.loads(missing)), id, confidence,
            asked.model, held.get("note", ""),
        )  # fmt: skip
    trace = Trace(asked.question, _steps(conn, id), _visits(conn, id), id)
    return Traced(asked, _plan(held, as_of), trace, answer)


def is_whole(conn: Connection, trace: Trace, answer: Answer | None) -> bool:
    """Whether all is still there that a trace, which is yet to be stored, would show; else something of it has been
    forgotten since, and forgetting did not find it here."""
    nodes = {visit.node_id for visit in trace.visits}
    nodes |= {citation.episode_id for citation in answer.citations} if answer is not None else set()
    nodes |= {note.time.episode for note in notes(ScopeNote, trace.steps) if note.time and note.time.episode}
    (there,) = conn.execute(
        "SELECT count(*) FROM node WHERE id IN (SELECT value FROM json_each(?))", (id_list(nodes),)
    ).fetchone()
    return bool(there == len(nodes))


def exists(conn: Connection, id: int) -> bool:
    """Whether there is such a trace: it goes with what it showed."""
    return conn.execute("SELECT 1 FROM trace WHERE id = ?", (id,)).fetchone() is not None


def newest(conn: Connection) -> int | None:
    """The id of the newest trace; None if there is none."""
    row = conn.execute("SELECT id FROM trace ORDER BY id DESC LIMIT 1").fetchone()
    return None if row is None else int(row[0])


def list_refusals(conn: Connection, question: str, plan: Plan) -> tuple[Refused, ...]:
    """How this very question was refused by a model before, with nothing more to look at than there is now, the newest
    first, unless a model that failed broke the search off; none of it once somebody has called one of them wrong. Of
    the newest REFUSALS."""
    rows = conn.execute(
        "SELECT id, t, tier, missing, plan, as_of FROM trace WHERE question = :question AND no_answer = 1"
        " AND NOT EXISTS (SELECT 1 FROM trace WHERE question = :question AND no_answer = 1 AND feedback < 0)"
        " ORDER BY id DESC LIMIT :most",
        {"question": question, "most": REFUSALS},
    ).fetchall()
    found = []
    for id, t, tier, missing, held, as_of in rows:
        of = _held(held)
        if of.get("model") and replace(_plan(of, as_of), now=plan.now) == plan:
            steps = _steps(conn, id)
            guided, agent = notes(GuidedNote, steps), notes(AgentNote, steps)
            if any(note.broke for note in guided) or any(note.broke for note in agent):
                continue
            requests = frozenset(note.request for note in notes(ComposeNote, steps) if note.request)
            further = tier in FURTHER
            found.append(Refused(of["model"], from_ms(t), further, requests, tuple(json.loads(missing))))
    return tuple(found)


def list_traces(conn: Connection, limit: int = 50, offset: int = 0) -> list[Asked]:
    """The newest first."""
    rows = conn.execute(f"SELECT {_ROW} FROM trace ORDER BY id DESC LIMIT ? OFFSET ?", (limit, offset))
    return [_asked(row) for row in rows]


def count(conn: Connection) -> int:
    """How many there are."""
    (number,) = conn.execute("SELECT count(*) FROM trace").fetchone()
    return int(number)


def outcomes(conn: Connection, limit: int) -> list[Outcome]:
    """What the newest `limit` questions that were answered or refused came to, the newest first."""
    rows = conn.execute(
        "SELECT id, question, no_answer, ms, llm_calls, tok_in + tok_out,"
        " (SELECT json_group_array(value ->> 'episode_id') FROM json_each(citations))"
        " FROM trace WHERE no_answer IS NOT NULL ORDER BY id DESC LIMIT ?",
        (limit,),
    ).fetchall()
    listed = id_list(row[0] for row in rows)
    seeds: dict[int, list[int]] = {}
    shown: dict[int, list[int]] = {}
    for id, node, stage in conn.execute(
        "SELECT trace_id, node_id, stage FROM trace_visit WHERE trace_id IN (SELECT value FROM json_each(?))"
        " AND (stage = 'rank' OR stage = 'seed' AND status = 'seed') ORDER BY trace_id, visit",
        (listed,),
    ):
        (seeds if stage == "seed" else shown).setdefault(id, []).append(node)
    text_only = dict(
        conn.execute(
            f"SELECT trace_id, detail -> '{TEXT_ONLY}' FROM trace_step"
            f" WHERE stage = '{RankNote.stage}' AND trace_id IN (SELECT value FROM json_each(?))",
            (listed,),
        ).fetchall()
    )
    unknown = dict(
        conn.execute(
            f"SELECT trace_id, detail -> '{UNKNOWN}' FROM trace_step WHERE stage = '{RouteNote.stage}'"
            f" AND detail -> '{UNKNOWN}' IS NOT NULL AND trace_id IN (SELECT value FROM json_each(?)) ORDER BY step",
            (listed,),
        ).fetchall()
    )
    return [
        Outcome(
            id, question, bool(no_answer), ms, calls, tokens,
            _each_once(seeds.get(id, [])), _each_once(shown.get(id, [])), _each_once(json.loads(cited)),
            _each_once(json.loads(text_only[id])) if text_only.get(id) else None,
            tuple(json.loads(unknown.get(id, "[]"))),
        )
        for id, question, no_answer, ms, calls, tokens, cited in rows
    ]  # fmt: skip


_ROW = "id, t, question, no_answer, tier, llm_calls, tok_in, tok_out, ms, parent_id, feedback, plan"
_COLUMNS = 12


def _asked(row: tuple[Any, ...]) -> Asked:
    id, t, question, no_answer, tier, calls, read, written, ms, parent, feedback, plan = row
    list_refusals = None if no_answer is None else bool(no_answer)
    model = _held(plan).get("model", "")
    return Asked(
        id, from_ms(t), question, list_refusals, tier or "R2", calls, read, written, ms, model, parent,
        opinion(feedback),
    )  # fmt: skip


def _held(plan: str | None) -> dict[str, Any]:
    """What the column `plan` holds; it is empty in a file of an earlier version."""
    held: dict[str, Any] = json.loads(plan) if plan else {}
    return held


def _plan_to_json(plan: Plan, answer: Answer | None) -> str:
    within = plan.within
    held = {
        "effort": plan.effort,
        "now": to_ms(plan.now),
        "searched": plan.searched,
        "newest": plan.newest,
        "strategy": plan.strategy,
        "within": within and asdict(within) | {"since": to_ms(within.since), "until": to_ms(within.until)},
        "model": answer.model if answer else "",
        "note": answer.note if answer else "",
    }
    return json.dumps({name: value for name, value in held.items() if value not in ("", 0, None)})


def _plan(held: dict[str, Any], as_of: int | None) -> Plan:
    within = held.get("within")
    if within is not None:
        places = {name: tuple(within[name]) for name in ("sources", "folders", "tags")}
        since, until = from_ms(within["since"]), from_ms(within["until"])
        within = Scope(**places, conversation=within["conversation"], since=since, until=until)
    return Plan(
        from_ms(as_of), within, from_ms(held.get("now")), held.get("effort", "normal"), held.get("searched", ""),
        held.get("newest", 0), held.get("strategy", ""),
    )  # fmt: skip


def _each_once(ids: Sequence[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(ids))


def _steps(conn: Connection, id: int) -> tuple[Step, ...]:
    rows = conn.execute("SELECT stage, ms, detail FROM trace_step WHERE trace_id = ? ORDER BY step", (id,))
    return tuple(Step(stage, ms, json.loads(detail)) for stage, ms, detail in rows)


def _visits(conn: Connection, id: int) -> tuple[Visit, ...]:
    rows = conn.execute(
        "SELECT v.node_id, CASE n.kind WHEN 'E' THEN 'episode' WHEN 'T' THEN 'thesis' ELSE 'object' END,"
        " coalesce(n.label, c.body, ''), v.score, v.stage, v.status, v.parent_edge, v.depth"
        " FROM trace_visit v JOIN node n ON n.id = v.node_id LEFT JOIN thesis_content c ON c.id = v.node_id"
        " WHERE v.trace_id = ? ORDER BY v.visit",
        (id,),
    )
    return tuple(Visit(*row) for row in rows)


def set_feedback(conn: Connection, id: int, feedback: int | None) -> None:
    """What a person says of the answer: 1, -1, or None for nothing. NotFoundError."""
    if conn.execute("UPDATE trace SET feedback = ? WHERE id = ?", (feedback, id)).rowcount == 0:
        raise NotFoundError(f"There is no trace {id}; it may have been forgotten with what it showed.")
