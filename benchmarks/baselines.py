"""What needs no memory: all there is, or what holds the words of the question, given to the same model."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from benchmarks.problems import Problem
from memory.answering import compose
from memory.answering.compose import GroundedText
from memory.answering.context import MAX_PASSAGE_CHARS, EvidencePiece, fit_context
from memory.answering.options import AskOptions
from memory.llm import about_tokens
from memory.nouns import Episode
from memory.protocols import LLM
from memory.settings import AnswerSettings
from memory.text.languages import ENGLISH, content_words

Name = Literal["grep", "whole"]
NAMES: tuple[Name, ...] = ("grep", "whole")
LINES = 3
DEPTH = 50  # passages from which as much evidence is taken as there is room for
ROOM = 600  # tokens of a request beside system, evidence and reply
SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")


@dataclass(frozen=True, slots=True)
class Baseline:
    """`grep`: the passages by how many different words of the question they hold, as many as an answer gets evidence;
    `whole`: all of them, or as many as the model has room for, drawn by lot."""

    name: Name
    settings: AnswerSettings = field(default_factory=AnswerSettings)

    def __call__(self, problem: Problem, episodes: Sequence[Episode]) -> list[Episode]:
        if self.name == "whole":
            return random.Random(problem.id).sample(list(episodes), len(episodes))
        wanted = _words(problem.text)
        worth = {one.id: _hits(wanted, f"{one.title}\n{one.text}") for one in episodes}
        ranked = sorted((one for one in episodes if worth[one.id]), key=lambda one: (-worth[one.id], one.id))
        return ranked[:DEPTH]

    def composed(self, model: LLM, problem: Problem, found: Sequence[Episode], now: datetime) -> GroundedText:
        """What the model writes from that, checked as every answer is; nothing of it counts that is not proved."""
        room = model.context_tokens - about_tokens(compose.SYSTEM) - ROOM - 2 * self.settings.answer_tokens
        tokens = room if self.name == "whole" else min(room, self.settings.context_tokens)
        pieces = [EvidencePiece("passage", one.text[:MAX_PASSAGE_CHARS], one, 0, one.text, False) for one in found]
        context = fit_context(pieces, tokens, most_whole=len(pieces))
        if not context.pieces:
            return GroundedText(no_answer=True)
        request = compose.build_request(
            problem.text, context, AskOptions(now, problem.as_of), max_tokens=self.settings.answer_tokens
        )
        stream = compose.write_grounded(model, request, context, problem.text)
        while True:
            try:
                next(stream)
            except StopIteration as ended:
                said: GroundedText = ended.value
                return said


def best_lines(question: str, found: Sequence[Episode]) -> list[tuple[str, int]]:
    """The sentences with most of the question's words, and the episode each is from."""
    wanted = _words(question)
    lines = [(_hits(wanted, line), line.strip(), one.id) for one in found for line in SENTENCE.findall(one.text)]
    lines.sort(key=lambda line: -line[0])
    return [(line, id) for hits, line, id in lines[:LINES] if hits]


def _words(question: str) -> set[str]:
    return set(content_words(question, ENGLISH))


def _hits(wanted: set[str], text: str) -> int:
    return len(wanted & set(re.findall(r"\w+", text.lower())))
