"""Supersession: the effect of a new fact on known ones.

A fact is replaced only on evidence that works for anybody: its place in a source was edited, a newer version of the
document says otherwise, the owner said so, or a model decided so of two facts of one subject. Everything else is two
values, which are shown with their dates. Every change is a revision, and can be reverted."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, pairwise

from memory.facts import slots
from memory.facts.extraction import ExtractedRelation
from memory.nouns import RevisionState
from memory.revisions import Decision
from memory.store import facts, graph, relations, revisions, sources
from memory.store.connect import Connection
from memory.store.relations import Relation
from memory.text.mentions import norm
from memory.text.predicates import contains_value, refines, same_value
from memory.text.words import Version, added_words, document_of

MIN_CONFIDENCE = 0.7  # of a model's decision, to count
LEAST_CONFIDENCE = 0.4  # of one that a person is shown
NEAREST = 8  # known facts that a new one is compared with
AGENT_SAYS = "An agent wrote it. You decide whether it is true."


class Superseder:
    """Supersession within one transaction. `touched`: relations with changed times; `edited`: relations whose words an
    edit replaced; `revision_ids`: the new revisions."""

    def __init__(self, conn: Connection, now: int) -> None:
        self._conn = conn
        self._now = now
        self.touched: set[int] = set()
        self.edited: set[int] = set()
        self.revision_ids: list[int] = []

    # What needs no model --------------------------------------------------------------------------

    def apply(self, new: Relation, subjects: Sequence[int], claim: ExtractedRelation) -> None:
        """Lets a new relation end or replace others. `subjects`: the objects that its subject may be; `claim`: its
        extraction."""
        if new.modality not in slots.CLAIMS:
            return
        slot = self._slot(new, subjects)
        if self._separate_merged(new, [other for other in slot if other.object != new.object]):
            slot = self._slot(new, subjects)
        names = graph.object_labels(self._conn, [new.object, *(other.object for other in slot)])
        if new.modality in ("past", "negated"):
            for other in slot:
                if other.modality == "asserted" and same_value(names[other.object], names[new.object]):
                    self._end(other, new, "A newer text says that this is over.", "rule")
        elif claim.single:
            others = [
                other
                for other in slot
                if self._may_exclude(other, new, names) and not refines(names[other.object], names[new.object])
            ]
            if claim.by_place:
                self._order_versions([*others, new])
                self._propose_notes(new)
            else:  # only the owner's own words have one value without a place
                self._order_by_time(new, others)

    def _may_exclude(self, other: Relation, new: Relation, names: Mapping[int, str]) -> bool:
        """Whether two relations of a slot have different values and one could replace the other."""
        return (
            (slots.may_replace(new.modality, other.modality) or slots.may_replace(other.modality, new.modality))
            and not same_value(names[other.object], names[new.object])
            and not self._is_settled(other, new)
        )

    def _slot(self, new: Relation, subjects: Sequence[int]) -> list[Relation]:
        begin = new.valid_from if new.valid_from is not None else new.last_asserted
        known = (relations.list_by_slot(self._conn, node, new.canon, new.object, begin) for node in subjects)
        return [other for other in chain.from_iterable(known) if other.id != new.id]

    def _order_versions(self, facts: Sequence[Relation]) -> None:
        """Replaces each fact of an older version of a document by that of the next: "Rates", "Rates v2"."""
        uris = sources.uris_of(self._conn, frozenset[int]().union(*(fact.sources for fact in facts)))
        documents: dict[tuple[str, str], dict[Version, Relation]] = defaultdict(dict)
        for fact in facts:
            for source in fact.sources:
                base, suffix, version = document_of(uris[source])
                documents[base, suffix][version] = fact
        for document in documents.values():
            for version, newer in pairwise(sorted(document)):
                old, new = document[version], document[newer]
                if old.superseded_by == new.id or old.sources & new.sources:
                    continue
                if old.superseded_by and (row := revisions.find_between(self._conn, old.id, old.superseded_by)):
                    self.undo(row, None)
                number = ".".join(map(str, newer))
                self.supersede(old, new, f"Version {number} of the document states it.", "rule")

    def _propose_notes(self, new: Relation) -> None:
        """Proposes a contradiction, for a person to decide, if another note of the same title in the same folder has
        another value. Not if the names of their files have different words that the title does not have."""
        titles = sources.titles_of(self._conn, new.sources)
        subject = norm(graph.object_labels(self._conn, [new.subject])[new.subject])
        if {title for _, title in titles} != {subject}:
            return  # a heading or a row
        for node in graph.all_by_norm(self._conn, subject):
            for other in relations.list_by_slot(self._conn, node, new.canon, new.object, new.last_asserted):
                names = graph.object_labels(self._conn, [new.object, other.object])
                is_near = sources.titles_of(self._conn, other.sources) == titles
                is_other = not new.sources & other.sources and not refines(names[new.object], names[other.object])
                uris = sources.uris_of(self._conn, new.sources | other.sources)
                is_other &= len({added_words(uri, subject) for uri in uris.values()} - {frozenset()}) < 2
                if is_near and is_other and self._may_exclude(other, new, names):
                    older, newer = sorted((other, new), key=slots.order_of)
                    self._revision("contradicts", older, newer, "Two notes of one title say otherwise.", "rule", 1.0)

    def _order_by_time(self, new: Relation, others: Sequence[Relation]) -> None:
        """Ends each of a sequence of values where the next begins; one that arrives late is inserted in order."""
        reason, day = "You stated it later.", slots.day_of(new)
        for other in others:
            evidence = other.last_asserted, other.modality
            is_open = other.valid_to is None or other.valid_to > slots.begin_of(new)
            is_before = slots.order_of(other) < slots.order_of(new)
            if slots.day_of(other) == day and evidence == (new.last_asserted, new.modality):
                self._revision("contradicts", other, new, "Both have the same time.", "rule", 1.0)
            elif is_open and is_before and slots.may_replace(new.modality, other.modality):
                self.supersede(other, new, reason, "rule")
        later = [other for other in others if slots.day_of(other) > day]
        if after := [other for other in later if slots.may_replace(other.modality, new.modality)]:
            self.supersede(new, min(after, key=slots.order_of), reason, "rule")

    def _end(self, old: Relation, new: Relation, reason: str, author: revisions.Author, conf: float = 1.0) -> None:
        """Ends the old relation at the time stated by the new one, which says that it is over."""
        end = slots.end_of(new)
        if end == slots.EARLIEST_MS or (old.valid_to is not None and old.valid_to <= end) or slots.begin_of(old) > end:
            return
        if not self._dispute_agents(old, new, author, conf) and not self._is_settled(old, new):
            self._close(self._revision("negates", old, new, reason, author, conf), old, end, None)

    def supersede(self, old: Relation, new: Relation, reason: str, author: revisions.Author, conf: float = 1.0) -> None:
        """Ends the old relation where the new one begins; one that began no earlier was never valid. If the old one has
        a stated end, the new one must not begin much earlier, or it is about something else. A fact from agents alone
        replaces no fact from another source: they contradict each other."""
        stated_end = old.valid_to is not None and not revisions.has_changed(self._conn, old.id, "valid_to")
        if stated_end and old.valid_to is not None and slots.begin_of(new) < old.valid_to - slots.MONTH_MS:
            return
        if self._dispute_agents(old, new, author, conf):
            return
        self._separate_merged(new, [old])
        id = self._revision("supersedes", old, new, reason, author, conf)
        self._close(id, old, max(slots.begin_of(new), slots.begin_of(old)), new)

    def _close(self, revision: int, old: Relation, at: int, new: Relation | None) -> None:
        """Ends a fact at a time (ms UTC), with the facts of its value, and the sentences and theses in its words that
        state it and nothing valid. `new` is its successor."""
        near = relations.find_overlapping(self._conn, [old.id]) if old.predicate else []
        others = relations.get_many(self._conn, [other for _, other in near])
        names = graph.object_labels(self._conn, [fact.object for fact in (old, *others) if fact.predicate])
        same = [fact for fact in others if same_value(names[fact.object], names[old.object])]
        for fact in (old, *(twin for twin in same if twin.superseded_by is None and (twin.last_asserted or 0) < at)):
            if at != slots.EARLIEST_MS and (fact.valid_to is None or fact.valid_to > at):
                self._change(revision, fact.id, "valid_to", at)
            if new is not None and fact.id != new.id:
                self._change(revision, fact.id, "superseded_by", new.id)
        for thesis, text in relations.list_sole_theses(self._conn, old.id):
            if at != slots.EARLIEST_MS and (not old.predicate or contains_value(text, names[old.object])):
                self._change(revision, thesis, "valid_to", at)

    def replace_edited(self, old: Relation, new: Relation) -> None:
        """Replaces a fact whose words a newer version of a source replaced by those of the new one. Theses are known to
        differ in content."""
        if old.superseded_by == new.id:
            self.edited.add(old.id)
            return
        names = graph.object_labels(self._conn, [old.object, new.object])
        if old.superseded_by is None and (not old.predicate or self._may_exclude(old, new, names)):
            self.supersede(old, new, "You edited the note.", "rule")
            self.edited.add(old.id)

    # What a model has to judge --------------------------------------------------------------------

    def propose_pairs(self, ids: Iterable[int]) -> list[tuple[int, int]]:
        """Returns pairs (older, newer) of facts where one may replace the other: each of these facts with those of the
        nearest (`facts.nearest`) that fill one slot with it, whatever the name of their subject."""
        near = {id: facts.nearest(self._conn, id, NEAREST) for id in ids}
        rows = relations.get_claims(self._conn, sorted({*near, *chain.from_iterable(near.values())}))
        known = {fact.id: fact for fact in rows}
        names = graph.object_labels(self._conn, sorted({node for fact in rows for node in (fact.subject, fact.object)}))
        pairs: dict[tuple[int, int], None] = {}
        for id, others in near.items():
            for other in others:
                if id in known and other in known:
                    old, new = sorted((known[id], known[other]), key=slots.order_of)
                    if self._may_meet(old, new, names):
                        pairs[old.id, new.id] = None
        return [
            (old.id, new.id) for old, new in self._select_one_slot([(known[old], known[new]) for old, new in pairs])
        ]

    def _may_meet(self, old: Relation, new: Relation, names: Mapping[int, str]) -> bool:
        """Whether the newer one could replace the older one, and nobody has judged that yet."""
        if bool(old.predicate) != bool(new.predicate) or not slots.may_follow(old, new) or slots.is_bygone(old, new):
            return False
        if old.predicate and old.canon == new.canon and new.modality in ("asserted", "plan"):
            ends = ((old.subject, new.subject), (old.object, new.object))
            if all(same_value(names[end], names[other]) for end, other in ends):
                return False
        if old.superseded_by is not None and old.valid_to is not None and old.valid_to <= slots.begin_of(new):
            return False  # something else came in between
        return revisions.find_between(self._conn, old.id, new.id) is None

    def apply_decision(self, decision: Decision, model: str) -> None:
        """Applies a model's decision on two facts, if it is sure and their form and time allow it. An unsure
        replacement becomes a contradiction, which waits for a person and changes nothing."""
        rows = relations.get_claims(self._conn, [decision.old, decision.new])
        judged = revisions.find_between(self._conn, decision.old, decision.new)
        if len(rows) < 2 or decision.confidence < LEAST_CONFIDENCE or judged:
            return
        old, new = sorted(rows, key=slots.order_of)
        why = f"{model} decided so." if not decision.words else f"{model} decided so: “{decision.words}”"
        conf = decision.confidence
        replaces = decision.relation in ("supersedes", "ends")
        is_sure = conf >= MIN_CONFIDENCE and slots.may_follow(old, new) and bool(self._select_one_slot([(old, new)]))
        if decision.relation == "contradicts" or (replaces and not is_sure):
            self._revision("contradicts", old, new, why, "model", conf)
        elif decision.relation == "duplicates" and old.predicate and old.modality == new.modality:
            if conf >= MIN_CONFIDENCE and old.subject == new.subject:
                self._fold(old, new, why, "model", conf)
            elif conf >= MIN_CONFIDENCE:  # if both names are one, which a person may say
                self._revision("duplicates", old, new, why, "model", conf)
        elif replaces and (decision.relation == "ends" or slots.states_end(old, new)):
            self._end(old, new, why, "model", conf)
        elif replaces:
            self.supersede(old, new, why, "model", conf)

    def _select_one_slot(self, pairs: Sequence[tuple[Relation, Relation]]) -> list[tuple[Relation, Relation]]:
        """Returns the pairs that fill one slot, and do not belong to two persons."""
        ids = sorted({fact.id for pair in pairs for fact in pair})
        known = {fact.id: fact for fact in facts.get_many(self._conn, ids)}
        words = {id: fact.quote for id, fact in known.items()}
        words |= {id: text for id, _, text in relations.sentences(self._conn, ids)}
        return [
            (old, new)
            for old, new in pairs
            if (old.subject == new.subject and old.canon == new.canon and old.predicate)
            or (
                slots.fill_one_slot(known[old.id], known[new.id], words[old.id], words[new.id])
                and not (old.predicate and old.object != new.object and self._are_two_persons(old, new))
            )
        ]

    def _are_two_persons(self, old: Relation, new: Relation) -> bool:
        return all(graph.object_type(self._conn, fact.subject) == "person" for fact in (old, new)) and (
            new.subject not in graph.namesakes(self._conn, old.subject)
        )

    def _fold(self, old: Relation, new: Relation, why: str, author: revisions.Author, conf: float) -> None:
        """Merges the new relation into the old one."""
        id = self._revision("duplicates", old, new, why, author, conf)
        revisions.settle(self._conn, id, "kept", None)
        self._stand_for(id, old, new)

    def _stand_for(self, revision: int, old: Relation, new: Relation) -> None:
        """Gives the evidence of the new relation to the old one."""
        revisions.share_evidence(self._conn, revision, old.id, new.id, self._now)
        self._change(revision, new.id, "superseded_by", old.id)
        self._change(revision, new.id, "t_expired", self._now)
        self.touched.add(old.id)

    # Duplicates --------------------------------------------------------------------------

    def merge_duplicates(self, ids: Sequence[int]) -> int:
        """Merges equal live relations with the same end (`relations.duplicate_groups`) into the one that begins first;
        returns the number. Relations that superseded anything, or are disputed, are unchanged."""
        kept: list[Relation] = []
        joined = 0
        rows = relations.get_many(self._conn, ids)
        for new in sorted(
            rows, key=lambda fact: (slots.EARLIEST_MS if fact.valid_from is None else fact.valid_from, fact.id)
        ):
            old = next((fact for fact in kept if not self._is_settled(fact, new)), None)
            is_revised = revisions.list_by_newer(self._conn, [new.id]) or revisions.list_by_older(self._conn, new.id)
            if old is None or is_revised:
                kept.append(new)
            else:
                self._fold(old, new, "Both say the same about the same time.", "rule", 1.0)
                joined += 1
        return joined

    def _separate_merged(self, new: Relation, slot: Sequence[Relation]) -> bool:
        """Separates merged relations if the new one begins between them; returns whether there were any."""
        rows = revisions.list_merges(self._conn, [fact.id for fact in slot], slots.begin_of(new))
        for row in rows:
            self.undo(row, None)
        return bool(rows)

    # What a person says ---------------------------------------------------------------------------

    def settle(self, revision: revisions.Row, verdict: str) -> None:
        """Applies a person's verdict. `keep`: the new one is valid; `both`: both are valid; `old`: the new one was
        never true; `open`: no verdict, as when the revision was made."""
        self.undo(revision, None)
        old, new = self._read_pair(revision.old, revision.new, ever=_takes_place(revision, verdict))
        state: RevisionState = "settled" if verdict == "both" else "open" if verdict == "open" else "kept"
        if _takes_place(revision, verdict) and old and new:
            if revision.relation == "duplicates":
                self._stand_for(revision.id, old, new)
            else:
                ends = revision.relation == "negates"
                at = slots.end_of(new) if ends else max(slots.begin_of(new), slots.begin_of(old))
                self._close(revision.id, old, at, None if ends else new)
        elif verdict == "old" and new:
            self._change(revision.id, new.id, "t_expired", self._now)
        revisions.settle(self._conn, revision.id, state, None if verdict == "open" else self._now)

    def undo(self, revision: revisions.Row, by_person_at: int | None) -> None:
        """Reverts the changes of a revision. One that no person undid may be found again."""
        self.touched.update(revisions.revert(self._conn, revision.id))
        if revision.relation == "duplicates":
            self.touched.add(revision.old)
        revisions.settle(self._conn, revision.id, "undone", by_person_at)

    def withdraw(self, facts: Collection[int]) -> None:
        """Undoes the revisions by relations that have lost their evidence. Their successor then replaces the fact
        before them, or both would be valid; a fact that has lost its own evidence stays history."""
        made = revisions.list_by_newer(self._conn, facts)
        live = {fact.id for fact in relations.get_claims(self._conn, sorted({revision.old for revision in made}))}
        gone = [revision for revision in made if revision.old in live]
        later = {revision.id: revisions.find_replacement(self._conn, revision.new, facts) for revision in gone}
        for revision in gone:
            self.undo(revision, None)
        for revision in gone:
            after = later[revision.id]
            if revision.relation != "supersedes" or revision.state == "settled" or after is None:
                continue
            old, new = self._read_pair(revision.old, after.new)
            if old and new and not self._is_settled(old, new):
                self.supersede(old, new, "What came between them is gone.", after.author, after.conf)

    def supersede_again(self, facts: Collection[int]) -> None:
        """Repeats the replacements by relations that have their evidence again."""
        for row in revisions.list_undone_by_newer(self._conn, facts):
            old, new = self._read_pair(row.old, row.new)
            if row.relation == "supersedes" and old and new and not self._is_settled(old, new):
                self.supersede(old, new, row.reason, row.author, row.conf)

    def reinstate(self, fact: int) -> None:
        """Makes a relation with new evidence valid again, if the one that superseded it has lost its own."""
        rows = revisions.list_by_older(self._conn, fact)
        live = {fact.id for fact in relations.get_many(self._conn, sorted({row.new for row in rows}))}
        for row in rows:
            if row.new not in live:
                self.undo(row, None)

    def _dispute_agents(self, old: Relation, new: Relation, author: revisions.Author, conf: float) -> bool:
        """Whether the new one has evidence from agents only and the old one also from others: then the two contradict
        each other."""
        written = sources.written_by_agents(self._conn, old.sources | new.sources)
        is_agents = new.sources <= written and not old.sources <= written
        if is_agents and not self._is_settled(old, new):
            self._revision("contradicts", old, new, AGENT_SAYS, author, conf)
        return is_agents

    def _read_pair(self, old: int, new: int, ever: bool = False) -> tuple[Relation | None, Relation | None]:
        rows = {fact.id: fact for fact in relations.get_claims(self._conn, [old, new], ever=ever)}
        return rows.get(old), rows.get(new)

    def _is_settled(self, old: Relation, new: Relation) -> bool:
        """Whether the two have an active revision, or one that a person undid."""
        row = revisions.find_between(self._conn, old.id, new.id)
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

    def _change(self, revision: int, fact: int, field: revisions.Field, value: int | None) -> None:
        revisions.change(self._conn, revision, fact, field, value, self._now)
        self.touched.add(fact)


def _takes_place(revision: revisions.Row, verdict: str) -> bool:
    """Whether the new fact replaces the old one by a verdict. Without a person's verdict only rules and sure models
    decide that."""
    return verdict == "keep" or (verdict == "open" and revision.relation in ("supersedes", "negates"))
