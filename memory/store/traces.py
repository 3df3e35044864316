"""Traces: what each question did and what came of it."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any, NamedTuple

from memory.errors import NotFoundError
from memory.llm import NOTHING, Usage
from memory.nouns import Answer, ConversationState, Scope, Step, Trace, Visit
from memory.stages import FURTHER, AgentNote, ComposeNote, GuidedNote, ScopeNote, notes
from memory.store.connect import Connection
from memory.store.rows import (
    LISTED,
    citations_from_json,
    citations_to_json,
    id_list,
    insert_row,
    select_ids,
    to_json,
)
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
    said = answer or Answer("")
    row = {
        "t": now, "question": trace.question, "as_of": to_ms(plan.as_of), "plan": _plan_to_json(plan, said),
        "tier": tier, "ms": trace.ms, "llm_calls": calls, "tok_in": usage.read, "tok_out": usage.written,
        "parent_id": parent if parent is not None and exists(conn, parent) else None,
        "citations": citations_to_json(said.citations), "missing": to_json(said.missing),
    }  # fmt: skip
    if answer is not None:
        row |= {"answer": answer.text, "confidence": answer.confidence, "no_answer": answer.no_answer}
    id = insert_row(conn, "trace", **row)
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
    return id


def get(conn: Connection, id: int) -> Traced:
    """One trace, whole. NotFoundError."""
    query = f"SELECT {_ROW}, as_of, answer, citations, missing, confidence FROM trace WHERE id = ?"
    row = conn.execute(query, (id,)).fetchone()
    if row is None:
        raise NotFoundError(
            f"There is no trace {id}; it may have been forgotten with what it showed. Those that are kept: pal traces"
        )
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


def sum_up(conn: Connection, ids: Sequence[int]) -> ConversationState:
    """What the traces of a chat session's answers, in their order, come to; those that are gone count for nothing."""
    query = f"SELECT plan, as_of, llm_calls, tok_in + tok_out FROM trace WHERE id IN {LISTED} ORDER BY id"
    rows = conn.execute(query, (id_list(ids),)).fetchall()
    if not rows:
        return ConversationState()
    held = [_held(plan) for plan, *_ in rows]
    last = _plan(held[-1], rows[-1][1])
    model = next((one["model"] for one in reversed(held) if one.get("model")), "")
    return ConversationState(last.within, last.as_of, model, sum(row[2] for row in rows), sum(row[3] for row in rows))


def limits_of(plan: str | None, as_of: int | None) -> tuple[Scope | None, datetime | None, str]:
    """Of two columns of a trace: what part of the memory its question was limited to, as of when it was answered, and
    the model that wrote the answer, "" if none did."""
    held = _held(plan)
    asked = _plan(held, as_of)
    return asked.within, asked.as_of, held.get("model", "")


def is_whole(conn: Connection, trace: Trace, answer: Answer | None) -> bool:
    """Whether all is still there that a trace, which is yet to be stored, would show; else something of it has been
    forgotten since, and forgetting did not find it here."""
    nodes = {visit.node_id for visit in trace.visits}
    nodes |= {citation.episode_id for citation in answer.citations} if answer is not None else set()
    nodes |= {note.time.episode for note in notes(ScopeNote, trace.steps) if note.time and note.time.episode}
    (there,) = conn.execute(f"SELECT count(*) FROM node WHERE id IN {LISTED}", (id_list(nodes),)).fetchone()
    return bool(there == len(nodes))


def exists(conn: Connection, id: int) -> bool:
    """Whether there is such a trace: it goes with what it showed."""
    return conn.execute("SELECT 1 FROM trace WHERE id = ?", (id,)).fetchone() is not None


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


def list_questions(conn: Connection) -> list[tuple[int, str]]:
    """The ids of all traces, each with its question, by id."""
    return [(int(id), str(question)) for id, question in conn.execute("SELECT id, question FROM trace ORDER BY id")]


def count(conn: Connection) -> int:
    """How many there are."""
    return int(conn.execute("SELECT count(*) FROM trace").fetchone()[0])


_ROW = "id, t, question, no_answer, tier, llm_calls, tok_in, tok_out, ms, parent_id, feedback, plan"
_COLUMNS = 12


def _asked(row: tuple[Any, ...]) -> Asked:
    id, t, question, no_answer, tier, calls, read, written, ms, parent, feedback, plan = row
    refused = None if no_answer is None else bool(no_answer)
    held, verdict = _held(plan), opinion(feedback)
    model, agent = held.get("model", ""), held.get("agent", "")
    return Asked(
        id, from_ms(t), question, refused, tier or "R2", calls, read, written, ms, model, parent, verdict, agent
    )


def _held(plan: str | None) -> dict[str, Any]:
    """What the column `plan` holds; it is empty in a file of an earlier version."""
    held: dict[str, Any] = json.loads(plan) if plan else {}
    return held


def list_judged_by(conn: Connection, agent: str, since: int) -> list[int]:
    """The traces of an agent's questions of which something was said, since a time (ms UTC), by id."""
    query = "SELECT id FROM trace WHERE feedback IS NOT NULL AND plan ->> '$.agent' = ? AND t >= ? ORDER BY id"
    return select_ids(conn, query, agent, since)


def count_judged_by(conn: Connection) -> dict[str, int]:
    """Agent -> of how many answers to its questions something was said."""
    query = "SELECT plan ->> '$.agent' AS agent, count(*) FROM trace WHERE feedback IS NOT NULL AND agent IS NOT NULL"
    return dict(conn.execute(f"{query} GROUP BY agent").fetchall())


def _plan_to_json(plan: Plan, answer: Answer) -> str:
    held = asdict(plan) | {"as_of": None, "now": to_ms(plan.now), "model": answer.model, "note": answer.note}
    if plan.within is not None:
        held["within"] |= {"since": to_ms(plan.within.since), "until": to_ms(plan.within.until)}
    return json.dumps({name: value for name, value in held.items() if value not in ("", 0, None)})


def _plan(held: dict[str, Any], as_of: int | None) -> Plan:
    within = held.get("within")
    if within is not None:
        places = {name: tuple(within[name]) for name in ("sources", "folders", "tags")}
        since, until = from_ms(within["since"]), from_ms(within["until"])
        within = Scope(**places, conversation=within["conversation"], since=since, until=until)
    return Plan(
        from_ms(as_of), within, from_ms(held.get("now")), held.get("effort", "normal"), held.get("searched", ""),
        held.get("newest", 0), held.get("strategy", ""), held.get("agent", ""),
    )  # fmt: skip


def _steps(conn: Connection, id: int) -> tuple[Step, ...]:
    rows = conn.execute("SELECT stage, ms, detail FROM trace_step WHERE trace_id = ? ORDER BY step", (id,))
    return tuple(Step(stage, ms, json.loads(detail)) for stage, ms, detail in rows)


def _visits(conn: Connection, id: int) -> tuple[Visit, ...]:
    rows = conn.execute(
        "SELECT v.node_id, CASE n.kind WHEN 'E' THEN 'episode' WHEN 'T' THEN 'thesis' ELSE 'object' END,"
        " coalesce(n.label, c.body, ''), v.score, v.stage, v.status, v.parent_edge, v.depth,"
        " CASE v.node_id WHEN e.dst THEN e.src WHEN e.src THEN e.dst END, e.dst, ifnull(p.label, '')"
        " FROM trace_visit v JOIN node n ON n.id = v.node_id LEFT JOIN thesis_content c ON c.id = v.node_id"
        " LEFT JOIN edge e ON e.id = v.parent_edge LEFT JOIN predicate p ON p.id = e.pred_id"
        " WHERE v.trace_id = ? ORDER BY v.visit",
        (id,),
    )
    return tuple(
        replace(
            Visit(*row[:8]), parent=parent, relation=relation if parent else "", inverse=bool(parent) and end != row[0]
        )
        for row in rows
        for parent, end, relation in [row[8:]]
    )


def thin_out(conn: Connection, keep: int, before: int, limit: int) -> int:
    """Of questions before the newest `keep`, asked before a time (ms UTC), only that remains which something is learnt
    from, and by which forgetting finds them: the question and its vector, whether it was answered and what a person
    called that, which passages were cited, the edges that led to them; of an answer that was proved or judged its
    words, too. One that a model refused stays whole: it is not asked again. Thins out `limit` of them; returns how
    many."""
    old = id_list(select_ids(conn, _OLD, max(keep - 1, 0), before, limit))
    for table in ("trace_step", "trace_visit"):
        conn.execute(f"DELETE FROM {table} WHERE trace_id IN {LISTED}", (old,))
    conn.execute(
        f"DELETE FROM trace_edge WHERE trace_id IN {LISTED} AND role NOT IN ('cited', 'enhanced', 'penalised')", (old,)
    )
    shorter = "citations = (SELECT json_group_array({}) FROM json_each(t.citations))"
    conn.execute(f"UPDATE trace AS t SET {shorter.format(_NO_PASSAGE)} WHERE id IN {LISTED}", (old,))
    values = f"answer = NULL, {shorter.format(_ONLY_ID)}"
    conn.execute(f"UPDATE trace AS t SET {values} WHERE id IN {LISTED} AND NOT ({_TAUGHT})", (old,))
    conn.execute(f"UPDATE trace SET plan = json_set(ifnull(plan, '{{}}'), '$.thin', 1) WHERE id IN {LISTED}", (old,))
    # A row that became short keeps its page. Only those that are written anew move together.
    conn.execute("PRAGMA defer_foreign_keys = ON")  # in this transaction
    conn.execute(f"UPDATE trace SET id = -id WHERE id IN {LISTED}", (old,))
    conn.execute("UPDATE trace SET id = -id WHERE id < 0")
    return len(json.loads(old))


IS_WHOLE = "plan ->> 'thin' IS NULL"  # SQL: this trace was not thinned out
_OLD = f"""
SELECT id FROM trace WHERE id < (SELECT id FROM trace ORDER BY id DESC LIMIT 1 OFFSET ?) AND t < ? AND {IS_WHOLE}
 AND NOT (ifnull(no_answer, 0) = 1 AND ifnull(plan ->> 'model', '') <> '') ORDER BY id LIMIT ?
"""
_TAUGHT = """
t.feedback IS NOT NULL
 OR EXISTS (SELECT 1 FROM trace_edge e WHERE e.trace_id = t.id AND e.role IN ('enhanced', 'penalised'))
"""
_NO_PASSAGE = "json_remove(value, '$.passage')"
_ONLY_ID = "json_object('episode_id', value ->> 'episode_id')"


def set_feedback(conn: Connection, id: int, feedback: int | None) -> None:
    """What a person says of the answer: 1, -1, or None for nothing. NotFoundError."""
    if conn.execute("UPDATE trace SET feedback = ? WHERE id = ?", (feedback, id)).rowcount == 0:
        raise NotFoundError(
            f"There is no trace {id}; it may have been forgotten with what it showed. Those that are kept: pal traces"
        )
