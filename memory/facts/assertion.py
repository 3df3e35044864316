"""Assertion: extractions become relations and theses, and each new relation is ordered in valid time.

One transaction for any number of episodes, and idempotent: the same extraction again changes nothing."""

import json
from collections.abc import Iterable, Mapping, Sequence

from memory.errors import InvalidInputError
from memory.facts.extraction import OWNER, ExtractedRelation, Extraction
from memory.facts.resolve import Resolver, assert_theses
from memory.facts.supersede import MIN_CONFIDENCE, Superseder
from memory.graph.change import GraphChange, Link, ThesisVertex
from memory.protocols import Embedder
from memory.revisions import AssertionResult, Decision
from memory.store import episodes, facts, graph, past, relations, revisions, sources
from memory.store.connect import Connection
from memory.store.relations import Relation
from memory.text.predicates import canonical_predicate, same_value
from memory.time.timestamps import wall_of

RULE, USER = "rule", "user"  # extractors other than models
MAX_PREDICATE_CHARS = 80


class FactAsserter:
    """Asserts facts within one transaction. `owner`: the names of the memory's owner; `embedder` embeds the facts;
    `now` is ms UTC."""

    def __init__(self, conn: Connection, now: int, owner: Sequence[str], embedder: Embedder) -> None:
        self.conn = conn
        self._now = now
        self._embedder = embedder
        self._resolver = Resolver(conn, now, owner)
        self._superseder = Superseder(conn, now)
        self._new: list[int] = []
        self._edited: Mapping[int, int] = {}
        self._asserted: dict[int, list[int]] = {}  # relation -> the objects that its subject may be
        self._carried: set[tuple[int, int, int]] = set()  # relation, episode, place: evidence of an earlier version
        self._theses: list[ThesisVertex] = []
        self._returned: set[tuple[int, int]] = set()
        self.restored_passages = False

    def assert_extractions(
        self, extractions: Mapping[int, Extraction], model: str | None = None, edited: Mapping[int, int] | None = None
    ) -> None:
        """Asserts the extractions of live episodes (by id), oldest episode first, by `model` or by rules. `edited`:
        since when the properties of sources may have changed (source id -> ms UTC)."""
        self._edited = edited or {}
        placed = {row.id: row for row in episodes.list_refs(self.conn, list(extractions))}
        for row in sorted(placed.values(), key=lambda row: (row.event_from is not None, row.event_from or 0, row.id)):
            extraction = extractions[row.id]
            self._resolver.begin_episode(extraction, graph.mentioned_names(self.conn, row.id))
            asserted = {self._assert_relation(row, claim, model or RULE): claim for claim in extraction.relations}
            if model is None:
                self._withdraw_properties(row.id, asserted)
            if extraction.theses:
                self._theses += assert_theses(self.conn, self._resolver, row, extraction.theses, self._now)
        if model is not None:
            episodes.mark_read(self.conn, extractions, model, self._now)
        facts.put_vectors(self.conn, self._embedder, [*self._new, *(thesis.node_id for thesis in self._theses)])

    def apply_decisions(self, decisions: Sequence[Decision], model: str) -> None:
        """Applies a model's decisions. If a superseded fact is asserted again and supersedes its successor by them, it
        gets a new relation."""
        for decision in decisions:
            rows = {row.id: row for row in relations.get_claims(self.conn, [decision.old, decision.new])}
            old, new = rows.get(decision.old), rows.get(decision.new)
            if old and new and decision.relation == "supersedes" and new.superseded_by == old.id:
                if decision.confidence >= MIN_CONFIDENCE:
                    id = self._copy_relation(new)
                    made = len(self._superseder.revision_ids)
                    self._superseder.apply_decision(Decision(old.id, id, decision.relation, decision.confidence), model)
                    relations.set_field(self.conn, id, "t_expired", self._now)
                    for revision in self._superseder.revision_ids[made:]:  # undoing them removes it
                        revisions.change(self.conn, revision, id, "t_expired", None, self._now)
            else:
                self._superseder.apply_decision(decision, model)

    def carry_evidence(self, going: Sequence[int], added: Sequence[int]) -> None:
        """Gives the evidence of retired episodes to new episodes of their source with the same words, for facts
        extracted by a model; rules extract them again."""
        for id, extractor, quote, episode, words in relations.quotes(self.conn, going, added):
            start = -1 if quote is None else words.find(quote)
            if quote is not None and start < 0:
                continue
            self._carried.add((id, episode, start))
            if extractor != RULE:
                relations.add_evidence(self.conn, id, episode, start, start + len(quote or ""), extractor)
                self._superseder.touched.add(id)

    def merge_duplicates(self, groups: Iterable[Sequence[int]]) -> int:
        """Merges equal relations (`relations.duplicate_groups`); returns the number of removed ones."""
        return sum(map(self._superseder.merge_duplicates, groups))

    def replace_edited(self, edited: Mapping[int, int], edits: Sequence[tuple[int, int]]) -> None:
        """Ends the facts whose words a source's newer version (source id -> its beginning, ms UTC) replaced, whatever
        their predicate. `edits`: pairs of theses (sentence, its edited form); those stated by a relation, such as the
        line `phone: 1234` of front matter, are skipped, as they have no place in the text."""
        labels: set[str] = set()
        for source, since in edited.items():
            for old, new in past.edited_pairs(self.conn, source, since):
                self._superseder.replace_edited(old, new)
                if old.id in self._superseder.edited:
                    labels.add(new.predicate.casefold())
        texts = graph.thesis_texts(self.conn, [new for _, new in edits]) if labels else {}
        stated = {new for new, text in texts.items() if text.casefold().partition(": ")[0] in labels}
        for old, new in past.edited_sentences(self.conn, [pair for pair in edits if pair[1] not in stated]):
            self._superseder.replace_edited(old, new)

    def withdraw_episodes(self, gone: Sequence[int]) -> None:
        """Retracts the relations whose evidence was only in these retired episodes. What an edit replaced stays in
        history."""
        lost = relations.list_without_evidence(self.conn, gone)
        facts.delete_vectors(self.conn, lost)
        self._superseder.withdraw([id for id in lost if id not in self._superseder.edited])

    def restore_passages(self, ids: Sequence[int]) -> None:
        """Restores retired passages, and the effects of their relations."""
        gone = relations.list_without_evidence(self.conn, ids)
        past.restore(self.conn, ids)
        for id in gone:
            self._superseder.reinstate(id)
        self._superseder.supersede_again(gone)

    def separate_objects(self, ones: Sequence[int], others: Sequence[int]) -> int:
        """Separates objects by a person's decision: undoes the revisions that treated them as one; returns their
        number."""
        graph.part(self.conn, ones, others)
        rows = revisions.list_across(self.conn, ones, others)
        for row in rows:
            self._superseder.undo(row, None)
        return len(rows)

    def settle_revision(self, revision: revisions.Row, verdict: str) -> None:
        """Applies a person's verdict on a revision: "keep", "both", "old", "open" or "undo". If it confirms a fact that
        an edit removed ("both", "old"), the passage of the fact is restored."""
        if verdict == "undo":
            self._superseder.undo(revision, self._now)
        else:
            self._superseder.settle(revision, verdict)
        if verdict in ("both", "old"):
            former = past.former_evidence(self.conn, revision.old)
            past.restore_fact(self.conn, revision.old, former)
        else:
            former = past.restored_evidence(self.conn, revision.old)
            episodes.retire_many(self.conn, former, self._now)
        self.restored_passages |= bool(former)

    def correct(self, fact: int, value: str, episode: int, length: int) -> int:
        """Gives a relation the value that a person states, in the first `length` characters of their passage; returns
        the new relation. InvalidInputError for its present value."""
        (old,) = relations.get_many(self.conn, [fact])
        object = self._resolver.resolve(value)
        if object in (old.object, old.subject):
            raise InvalidInputError("That is its value already.")
        _, canon = relations.ensure_predicate(self.conn, old.predicate, canonical_predicate(old.predicate, value))
        slot = relations.list_by_slot(self.conn, old.subject, canon, object, wall_of(self._now))
        new = next((fact.id for fact in slot if fact.object == object and fact.superseded_by is None), None)
        if new is None:  # rules did not read it out of the passage
            new = self._insert_value(old, object, value, wall_of(self._now))
        relations.add_evidence(self.conn, new, episode, 0, length, USER)
        self._asserted[new] = self._resolver.namesakes(old.subject)
        (relation,) = relations.get_many(self.conn, [new])
        (old,) = relations.get_many(self.conn, [fact])
        if old.superseded_by != new:
            self._superseder.supersede(old, relation, "You set it.", "user")
        for row in revisions.list_by_older(self.conn, fact):
            if row.new == new:
                revisions.settle(self.conn, row.id, "kept", self._now)
        facts.put_vectors(self.conn, self._embedder, [new])
        episodes.mark_read(self.conn, [episode], USER, self._now)
        return new

    def dispute(self, fact: int, value: str, episode: int, length: int) -> None:
        """Adds another value of a relation, stated by a person at the same time in the first `length` characters of
        their passage, as a contradiction until a person decides."""
        (old,) = relations.get_many(self.conn, [fact])
        object = self._resolver.resolve(value)
        if object not in (old.object, old.subject):
            new = self._insert_value(old, object, value, old.valid_from)
            relations.add_evidence(self.conn, new, episode, 0, length, USER)
            revisions.add(
                self.conn, "contradicts", old.id, new, "Two computers stated different values.", "rule", 1.0, self._now
            )
            facts.put_vectors(self.conn, self._embedder, [new])

    def result(self) -> AssertionResult:
        """Returns the result, without the pairs that a model has to judge."""
        return AssertionResult(tuple(self._new), tuple(self._superseder.revision_ids))

    def propose_pairs(self) -> tuple[tuple[int, int], ...]:
        """Returns the pairs (older, newer) of facts that a model has to judge."""
        ids = sorted({*self._asserted, *(thesis.node_id for thesis in self._theses)})
        return tuple(dict.fromkeys([*sorted(self._returned), *self._superseder.propose_pairs(ids)]))

    def complete_vectors(self) -> None:
        """Computes the vectors of facts that an undone revision made current again."""
        if touched := self._superseder.touched:
            facts.put_vectors(self.conn, self._embedder, facts.list_without_vectors(self.conn, -1, touched))

    def graph_changes(self) -> list[GraphChange]:
        """Returns the changes to the graph in memory, removals first; none if nothing was asserted."""
        touched = sorted({*self._new, *self._superseder.touched, *self._asserted})
        if not (touched or self._theses or self._resolver.new_objects):
            return []
        fresh = GraphChange(
            objects=self._resolver.new_objects,
            theses=self._theses,
            links=self._links(touched),
        )
        theses = relations.get_claims(self.conn, [id for id in touched if revisions.kind_of(id) == "thesis"])
        return [
            GraphChange(unlinked=touched, retimed={row.id: (row.valid_from, row.valid_to) for row in theses}),
            fresh,
        ]

    def _withdraw_properties(self, episode: int, asserted: Mapping[int | None, ExtractedRelation]) -> None:
        """Removes the evidence of relations that the source's properties no longer assert. A property with another
        value replaces its former one."""
        gone = [id for id in relations.list_by_properties(self.conn, episode, RULE) if id not in asserted]
        single = [id for id, claim in asserted.items() if id is not None and claim.start < 0 and claim.single]
        new = {(fact.subject, fact.canon): fact for fact in relations.get_many(self.conn, single)} if gone else {}
        for old in relations.get_many(self.conn, gone):
            if (old.subject, old.canon) in new:
                self._superseder.replace_edited(old, new[old.subject, old.canon])
        self._superseder.touched.update(gone)
        lost = [id for id in gone if relations.remove_evidence(self.conn, id, episode, self._now)]
        self._superseder.withdraw([id for id in lost if id not in self._superseder.edited])

    def _assert_relation(self, row: episodes.EpisodeRef, claim: ExtractedRelation, extractor: str) -> int | None:
        """Returns the new or known relation of this claim; None if the claim is empty."""
        label = " ".join(claim.predicate.replace("_", " ").split()).lower()[:MAX_PREDICATE_CHARS]
        if not label or not claim.subject.strip() or not claim.object.strip():
            return None
        is_place = claim.by_place and claim.subject != OWNER
        subject = (
            self._resolver.resolve_place(claim.subject, row.source_id)
            if is_place
            else self._resolver.resolve(claim.subject)
        )
        object = self._resolver.resolve(claim.object)
        if subject == object:
            return None
        predicate, canon = relations.ensure_predicate(self.conn, label, canonical_predicate(label, claim.object))
        start, end = claim.valid_time(self._find_statement_time(row, claim))
        subjects = self._resolver.namesakes(subject)
        start = self._begin_at_edit(row, claim, subjects, object, canon, start)
        id = self._find_known(row, subjects, object, canon, claim, start, extractor)
        if id is not None:
            if relations.add_evidence(self.conn, id, row.id, claim.start, claim.end, extractor):
                relations.count_support(self.conn, id)
            self._asserted[id] = subjects
            return id
        asserted = (self.conn, subject, predicate, object, claim.modality)
        id = relations.find_without_evidence(*asserted, start)
        if id is not None:
            self._superseder.reinstate(id)
        else:
            id = relations.insert(*asserted, claim.conf, start, end, self._now)
        self._new.append(id)
        relations.add_evidence(self.conn, id, row.id, claim.start, claim.end, extractor)
        self._asserted[id] = subjects
        (relation,) = relations.get_many(self.conn, [id])
        self._superseder.apply(relation, subjects, claim)
        return id

    def _find_statement_time(self, row: episodes.EpisodeRef, claim: ExtractedRelation) -> int | None:
        """Returns since when a passage contains a claim (ms UTC): the time of its topic, or for words of an edit the
        time of the edit, whatever the date of the note."""
        if claim.start < 0:
            return self._edited.get(row.source_id, row.event_from)
        if row.since is None or episodes.was_stated_before(self.conn, row.id, self._line(row.id, claim)):
            return row.event_from
        return row.since

    def _begin_at_edit(
        self,
        row: episodes.EpisodeRef,
        claim: ExtractedRelation,
        subjects: Sequence[int],
        object: int,
        canon: int,
        start: int | None,
    ) -> int | None:
        """Returns the start of a claim. If an edit put its words next to a date that was there before, the date belongs
        to the replaced value, and the claim begins with the edit."""
        if claim.valid_from is None or row.since is None or self._find_statement_time(row, claim) != row.since:
            return start
        slot = [fact for node in subjects for fact in relations.list_by_slot(self.conn, node, canon, object, start)]
        return row.since if any(fact.valid_from == start and fact.object != object for fact in slot) else start

    def _line(self, episode: int, claim: ExtractedRelation) -> str:
        """Returns the line from which a claim was extracted."""
        (row,) = episodes.read_texts(self.conn, [episode])
        start = row.text.rfind("\n", 0, claim.start) + 1
        end = row.text.find("\n", claim.end)
        return row.text[start : end if end >= 0 else len(row.text)]

    def _find_known(
        self,
        row: episodes.EpisodeRef,
        subjects: Sequence[int],
        object: int,
        canon: int,
        claim: ExtractedRelation,
        start: int | None,
        extractor: str,
    ) -> int | None:
        """Returns the known relation with the same content. Words that were in the note before are not new, whatever
        the file's date."""
        slot = [old for node in subjects for old in relations.list_by_slot(self.conn, node, canon, object, start)]
        names = graph.object_labels(self.conn, [object, *(old.object for old in slot)])
        same = [old for old in slot if old.modality == claim.modality and same_value(names[old.object], names[object])]
        if extractor == RULE:
            for old in same:
                if (old.id, row.id, claim.start) in self._carried or relations.has_evidence(
                    self.conn, old.id, row.id, claim.start, extractor
                ):
                    return old.id
        open_at = [old for old in same if start is None or old.valid_to is None or old.valid_to > start]
        if current := [old for old in open_at if old.superseded_by is None]:
            known = min(current, key=lambda old: (old.object != object, old.id))
            self._begin_earlier(known, slot, start, row.source_id)
            return known.id
        superseded = [old for old in same if old.superseded_by is not None]
        return self._find_superseded(superseded, slot, claim, start, extractor) if superseded else None

    def _find_superseded(
        self,
        superseded: Sequence[Relation],
        slot: Sequence[Relation],
        claim: ExtractedRelation,
        start: int | None,
        extractor: str,
    ) -> int | None:
        """Returns the last superseded relation. None if a later claim names its start or is from rules, which read only
        later text; whether a model's claim revives the relation is a model's decision."""
        last = max(superseded, key=lambda fact: (fact.valid_to or 0, fact.id))
        later = start is not None and start > (last.valid_to or 0)
        if later and (claim.valid_from is not None or extractor == RULE):
            return None
        if later:
            self._returned.update((fact.id, last.id) for fact in slot if fact.id == last.superseded_by)
        return last.id

    def _begin_earlier(self, old: Relation, slot: Sequence[Relation], start: int | None, source: int) -> None:
        """Moves the beginning of a relation to its earliest evidence, if no other value was valid in between; evidence
        of agents does not move that of a fact from another source."""
        if start is None or old.valid_from is None or start >= old.valid_from:
            return
        written = sources.written_by_agents(self.conn, old.sources | {source})
        if source in written and not old.sources <= written:
            return
        if not any(o.object != old.object and o.valid_from is not None and o.valid_from < old.valid_from for o in slot):
            relations.set_field(self.conn, old.id, "valid_from", start)
            self._asserted.setdefault(old.id, [old.subject])

    def _insert_value(self, old: Relation, object: int, value: str, start: int | None) -> int:
        """Inserts a relation with a value that a person states instead of a known one; returns its id."""
        predicate, _ = relations.ensure_predicate(self.conn, old.predicate, canonical_predicate(old.predicate, value))
        new = relations.insert(self.conn, old.subject, predicate, object, "asserted", 1.0, start, None, self._now)
        self._new.append(new)
        return new

    def _copy_relation(self, replaced: Relation) -> int:
        """Copies a relation that is valid again, from its latest evidence on."""
        predicate, conf, episode, start, end, extractor = relations.latest_evidence(self.conn, replaced.id)
        subject, object, modality, begin = replaced.subject, replaced.object, replaced.modality, replaced.last_asserted
        id = relations.insert(self.conn, subject, predicate, object, modality, conf, begin, None, self._now)
        relations.add_evidence(
            self.conn, id, episode, -1 if start is None else start, -1 if end is None else end, extractor
        )
        self._new.append(id)
        return id

    def _links(self, ids: Sequence[int]) -> list[Link]:
        """Returns the relations among these edges as links of the graph in memory."""
        return [
            Link(id, "rel", src, dst, start, end, tuple(json.loads(spans)))
            for id, src, dst, start, end, spans in relations.live_spans(self.conn, ids)
        ]
