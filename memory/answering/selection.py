"""Selection: which candidates an answer shows, by the type of its question: one for a fact, one of each side for a
comparison, one from each day for a list; and with the best one those that join it with what the question names.

Nothing is counted or worked out here but the day that "yesterday" was: what is shown stands in memory.

"Where was the director of X born?" is answered by two lines: that Y directed X, and where Y was born. The second shares
no word with the question but "born", so by its own score it is seldom shown. So each of the best candidates is a fact
between the objects that it speaks of; from every object that the question names the best chain of such facts is
followed (`memory.retrieval.chains`), and its candidates are shown in that order (multi-hop evidence).
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np

from memory.answering.briefing import write_briefing
from memory.answering.candidates import AnswerCandidate, ShownChain, show_day, stems, titling_objects
from memory.answering.features import AnswerState
from memory.answering.restatements import same_statement
from memory.retrieval.chains import Chain, Statement, find_chains
from memory.retrieval.question_type import course_words, is_name
from memory.retrieval.state import QuestionState
from memory.settings import AnswerSettings
from memory.stages import AnswerNote
from memory.store import graph as stored
from memory.text.languages import alternatives, stem
from memory.text.mentions import is_date, mentions
from memory.time.expressions import resolve_time
from memory.time.timestamps import to_wall

MAX_LISTED = 12  # lines of a list at most
LEAST_LIST_ITEMS, MAX_LIST_ITEMS = 2, 30  # items of a note's own list: from how many on they answer, and at most
DUPLICATE_OVERLAP = 0.7  # share of their words from which two lines of a list are one
LEAST_RELEVANCE, LEAST_LATE = 0.4, 0.1  # of a line that is shown below the best one; of its late interaction
LIST_EXTRA_MARGIN = 1.0  # how much further below the best line one of a list may be
LEAST_TOPIC_SHARE = 0.6  # of a question's words that a line and its title hold, to belong to the course of what it asks
_LIST = re.compile(r"(?:^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+\S.*(?:\n|\Z))+", re.MULTILINE)  # its items, a row each
_FULL = re.compile(r"\d{4}-\d\d-\d\d")
_RELATIVE = re.compile(rf"\b(?:{alternatives('time', 'relative_day')})\b", re.IGNORECASE)

MAX_CANDIDATES_PER_EPISODE = 5  # that are looked at, the best
MAX_OBJECTS_PER_CANDIDATE = 8  # that are looked at, the rarest
LEAST_ROOT_RARITY = 0.5  # of an object at which a chain begins: of N passages at most the square root of N speak of it
MAX_HOPS = 2  # candidates of a chain; with three the same are found
ENTRY_BONUS = 0.8  # what it counts that a chain steps from what is said in passing to a passage about it
MAX_ENDS_NAMED = 3  # of a chain that the trace names
SCORE_DIGITS = 6  # of a candidate's score: what lies behind them depends on where in a matrix a vector stands


def select_best(
    candidates: Sequence[AnswerCandidate], joined: Sequence[AnswerCandidate], settings: AnswerSettings
) -> list[AnswerCandidate]:
    """At most `settings.lines` of them: the best, those that join it with the question, and the next best. Repeats are
    left out, and an older value stands behind its newer one."""
    floor = candidates[0].score - settings.line_margin
    selected: list[AnswerCandidate] = []
    near = (one for one in candidates[1:] if one.relevance >= LEAST_RELEVANCE and one.late >= LEAST_LATE)
    others = [one for one in near if one not in joined and one.score >= floor]
    for one in [candidates[0], *joined, *others]:
        if len(selected) == settings.lines:
            break
        if any(one.words == other.words or _adds_nothing(one, other) for other in selected):
            continue
        if any(one.overlaps(other) and one.sentence in other.shown for other in selected):
            continue
        if not one.is_statement and any(one.overlaps(other) for other in selected):
            if one.score < floor + settings.line_margin / 2:
                continue  # what only goes on with a line that is shown must fit better
            one = one.cut_to_sentence()
        if one.is_statement or not any(one.overlaps(other) for other in selected):
            selected.append(one)
    ordered: list[AnswerCandidate] = []
    while selected:
        first = selected[0]
        group = [one for one in selected if one is first or one.newer == first.thesis_id or _restates(one, first)]
        selected = [one for one in selected if one not in group]
        group.sort(key=lambda one: (one.newer is not None, one.by_agent, -one.newness, -one.score, one.shown))
        ordered.append(group[0])
        for line in group[1:]:  # nobody knows whether what has no date was written earlier
            ordered.append(replace(line, earlier=line.newness > 0 and line.by_agent <= group[0].by_agent))
    return ordered


def _restates(one: AnswerCandidate, first: AnswerCandidate) -> bool:
    """Whether it gives another value of the same, and its passage and place hold all that is asked that the first
    one's do."""
    return first.covered <= one.covered and same_statement(one, first)


def _adds_nothing(line: AnswerCandidate, better: AnswerCandidate) -> bool:
    """Whether a line names nothing that a better one of its passage does not name."""
    return line.episode.id == better.episode.id and line.values <= better.values and line.newer is None


def select_by_type(
    state: AnswerState,
    candidates: Sequence[AnswerCandidate],
    usual: Sequence[AnswerCandidate],
    settings: AnswerSettings,
) -> list[AnswerCandidate]:
    """The candidates to show, in order. `candidates` is all there is, the best first; `usual` are those that answer a
    question for one fact, and where a name is asked about that nothing is known by: in German it may be any noun. None
    where no candidate has a word of such a name."""
    question, asked = state.question, state.question.type
    selected: Sequence[AnswerCandidate]
    match asked.kind:
        case "about":
            known = write_briefing(state, asked.subjects[0], candidates)
            return known or (list(usual) if any(one.covered for one in candidates) else [])
        case "compare":
            selected = _compared(candidates, usual, asked.subjects, settings.lines)
        case "when_changed":
            selected = [add_date(one) for one in _with_past(candidates, usual, settings.lines)]
        case "list" if asked.in_order:
            selected = _in_order(candidates, usual, question)
        case "list" | "count":
            several = _several(candidates, usual, question, settings)
            selected = [add_date(one) for one in several] if asked.in_order else several
        case _:
            selected = usual
    return [_add_title(one, question) for one in selected]


def _add_title(line: AnswerCandidate, question: QuestionState) -> AnswerCandidate:
    """The line with its passage's title before it, if that is the name of what it tells of: "Boss since July" says
    nothing without it. Not where the line or the question names that, or nothing was said in these words."""
    title = line.episode.title
    name = frozenset(stems(title, question.language))
    named = name & {*line.words, *stems(line.shown, question.language), *stems(question.text, question.language)}
    if named or len(name) < 2 or not is_name(title) or line.is_statement:
        return line
    return replace(line, shown=f"{title}: {line.shown}")


def add_date(line: AnswerCandidate) -> AnswerCandidate:
    """The line with the day on which it was written, and the one that it means by "yesterday". A fact tells its time
    already; where its sentence names another day, that is shown too."""
    at = line.episode.at
    said = " ".join(line.quote.split())
    if line.is_statement:
        known = _days(line.shown)
        new = any(not any(day.endswith(one) for day in known) for one in _days(said))
        return replace(line, shown=f'{line.shown}: "{said}"') if new and not line.also else line
    if at is None:
        return line
    if any(day.count("-") == 2 and day[0].isdigit() for day in _days(said)):
        return line  # it says itself when
    written = f"written {show_day(to_wall(at), line.episode)}"
    relative = _RELATIVE.search(said)
    when = resolve_time(relative[0], at) if relative else None
    if relative and when and when.since and when.until and when.until - when.since == timedelta(days=1):
        written = f"{relative[0]}: {when.since.date().isoformat()}, {written}"
    return replace(line, shown=f"{line.shown} ({written})")


def _days(text: str) -> set[str]:
    """The days and months that a text names; "-09-05" without a year."""
    return {one.norm for one in mentions(text) if is_date(one.norm) and one.norm.count("-") > 1}


def _with_past(lines: Sequence[AnswerCandidate], usual: Sequence[AnswerCandidate], most: int) -> list[AnswerCandidate]:
    """The usual lines, with what was before the first one behind it."""
    shown = {line.thesis_id for line in usual}
    past = [line for line in lines if line.newer == usual[0].thesis_id and line.thesis_id not in shown]
    return [usual[0], *(replace(line, earlier=True) for line in past[:1]), *usual[1:]][:most]


def _compared(
    lines: Sequence[AnswerCandidate], usual: Sequence[AnswerCandidate], names: Sequence[str], most: int
) -> list[AnswerCandidate]:
    """The best line of each side, then the usual ones."""
    wanted = [frozenset(stems(name)) for name in names]
    sides: dict[int, AnswerCandidate] = {}
    for said in wanted:
        others = [other for other in wanted if other != said]
        of_it = [line for line in lines if _is_about(line, said) and line.thesis_id not in sides]
        alone = (line for line in of_it if not any(other <= line.words for other in others))
        best = next(alone, None) or next(iter(of_it), None)
        if best is not None:
            sides[best.thesis_id] = best
    rest = [line for line in usual if line.thesis_id not in sides]
    return [*sides.values(), *rest][: max(most, len(sides))]


def _is_about(line: AnswerCandidate, name: frozenset[str]) -> bool:
    """Whether it speaks of what is called so, in its words or under its title."""
    return bool(name) and name <= {*line.words, *stems(line.shown), *stems(line.episode.title)}


def _several(
    lines: Sequence[AnswerCandidate],
    usual: Sequence[AnswerCandidate],
    question: QuestionState,
    settings: AnswerSettings,
) -> list[AnswerCandidate]:
    """The usual lines, and behind them the best line of each other passage that is as much about the question, and
    itself speaks of what is asked."""
    topic = _topic(question)
    outdated = {line.thesis_id for line in lines if line.earlier}
    if items := _list_items(lines, usual[0], question):
        return items
    # One of a list is no past of another.
    chosen = [replace(line, earlier=line.thesis_id in outdated) for line in usual]
    chosen = [line for line in chosen if line is chosen[0] or _is_on_topic(line, topic, question)]
    passages = {line.episode.id for line in chosen}
    floor = lines[0].score - settings.line_margin - LIST_EXTRA_MARGIN
    least = max(line.coverage for line in usual) / 2
    for line in lines:
        if len(chosen) >= MAX_LISTED or line.score < floor:
            break
        new = line.episode.id not in passages and not line.earlier and line.coverage >= least and topic & line.words
        if new and not any(_is_duplicate(line, other) for other in chosen):
            passages.add(line.episode.id)
            chosen.append(line)
    return chosen


def _is_on_topic(line: AnswerCandidate, topic: Collection[str], question: QuestionState) -> bool:
    """Whether it, or its passage's title, speaks of what is asked."""
    return not line.words.union(stems(line.episode.title, question.language)).isdisjoint(topic)


def _list_items(
    lines: Sequence[AnswerCandidate], best: AnswerCandidate, question: QuestionState
) -> list[AnswerCandidate]:
    """The items of the list that the best line is one of, in their order: those that hold what it holds of what is
    asked, and name no day outside the time that is asked of. All of them if it only stands above ("Known bugs:"). None
    if there is no such list."""
    block = _block(best)
    topic = frozenset() if best.start not in block else _topic(question) & best.words
    items = [line for line in lines if line.episode.id == best.episode.id and line.start in block]
    items = [line for line in items if topic <= line.words and _in_time(line, question)]
    if len(items) < LEAST_LIST_ITEMS:
        return []
    items.sort(key=lambda line: line.start)
    return [replace(line.cut_to_sentence(), earlier=False, also=()) for line in items[:MAX_LIST_ITEMS]]


def _block(line: AnswerCandidate) -> range:
    """The characters of the list in its passage that it is an item of, or stands right above as a heading or with
    a colon at its end; none if there is none."""
    text = line.episode.text
    row = text.rfind("\n", 0, line.start) + 1
    end = text.find("\n", line.start) if "\n" in text[line.start :] else len(text)
    is_above = text[line.start : end].strip() == line.quote.strip()
    is_above = is_above and (text[row] == "#" or line.quote.rstrip()[-1:] in ":：")
    for block in _LIST.finditer(text):
        stands_above = is_above and block.start() >= end and not text[end : block.start()].strip()
        if line.start in range(*block.span()) or stands_above:
            return range(*block.span())
    return range(0)


def _in_time(line: AnswerCandidate, question: QuestionState) -> bool:
    """Whether the days that it names, if any, lie in the time that is asked of."""
    when = question.when
    if when is None or when.kind != "range":
        return True
    days = [datetime.fromisoformat(day).astimezone() for day in _days(line.quote) if _FULL.fullmatch(day)]
    return not days or any(
        (when.since is None or when.since <= day) and (when.until is None or day < when.until) for day in days
    )


def _is_duplicate(line: AnswerCandidate, other: AnswerCandidate) -> bool:
    """Whether it says what the other says."""
    shared, both = line.words & other.words, line.words | other.words
    return line.values <= other.values and len(shared) >= DUPLICATE_OVERLAP * len(both)


def _in_order(
    lines: Sequence[AnswerCandidate], usual: Sequence[AnswerCandidate], question: QuestionState
) -> list[AnswerCandidate]:
    """What tells the whole course in one line, then what was told of it in each passage, by time."""
    topic = _topic(question)
    whole = [line for line in usual if line.also]
    shown = {line.thesis_id for one in whole for line in (one, *one.also)}
    passages: dict[int, AnswerCandidate] = {}
    for line in lines:
        held = topic & {*line.words, *stems(line.episode.title, question.language)}
        belongs = topic & line.words and len(held) >= LEAST_TOPIC_SHARE * len(topic) and line.values
        if belongs and line.thesis_id not in shown and not line.also:
            passages.setdefault(line.episode.id, line)
    told = sorted(list(passages.values())[:MAX_LISTED], key=lambda line: (line.newness, line.shown))
    if len(told) + len(whole) < 2:
        return list(usual)
    return [*whole, *(add_date(replace(line, earlier=False)) for line in told)][:MAX_LISTED]


def _topic(question: QuestionState) -> frozenset[str]:
    """The stems of what is asked, without those of how it is asked."""
    said = frozenset(stem(term, question.language) for term in question.topic or question.terms)
    return said - course_words(question.language)


# Chains --------------------------------------------------------------------------------------


ChainEvidence = tuple[Sequence[AnswerCandidate], Sequence[ShownChain], int]
"""What to show beside the best candidate, in the order of the chains; these chains; how many there were."""

NO_CHAINS: ChainEvidence = (), (), 0


def note_selection(shown: Sequence[AnswerCandidate], considered: int, evidence: ChainEvidence) -> AnswerNote:
    """For the trace: how many of the `considered` candidates are shown, how many chains there were, which of the shown
    candidates come from one, by number and by episode, and each chain that is shown whole."""
    candidates, chains, followed = evidence
    number = {one.thesis_id: place for place, one in enumerate(shown, 1)}
    whole = [chain for chain in chains if all(one.thesis_id in number for one in chain[0])]
    joining = [one for one in candidates if one.thesis_id in number]
    lines = tuple(sorted(number[one.thesis_id] for one in joining))
    episodes = tuple(sorted({one.episode.id for one in joining}))
    return AnswerNote(
        len(shown), considered, followed, lines, episodes, tuple(_in_words(chain, number) for chain in whole)
    )


def _in_words(chain: ShownChain, number: Mapping[int, int]) -> str:
    """`Free Guy -> [2] -> Shawn Levy -> [3] -> Canada`, by the numbers of the candidates (thesis id -> number)."""
    candidates, names = chain
    parts = [
        part for name, one in zip(names, candidates, strict=False) for part in (name, f"[{number[one.thesis_id]}]")
    ]
    return " -> ".join([*parts, *names[len(candidates) :]])


def join_with_chains(state: AnswerState, candidates: Sequence[AnswerCandidate], most: int) -> ChainEvidence:
    """At most `most` candidates to show with the first of them, which are sorted, the best first.

    Of each object that the question names and few passages speak of: those of its best chain. Of one that leads to no
    other passage: its best one, unless the first candidate speaks of it. None if that one says all that is asked.
    """
    top = candidates[0]
    if _says_all(top, state.question):
        return NO_CHAINS
    best = _best_of_episodes(candidates)
    labels, rarity, statements, roots = _read_statements(state, best)
    if not roots:
        return NO_CHAINS
    stating = dict(enumerate(best, len(labels)))
    followed = find_chains(statements, rarity, roots, MAX_HOPS)
    about = {one.id: one.about for one in statements}
    of_top = {node for one in statements if stating[one.id] is top for node in (*one.about, *one.objects)}
    shown: dict[int, ShownChain] = {}
    joined: dict[int, AnswerCandidate] = {}
    for chain in sorted(followed, key=lambda chain: (-_score(chain, about), chain.facts, chain.vertices)):
        path = tuple(stating[number] for number in chain.facts)
        root = chain.vertices[0]
        if root in shown or len({one.episode.id for one in path}) < len(path):
            continue
        if len(path) > 1 or root not in of_top:
            shown[root] = path, _names(chain, labels)
            joined |= {one.thesis_id: one for one in path if one is not top}
        if len(joined) >= most:
            break
    return [*joined.values()][:most], [*shown.values()], len(followed)


def _says_all(candidate: AnswerCandidate, question: QuestionState) -> bool:
    """Whether every word of the question stands in the sentence or in the title it is shown under."""
    title = stems(f"{candidate.episode.title} {candidate.episode.speaker or ''}", question.language)
    asked = {stem(term, question.language) for term in question.topic or question.terms}
    return asked <= {*candidate.words, *title}


def _score(chain: Chain, about: Mapping[int, Collection[int]]) -> float:
    steps = zip(chain.vertices[1:], chain.facts, chain.facts[1:], strict=False)
    return chain.score + ENTRY_BONUS * sum(by in about[to] and by not in about[came] for by, came, to in steps)


def _names(chain: Chain, labels: Sequence[str]) -> tuple[str, ...]:
    ends = [labels[end] for end in chain.ends if end < len(labels)]  # of one that speaks of itself alone there is none
    return (*(labels[vertex] for vertex in chain.vertices), *(["; ".join(ends[:MAX_ENDS_NAMED])] if ends else []))


def _best_of_episodes(candidates: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    taken: Counter[int] = Counter()
    kept = []
    for one in sorted(candidates, key=lambda one: (-round(one.score, SCORE_DIGITS), one.episode.title, one.shown)):
        if taken[one.episode.id] < MAX_CANDIDATES_PER_EPISODE:
            taken[one.episode.id] += 1
            kept.append(one)
    return kept


def _read_statements(
    state: AnswerState, candidates: Sequence[AnswerCandidate]
) -> tuple[list[str], dict[int, float], list[Statement], set[int]]:
    """What candidates state, with a number for every object and, behind those, for every candidate: by what they are
    called and how good they are, so that what was written first decides nothing. The names and the rarity of the
    objects, by number; the statements; and the objects at which chains begin."""
    graph = state.found.graph
    subjects = {id: titling_objects(state.found, id) for id in {one.episode.id for one in candidates}}
    members: dict[int, list[int]] = defaultdict(list)
    for edge in stored.edges_from(state.conn, [one.thesis_id for one in candidates], "member"):
        members[edge.src].append(edge.dst)
    nodes = np.unique(np.array([node for of in (*subjects.values(), *members.values()) for node in of], np.int64))
    columns = graph.column_of.find(nodes)  # what is newer than the graph has no column
    nodes, columns = nodes[columns >= 0], columns[columns >= 0]
    labels = stored.object_labels(state.conn, nodes.tolist())
    named = sorted(labels, key=lambda node: (labels[node], node))
    number = {node: place for place, node in enumerate(named)}
    rare = (graph.rarity(columns) / math.log(max(2, graph.n_alive))).tolist()
    rarity = {number[node]: value for node, value in zip(nodes.tolist(), rare, strict=True) if node in number}
    undated = {number[node] for node in nodes[~graph.is_date[columns]].tolist() if node in number}
    known = {number[node] for node in state.found.named_objects if node in number}
    roots = {object for object in known & undated if rarity[object] >= LEAST_ROOT_RARITY}
    scores = [round(one.score, SCORE_DIGITS) for one in candidates]
    low, width = min(scores), (max(scores) - min(scores)) or 1.0
    statements = []
    for place, (one, score) in enumerate(zip(candidates, scores, strict=True), len(named)):
        about = tuple(number[node] for node in subjects[one.episode.id] if node in number)
        objects = {number[node] for node in members[one.thesis_id] if node in number} & undated
        rarest = sorted(objects, key=lambda object: (object not in roots, -rarity[object], object))
        statements.append(Statement(place, about, tuple(rarest[:MAX_OBJECTS_PER_CANDIDATE]), (score - low) / width))
    return [labels[node] for node in named], rarity, statements, roots
