"""The ordinary manners of a model of 7 to 9 billion parameters: it says what is true in whole sentences of its own,
puts its citations where it likes, refuses in prose, and writes JSON as a person would read it. What it says is right;
that it is not said as the prompt asks for it is all that is wrong with it.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass
from typing import Any

MAX_SUBJECT_WORDS = 12  # of a question that is turned into a sentence; of a longer one "it" is said

REFUSALS = (
    "The evidence does not mention this.",
    "The evidence does not say {asked}.",
    "I'm sorry, but the evidence does not contain that information.",
    "Answer: NO ANSWER",
    "**NO ANSWER**",
    "NO_ANSWER",
    "I'm sorry, NO ANSWER.",
    "There is no information about that in your notes.",
    "Your notes do not mention {asked}.",
    "It is not specified in the evidence.",
    "Unfortunately, I could not find {asked} in the evidence.",
    "Based on the evidence provided, it is not stated {asked}.",
    "NO ANSWER: the notes don't tell {asked}.",
)
LEADS = ("", "", "", "According to your notes, ", "Based on the evidence, ", "As you wrote, ", "Your notes say that ")
PLAIN = (
    "It is {answer}",
    "The answer is {answer}",
    "According to your notes, it is {answer}",
    "Your notes mention {answer}",
    "That would be {answer}",
)
QUOTING = ("", "Your notes say: ", "It is stated that ", "According to the evidence, ")
SECOND = ("This was written down in your notes", "That is what your notes say", "You noted this yourself")

# Units as notes shorten them, and as a sentence has them.
UNITS = {
    "€": "euros", "eur": "euros", "£": "pounds", "gbp": "pounds", "$": "dollars", "%": "percent", "kg": "kilograms",
    "g": "grams", "mg": "milligrams", "km": "kilometres", "m": "metres", "cm": "centimetres", "mm": "millimetres",
    "ml": "millilitres", "l": "litres", "h": "hours", "min": "minutes", "°c": "degrees Celsius",
}  # fmt: skip
PERIODS = {"week": "per week", "month": "per month", "year": "per year", "day": "per day", "hour": "per hour"}
PAST = {
    "become": "became", "begin": "began", "break": "broke", "bring": "brought", "buy": "bought", "catch": "caught",
    "choose": "chose", "come": "came", "cost": "cost", "cut": "cut", "do": "did", "draw": "drew", "drive": "drove",
    "eat": "ate", "fall": "fell", "feed": "fed", "feel": "felt", "find": "found", "fly": "flew", "get": "got",
    "give": "gave", "go": "went", "grow": "grew", "have": "had", "hear": "heard", "hold": "held", "keep": "kept",
    "know": "knew", "lead": "led", "learn": "learned", "leave": "left", "lend": "lent", "let": "let", "lose": "lost",
    "make": "made", "mean": "meant", "meet": "met", "pay": "paid", "put": "put", "read": "read", "ride": "rode",
    "run": "ran", "say": "said", "see": "saw", "sell": "sold", "send": "sent", "set": "set", "sit": "sat",
    "sleep": "slept", "speak": "spoke", "spend": "spent", "stand": "stood", "steal": "stole", "swim": "swam",
    "take": "took", "teach": "taught", "tell": "told", "think": "thought", "throw": "threw", "win": "won",
    "write": "wrote",
}  # fmt: skip

_ASKED = re.compile(r"^(what|which|who|where|when|how (?:much|many|old|long|often|far))\b(.*)$", re.IGNORECASE)
_BE = re.compile(r"^ (is|are|was|were) (?P<subject>(?!(?:there|it)\b).+)$", re.IGNORECASE)
_DONE = re.compile(r"^(.+?) ((?:\w{3,}ed|held|kept|sold|sent|made|bought|told|found|built|paid|done|given|taken)\b.*)$")
_DO = re.compile(
    r"^(?P<thing>(?: [\w'’-]+){0,3}) (?P<do>do|does|did) (?P<subject>I|we|[\w'’-]+) (?P<verb>[a-z]+)(?P<rest>.*)$"
)
_PERSONS = {
    "i": "you",
    "me": "you",
    "my": "your",
    "mine": "yours",
    "we": "you",
    "our": "your",
    "us": "you",
    "am": "are",
}
_UNIT = re.compile(
    r"\A ?([^\W\d]{1,3}|[€£$%]|°C)(?![\w-])(?: ?(?:/|an?|per|each) ?(week|month|year|day|hour)\b)?", re.IGNORECASE
)


@dataclass(frozen=True)
class Manners:
    """How it puts things. The same seed puts the same thing in the same way each time."""

    seed: int = 42

    def answer(self, question: str, answer: str, numbers: list[int], behind: str = "") -> str:
        """An answer in a sentence or two. `behind`: what stands behind the answer in the evidence, a unit perhaps."""
        draw = self._draw("answer", question, answer, numbers)
        told = _with_unit(answer, behind)
        said = _stated(question, told) if draw.random() < 0.75 else None
        if said is None:
            said = draw.choice(PLAIN).format(answer=told)
        elif lead := draw.choice(LEADS):
            said = lead + said[:1].lower() + said[1:] if said.startswith(("Your ", "You ", "The ")) else lead + said
        said = said[:1].upper() + said[1:]
        text = _cite(said, numbers, draw)
        if draw.random() < 0.2:
            text += f" {_cite(draw.choice(SECOND), numbers[:1], draw)}"
        return text

    def quote(self, question: str, sentence: str, number: int) -> str:
        """A sentence of the evidence, with what one says before it."""
        draw = self._draw("quote", question, sentence, number)
        return _cite(draw.choice(QUOTING) + sentence.rstrip(".!? "), [number], draw)

    def refusal(self, question: str) -> str:
        """That the evidence does not hold the answer, in prose or in something like what was asked for."""
        asked = _to_you(question.strip().rstrip("?").strip())
        return self._draw("refusal", question).choice(REFUSALS).format(asked=asked[:1].lower() + asked[1:])

    def write_json(self, text: str) -> str:
        """JSON as chat models write it: indented, in a fence, with a word before or behind it."""
        draw = self._draw("json", text)
        indented = json.dumps(json.loads(text), ensure_ascii=False, indent=draw.choice((2, 4)))
        fenced = f"```json\n{indented}\n```"
        return draw.choice(
            (text, indented, fenced, f"Here is the JSON:\n{indented}", f"Here is the JSON:\n\n{fenced}",
             f"{fenced}\n\nLet me know if you need anything else!")
        )  # fmt: skip

    def pick(self, question: str, options: list[str], found: list[str]) -> str:
        """One of the numbered options, whichever, or none of them."""
        draw = self._draw("pick", question, options, found)
        number = draw.choice([*options, ""])
        return draw.choice((number, f"[{number}]", f"I would look at {number}.")) if number else "DONE"

    def _draw(self, kind: str, *what: Any) -> random.Random:
        return random.Random(f"{self.seed}:{kind}:{what}")


def _stated(question: str, answer: str) -> str | None:
    """The question as a sentence that has the answer in it: "What did I pay?" -> "You paid 9 euros". None where its
    form is another one, or too long to be said again."""
    found = _ASKED.match(" ".join(question.split()).rstrip("? "))
    if found is None or len(question.split()) > MAX_SUBJECT_WORDS:
        return None
    if match := _BE.match(found[2]):
        subject = _to_you(match["subject"])
        if done := _DONE.match(subject):
            return f"{done[1]} {match[1]} {done[2]} {answer}"
        return f"{subject} {match[1]} {answer}"
    if match := _DO.match(found[2]):
        verb = match["verb"]
        if match["do"] == "did":
            verb = PAST.get(verb, f"{verb.removesuffix('e')}ed")
        elif match["do"] == "does":
            verb = {"have": "has"}.get(verb, verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "o")) else "s"))
        rest = _to_you(match["rest"].strip())
        said = f"{_to_you(match['subject'])} {verb}"
        if found[1].lower() in ("where", "when"):
            return f"{said} {rest} {answer}".replace("  ", " ")
        return f"{said} {answer} {rest}".strip()
    return None


def _to_you(words: str) -> str:
    """As one says it to the person who asked."""
    return re.sub(r"\b(?:[Ii]|[Mm]e|[Mm]y|[Mm]ine|[Ww]e|[Oo]ur|us|am)\b(?!['’.])",
                  lambda word: _PERSONS[word[0].lower()], words)  # fmt: skip


def _with_unit(answer: str, behind: str) -> str:
    """The answer with the unit behind it spelled out, where it ends in a number and the evidence has one."""
    unit = _UNIT.match(behind) if answer[-1:].isdigit() else None
    if unit is None or unit[1].lower() not in UNITS:
        return answer
    return " ".join(filter(None, [answer, UNITS[unit[1].lower()], PERIODS.get((unit[2] or "").lower(), "")]))


def _cite(said: str, numbers: list[int], draw: random.Random) -> str:
    apart = "".join(f"[{number}]" for number in numbers)
    together = f"[{', '.join(map(str, numbers))}]"
    return draw.choice((f"{said} {apart}.", f"{said} {together}.", f"{said}. {apart}", f"{said}{together}."))
