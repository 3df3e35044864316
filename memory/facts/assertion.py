"""Learn: what passages tell becomes relations and theses, and each new relation is put in its place in time.

One transaction for any number of passages. The same telling again changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from memory.facts.extraction import ExtractedRelation, ExtractedThesis, Extraction
from memory.facts.predicates import canonical_predicate, same_value
from memory.facts.resolve import Resolver
from memory.facts.supersede import SURE, Embed, Superseder
from memory.graph.change import GraphChange, Link, ThesisVertex
from memory.nouns import AssertionResult, Decision
from memory.store import episodes, graph, relations, revisions, text
from memory.store.connect import Connection
from memory.store.relations import Relation
from memory.time.timestamps import to_ms

RULE = "rule"
EVERY = 1 << 30  # relation of an object
LONGEST_PREDICATE = 80  # characters
_HOLDS = ("asserted", "negated", "plan")  # from when they are told, if nothing else is said


class FactAsserter:
    """Learns within one transaction. `owner` are the names of the person whose memory it is; `now` is ms UTC."""

    def __init__(self, conn: Connection, now: int, owner: Sequence[str]) -> None:
        self.conn = conn
        self._now = now
        self._resolver = Resolver(conn, now, owner)
        self._superseder = Superseder(conn, now)
        self._new: list[int] = []
        self._met: dict[int, list[int]] = {}  # relation -> the objects that its subject may be
        self._still: set[tuple[int, int, int]] = set()  # relation, episode, place: said there before this transaction
        self._theses: list[ThesisVertex] = []
        self._returned: set[tuple[int, int]] = set()

    @property
    def passed_on_edge_memory(self) -> bool:
        """Whether a fact got what questions had learnt on the one that it took the place of."""
        return bool(self._superseder.successors)

    def assert_extractions(self, extractions: Mapping[int, Extraction], model: str | None = None) -> None:
        """Learns what live episodes (ids) tell, in the order of their time; `model` read it, or a rule."""
        placed = {row.id: row for row in episodes.times_of(self.conn, list(extractions))}
        for row in sorted(placed.values(), key=lambda row: (row.event_from is not None, row.event_from or 0, row.id)):
            extraction = extractions[row.id]
            self._resolver.begin_episode(extraction, graph.mentioned_names(self.conn, row.id))
            told = {self._relation(row, relation, model or RULE) for relation in extraction.relations}
            if model is None:
                self._property_gone(row.id, told)
            if extraction.theses:
                self._theses_of(row, extraction.theses)
        if model is not None:
            episodes.mark_read(self.conn, extractions, model, self._now)

    def apply_decisions(self, decisions: Sequence[Decision], model: str) -> None:
        """Applies what a model decided. A fact that is told again after it was replaced, and is said to replace what
        replaced it, holds anew."""
        for one in decisions:
            rows = {row.id: row for row in relations.by_id(self.conn, [one.old, one.new])}
            old, new = rows.get(one.old), rows.get(one.new)
            if old and new and one.relation == "supersedes" and _returns(new, old):
                if one.confidence >= SURE:
                    anew = self._anew(new)
                    made = len(self._superseder.revision_ids)
                    self._superseder.apply_decision(Decision(old.id, anew, one.relation, one.confidence), model)
                    self._only_with(anew, self._superseder.revision_ids[made:])
            else:
                self._superseder.apply_decision(one, model)

    def carry_evidence(self, going: Sequence[int], added: Sequence[int]) -> None:
        """A new passage of a source that still has the words of one that goes says nothing new with them. What a model
        read in them is told by it, too; rules read it again."""
        for id, extractor, quote, episode, words in relations.quotes(self.conn, going, added):
            start = -1 if quote is None else words.find(quote)
            if quote is not None and start < 0:
                continue
            self._still.add((id, episode, start))
            if extractor != RULE:
                relations.add_evidence(self.conn, id, episode, start, start + len(quote or ""), extractor)
                self._superseder.touched.add(id)

    def merge_duplicates(self, groups: Iterable[Sequence[int]]) -> int:
        """Relations that say the same (`relations.said_twice`) are one from now on; how many were too many."""
        return sum(map(self._superseder.merge_duplicates, groups))

    def withdraw_episodes(self, gone: Sequence[int]) -> None:
        """Episodes have gone: what only they told changes nothing any more."""
        self._superseder.withdraw(relations.without_evidence(self.conn, gone))

    def join_objects(self, ones: Sequence[int], others: Sequence[int]) -> None:
        """A person says that these objects are those: their facts take each other's place from now on."""
        graph.join(self.conn, ones, others)
        found = [
            one for one in relations.touching(self.conn, [*ones, *others], EVERY) if one.subject in (*ones, *others)
        ]
        for one in sorted(found, key=lambda one: (one.valid_from or one.told or 0, one.id)):
            self._met[one.id] = subjects = self._resolver.namesakes(one.subject)
            self._superseder.apply_rules(one, subjects, False, None)

    def separate_objects(self, ones: Sequence[int], others: Sequence[int]) -> int:
        """A person says that they are not: what rules and models made of their being one is taken back; how much."""
        graph.part(self.conn, ones, others)
        rows = revisions.list_across(self.conn, ones, others)
        for row in rows:
            self._superseder.undo(row, None)
        return len(rows)

    def settle_revision(self, revision: revisions.Row, verdict: str) -> None:
        """What a person says of a revision: "keep", "both", "old" or "undo"."""
        if verdict == "undo":
            self._superseder.undo(revision, self._now)
        else:
            self._superseder.settle(revision, verdict)

    def result(self, embed: Embed | None = None) -> AssertionResult:
        """What came of it; with `embed` also the pairs that a model has to judge."""
        pairs: list[tuple[int, int]] = sorted(self._returned)
        if embed is not None and self._met:
            fresh = relations.by_id(self.conn, sorted(self._met))
            objects = {node for one in fresh for node in (one.subject, one.object)}
            near = {node: self._resolver.candidates(node) for node in sorted(objects)}
            pairs += self._superseder.propose_pairs(fresh, near, embed)
        return AssertionResult(tuple(self._new), tuple(self._superseder.revision_ids), tuple(dict.fromkeys(pairs)))

    def graph_changes(self) -> list[GraphChange]:
        """What the graph in memory has to forget and then to take in; nothing where nothing was learnt."""
        touched = sorted({*self._new, *self._superseder.touched, *self._met})
        if not touched and not self._theses and not self._resolver.new_objects:
            return []
        fresh = GraphChange(objects=self._resolver.new_objects, theses=self._theses, links=self._links(touched))
        return [GraphChange(unlinked=touched), fresh]

    def _property_gone(self, episode: int, told: Collection[int | None]) -> None:
        """What the source's properties said before, and say no more, this episode does not tell."""
        gone = [id for id in relations.of_properties(self.conn, episode, RULE) if id not in told]
        self._superseder.touched.update(gone)
        self._superseder.withdraw([id for id in gone if relations.remove_evidence(self.conn, id, episode, self._now)])

    def _relation(self, row: episodes.When, told: ExtractedRelation, extractor: str) -> int | None:
        """The relation that says this, a new one or one that is known; None if it says nothing."""
        label = " ".join(told.predicate.replace("_", " ").split()).lower()[:LONGEST_PREDICATE]
        if not label or not told.subject.strip() or not told.object.strip():
            return None
        subject, object = self._resolver.resolve(told.subject), self._resolver.resolve(told.object)
        if subject == object:
            return None
        cardinality = told.cardinality if extractor == RULE else "unknown"
        canonical = canonical_predicate(label, told.object)
        predicate, canon = relations.ensure_predicate(self.conn, label, canonical, cardinality)
        start, end = self._times(row, told)
        subjects = self._resolver.namesakes(subject)
        id = self._known(row, subjects, object, canon, told, start, extractor)
        if id is None:
            id = relations.find_without_evidence(self.conn, subject, predicate, object, told.modality, start)
            if id is not None:
                self._superseder.reinstate(id)
            else:
                id = relations.insert(
                    self.conn, subject, predicate, object, told.modality, told.conf, start, end, self._now
                )
            self._new.append(id)
            relations.add_evidence(self.conn, id, row.id, told.start, told.end, extractor)
            self._met[id] = subjects
            (relation,) = relations.by_id(self.conn, [id])
            if told.replaces is not None:
                self._before(row, told, relation, subjects, predicate, extractor)
            single = None if extractor != RULE else told.cardinality == "one"
            self._superseder.apply_rules(relation, subjects, single, told.replaces)
        else:
            if relations.add_evidence(self.conn, id, row.id, told.start, told.end, extractor):
                relations.count_support(self.conn, id)
            self._met[id] = subjects
        return id

    def _times(self, row: episodes.When, told: ExtractedRelation) -> tuple[int | None, int | None]:
        """Milliseconds UTC from when and until when it holds, as far as is told."""
        start, end = _ms(told.valid_from), _ms(told.valid_to)
        if (
            start is None
            and told.modality in _HOLDS
            and (end is None or row.event_from is None or row.event_from < end)
        ):
            start = row.event_from
        if told.modality == "past" and end is None:
            end = row.event_from
        if start is not None and end is not None and end < start:
            end = None if told.modality != "past" else start
        return start, end

    def _known(
        self,
        row: episodes.When,
        subjects: Sequence[int],
        object: int,
        canon: int,
        told: ExtractedRelation,
        start: int | None,
        extractor: str,
    ) -> int | None:
        """The relation that says this already. One that was replaced is meant, too, unless the passage says from when
        it holds again, or rules have read it, which pass over copies of old pages: these must not bring facts back.
        Words that stood there before are no news, whatever date their file has now."""
        slot = [one for node in subjects for one in relations.of_slot(self.conn, node, canon, object, start)]
        names = graph.object_labels(self.conn, [object, *(one.object for one in slot)])
        same = [one for one in slot if one.modality == told.modality and same_value(names[one.object], names[object])]
        still = [one for one in same if self._said_before(one.id, row.id, told.start, extractor)]
        if still:
            return still[0].id
        standing = [
            one
            for one in same
            if one.superseded_by is None and (one.valid_to is None or start is None or one.valid_to > start)
        ]
        if standing:
            one = min(standing, key=lambda one: (one.object != object, one.id))
            self._earlier(one, slot, start)
            return one.id
        replaced = [one for one in same if one.superseded_by is not None]
        if not replaced:
            return None
        last = max(replaced, key=lambda one: (one.valid_to or 0, one.id))
        later = start is not None and start > (last.valid_to or 0)
        if told.replaces is not None or (later and (told.valid_from is not None or extractor == RULE)):
            return None
        if later:
            self._returned.update((one.id, last.id) for one in slot if one.id == last.superseded_by)
        return last.id

    def _said_before(self, relation: int, episode: int, start: int, extractor: str) -> bool:
        return extractor == RULE and (
            (relation, episode, start) in self._still
            or relations.has_evidence(self.conn, relation, episode, start, extractor)
        )

    def _earlier(self, one: Relation, slot: Sequence[Relation], start: int | None) -> None:
        """A relation begins when the earliest passage says so, if nothing else held in between."""
        if start is None or one.valid_from is None or start >= one.valid_from:
            return
        if not any(o.object != one.object and o.valid_from is not None and o.valid_from < one.valid_from for o in slot):
            relations.set_valid_from(self.conn, one.id, start)
            self._met.setdefault(one.id, [one.subject])

    def _before(
        self,
        row: episodes.When,
        told: ExtractedRelation,
        new: Relation,
        subjects: Sequence[int],
        predicate: int,
        extractor: str,
    ) -> None:
        """The value that the passage says was there before, unless that is known."""
        assert told.replaces is not None
        old = self._resolver.resolve(told.replaces)
        slot = [
            one
            for node in subjects
            for one in relations.of_slot(self.conn, node, new.canon, old, new.valid_from)
            if one.id != new.id
        ]
        names = graph.object_labels(self.conn, [old, *(one.object for one in slot)])
        if old in (new.object, new.subject) or any(same_value(names[one.object], names[old]) for one in slot):
            return
        id = relations.insert(
            self.conn, new.subject, predicate, old, told.modality, told.conf, None, new.valid_from, self._now
        )
        relations.add_evidence(self.conn, id, row.id, told.start, told.end, extractor)
        self._new.append(id)

    def _anew(self, replaced: Relation) -> int:
        """The relation as it holds again, from when it was told last."""
        predicate, conf, episode, start, end, extractor = relations.latest_evidence(self.conn, replaced.id)
        id = relations.insert(
            self.conn, replaced.subject, predicate, replaced.object, replaced.modality, conf, replaced.told, None,
            self._now,
        )  # fmt: skip
        relations.add_evidence(
            self.conn, id, episode, -1 if start is None else start, -1 if end is None else end, extractor
        )
        self._new.append(id)
        return id

    def _only_with(self, anew: int, made: Sequence[int]) -> None:
        """A relation that holds anew lives with the revision that says so, and goes when that is taken back."""
        relations.expire(self.conn, anew, self._now)
        for revision in made:
            revisions.change(self.conn, revision, anew, "t_expired", None, self._now)

    def _theses_of(self, row: episodes.When, told: Sequence[ExtractedThesis]) -> None:
        """Theses in a model's words, beside the sentences; one that is there already is left alone."""
        known = graph.model_theses(self.conn, row.id)
        new = [one for one in {one.text: one for one in told}.values() if one.text.strip() and one.text not in known]
        first = graph.allocate(self.conn, "node", len(new))
        rows, edges = [], []
        for node, one in enumerate(new, first):
            start, end = _ms(one.valid_from), _ms(one.valid_to)
            if one.modality == "past":
                end = row.event_from if end is None else end
            elif start is None:
                start = row.event_from
            rows.append(
                graph.ThesisRow(node, row.id, one.start, one.end, one.text, "model", one.modality, 1, 1.0, start, end)
            )
            members = sorted({self._resolver.resolve(name) for name in one.objects if name.strip()})
            asserts = graph.allocate(self.conn, "edge", 1 + len(members))
            joined = {to: asserts + place for place, to in enumerate(members, 1)}
            edges.append(graph.EdgeRow(asserts, "asserts", row.id, node))
            edges += [graph.EdgeRow(id, "member", node, to) for to, id in joined.items()]
            self._theses.append(ThesisVertex(node, row.id, asserts, joined, start, end))
        graph.insert_theses(self.conn, rows, self._now)
        graph.insert_edges(self.conn, edges, self._now)
        text.add_theses(self.conn, [thesis.id for thesis in rows])

    def _links(self, ids: Sequence[int]) -> list[Link]:
        """The relations among these edges as the graph in memory has them."""
        episodes_of = relations.supporting_episodes(self.conn, ids)
        return [
            Link(id, "rel", src, dst, start, end, tuple(episodes_of.get(id, ())))
            for id, src, dst, start, end in relations.live_spans(self.conn, ids)
        ]


def _returns(new: Relation, old: Relation) -> bool:
    """Whether a pair asks if something that was replaced by the other holds again."""
    return new.superseded_by == old.id


def _ms(at: datetime | None) -> int | None:
    return None if at is None else to_ms(at)
