"""A real model behind a real grammar engine: what the product asks for in JSON can be compiled, and what comes back
is read. The model is tiny and says nothing of use; a few dozen tokens are enough."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from memory.answering import compose
from memory.answering.context import EvidencePiece, PromptContext
from memory.answering.options import AskOptions
from memory.errors import MalformedOutputError
from memory.exploring.tool_calls import TOOLS
from memory.facts.decisions import DECISION_SCHEMA
from memory.facts.json_replies import parse_loosely
from memory.facts.llm_requests import EXTRACTION_SCHEMA, extraction_request, parse_extractions
from memory.llm import LlmRequest, Message, Reply
from memory.nouns import Episode, Source
from plugins.llms.guard import Guarded
from plugins.llms.openai import OpenAIModel
from plugins.settings import OpenAISettings
from tests.fakes.llamacpp import MISSING, LlamaServer, find_weights

MAX_REPEATS = 2_000  # of one part of a grammar: older llama.cpp, and Ollama with it, refuses more
SHORTEST = 16  # tokens of a reply of which the server tells anything: it holds the first ones back
TEXT = "Juno keeps the ferry timetable in the blue drawer since 4 May 2031."
NOTE = Episode(1, Source(1, "/notes/a.md", "file", "a", "markdown"), 0, "Ferry", TEXT, datetime(2031, 5, 6, tzinfo=UTC))


def schemas() -> dict[str, Mapping[str, Any]]:
    """All that a model is held to: of reading, of deciding, and the arguments of all tools. A probe asks with these."""
    tools = {"anyOf": [dict(one.parameters) for one in TOOLS]}
    return {"read": EXTRACTION_SCHEMA, "decide": DECISION_SCHEMA, "tools": tools}


def bounds(schema: Any) -> Iterator[int]:
    """How often a part of it may be repeated, wherever in it."""
    if isinstance(schema, Mapping):
        yield from (schema[key] for key in ("maxLength", "maxItems", "minLength", "minItems") if key in schema)
        schema = [*schema.values()]
    if isinstance(schema, list):
        for one in schema:
            yield from bounds(one)


@pytest.fixture(scope="module")
def model() -> Iterator[Guarded]:
    if find_weights() is None:
        pytest.skip(MISSING)
    with LlamaServer() as server:
        model = Guarded("openai:smollm2", OpenAIModel(server.model, OpenAISettings(url=server.url)))
        yield model
        model.close()


def written(model: Guarded, request: LlmRequest) -> str:
    """What it writes, which may be cut."""
    try:
        return model.complete(request).text
    except MalformedOutputError as error:
        return error.text


def test_no_schema_repeats_more_than_any_grammar_engine_takes() -> None:
    found = {name: max(bounds(schema), default=0) for name, schema in schemas().items()}
    assert {name: most for name, most in found.items() if most >= MAX_REPEATS} == {}


def test_every_schema_is_compiled_and_holds_the_model(model: Guarded) -> None:
    for name, schema in schemas().items():
        asked = LlmRequest(messages=(Message("user", "Tell me of Juno."),), schema=schema, max_tokens=SHORTEST)
        said = written(model, asked)
        assert said.lstrip().startswith("{"), (name, said)


def test_one_note_is_read_and_one_question_asked(model: Guarded) -> None:
    """Without the orders, which alone are 700 tokens."""
    said = written(model, replace(extraction_request([NOTE]), system="", max_tokens=24))
    assert said.lstrip().startswith("{") and '"episodes"' in said
    extractions, _ = parse_extractions(parse_loosely(said, EXTRACTION_SCHEMA), [NOTE])
    assert not any(one.relations or one.theses for one in extractions.values())  # nothing whole is in 24 tokens
    context = PromptContext((EvidencePiece("passage", NOTE.text, NOTE, 0, NOTE.text, False),))
    request = compose.build_request("Where is the timetable?", context, AskOptions(NOTE.at or datetime.now(UTC)))
    *pieces, reply = model.stream(replace(request, system="", max_tokens=8))
    assert isinstance(reply, Reply) and reply.text == "".join(map(str, pieces)) and 0 < reply.usage.written <= 8
    assert reply.usage.read > 50
