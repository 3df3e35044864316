"""Questions about the owner of the memory: "my phone", "where do I live".

Lines about another person do not answer them: a line that names the thing as theirs ("Kit's passport", "her phone",
"Anke lives in"), a note about a person, a file that another person wrote, "I" or "my" in another person's words or in a
quotation. An example in a code fence is about nobody. If all lines are of this kind, nothing is known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from memory.answering.candidates import AnswerCandidate, is_current, titling_objects
from memory.answering.features import GENERIC, AnswerState
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
from memory.text.languages import ENGLISH, content_words, guess_language, stem, word_set
from memory.text.markup import blank_fences
from memory.text.mentions import norm
from memory.text.words import WORD

MAX_FACTS = 400  # of the objects of a question that are looked at, the newest
_WRITER = frozenset(("user", "me", "you", "i"))  # as speakers
_SUBJECT = re.compile(r"(?:^|[.!?;]\s+)(?P<name>[^\W\d_][\w-]+)\s+(?:[^\W\d_][^.!?;]*\s)?$")
_NAME = re.compile(r"(?:^|\s)(?P<name>[^\W\d_][\w-]+)\s+$")


@dataclass
class OwnerQuestion:
    """A question about the owner: the `stems` of its words and of the `attribute` that they name. `person`: a relative
    that it asks about ("my brother"), whose facts alone answer it."""

    state: AnswerState
    stems: frozenset[str]
    attribute: str | None
    person: str | None = None

    @classmethod
    def from_state(cls, state: AnswerState) -> OwnerQuestion | None:
        """Returns None if the question is not about the owner, or names another person."""
        question = state.question
        if not question.of_owner or question.type.kind == "about" or _find_people(state, [*state.result.named_objects]):
            return None
        topic = [word for word in map(str, question.topic or question.terms) if word not in owner_words("names")]
        attribute = attribute_of(" ".join(topic))
        people = [key for word in topic if (key := person_of(word)) is not None]
        words = [*topic, *(attribute_words(attribute, question.language) if attribute else ())]
        stems = frozenset(stem(word, question.language) for word in words) - GENERIC
        return cls(state, stems, attribute, people[0] if people and len(topic) > 1 else None)

    def select_own(self, candidates: Sequence[AnswerCandidate]) -> list[AnswerCandidate] | None:
        """Returns the candidates without those about another person. None if only those contain the rarest word of the
        question, or if no candidate is about the relative it asks about."""
        features = self.state.features
        if self.person is not None:
            names = {stem(word, self.state.question.language) for word in attribute_words(self.person)}
            return list(candidates) if any(self._list_stems(line) & names for line in candidates) else None
        others = {line.thesis_id for line in candidates if self.is_of_another(line)}
        own = [line for line in candidates if line.thesis_id not in others]
        by_weight = sorted(zip(features.shares.tolist(), features.stems, strict=True), reverse=True)
        covered = frozenset().union(*map(self._list_stems, candidates)) & self.stems
        rarest = next((key for _, key in by_weight if key in covered), "")
        if not any(rarest in self._list_stems(line) for line in candidates if line.thesis_id in others):
            return own
        synonyms = self._attribute_stems if rarest in self._attribute_stems else {rarest}
        if any(self._list_stems(line) & synonyms for line in own):
            return own
        facts = relations.find_incident(self.state.conn, self.state.objects, MAX_FACTS)
        return own if any(map(self.is_answered_by, facts)) else None

    def _list_stems(self, candidate: AnswerCandidate) -> frozenset[str]:
        return candidate.words.union(self.state.features.stem_words(candidate.episode.title))

    def is_answered_by(self, relation: Relation) -> bool:
        """Whether a fact of the owner states exactly the attribute that the question asks for."""
        if self.attribute is None or self.person is not None or relation.subject not in self.state.objects:
            return False
        rest = self.stems - self._attribute_stems
        attribute, words = attribute_of(relation.predicate), self.state.features.stem_words(relation.predicate)
        return attribute in people_meant(self.attribute) and rest <= {*words}

    @cached_property
    def _attribute_stems(self) -> frozenset[str]:
        language = self.state.question.language
        return frozenset(stem(word, language) for word in attribute_words(self.attribute or "", language))

    def is_of_another(self, candidate: AnswerCandidate) -> bool:
        """Whether a candidate answers the question about another person, and not about the owner."""
        if any(fact.relation.subject in self.state.objects for fact in candidate.facts):
            return False
        episode, text = candidate.episode, candidate.shown
        if not blank_fences(episode.text)[candidate.start : candidate.start + len(candidate.quote)].strip():
            return True
        is_first_person = self._forms["first"].search(text) is not None
        is_other_speaker = self._is_other_speaker(episode)
        key = re.match(r"[\W_]{0,6}[^\W\d_][^:.!?\n]{0,40}?:[*_]{0,2}(?=\s)", text)
        key_end = key.end() if key and is_other_speaker else 0
        is_foreign = episode.speaker == UNKNOWN or (is_other_speaker and is_first_person)
        is_default = is_foreign and self.attribute is not None
        is_default = is_default or (not is_first_person and self._is_about_person(episode))
        of_others = set[bool]()
        for match in WORD.finditer(text):
            if stem(match[0].lower(), self.state.question.language) not in self.stems:
                continue
            is_stated = self._is_word_of_another(text, match, is_other_speaker, is_first_person)
            of_others.add(is_default or match.end() <= key_end if is_stated is None else is_stated)
        return of_others == {True} if of_others else is_default

    def _is_word_of_another(
        self, text: str, word: re.Match[str], is_other_speaker: bool, is_first_person: bool
    ) -> bool | None:
        """Whether the text before a word says that it belongs to another person; None if it names no possessor."""
        before = text[max(0, word.start() - 60) : word.start()]
        if self._forms["own"].search(before):
            is_quoted = len(re.findall('["“”„«»]', text[: word.start()])) % 2 == 1
            return is_other_speaker or is_quoted
        if (other := self._forms["other"].search(before)) is not None:
            return norm(other["name"] or "") not in self._own_names
        follows_name = self._follows_name(before, word[0], is_first_person)
        follows_name = follows_name or (not is_first_person and self._has_subject(text[: word.start()], word[0]))
        return True if follows_name else None

    @cached_property
    def _forms(self) -> dict[str, re.Pattern[str]]:
        """Returns patterns for possessors before a word, in the question's language and in English."""
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
        """Returns the stems of the verbs that the question uses with "I", and of their synonyms."""
        stems = self._asked_verbs
        return stems | self._attribute_stems if stems & self._attribute_stems else stems

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
        titling = titling_objects(self.state.result, episode.id)
        if self.state.result.named_objects.keys() & titling:
            return False
        if self._own_names & {norm(name) for name in graph.object_labels(self.state.conn, titling).values()}:
            return False
        folder = episode.source.uri.rpartition("/")[0].rpartition("/")[2].casefold()
        return folder in owner_words("folders") or bool(_find_people(self.state, titling))

    def _is_other_speaker(self, episode: Episode) -> bool:
        """Whether another person speaks in a passage. A file's author may be the owner if the owner's name is
        unknown."""
        speaker = norm(episode.speaker or "")
        is_author = episode.source.kind == "file" and episode.source.reader != MAIL_READER and speaker != UNKNOWN
        return bool(speaker) and speaker not in self._own_names | _WRITER and (bool(self._own_names) or not is_author)

    def _has_subject(self, before: str, word: str) -> bool:
        """Whether a verb that the question uses with "I", as an attribute, has another subject: "Shop: went live"."""
        verbs = self._asked_verbs & self._attribute_stems
        sentence = re.split(r"[.!?;]\s|\n", before)[-1]
        return stem(word.lower(), self.state.question.language) in verbs and bool(WORD.search(sentence))

    def _follows_name(self, before: str, word: str, is_first_person: bool) -> bool:
        """Whether a person's name is the subject of a verb ("Anke wohnt"), or a genitive: "Omas Reisepass"."""
        is_verb = stem(word.lower(), self.state.question.language) in self._verbs
        match = (_SUBJECT if is_verb and not is_first_person else _NAME).search(before)
        name = match["name"] if match else ""
        if not name[:1].isupper() or norm(name) in self._own_names:
            return False
        if is_verb:
            return any(mention.surface == name for mention in self.state.features.mentions(name))
        genitive = name.removesuffix("s")
        nodes = graph.objects_by_search(self.state.conn, [norm(genitive)]).get(norm(genitive), [])
        return genitive != name and (person_of(genitive) is not None or bool(_find_people(self.state, nodes)))


def name_family(conn: Connection, question: str, at: int) -> str:
    """Returns the question with the names of the owner's relatives, known at a time (ms UTC), for words like "my
    daughter", unless it only asks who they are."""
    language = guess_language(question)
    my = owner_pattern("my", language)
    pattern = re.compile(rf"(?<!\w)(?:{my}) (?P<word>{people_words(language)})(?P<of>['’]s?)?(?!\w)", re.IGNORECASE)
    rest = set(content_words(pattern.sub(" ", question), language)) - owner_words("names")
    if not rest or pattern.search(question) is None:
        return question
    known = [
        fact
        for fact in relations.find_incident(conn, graph.owner(conn), MAX_FACTS)
        if person_of(fact.predicate) in FAMILY and is_current(fact, at)
    ]
    labels = graph.object_labels(conn, sorted({fact.object for fact in known}))

    def replace_word(match: re.Match[str]) -> str:
        people = people_meant(person_of(match["word"]) or "")
        names = dict.fromkeys(labels[fact.object] for fact in known if person_of(fact.predicate) in people)
        return " and ".join(names) + (match["of"] or "") if names else match[0]

    return pattern.sub(replace_word, question)


def _find_people(state: AnswerState, objects: Sequence[int]) -> list[int]:
    """Returns the persons among these objects, without the owner."""
    own = graph.owner(state.conn)
    others = [id for id in objects if id not in own]
    return graph.list_people(state.conn, others, word_set("owner", "attributes", "birthday")) if others else []
