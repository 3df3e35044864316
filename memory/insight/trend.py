"""Figures over time: whether what is learnt from questions makes the next ones cheaper and better.

They follow from the traces and are computed when somebody looks. How things stand, which no trace tells, is recorded
once a night, and so are the figures of the day: a question that is forgotten takes its trace with it, but not what it
was counted for.
"""

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

QUESTIONS = 800  # the newest, that a trend looks at
HUNDRED = 100
PERIODS = 8  # told
WEEK = 7 * 24 * 60 * 60 * 1000
MONDAY = 4 * 24 * 60 * 60 * 1000  # the first one, in ms UTC
STATES = ("remembering", "extraction_loss", "conflicts", "stale_memory")  # how things stand, of no question

_Recorded = tuple[int, str, float]  # when (ms UTC), which figure, its value


def figures(asked: Sequence[Outcome]) -> dict[str, float]:
    """The figures of some questions, each where one of them says something about it:

    no_answer_rate        refused / all
    replay_rate           answered by replay alone (R0) / all
    replay_precision      replayed edges that led to something cited / replayed edges
    replay_saving         1 - tokens of R0 answers / tokens that the same questions took when they were asked first;
                          where nobody knows that, it is the mean of what answers without replay took
    bridge_yield          episodes that only a bridge led to and that were cited / all that only a bridge led to, of
                          questions that asked a model: lines alone cite whatever they show
    escalation_rate       questions for which a model looked further (R3, R4) / questions that asked a model
    escalation_gain       answered / questions for which a model looked further
    cited_per_call        cited episodes / calls, of questions that asked a model
    cited_per_1k_tokens   the same for 1,000 tokens, read and written
    tokens                mean of the tokens of questions that asked a model
    """
    with_model = [one for one in asked if one.calls]
    further = [one for one in with_model if one.tier in FURTHER]
    tokens = sum(one.tokens for one in with_model)
    cited = sum(len(one.cited) for one in with_model)
    shares = {
        "no_answer_rate": (sum(one.no_answer for one in asked), len(asked)),
        "replay_rate": (sum(one.tier == REPLAY for one in asked), len(asked)),
        "replay_precision": (sum(one.useful for one in asked), sum(one.fired for one in asked)),
        "bridge_yield": (
            sum(len({*one.bridged} & {*one.cited}) for one in with_model), sum(len(one.bridged) for one in with_model)
        ),
        "escalation_rate": (len(further), len(with_model)),
        "escalation_gain": (sum(not one.no_answer for one in further), len(further)),
        "cited_per_call": (cited, sum(one.calls for one in with_model)),
        "cited_per_1k_tokens": (1000 * cited, tokens),
        "tokens": (tokens, len(with_model)),
    }  # fmt: skip
    found = {name: part / whole for name, (part, whole) in shares.items() if whole}
    saved = _saving(asked)
    return found if saved is None else found | {"replay_saving": saved}


def _saving(asked: Sequence[Outcome]) -> float | None:
    afresh = [one.tokens for one in asked if one.tier != REPLAY and one.tokens and not one.no_answer]
    usual = fmean(afresh) if afresh else None
    pairs = [(one.tokens, one.first or usual) for one in asked if one.tier == REPLAY and one.tokens]
    known = [(took, before) for took, before in pairs if before]
    return 1 - sum(took for took, _ in known) / fsum(before for _, before in known) if known else None


def measure_now(conn: Connection) -> dict[str, float]:
    """How things stand: edges that `remembering` something, `extraction_loss` (passages at which models gave up / those
    that one was to read), open `conflicts`, and rows of `stale_memory`, which must be 0."""
    lost, read, remembering, conflicts = metrics.state(conn)
    loss = {"extraction_loss": lost / (lost + read)} if lost + read else {}
    stale = float(metrics.count_stale_memory(conn))
    return {"remembering": float(remembering), **loss, "conflicts": float(conflicts), "stale_memory": stale}


def record(conn: Connection, now_ms: int) -> dict[str, float]:
    """Records how things stand, and the figures of the questions since the last time, within the caller's transaction;
    what it recorded. For once a night; `now_ms` in ms UTC."""
    asked = metrics.newest(conn, -1, metrics.last_kept(conn))
    found = {"questions": float(len(asked)), **figures(asked), **measure_now(conn)}
    metrics.keep(conn, now_ms, found.items())
    return found


def trend(conn: Connection) -> tuple[Period, ...]:
    """The newest questions week by week, or a hundred at a time where all of them are of one week; the oldest first."""
    total = metrics.count(conn)
    most = min(total, QUESTIONS - HUNDRED + (total % HUNDRED or HUNDRED))
    asked = metrics.newest(conn, most)
    kept = metrics.list_recorded(conn)
    weeks = {_week(one.t) for one in asked} | {_week(t) for t, _, _ in kept}
    if len(weeks) > 1:
        of_week = {week: list(these) for week, these in groupby(asked, lambda one: _week(one.t))}
        kept_in = {week: list(these) for week, these in groupby(kept, lambda one: _week(one[0]))}
        found = [_period(week, of_week.get(week, ()), kept_in.get(week, ())) for week in sorted(weeks)[-PERIODS:]]
    else:
        pieces = [asked[start : start + HUNDRED] for start in range(0, len(asked), HUNDRED)]
        found = [_period(piece[0].t, piece, ()) for piece in pieces]
    if found:
        found[-1] = replace(found[-1], figures={**found[-1].figures, **measure_now(conn)})
    return tuple(found)


def _week(t: int) -> int:
    """When the week began in which `t` lies, Monday in UTC."""
    return (t - MONDAY) // WEEK * WEEK + MONDAY


def _period(since: int, asked: Sequence[Outcome], kept: Sequence[_Recorded]) -> Period:
    """Of a time of which no trace is left, what was recorded is told."""
    n, recorded = _recorded(kept)
    states = {name: recorded[name] for name in STATES if name in recorded}
    if asked or not n:
        return Period(from_ms(since), len(asked), figures(asked) | states)
    return Period(from_ms(since), n, recorded)


def _recorded(kept: Sequence[_Recorded]) -> tuple[int, Mapping[str, float]]:
    """The questions of some nights, and their figures: the last of what stands, the mean of the others by question."""
    nights = [{name: value for _, name, value in night} for _, night in groupby(kept, lambda one: one[0])]
    n = sum(int(night.get("questions", 0)) for night in nights)
    found: dict[str, float] = {}
    for name in dict.fromkeys(name for _, name, _ in kept if name != "questions"):
        held = [(night[name], night.get("questions", 0)) for night in nights if name in night]
        weight = fsum(questions for _, questions in held)
        found[name] = held[-1][0] if name in STATES or not weight else fsum(v * q for v, q in held) / weight
    return n, found
