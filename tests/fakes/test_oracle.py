"""The oracle: it is right whenever it is shown what it needs, and goes wrong as often as it is told to."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memory.answer import compose
from memory.answer.context import Context, Piece
from memory.answer.grounding import check
from memory.nouns import Episode, Source
from tests.fakes.oracle import Gold, Known, Oracle, evidence, standing
from tests.fakes.server import Says

AT = datetime(2024, 5, 1, tzinfo=UTC)
QUESTION = "In which village was the builder of Weir Cottage born?"
COTTAGE = 'Weir Cottage: a "history"'
TEXTS = {
    COTTAGE: "Weir Cottage was built by Odo Tarn in 1811.\n\nIt stands above the weir [of Lower Fenwick].",
    "Odo Tarn": "Odo Tarn was a stonemason. He was born in the village of Quill, in 1779.",
    "Brack": "Brack is a hamlet with a chapel. Its kiln burned lime until the war.",
}
GOLD = tuple(Gold((TEXTS[title],), title) for title in (COTTAGE, "Odo Tarn"))
KNOWN = Known("Quill", ("the village of Quill",), GOLD)


def shown(titles: list[str], kind: Any = "passage", text: str = "") -> Context:
    """Evidence of these passages, as a model gets it."""
    source = Source(1, "/notes/a.md", "file", "a", "markdown")
    episodes = [Episode(n, source, n, title, TEXTS[title], AT) for n, title in enumerate(titles)]
    return Context(tuple(Piece(kind, text or one.text, one, 0, one.text, False) for one in episodes))


def asked(context: Context, question: str = QUESTION, *said: str) -> dict[str, Any]:
    """The body of a request for an answer, as it stands on the wire."""
    request = compose.request(question, context, now=AT)
    turns = [{"role": message.role, "content": message.text} for message in request.messages]
    more = [{"role": role, "content": text} for text in said for role, text in (("assistant", text), ("user", "again"))]
    return {"messages": [{"role": "system", "content": request.system}, *turns, *more]}


def reply(oracle: Oracle, body: dict[str, Any]) -> str:
    said = oracle(body)
    assert isinstance(said, Says)
    return said.text


def guided(options: list[str], found: list[str] | None = None) -> dict[str, Any]:
    """The body of a request for where to look next."""
    fence = "0123456789abcdef"
    parts = [
        f"The question:\n{fence}\n{QUESTION}\n{fence}",
        "What was found:\n{0}\n{1}\n{0}".format(fence, "\n".join(found or [])),
        "Where to look next:\n{0}\n{1}\n{0}".format(
            fence, "\n".join(f"[{n}] {one}" for n, one in enumerate(options, 1))
        ),
    ]
    return {"messages": [{"role": "user", "content": "\n\n".join(parts)}]}


def test_it_reads_evidence_as_it_is_shown() -> None:
    context = shown([*TEXTS])
    pieces = evidence(asked(context)["messages"][1]["content"])
    assert [(one.number, one.kind, one.title) for one in pieces] == [
        (1, "passage", COTTAGE), (2, "passage", "Odo Tarn"), (3, "passage", "Brack")
    ]  # fmt: skip
    assert [len(standing(gold, pieces)) for gold in GOLD] == [1, 1]
    line = evidence(asked(shown([COTTAGE], "line", "It was built: in 1811."))["messages"][1]["content"])
    assert [(one.kind, one.title, " ".join(one.text.split())) for one in line] == [
        ("line", COTTAGE, "It was built: in 1811.")
    ]


def test_a_line_stands_for_its_passage_if_the_answer_is_in_it() -> None:
    gold = GOLD[1]
    for text, stands in (
        ("He was born in the village of Quill, in 1779.", True),
        ("Odo Tarn was a stonemason.", False),
    ):
        pieces = evidence(asked(shown(["Odo Tarn"], "line", text))["messages"][1]["content"])
        assert bool(standing(gold, pieces, KNOWN.forms)) == stands
    fact = evidence(asked(shown(["Odo Tarn"], "fact", "Odo Tarn: born in Quill"))["messages"][1]["content"])
    other = evidence(asked(shown(["Brack"], "fact", "Odo Tarn: born in Quill"))["messages"][1]["content"])
    assert standing(gold, fact, KNOWN.forms) and not standing(gold, other, KNOWN.forms)


def test_it_answers_if_all_is_there_and_only_then() -> None:
    oracle = Oracle({QUESTION: KNOWN})
    assert reply(oracle, asked(shown([*TEXTS]))) == "Quill [2][1]."
    assert reply(oracle, asked(shown(["Brack", "Odo Tarn"]))).startswith("NO ANSWER: In which village")
    assert reply(oracle, asked(shown([*TEXTS]), "Who knows?")).startswith("NO ANSWER")
    assert reply(Oracle({QUESTION: Known(gold=GOLD)}), asked(shown([*TEXTS]))).startswith("NO ANSWER")


@pytest.mark.parametrize("answer", ["Quill", "yes", "a man from the north"])
def test_asked_again_it_quotes(answer: str) -> None:
    """What it says first may not stand there word for word; what it says then does."""
    context = shown([*TEXTS])
    oracle = Oracle({QUESTION: Known(answer, (), GOLD)})
    first = reply(oracle, asked(context))
    assert first.startswith(answer)
    second = reply(oracle, asked(context, QUESTION, first))
    assert check(second, context.proofs, QUESTION) is None and second != first


def test_errors_are_as_frequent_as_said_and_the_same_each_time() -> None:
    questions = [f"{QUESTION} {n}" for n in range(300)]
    known = dict.fromkeys(questions, KNOWN)
    good, bad = Oracle(known), Oracle(known, error=0.1)
    context = shown([*TEXTS])
    there = [reply(bad, asked(context, question)) for question in questions]
    again = [reply(bad, asked(context, question)) for question in reversed(questions)]
    assert there == again[::-1]
    right = reply(good, asked(context, questions[0]))
    assert 15 <= sum(said != right for said in there) <= 50
    assert [reply(Oracle(known, 0.1, seed=7), asked(context, one)) for one in questions] != there


def test_every_kind_of_error_is_wrong() -> None:
    questions = [f"{QUESTION} {n}" for n in range(60)]
    oracle = Oracle(dict.fromkeys(questions, KNOWN), error=1)
    context = shown([*TEXTS])
    said = {reply(oracle, asked(context, question)) for question in questions}
    assert "Quill [2][1]." not in said
    assert any(one.startswith("NO ANSWER") for one in said)
    assert "Quill [3]." in said
    assert any("Zabriskie" in one for one in said)
    assert any(check(one, context.proofs, QUESTION) is None for one in said)  # and some of it looks proved
    missing = shown(["Brack"])
    assert all("NO ANSWER" not in reply(oracle, asked(missing, question)) for question in questions)


def test_it_picks_what_leads_to_what_is_missing() -> None:
    oracle = Oracle({QUESTION: KNOWN})
    options = ['open "Brack"', 'Weir Cottage -[built by]-> "Odo Tarn" (1811)', 'Lower Fenwick -[has]-> "two bridges"',
               'open "Odo Tarn"']  # fmt: skip
    assert reply(oracle, guided(options)) == "2, 4"
    assert reply(oracle, guided(['Weir Cottage -> "Quill"', 'open "Aske"'], [f'- "{COTTAGE}": built in 1811'])) == "1"
    listed = [f'- "{COTTAGE}": built by Odo Tarn', '- "Odo Tarn": Odo Tarn was a stonemason.']
    assert reply(oracle, guided(options, listed)) == "DONE"
    assert reply(oracle, guided(['open "Brack"'])) == "DONE"
    wrong = Oracle({QUESTION: KNOWN}, error=1)
    assert reply(wrong, guided(options)) in ("1", "2", "3", "4", "DONE")


def test_it_counts_tokens_as_it_is_told() -> None:
    said = Oracle({QUESTION: KNOWN}, count=len)(asked(shown([*TEXTS])))
    assert isinstance(said, Says)
    assert said.written == len("Quill [2][1].") and said.read is not None and said.read > 500
