"""Traces: the course and the outcome of each question."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any, NamedTuple

from memory.errors import NotFoundError
from memory.llm import NOTHING, Usage
from memory.nouns import Answer, Scope, Step, Trace, Visit
from memory.stages import TEXT_ONLY, UNKNOWN, RankNote, RouteNote
from memory.store.connect import (
    LISTED,
    Connection,
    citations_from_json,
    citations_to_json,
    group_rows,
    id_list,
    insert_row,
    read_column,
    read_value,
    to_json,
)
from memory.time.timestamps import from_ms, to_ms
from memory.trace import PLAIN, AskedQuestion, Plan, StoredTrace, opinion


def store(
    conn: Connection,
    trace: Trace,
    answer: Answer | None,
    now: int,
    plan: Plan = PLAIN,
    calls: int = 0,
    usage: Usage = NOTHING,
    tier: str | None = None,
    id: int | None = None,
) -> int:
    """Stores a trace with its answer, plan, model calls and usage; returns its id, by default a new one."""
    given = answer or Answer("")
    row = {
        "id": id, "t": now, "question": trace.question, "as_of": to_ms(plan.as_of), "plan": _plan_to_json(plan, given),
        "tier": tier, "ms": trace.ms, "llm_calls": calls, "tok_in": usage.read, "tok_out": usage.written,
        "citations": citations_to_json(given.citations), "missing": to_json(given.missing),
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


def get(conn: Connection, id: int) -> StoredTrace:
    """Returns a complete trace. NotFoundError."""
    query = f"SELECT {_ROW}, as_of, answer, citations, missing, confidence FROM trace WHERE id = ?"
    row = conn.execute(query, (id,)).fetchone()
    if row is None:
        raise _make_error(id)
    asked, plan_fields = _make_asked(row[:_COLUMNS]), _parse_plan(row[_COLUMNS - 1])
    as_of, text, citations, missing, confidence = row[_COLUMNS:]
    answer = None
    if text is not None:
        answer = Answer(
            text, citations_from_json(citations), bool(asked.no_answer), tuple(json.loads(missing)), id, confidence,
            asked.model, plan_fields.get("note", ""),
        )  # fmt: skip
    return StoredTrace(asked, _make_plan(plan_fields, as_of), _list_steps(conn, id), _list_visits(conn, id), answer)


def limits_of(plan: str | None, as_of: int | None) -> tuple[Scope | None, datetime | None, str]:
    """Returns (scope, as of, model of the answer or "") from two columns of a trace."""
    plan_fields = _parse_plan(plan)
    asked = _make_plan(plan_fields, as_of)
    return asked.within, asked.as_of, plan_fields.get("model", "")


def is_whole(conn: Connection, trace: Trace, answer: Answer | None) -> bool:
    """Whether all that a new trace shows still exists; otherwise something was forgotten meanwhile, and forgetting
    could not remove it from this trace."""
    nodes = {visit.node_id for visit in trace.visits}
    nodes |= {citation.episode_id for citation in answer.citations} if answer is not None else set()
    (number,) = conn.execute(f"SELECT count(*) FROM node WHERE id IN {LISTED}", (id_list(nodes),)).fetchone()
    return bool(number == len(nodes))


def exists(conn: Connection, id: int) -> bool:
    """Whether the trace exists: it is forgotten with what it showed."""
    return read_value(conn, "SELECT 1 FROM trace WHERE id = ?", id) is not None


def list_traces(conn: Connection, limit: int = 50, offset: int = 0) -> list[AskedQuestion]:
    """Lists traces, newest first."""
    rows = conn.execute(f"SELECT {_ROW} FROM trace ORDER BY id DESC LIMIT ? OFFSET ?", (limit, offset))
    return [_make_asked(row) for row in rows]


def list_questions(conn: Connection) -> list[tuple[int, str]]:
    """Returns (id, question) of all traces, by id."""
    return [(int(id), str(question)) for id, question in conn.execute("SELECT id, question FROM trace ORDER BY id")]


def find_last(conn: Connection) -> int:
    """Returns the highest id that a trace has ever had, 0 before the first."""
    return int(read_value(conn, "SELECT seq FROM sqlite_sequence WHERE name = 'trace'") or 0)


def count(conn: Connection) -> int:
    """Returns the number of traces."""
    return int(read_value(conn, "SELECT count(*) FROM trace"))


_ROW = "id, t, question, no_answer, tier, llm_calls, tok_in, tok_out, ms, feedback, plan"
_COLUMNS = 11


def _make_asked(row: tuple[Any, ...]) -> AskedQuestion:
    id, t, question, no_answer, tier, calls, read, written, ms, feedback, plan = row
    refused = None if no_answer is None else bool(no_answer)
    fields, verdict = _parse_plan(plan), opinion(feedback)
    model, agent = fields.get("model", ""), fields.get("agent", "")
    return AskedQuestion(
        id, from_ms(t), question, refused, tier or "R2", calls, read, written, ms, model, verdict, agent
    )


def _parse_plan(plan: str | None) -> dict[str, Any]:
    """Returns the contents of the column `plan`; empty in older files."""
    fields: dict[str, Any] = json.loads(plan) if plan else {}
    return fields


def list_judged_by(conn: Connection, agent: str, since: int) -> list[int]:
    """Returns the traces of an agent's questions judged since a time (ms UTC), by id."""
    query = "SELECT id FROM trace WHERE feedback IS NOT NULL AND plan ->> '$.agent' = ? AND t >= ? ORDER BY id"
    return read_column(conn, query, agent, since)


def count_judged_by(conn: Connection) -> dict[str, int]:
    """Returns {agent: number of its questions with a judged answer}."""
    query = "SELECT plan ->> '$.agent' AS agent, count(*) FROM trace WHERE feedback IS NOT NULL AND agent IS NOT NULL"
    return dict(conn.execute(f"{query} GROUP BY agent").fetchall())


def _plan_to_json(plan: Plan, answer: Answer) -> str:
    fields = asdict(plan) | {"as_of": None, "now": to_ms(plan.now), "model": answer.model, "note": answer.note}
    if plan.within is not None:
        fields["within"] |= {"since": to_ms(plan.within.since), "until": to_ms(plan.within.until)}
    return json.dumps({name: value for name, value in fields.items() if value not in ("", 0, None)})


def _make_plan(fields: dict[str, Any], as_of: int | None) -> Plan:
    within = fields.get("within")
    if within is not None:
        places = {name: tuple(within[name]) for name in ("sources", "folders", "tags")}
        since, until = from_ms(within["since"]), from_ms(within["until"])
        within = Scope(**places, conversation=within["conversation"], since=since, until=until)
    return Plan(
        from_ms(as_of), within, from_ms(fields.get("now")), fields.get("effort", "normal"), fields.get("searched", ""),
        fields.get("strategy", ""), fields.get("agent", ""),
    )  # fmt: skip


def _list_steps(conn: Connection, id: int) -> tuple[Step, ...]:
    rows = conn.execute("SELECT stage, ms, detail FROM trace_step WHERE trace_id = ? ORDER BY step", (id,))
    return tuple(Step(stage, ms, json.loads(detail)) for stage, ms, detail in rows)


def _list_visits(conn: Connection, id: int) -> tuple[Visit, ...]:
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
    """Reduces up to `limit` traces before the newest `keep` and older than `before` (ms UTC) to what learning and
    forgetting need: question, vector, verdict, cited passages and the edges that led to them, and the words of proved
    or judged answers. Returns their number."""
    old = id_list(read_column(conn, _OLD, max(keep - 1, 0), before, limit))
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
    # A shortened row keeps its page; only rows rewritten together share pages.
    conn.execute("PRAGMA defer_foreign_keys = ON")  # in this transaction
    conn.execute(f"UPDATE trace SET id = -id WHERE id IN {LISTED}", (old,))
    conn.execute("UPDATE trace SET id = -id WHERE id < 0")
    return len(json.loads(old))


IS_WHOLE = "plan ->> 'thin' IS NULL"  # SQL: this trace was not thinned out
_OLD = f"""
SELECT id FROM trace WHERE id < (SELECT id FROM trace ORDER BY id DESC LIMIT 1 OFFSET ?) AND t < ? AND {IS_WHOLE}
 ORDER BY id LIMIT ?
"""
_TAUGHT = """
t.feedback IS NOT NULL
 OR EXISTS (SELECT 1 FROM trace_edge e WHERE e.trace_id = t.id AND e.role IN ('enhanced', 'penalised'))
"""
_NO_PASSAGE = "json_remove(value, '$.passage')"
_ONLY_ID = "json_object('episode_id', value ->> 'episode_id')"


def set_feedback(conn: Connection, id: int, feedback: int | None) -> None:
    """Sets the person's verdict on the answer: 1, -1, or None. NotFoundError."""
    if conn.execute("UPDATE trace SET feedback = ? WHERE id = ?", (feedback, id)).rowcount == 0:
        raise _make_error(id)


def _make_error(id: int) -> NotFoundError:
    return NotFoundError(
        f"There is no trace {id}; it may have been forgotten with what it showed. Those that are kept: pal traces"
    )


# Outcomes of many questions -------------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """The outcome of a question, in distinct node ids: the objects that it named, the episodes shown and those cited;
    the `calls` of models. `text_only`: shown episodes that graph search alone would not have found, None if the trace
    does not say; `unknown`: names in the question without an object."""

    id: int
    question: str
    no_answer: bool
    ms: float
    calls: int = 0
    seeds: tuple[int, ...] = ()
    shown: tuple[int, ...] = ()
    cited: tuple[int, ...] = ()
    text_only: tuple[int, ...] | None = None
    unknown: tuple[str, ...] = ()


def list_outcomes(conn: Connection, limit: int) -> list[Outcome]:
    """Returns the newest `limit` questions with a whole trace, oldest first."""
    rows = conn.execute(
        "SELECT id, question, no_answer, ms, llm_calls,"
        " (SELECT json_group_array(value ->> 'episode_id') FROM json_each(citations))"
        f" FROM trace WHERE no_answer IS NOT NULL AND {IS_WHOLE} ORDER BY id DESC LIMIT ?",
        (limit,),
    ).fetchall()[::-1]
    listed = id_list(row[0] for row in rows)
    visits = group_rows(((id, stage), node) for id, stage, node in conn.execute(_VISITS, (listed,)))
    text_only = dict(_read_notes(conn, listed, RankNote.stage, TEXT_ONLY))
    unknown = dict(_read_notes(conn, listed, RouteNote.stage, UNKNOWN))
    return [
        Outcome(
            id,
            question,
            bool(refused),
            ms,
            calls,
            _drop_repeats(visits.get((id, "seed"), ())),
            _drop_repeats(visits.get((id, "rank"), ())),
            _drop_repeats(json.loads(cited)),
            _drop_repeats(text_only[id]) if id in text_only else None,
            tuple(unknown.get(id, ())),
        )
        for id, question, refused, ms, calls, cited in rows
    ]


def _drop_repeats(ids: Iterable[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(ids))


_VISITS = f"""
SELECT trace_id, stage, node_id FROM trace_visit WHERE trace_id IN {LISTED}
 AND (stage = 'rank' OR stage = 'seed' AND status = 'seed') ORDER BY trace_id, visit"""


def _read_notes(conn: Connection, listed: str, stage: str, path: str) -> Iterator[tuple[int, Any]]:
    """Returns (question, value at a path of the note of a stage), where it exists."""
    rows = conn.execute(
        f"SELECT trace_id, detail -> ? FROM trace_step WHERE trace_id IN {LISTED} AND stage = ?"
        " AND detail -> ? IS NOT NULL ORDER BY trace_id, step",
        (path, listed, stage, path),
    )
    return ((id, json.loads(noted)) for id, noted in rows)
