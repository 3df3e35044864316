"""Servers that speak the protocols of model vendors, for tests of whoever talks to them. They need nothing but Python.

with FakeOllama(OllamaModel("qwen3:4b")) as server:
    server.enqueue(Says("It is in Porto."), Fails(500, "out of memory"))
    ...  # point the client at server.url
    assert server.chats[0]["model"] == "qwen3:4b"
"""

from tests.fakes.anthropic import ClaudeModel, FakeAnthropic
from tests.fakes.ollama import FakeOllama, OllamaModel
from tests.fakes.openai import FakeOpenAI, ServedModel
from tests.fakes.server import Breaks, Calls, Fails, Hangs, Reply, Says, Sends

__all__ = [
    "Breaks",
    "Calls",
    "ClaudeModel",
    "Fails",
    "FakeAnthropic",
    "FakeOllama",
    "FakeOpenAI",
    "Hangs",
    "OllamaModel",
    "Reply",
    "Says",
    "Sends",
    "ServedModel",
]
