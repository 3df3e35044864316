"""Supersession: what a new relation does to those that are known.

Relations of one subject with one predicate of which there is one at a time stand in the order of valid time: each ends
where the next begins. A late-arriving older one is put between, and never ends a newer one. What no rule can judge is
proposed in pairs, for a model. Everything that changes a fact is a revision, and can be reverted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import numpy as np

from memory.facts.extraction import Cardinality
from memory.facts.rules.phrases import topic
from memory.nouns import Decision, Modality, RevisionState
from memory.protocols import Vectors
from memory.store import edge_memory, graph, predicates, relations, revisions
from memory.store.connect import Connection
from memory.store.relations import Relation
from memory.text.predicates import SINGLE, refines, same_value

MIN_CONFIDENCE = 0.7  # of a model's decision, to count
MIN_SIMILARITY = 0.45  # of two relations, to be proposed as a pair
MAX_PAIRS_OF_RELATION = 8
MAX_KNOWN_RELATIONS = 400  # of the objects in question, the newest
PREDICATE_SHARE = 0.6  # of the predicates' cosine in the similarity of two relations
DAY_MS = 86_400_000
MONTH_MS = 31 * DAY_MS
EARLIEST_MS = -(1 << 62)
_CLAIMS = ("asserted", "past", "negated", "plan")  # modalities that say what is so

Embed = Callable[[Sequence[str]], Vectors]


class Superseder:
    """Supersession within one transaction. `touched` are the relations whose times have changed, `successors` those
    that inherited edge memory from the relation they replace, `edited` those whose words an edit replaced,
    `revision_ids` the revisions made."""

    def __init__(self, conn: Connection, now: int) -> None:
        self._conn = conn
        self._now = now
        self.touched: set[int] = set()
        self.successors: set[int] = set()
        self.edited: set[int] = set()
        self.revision_ids: list[int] = []
        self._learned: dict[int, bool] = {}

    # What rules can judge -------------------------------------------------------------------------

    def apply_rules(
        self, new: Relation, subjects: Sequence[int], form: Cardinality | None, replaces: str | None
    ) -> None:
        """Puts a new relation in its place. `subjects` are the objects that its subject may be; `form`: how many such
        relations there are at a time by the form of the statement (None: a model read it, and is to judge that, too);
        `replaces`: the value it says it replaces."""
        if new.modality not in _CLAIMS:
            return
        slot = self._slot(new, subjects)
        if self._separate_merged(new, [one for one in slot if one.object != new.object]):
            slot = self._slot(new, subjects)
        names = graph.object_labels(self._conn, [new.object, *(one.object for one in slot)])
        if new.modality in ("past", "negated"):
            for one in slot:
                if one.modality == "asserted" and same_value(names[one.object], names[new.object]):
                    self._end(one, new, "It is told that this no longer holds.", "rule")
            return
        others = [one for one in slot if self._may_exclude(one, new, names)]
        named = [one for one in others if replaces is not None and _is_replaced(one, new, names, replaces)]
        for one in named:
            reason = f"It is told there that {names[new.object]} takes the place of {replaces}."
            self.supersede(one, new, reason, "rule")
        if form == "one in document":
            others = [one for one in others if self._same_document(one, new)]
        elif form == "unknown" and not self._single(new.canon):
            return
        if form is not None and form != "many":
            apart = [one for one in others if one not in named and not _side_by_side(one, new)]
            self._order(new, [one for one in apart if not refines(names[one.object], names[new.object])])

    def _may_exclude(self, one: Relation, new: Relation, names: Mapping[int, str]) -> bool:
        """Whether two relations of a slot have different values of which one could replace the other."""
        return (
            (_may_replace(new.modality, one.modality) or _may_replace(one.modality, new.modality))
            and not same_value(names[one.object], names[new.object])
            and not self._settled(one, new)
        )

    def _slot(self, new: Relation, subjects: Sequence[int]) -> list[Relation]:
        begin = new.valid_from if new.valid_from is not None else new.last_asserted
        found = [relations.of_slot(self._conn, node, new.canon, new.object, begin) for node in subjects]
        return [one for slot in found for one in slot if one.id != new.id]

    def _single(self, canon: int) -> bool:
        """Whether a subject has one value of a predicate at a time, as far as that is known of the predicate."""
        if canon not in self._learned:  # once: it counts all its relations
            known = predicates.label_of(self._conn, canon) in SINGLE
            self._learned[canon] = known or predicates.is_learned_single(self._conn, canon)
        return self._learned[canon]

    def _same_document(self, one: Relation, other: Relation) -> bool:
        """Whether one document, or two versions of it ("rates 2024", "rates 2025"), tell both."""
        topics = [
            {topic(title)[0].lower() for title in relations.titles_of(self._conn, of.sources)} for of in (one, other)
        ]
        return bool(one.sources & other.sources or (topics[0] & topics[1]) - {""})

    def _order(self, new: Relation, others: Sequence[Relation]) -> None:
        """Each of a row of relations ends where the next begins."""
        reason = "There is one such fact at a time, and this one began later."
        before = [
            one
            for one in others
            if _may_replace(new.modality, one.modality)
            and _key(one) < _key(new)
            and (_day(one), one.last_asserted) != (_day(new), new.last_asserted)
        ]
        after = [one for one in others if _day(one) > _day(new) and _may_replace(one.modality, new.modality)]
        same = (_day(new), new.last_asserted, new.modality)
        level = [one for one in others if (_day(one), one.last_asserted, one.modality) == same]
        for one in before:
            if one.valid_to is None or one.valid_to > _begin(new):
                self.supersede(one, new, reason, "rule")
        if after:
            self.supersede(new, min(after, key=_key), reason, "rule")
        for one in level:
            self._revision("contradicts", one, new, "Both are told of the same time.", "rule", 1.0)

    def _end(self, old: Relation, new: Relation, reason: str, author: revisions.Author, conf: float = 1.0) -> None:
        """Ends the old relation when the new one, which says that it no longer holds, says so."""
        end = new.valid_to if new.valid_to is not None else new.valid_from
        end = new.last_asserted if end is None else end
        if end is None or (old.valid_to is not None and old.valid_to <= end) or _begin(old) > end:
            return
        if not self._settled(old, new):
            self._change(self._revision("negates", old, new, reason, author, conf), old, "valid_to", end)

    def supersede(self, old: Relation, new: Relation, reason: str, author: revisions.Author, conf: float = 1.0) -> None:
        """Ends the old relation where the new one begins; one that began no earlier never held. Where its
        evidence says until when the old one held, the new one begins about then, or it is about something else."""
        stated_end = old.valid_to is not None and not revisions.has_changed(self._conn, old.id, "valid_to")
        if stated_end and old.valid_to is not None and _begin(new) < old.valid_to - MONTH_MS:
            return
        self._separate_merged(new, [old])
        id = self._revision("supersedes", old, new, reason, author, conf)
        begin = max(_begin(new), _begin(old))
        if begin != EARLIEST_MS and (old.valid_to is None or old.valid_to > begin):
            self._change(id, old, "valid_to", begin)
        self._change(id, old, "superseded_by", new.id)
        self._hand_on(id, old, new)

    def replace_edited(self, old: Relation, new: Relation) -> None:
        """In a newer version of a source the words of the one stand where those of the other stood."""
        names = graph.object_labels(self._conn, [old.object, new.object])
        if old.superseded_by == new.id:
            self.edited.add(old.id)
        elif self._may_exclude(old, new, names) and old.superseded_by is None:
            self.supersede(old, new, "Its note was edited, and says so instead.", "rule")
            self.edited.add(old.id)

    # What a model has to judge --------------------------------------------------------------------

    def propose_pairs(
        self, new: Iterable[Relation], near: Mapping[int, Collection[int]], embed: Embed
    ) -> list[tuple[int, int]]:
        """Pairs (older, newer) of relations of which the one may take the place of the other, for each new one the most
        alike. `near`: which objects may be what the new ones speak of."""
        nodes = sorted({node for group in near.values() for node in group})
        fresh = [one for one in new if one.modality in _CLAIMS]
        known = [
            one
            for one in relations.find_incident(self._conn, nodes, MAX_KNOWN_RELATIONS)
            if one.modality in ("asserted", "plan", "past")
        ]
        if not fresh or not known:
            return []
        ids = {node for one in (*fresh, *known) for node in (one.subject, one.object)}
        names = graph.object_labels(self._conn, sorted(ids))
        whole = {one.id: f"{names[one.subject]} {one.predicate} {names[one.object]}" for one in (*fresh, *known)}
        texts = sorted({*whole.values(), *(one.predicate for one in (*fresh, *known))})
        place_of = {text: place for place, text in enumerate(texts)}
        vectors = embed(texts)
        predicates = vectors[[place_of[other.predicate] for other in known]]
        wholes = vectors[[place_of[whole[other.id]] for other in known]]
        pairs: dict[tuple[int, int], None] = {}
        for one in fresh:
            similarity = PREDICATE_SHARE * (predicates @ vectors[place_of[one.predicate]])
            similarity += (1 - PREDICATE_SHARE) * (wholes @ vectors[place_of[whole[one.id]]])
            similarity += [one.canon == other.canon for other in known]
            chosen = 0
            for place in np.argsort(-similarity, kind="stable").tolist():
                other = known[place]
                if similarity[place] < MIN_SIMILARITY or chosen == MAX_PAIRS_OF_RELATION:
                    break
                if self._may_meet(one, other, {*near[one.subject], *near[one.object]}, names):
                    old, later = sorted((one, other), key=_key)
                    pairs[old.id, later.id] = None
                    chosen += 1
        return list(pairs)

    def _may_meet(self, new: Relation, other: Relation, near: set[int], names: dict[int, str]) -> bool:
        """Whether the two could exclude each other, and nobody has judged that yet."""
        if new.id == other.id or not near & {other.subject, other.object}:
            return False
        if new.modality in ("asserted", "plan") and same_value(names[new.object], names[other.object]):
            return False
        if other.superseded_by is not None and other.valid_to is not None and other.valid_to <= _begin(new):
            return False  # something else came in between
        if not _may_replace(new.modality, other.modality):
            return False
        return revisions.find_between(self._conn, new.id, other.id) is None

    def apply_decision(self, decision: Decision, model: str) -> None:
        """Applies a model's decision on two relations, as far as it is sure and the times allow it."""
        rows = relations.by_id(self._conn, [decision.old, decision.new])
        judged = revisions.find_between(self._conn, decision.old, decision.new)
        if len(rows) < 2 or decision.confidence < MIN_CONFIDENCE or judged:
            return
        old, new = sorted(rows, key=_key)
        why, conf = f"{model} decided so.", decision.confidence
        if decision.relation == "contradicts":
            self._revision("contradicts", old, new, why, "model", conf)
        elif decision.relation == "duplicates" and old.subject == new.subject and old.modality == new.modality:
            self._fold(old, new, why, "model", conf)
        elif decision.relation == "supersedes" and self._comparable(old, new):
            if new.modality in ("past", "negated"):
                self._end(old, new, why, "model", conf)
            else:
                self.supersede(old, new, why, "model", conf)

    def _comparable(self, old: Relation, new: Relation) -> bool:
        """Whether the one value can stand where the other stood, as far as modality and form show: a number takes no
        name's place, but for one predicate. Small models say of too much that it replaces something."""
        names = graph.object_labels(self._conn, [old.object, new.object])
        one, other = (any(char.isdigit() for char in names[node]) for node in (old.object, new.object))
        return _may_replace(new.modality, old.modality) and (old.canon == new.canon or one == other)

    def _fold(self, old: Relation, new: Relation, why: str, author: revisions.Author, conf: float) -> None:
        """The old relation stands for both."""
        id = self._revision("duplicates", old, new, why, author, conf)
        revisions.settle(self._conn, id, "kept", None)
        self._stand_for(id, old, new)

    def _stand_for(self, revision: int, old: Relation, new: Relation) -> None:
        """The evidence and the edge memory of the new one are the old one's from now on."""
        revisions.share_evidence(self._conn, revision, old.id, new.id, self._now)
        self._hand_on(revision, new, old)
        self._change(revision, new, "superseded_by", old.id)
        self._change(revision, new, "t_expired", self._now)
        self.touched.add(old.id)

    # Duplicates --------------------------------------------------------------------------

    def merge_duplicates(self, ids: Sequence[int]) -> int:
        """Merges live relations that say the same until the same time (`relations.duplicate_groups`) into the one that
        begins first; how many. What superseded anything, or is disputed, stays as it is."""
        kept: list[Relation] = []
        joined = 0
        for new in sorted(relations.by_id(self._conn, ids), key=_first):
            old = next((one for one in kept if not self._settled(one, new)), None)
            if (
                old is None
                or revisions.list_by_newer(self._conn, [new.id])
                or revisions.list_by_older(self._conn, new.id)
            ):
                kept.append(new)
            else:
                self._fold(old, new, "Both say the same of the same time.", "rule", 1.0)
                joined += 1
        return joined

    def _separate_merged(self, new: Relation, slot: Sequence[Relation]) -> bool:
        """Takes relations apart again that were the same, if the new one begins between them; whether there are any."""
        rows = revisions.list_merges(self._conn, [one.id for one in slot], _begin(new))
        for row in rows:
            self.undo(row, None)
        return bool(rows)

    # What a person says ---------------------------------------------------------------------------

    def settle(self, revision: revisions.Row, verdict: str) -> None:
        """`keep`: the new one stands; `both`: both hold; `old`: the new one was never true."""
        self.undo(revision, None)
        found = {one.id: one for one in relations.by_id(self._conn, [revision.old, revision.new])}
        old, new = found.get(revision.old), found.get(revision.new)
        state: RevisionState = "kept" if verdict != "both" else "settled"
        if verdict == "keep" and old and new:
            if revision.relation == "duplicates":
                self._stand_for(revision.id, old, new)
            else:
                begin = new.valid_to if revision.relation == "negates" else max(_begin(new), _begin(old))
                if begin is None:
                    begin = new.valid_from if new.valid_from is not None else new.last_asserted
                if begin is not None and begin != EARLIEST_MS and (old.valid_to is None or old.valid_to > begin):
                    self._change(revision.id, old, "valid_to", begin)
                if revision.relation != "negates":
                    self._change(revision.id, old, "superseded_by", new.id)
                    self._hand_on(revision.id, old, new)
        elif verdict == "old" and new:
            self._change(revision.id, new, "t_expired", self._now)
        revisions.settle(self._conn, revision.id, state, self._now)

    def undo(self, revision: revisions.Row, by_person_at: int | None) -> None:
        """Everything is as it was before the revision. One that nobody undid may be found again."""
        self.touched.update(revisions.revert(self._conn, revision.id))
        if revision.relation == "duplicates":
            self.touched.add(revision.old)
        revisions.settle(self._conn, revision.id, "undone", by_person_at)

    def withdraw(self, facts: Collection[int]) -> None:
        """These relations have no evidence any more: they change nothing. What came after takes the place of what was
        before, or both would hold; what has no evidence itself stays history as it is."""
        made = revisions.list_by_newer(self._conn, facts)
        live = {one.id for one in relations.by_id(self._conn, sorted({revision.old for revision in made}))}
        gone = [revision for revision in made if revision.old in live]
        later = {revision.id: revisions.find_replacement(self._conn, revision.new, facts) for revision in gone}
        for revision in gone:
            self.undo(revision, None)
        for revision in gone:
            after = later[revision.id]
            if revision.relation != "supersedes" or revision.state == "settled" or after is None:
                continue
            rows = {one.id: one for one in relations.by_id(self._conn, [revision.old, after.new])}
            old, new = rows.get(revision.old), rows.get(after.new)
            if old and new and not self._settled(old, new):
                self.supersede(old, new, "What stood between them is not there any more.", after.author, after.conf)

    def supersede_again(self, facts: Collection[int]) -> None:
        """These relations have their evidence again: what they replaced when they lost it, they replace."""
        for row in revisions.list_undone_by_newer(self._conn, facts):
            found = {one.id: one for one in relations.by_id(self._conn, [row.old, row.new])}
            old, new = found.get(row.old), found.get(row.new)
            if row.relation == "supersedes" and old and new and not self._settled(old, new):
                self.supersede(old, new, row.reason, row.author, row.conf)

    def reinstate(self, fact: int) -> None:
        """A relation has evidence again: what superseded it meanwhile does so no more if it has none itself."""
        rows = revisions.list_by_older(self._conn, fact)
        live = {one.id for one in relations.by_id(self._conn, sorted({row.new for row in rows}))}
        for row in rows:
            if row.new not in live:
                self.undo(row, None)

    def _settled(self, one: Relation, other: Relation) -> bool:
        """Whether there is a revision of the two that stands, or that a person has undone."""
        row = revisions.find_between(self._conn, one.id, other.id)
        return row is not None and (row.state != "undone" or row.settled is not None)

    def _revision(
        self,
        relation: revisions.RelationKind,
        old: Relation,
        new: Relation,
        reason: str,
        author: revisions.Author,
        conf: float,
    ) -> int:
        id = revisions.add(self._conn, relation, old.id, new.id, reason, author, conf, self._now)
        self.revision_ids.append(id)
        return id

    def _hand_on(self, revision: int, old: Relation, new: Relation) -> None:
        """The new relation inherits the old one's edge memory: questions that one helped with may need the other."""
        if edge_memory.inherit(self._conn, revision, old.id, new.id, self._now):
            self.successors.add(new.id)

    def _change(self, revision: int, relation: Relation, field: revisions.Field, value: int | None) -> None:
        revisions.change(self._conn, revision, relation.id, field, value, self._now)
        self.touched.add(relation.id)


def _is_replaced(one: Relation, new: Relation, names: Mapping[int, str], replaces: str) -> bool:
    """Whether a relation is the one that a new one says it replaces."""
    earlier = _day(one) <= _day(new) and _may_replace(new.modality, one.modality)
    return earlier and same_value(names[one.object], replaces)


def _begin(relation: Relation) -> int:
    """When it begins to hold: its valid time, else that of its newest evidence."""
    if relation.valid_from is not None:
        return relation.valid_from
    ended = relation.modality == "past" or relation.valid_to is not None
    return EARLIEST_MS if ended or relation.last_asserted is None else relation.last_asserted


def _first(relation: Relation) -> tuple[int, int]:
    """The order in which relations begin; of what begins at no time it is not known that it ever did not hold."""
    return (EARLIEST_MS if relation.valid_from is None else relation.valid_from, relation.id)


def _day(relation: Relation) -> int:
    """The day on which it begins to hold: a note has a minute, a date in it has none."""
    return _begin(relation) // DAY_MS


def _key(relation: Relation) -> tuple[int, int, int]:
    """The order of valid time, by days, then of evidence."""
    return (_day(relation), relation.last_asserted if relation.last_asserted is not None else EARLIEST_MS, relation.id)


def _side_by_side(one: Relation, other: Relation) -> bool:
    """Whether one source lists both, for the same time."""
    return bool(one.sources & other.sources) and _day(one) == _day(other)


def _may_replace(new: Modality, old: Modality) -> bool:
    """Whether a fact of the one modality can take the place of one of the other: what is only planned replaces plans,
    what is supposed or asked replaces nothing."""
    if new == "plan":
        return old == "plan"
    if new == "asserted":
        return old in ("asserted", "plan", "past")
    return new in ("past", "negated") and old in ("asserted", "plan")
