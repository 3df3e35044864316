"""Figures over time: whether learning from questions makes the next ones cheaper and better.

Computed from the traces on demand. The state of the memory, which traces do not contain, is recorded once a night,
together with the day's figures: a forgotten question takes its trace with it, but not the recorded figures."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from math import fsum
from statistics import fmean

from memory.insight.diagnosis import Period
from memory.stages import FURTHER
from memory.store import metrics
from memory.store.connect import Connection
from memory.store.metrics import REPLAY, Outcome
from memory.time.timestamps import from_ms

QUESTIONS = 800  # the newest, which a trend covers
HUNDRED = 100
PERIODS = 8  # periods reported
WEEK = 7 * 24 * 60 * 60 * 1000
MONDAY = 4 * 24 * 60 * 60 * 1000  # the first one, in ms UTC
STATES = ("remembering", "extraction_loss", "conflicts", "stale_memory")  # figures of the state, not of questions

_Recorded = tuple[int, str, float]  # (ms UTC, figure, value)


def figures(asked: Sequence[Outcome]) -> dict[str, float]:
    """The figures of some questions, each if it is defined for one of them:

    no_answer_rate        refused / all
    replay_rate           answered by replay alone (R0) / all
    replay_precision      replayed edges that led to a citation / replayed edges
    replay_saving         1 - tokens of R0 answers / tokens of the first answers to the same questions; if unknown,
                          the mean of answers without replay
    bridge_yield          cited episodes that only a bridge found / all episodes that only a bridge found, of
                          questions that asked a model: lines alone cite whatever they show
    escalation_rate       questions for which a model looked further (R3, R4) / questions that asked a model
    escalation_gain       answered / questions for which a model looked further
    cited_per_call        cited episodes / calls, of questions that asked a model
    cited_per_1k_tokens   the same for 1,000 tokens, read and written
    tokens                mean of the tokens of questions that asked a model
    """
    with_model = [outcome for outcome in asked if outcome.calls]
    further = [outcome for outcome in with_model if outcome.tier in FURTHER]
    tokens = sum(outcome.tokens for outcome in with_model)
    cited = sum(len(outcome.cited) for outcome in with_model)
    shares = {
        "no_answer_rate": (sum(outcome.no_answer for outcome in asked), len(asked)),
        "replay_rate": (sum(outcome.tier == REPLAY for outcome in asked), len(asked)),
        "replay_precision": (sum(outcome.useful for outcome in asked), sum(outcome.fired for outcome in asked)),
        "bridge_yield": (
            sum(len({*outcome.bridged} & {*outcome.cited}) for outcome in with_model),
            sum(len(outcome.bridged) for outcome in with_model),
        ),
        "escalation_rate": (len(further), len(with_model)),
        "escalation_gain": (sum(not outcome.no_answer for outcome in further), len(further)),
        "cited_per_call": (cited, sum(outcome.calls for outcome in with_model)),
        "cited_per_1k_tokens": (1000 * cited, tokens),
        "tokens": (tokens, len(with_model)),
    }  # fmt: skip
    rates = {name: part / whole for name, (part, whole) in shares.items() if whole}
    saved = _measure_saving(asked)
    return rates if saved is None else rates | {"replay_saving": saved}


def _measure_saving(asked: Sequence[Outcome]) -> float | None:
    afresh = [case.tokens for case in asked if case.tier != REPLAY and case.tokens and not case.no_answer]
    usual = fmean(afresh) if afresh else None
    pairs = [(case.tokens, case.first or usual) for case in asked if case.tier == REPLAY and case.tokens]
    comparable = [(took, before) for took, before in pairs if before]
    return 1 - sum(took for took, _ in comparable) / fsum(before for _, before in comparable) if comparable else None


def measure_now(conn: Connection) -> dict[str, float]:
    """The current state: edges that `remembering` something, `extraction_loss` (passages at which models gave up /
    passages to read), open `conflicts`, and rows of `stale_memory`, which must be 0."""
    lost, read, remembering, conflicts = metrics.state(conn)
    loss = {"extraction_loss": lost / (lost + read)} if lost + read else {}
    stale = float(metrics.count_stale_memory(conn))
    return {"remembering": float(remembering), **loss, "conflicts": float(conflicts), "stale_memory": stale}


def record(conn: Connection, now_ms: int) -> dict[str, float]:
    """Records and returns the current state and the figures of the questions since the last time, within the caller's
    transaction. For once a night; `now_ms` in ms UTC."""
    asked = metrics.newest(conn, -1, metrics.last_kept(conn))
    values = {"questions": float(len(asked)), **figures(asked), **measure_now(conn)}
    metrics.keep(conn, now_ms, values.items())
    return values


def trend(conn: Connection) -> tuple[Period, ...]:
    """The newest questions by week, or in hundreds if all are of one week; oldest first."""
    total = metrics.count(conn)
    most = min(total, QUESTIONS - HUNDRED + (total % HUNDRED or HUNDRED))
    asked = metrics.newest(conn, most)
    records = metrics.list_recorded(conn)
    weeks = {_find_week(outcome.t) for outcome in asked} | {_find_week(t) for t, _, _ in records}
    if len(weeks) > 1:
        of_week = {week: list(these) for week, these in groupby(asked, lambda outcome: _find_week(outcome.t))}
        records_of = {week: list(these) for week, these in groupby(records, lambda record: _find_week(record[0]))}
        periods = [_sum_up(week, of_week.get(week, ()), records_of.get(week, ())) for week in sorted(weeks)[-PERIODS:]]
    else:
        pieces = [asked[start : start + HUNDRED] for start in range(0, len(asked), HUNDRED)]
        periods = [_sum_up(piece[0].t, piece, ()) for piece in pieces]
    if periods:
        periods[-1] = replace(periods[-1], figures={**periods[-1].figures, **measure_now(conn)})
    return tuple(periods)


def _find_week(t: int) -> int:
    """The start of the week of `t`, Monday in UTC."""
    return (t - MONDAY) // WEEK * WEEK + MONDAY


def _sum_up(since: int, asked: Sequence[Outcome], records: Sequence[_Recorded]) -> Period:
    """A period without traces shows the recorded figures."""
    n, recorded = _merge_nights(records)
    states = {name: recorded[name] for name in STATES if name in recorded}
    if asked or not n:
        return Period(from_ms(since), len(asked), figures(asked) | states)
    return Period(from_ms(since), n, recorded)


def _merge_nights(records: Sequence[_Recorded]) -> tuple[int, Mapping[str, float]]:
    """(number of questions of some nights, their figures): the last state, and means of the others weighted by
    questions."""
    nights = [{name: value for _, name, value in night} for _, night in groupby(records, lambda record: record[0])]
    n = sum(int(night.get("questions", 0)) for night in nights)
    merged: dict[str, float] = {}
    for name in dict.fromkeys(name for _, name, _ in records if name != "questions"):
        values = [(night[name], night.get("questions", 0)) for night in nights if name in night]
        weight = fsum(questions for _, questions in values)
        merged[name] = values[-1][0] if name in STATES or not weight else fsum(v * q for v, q in values) / weight
    return n, merged
