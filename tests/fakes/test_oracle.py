"""The oracle: it is right whenever it is shown what it needs, and goes wrong as often as it is told to."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from memory.answering import compose
from memory.answering.context import EvidencePiece, PromptContext
from memory.answering.grounding import judge_claim
from memory.answering.options import AskOptions
from memory.nouns import Episode, Source
from tests.fakes.oracle import Oracle, evidence, standing
from tests.fakes.server import Calls, Says
from tests.fakes.truth import Gold, Known

AT = datetime(2024, 5, 1, tzinfo=UTC)
FENCE = "QWERTZ"
QUESTION = "In which village was the builder of Weir Cottage born?"
COTTAGE = 'Weir Cottage: a "history"'
TEXTS = {
    COTTAGE: "Weir Cottage was built by Odo Tarn in 1811.\n\nIt stands above the weir [of Lower Fenwick].",
    "Odo Tarn": "Odo Tarn was a stonemason. He was born in the village of Quill, in 1779.",
    "Brack": "Brack is a hamlet with a chapel. Its kiln burned lime until the war.",
}
GOLD = tuple(Gold((TEXTS[title],), title) for title in (COTTAGE, "Odo Tarn"))
KNOWN = Known("Quill", ("the village of Quill",), GOLD)


def shown(titles: list[str], kind: Any = "passage", text: str = "") -> PromptContext:
    """Evidence of these passages, as a model gets it."""
    source = Source(1, "/notes/a.md", "file", "a", "markdown")
    episodes = [Episode(n, source, n, title, TEXTS[title], AT) for n, title in enumerate(titles)]
    return PromptContext(tuple(EvidencePiece(kind, text or one.text, one, 0, one.text, False) for one in episodes))


def asked(context: PromptContext, question: str = QUESTION, *said: str) -> dict[str, Any]:
    """The body of a request for an answer, as it stands on the wire."""
    request = compose.build_request(question, context, AskOptions(AT))
    turns = [{"role": message.role, "content": message.text} for message in request.messages]
    more = [{"role": role, "content": text} for text in said for role, text in (("assistant", text), ("user", "again"))]
    return {"messages": [{"role": "system", "content": request.system}, *turns, *more]}


def reply(oracle: Oracle, body: dict[str, Any]) -> str:
    said = oracle(body)
    assert isinstance(said, Says)
    return said.text


def guided(options: list[str], found: list[str] | None = None) -> dict[str, Any]:
    """The body of a request for where to look next."""
    fence = FENCE
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
    assert [one.number for one in pieces] == [1, 2, 3]
    assert [len(standing(gold, pieces)) for gold in GOLD] == [1, 1]
    line = evidence(asked(shown([COTTAGE], "line", "It was built: in 1811."))["messages"][1]["content"])
    assert [(one.title, " ".join(one.text.split())) for one in line] == [(COTTAGE, "It was built: in 1811.")]


def test_a_line_stands_for_its_passage_if_the_answer_is_in_it() -> None:
    gold = GOLD[1]
    for text, stands in (
        ("He was born in the village of Quill, in 1779.", True),
        ("Odo Tarn was a stonemason.", False),
    ):
        pieces = evidence(asked(shown(["Odo Tarn"], "line", text))["messages"][1]["content"])
        assert bool(standing(gold, pieces, KNOWN.forms)) == stands


def test_it_answers_if_all_is_there_and_only_then() -> None:
    oracle = Oracle({QUESTION: KNOWN})
    assert reply(oracle, asked(shown([*TEXTS]))) == "Quill [2][1]."
    assert reply(oracle, asked(shown(["Brack", "Odo Tarn"]))).startswith("NO ANSWER: In which village")
    assert reply(oracle, asked(shown([*TEXTS]), "Who knows?")).startswith("NO ANSWER")
    assert reply(Oracle({QUESTION: Known(gold=GOLD)}), asked(shown([*TEXTS]))).startswith("NO ANSWER")


def test_one_of_the_passages_that_tell_the_answer_is_enough_but_not_one_part_of_it() -> None:
    golds = (Gold(("Quill is a village.",)), Gold((TEXTS["Odo Tarn"],)))
    assert reply(Oracle({QUESTION: Known("Quill", (), golds)}), asked(shown(["Odo Tarn"]))).startswith("Quill")
    parts = Known("Fenwick, then Quill", (), (Gold((TEXTS[COTTAGE],)), golds[1]), ("Fenwick", "Quill"))
    assert reply(Oracle({QUESTION: parts}), asked(shown([COTTAGE, "Odo Tarn"]))).startswith("Fenwick, then Quill")
    assert reply(Oracle({QUESTION: parts}), asked(shown(["Odo Tarn"]))).startswith("NO ANSWER")


@pytest.mark.parametrize("answer", ["Quill", "yes", "a man from the north"])
def test_asked_again_it_quotes(answer: str) -> None:
    """What it says first may not stand there word for word; what it says then does."""
    context = shown([*TEXTS])
    oracle = Oracle({QUESTION: Known(answer, (), GOLD)})
    first = reply(oracle, asked(context))
    assert first.startswith(answer)
    second = reply(oracle, asked(context, QUESTION, first))
    assert judge_claim(second, context.proofs, QUESTION).verdict == "proved" and second != first


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
    verdicts = {judge_claim(one, context.proofs, QUESTION).verdict for one in said}
    assert "proved" in verdicts  # some of it looks so
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
    assert reply(oracle, guided(['open "Brack"', 'open "Aske"'])) == "1"  # who knows nothing takes the first
    wrong = Oracle({QUESTION: KNOWN}, error=1)
    assert reply(wrong, guided(options)) in ("1", "2", "3", "4", "DONE")


def test_it_counts_tokens_as_it_is_asked() -> None:
    said = Oracle({QUESTION: KNOWN}, count=len)(asked(shown([*TEXTS])))
    assert isinstance(said, Says)
    assert said.written == len("Quill [2][1].") and said.read is not None and said.read > 500


def test_an_error_is_made_good_when_asked_again() -> None:
    oracle = Oracle({QUESTION: KNOWN})
    body = asked(shown([*TEXTS]), QUESTION, "Zabriskie [1].")
    assert reply(oracle, body) == "Quill [2][1]."


def driven(*turns: dict[str, Any]) -> dict[str, Any]:
    """The body of a request with tools, as it stands on the wire."""
    task = {"role": "user", "content": f"Today.\n\nThe question:\n{FENCE}\n{QUESTION}\n{FENCE}\n\nTurn 1 of 12."}
    return {"tools": [{"type": "function"}], "messages": [{"role": "system", "content": "Look."}, task, *turns]}


def called(*calls: Calls) -> dict[str, Any]:
    made = [{"function": {"name": call.name, "arguments": call.arguments}} for call in calls]
    return {"role": "assistant", "content": "", "tool_calls": made}


def result(*rows: str, head: str = "2 found:") -> dict[str, Any]:
    return {"role": "tool", "content": "\n".join([head, FENCE, *rows, FENCE]), "tool_name": "x"}


def calls_of(oracle: Oracle, body: dict[str, Any]) -> list[tuple[str, Any]]:
    said = oracle(body)
    assert isinstance(said, Says)
    assert bool(said.calls) != bool(said.text)
    return [(call.name, *call.arguments.values())[:2] for call in said.calls]


def test_with_tools_it_follows_what_it_sees_and_collects() -> None:
    oracle = Oracle({QUESTION: KNOWN})
    first = calls_of(oracle, driven())
    assert first == [("vector_search", QUESTION), ("entity_search", "Weir Cottage")]
    seen = [
        called(Calls("vector_search", {"query": QUESTION, "k": 10}), Calls("entity_search", {"query": "Weir Cottage"})),
        result(f'[1] "{COTTAGE}", 2024-05-01 (fits 0.71): Weir Cottage was built by Odo Tarn in 1811. It stands',
               '[2] "Brack" (fits 0.20): Brack is a hamlet with a chapel.'),
        result('[3] "Odo Tarn", 2 passages', '[4] "Aske"; flows by Quill; 1 passage in common', head="2 found:"),
    ]  # fmt: skip
    second = calls_of(oracle, driven(*seen))
    assert second == [
        ("collect_chunk", 1),
        ("get_chunks_for_entity", 3),
        ("vector_search", "Odo Tarn"),
        ("read_chunk", 1),
    ]
    left_out = [turn | ({"content": "Left out"} if turn["role"] == "tool" else {}) for turn in seen]
    found = result('[5] "Odo Tarn", 2024-05-01: He was born in the village of Quill, in 1779.')
    state = {"role": "user", "content": "Turn 3 of 12. Collected: [1]. Explored: [3].\nNow: go on."}
    after = driven(*left_out, called(Calls("get_chunks_for_entity", {"object": 3})), found, state)
    assert calls_of(oracle, after) == [("collect_chunk", 5)]  # what was found before is not forgotten
    state["content"] = state["content"].replace("[1]", "[1] [5]")
    assert calls_of(oracle, after) == []


def test_with_tools_it_knows_a_passage_that_it_reads() -> None:
    oracle = Oracle({QUESTION: KNOWN})
    oracle(driven())
    read = result(
        '"Odo Tarn"', TEXTS["Odo Tarn"], 'Objects: [8] "Quill", [9] "Weir Cottage: a \'history\'"', head="Passage [7]."
    )
    assert calls_of(oracle, driven(called(Calls("read_chunk", {"passage": 7})), read))[0] == ("collect_chunk", 7)


def test_with_tools_it_goes_astray() -> None:
    questions = [f"{QUESTION} {n}" for n in range(40)]
    oracle = Oracle(dict.fromkeys(questions, KNOWN), error=1)
    bodies = [json.loads(json.dumps(driven()).replace(QUESTION, question)) for question in questions]
    said = [oracle(body) for body in bodies]
    assert said == [oracle(body) for body in bodies]
    assert {call.name for one in said if isinstance(one, Says) for call in one.calls} == {
        "collect_chunk", "get_chunks_for_entity", "google"
    }  # fmt: skip
    assert {one.text for one in said if isinstance(one, Says)} == {"", "DONE", "I would look at the notes first."}


def test_what_stood_in_the_evidence_is_not_looked_for() -> None:
    oracle = Oracle({QUESTION: KNOWN})
    options = ['open "Odo Tarn": a stonemason', f'"Brack" -> "{COTTAGE}": built in 1811']
    assert reply(oracle, guided(options)) == "1, 2"
    reply(oracle, asked(shown(["Odo Tarn"])))
    assert reply(oracle, guided(options)) == "2"
    reply(oracle, asked(shown([*TEXTS])))
    assert reply(oracle, guided(options)) == "DONE"


def test_parts_of_chats_are_recognised_by_their_words() -> None:
    """All parts of a chat have one title; the turn need not be what an option shows of its part."""
    part = "Ana: My sister keeps bees on the roof.\nBo: How many hives are there?\nAna: Three hives, since May."
    known = Known("three", (), (Gold(("Three hives, since May.",), "Talk", (part,)),))
    oracle = Oracle({QUESTION: known})
    options = ['open "Talk" (2023-06-02): The train was late again', 'open "Talk" (2023-06-02), another part: …a: My'
               ' sister keeps bees on the ro…']  # fmt: skip
    assert reply(oracle, guided(options)) == "2"
    assert reply(oracle, guided(options[:1], ['- "Talk" (2023-06-02): How many hives are there?'])) == "DONE"
    assert reply(oracle, guided(options[:1], ['- "Talk" (2023-06-02): The tram is quick.'])) == "1"
