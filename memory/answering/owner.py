"""Questions about the person whose memory it is: "my phone", "where do I live".

A line about another person does not answer them: one that names what is asked for as theirs ("Kit's passport", "her
phone", "Anke lives in"), one in a note about a person or in a file that another person wrote, and one where another
person says "I" or "my". An example in a code fence is about nobody. If only such lines are found, nothing is known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from memory.answering.candidates import AnswerCandidate, is_current, titling_objects
from memory.answering.features import AnswerState
from memory.facts.attributes import (
    FAMILY,
    attribute_of,
    attribute_words,
    owner_pattern,
    owner_words,
    people_meant,
    people_words,
    person_of,
)
from memory.nouns import UNKNOWN, Episode
from memory.store import graph, relations
from memory.store.connect import Connection
from memory.store.relations import Relation
from memory.store.sources import MAIL_READER
from memory.text.fences import blank_fences
from memory.text.languages import ENGLISH, content_words, guess_language, stem, stem_set, word_set
from memory.text.mentions import norm
from memory.text.words import WORD

MAX_FACTS = 400  # of the owner, the newest
MAX_BEFORE = 60  # characters before a word that say whose it is
_GENERIC = stem_set("asks", "generic")
_WRITER = frozenset(("user", "me", "you", "i"))  # as speakers
_KEY = re.compile(r"[\W_]{0,6}[^\W\d_][^:.!?\n]{0,40}?:[*_]{0,2}(?=\s)")
_SUBJECT = re.compile(r"(?:^|[.!?;]\s+)(?P<name>[^\W\d_][\w-]+)\s+(?:[^\W\d_][^.!?;]*\s)?$")
_SENTENCE_END = re.compile(r"[.!?;]\s|\n")
_NAME = re.compile(r"(?:^|\s)(?P<name>[^\W\d_][\w-]+)\s+$")


@dataclass
class OwnerQuestion:
    """What a question asks of the owner: the `stems` of its words, with those of the `attribute` that they name;
    `person` is somebody of theirs that it asks about ("my brother"), of whom only that is known."""

    state: AnswerState
    stems: frozenset[str]
    attribute: str | None
    person: str | None = None

    @classmethod
    def from_state(cls, state: AnswerState) -> OwnerQuestion | None:
        """None if the question is not about the owner, or about somebody whom it names."""
        question = state.question
        if not question.of_owner or question.type.kind == "about" or _people(state, list(state.found.named_objects)):
            return None
        said = [word for word in map(str, question.topic or question.terms) if word not in owner_words("names")]
        attribute = attribute_of(" ".join(said))
        people = [key for word in said if (key := person_of(word)) is not None]
        words = [*said, *(attribute_words(attribute, question.language) if attribute else ())]
        stems = frozenset(stem(word, question.language) for word in words) - _GENERIC
        return cls(state, stems, attribute, people[0] if people and len(said) > 1 else None)

    def select_own(self, candidates: Sequence[AnswerCandidate]) -> list[AnswerCandidate] | None:
        """The candidates that do not tell of somebody else what is asked of the owner; None where the rarest thing that
        is asked for is told of others alone, or nothing is of the person of theirs."""
        features = self.state.features
        if self.person is not None:
            called = {stem(word, self.state.question.language) for word in attribute_words(self.person)}
            return list(candidates) if any(self._held(one) & called for one in candidates) else None
        others = {one.thesis_id for one in candidates if self.is_of_another(one)}
        own = [one for one in candidates if one.thesis_id not in others]
        asked = sorted(zip(features.shares.tolist(), features.stems, strict=True), reverse=True)
        told = frozenset().union(*map(self._held, candidates)) & self.stems
        rarest = next((one for _, one in asked if one in told), None)
        if any(rarest in self._held(one) for one in candidates if one.thesis_id in others):
            known = any(self._held(one) & self._alike(rarest or "") for one in own)
            return own if known or any(map(self.is_answered_by, self._facts)) else None
        return own

    @cached_property
    def _facts(self) -> list[Relation]:
        return relations.find_incident(self.state.conn, self.state.objects, MAX_FACTS)

    def _alike(self, asked: str) -> frozenset[str]:
        """The stems that mean one of what is asked for."""
        return self._of_attribute if asked in self._of_attribute else frozenset((asked,))

    def _held(self, candidate: AnswerCandidate) -> frozenset[str]:
        return candidate.words.union(self.state.features.stem_words(candidate.episode.title))

    def is_answered_by(self, relation: Relation) -> bool:
        """Whether a fact is the owner's and has just what is asked for."""
        if self.attribute is None or self.person is not None or relation.subject not in self.state.objects:
            return False
        rest = self.stems - self._of_attribute
        told = attribute_of(relation.predicate)
        return told in people_meant(self.attribute) and rest <= {*self.state.features.stem_words(relation.predicate)}

    @cached_property
    def _of_attribute(self) -> frozenset[str]:
        language = self.state.question.language
        return frozenset(stem(word, language) for word in attribute_words(self.attribute or "", language))

    def is_of_another(self, candidate: AnswerCandidate) -> bool:
        """Whether a candidate tells what is asked for of somebody else, and not of the owner."""
        if any(fact.relation.subject in self.state.objects for fact in candidate.facts):
            return False
        episode, text, whose = candidate.episode, candidate.shown, set[bool]()
        if not blank_fences(episode.text)[candidate.start : candidate.start + len(candidate.quote)].strip():
            return True
        first_person = self._forms["first"].search(text) is not None
        speaks, key = self._is_other_speaker(episode), _KEY.match(text)
        is_foreign = episode.speaker == UNKNOWN or (speaks and first_person)
        theirs = (is_foreign and self.attribute is not None) or (not first_person and self._is_about_person(episode))
        for match in WORD.finditer(text):
            if stem(match[0].lower(), self.state.question.language) not in self.stems:
                continue
            before = text[max(0, match.start() - MAX_BEFORE) : match.start()]
            if self._forms["own"].search(before):
                whose.add(speaks)
            elif (other := self._forms["other"].search(before)) is not None:
                whose.add(norm(other["name"] or "") not in self._own_names)
            elif self._is_behind_name(before, match[0], first_person) or (
                not first_person and self._is_of_subject(text[: match.start()], match[0])
            ):
                whose.add(True)
            else:
                whose.add(theirs or (speaks and key is not None and match.end() <= key.end()))
        return whose == {True} if whose else theirs

    @cached_property
    def _forms(self) -> dict[str, re.Pattern[str]]:
        """How the words before one say whose it is, in the question's language and in English."""
        codes = dict.fromkeys((self.state.question.language, ENGLISH))
        my, i, their, they = (
            "|".join(owner_pattern(key, code) for code in codes) for key in ("my", "i", "their", "they")
        )
        near = r"\s+(?:[\w-]+\s+){0,2}"
        return {
            "own": re.compile(rf"(?<!\w)(?:{my}|(?:{i})(?:['’]\w+)?){near}$", re.IGNORECASE),
            "other": re.compile(rf"(?<!\w)(?:(?i:{their}|{they})|(?P<name>[^\W\d_][\w-]*)['’]s?){near}$"),
            "first": re.compile(rf"(?<!\w)(?:{my}|{i})(?!\w)", re.IGNORECASE),
        }

    @cached_property
    def _verbs(self) -> frozenset[str]:
        """The stems of what the question asks "I" for doing, and of what means the same."""
        stems = self._asked_verbs
        return stems | self._of_attribute if stems & self._of_attribute else stems

    @cached_property
    def _asked_verbs(self) -> frozenset[str]:
        language = self.state.question.language
        i = owner_pattern("i", language)
        pairs = re.findall(rf"(?:(\w+) )?(?<!\w)(?:{i})(?!\w)(?: (\w+))?", self.state.question.text, re.IGNORECASE)
        return self.stems & {stem(word.lower(), language) for pair in pairs for word in pair}

    @cached_property
    def _own_names(self) -> set[str]:
        return {part for name in self.state.question.person_names for part in (norm(name), *norm(name).split())}

    def _is_about_person(self, episode: Episode) -> bool:
        titling = titling_objects(self.state.found, episode.id)
        if self.state.found.named_objects.keys() & titling:
            return False
        if self._own_names & {norm(name) for name in graph.object_labels(self.state.conn, titling).values()}:
            return False
        folder = episode.source.uri.rpartition("/")[0].rpartition("/")[2].casefold()
        return folder in owner_words("folders") or bool(_people(self.state, titling))

    def _is_other_speaker(self, episode: Episode) -> bool:
        """Whether another person speaks in a passage. The author that a file states may be the owner, as long as it is
        not known what the owner is called."""
        speaker = norm(episode.speaker or "")
        is_author = episode.source.kind == "file" and episode.source.reader != MAIL_READER and speaker != UNKNOWN
        return bool(speaker) and speaker not in self._own_names | _WRITER and (bool(self._own_names) or not is_author)

    def _is_of_subject(self, before: str, word: str) -> bool:
        """Whether a verb that the question asks "I" for, and that names an attribute, has another subject: words are in
        front of it in its sentence, as in "Shop: went live"."""
        asked = self._asked_verbs & self._of_attribute
        sentence = _SENTENCE_END.split(before)[-1]
        return stem(word.lower(), self.state.question.language) in asked and bool(WORD.search(sentence))

    def _is_behind_name(self, before: str, word: str, first_person: bool) -> bool:
        """Whether somebody's name is the subject of a verb ("Anke wohnt"), or in the genitive before a thing without an
        apostrophe: "Omas Reisepass"."""
        is_verb = stem(word.lower(), self.state.question.language) in self._verbs
        found = (_SUBJECT if is_verb and not first_person else _NAME).search(before)
        name = found["name"] if found else ""
        if not name[:1].isupper() or norm(name) in self._own_names:
            return False
        if is_verb:
            return any(one.surface == name for one in self.state.features.mentions(name))
        genitive = name.removesuffix("s")
        nodes = graph.objects_by_search(self.state.conn, [norm(genitive)]).get(norm(genitive), [])
        return genitive != name and (person_of(genitive) is not None or bool(_people(self.state, nodes)))


def name_family(conn: Connection, question: str, at: int) -> str:
    """The question with the names of the owner's family in place of what they are to the owner, as far as that is known
    at a time (ms UTC): "my daughter's teacher" is Ife's teacher. One that asks who they are is left."""
    language = guess_language(question)
    my = owner_pattern("my", language)
    pattern = re.compile(rf"(?<!\w)(?:{my}) (?P<word>{people_words(language)})(?P<of>['’]s?)?(?!\w)", re.IGNORECASE)
    rest = set(content_words(pattern.sub(" ", question), language)) - owner_words("names")
    if not rest or pattern.search(question) is None:
        return question
    known = [
        one
        for one in relations.find_incident(conn, graph.owner(conn), MAX_FACTS)
        if person_of(one.predicate) in FAMILY and is_current(one, at)
    ]
    labels = graph.object_labels(conn, sorted({one.object for one in known}))

    def name(match: re.Match[str]) -> str:
        meant = people_meant(person_of(match["word"]) or "")
        names = dict.fromkeys(labels[one.object] for one in known if person_of(one.predicate) in meant)
        return " and ".join(names) + (match["of"] or "") if names else match[0]

    return pattern.sub(name, question)


def _people(state: AnswerState, objects: Sequence[int]) -> list[int]:
    """Those of these objects that are persons, and not the owner."""
    own = graph.owner(state.conn)
    others = [id for id in objects if id not in own]
    return graph.list_people(state.conn, others, word_set("owner", "attributes", "birthday")) if others else []
