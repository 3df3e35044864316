"""A call is declared once: a new one appears on every surface, and takes four files at most."""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

import pytest
from starlette.testclient import TestClient

from daemon.api.app import TOPICS, build, find_function
from daemon.api.description import describe
from daemon.api.routing import Endpoint
from daemon.calls import DaemonCalls
from daemon.calls.declaration import Call, Calls, call, list_calls
from daemon.client.connection import Lines, Stream
from daemon.mcp.server import Tools

ROOT = Path(__file__).parents[2]
CALLS = {one.name: one for one in list_calls(DaemonCalls)}


class NewCalls(DaemonCalls):
    """What a new call adds: its declaration."""

    @call("GET", "/shout/{times}", thread="read", field="words", offline=True, tool="shout")
    def shout(self, times: int, words: str = "hey") -> tuple[str, ...]:  # type: ignore[empty-body]
        """Repeat some words."""


def shout(memory: object, times: int, words: str) -> tuple[str, ...]:
    """And its function."""
    return (words,) * times


class Services:
    """What the new call needs of the daemon's."""

    memory = None

    async def read(self, function: Any) -> Any:
        return function()


def test_a_new_call_has_a_route_checks_a_description_and_a_method_of_the_client() -> None:
    here = sys.modules[__name__]
    app = build(Services(), NewCalls, (*TOPICS, here))  # type: ignore[arg-type]
    browser = TestClient(app)
    assert browser.get("/shout/2").json() == {"words": ["hey", "hey"]}
    assert browser.get("/shout/two").json()["message"] == "times must be a whole number."
    assert browser.get("/shout/2?word=x").json()["message"] == "There is no parameter 'word'."
    described = browser.get("/openapi.json").json()["paths"]["/shout/{times}"]["get"]
    assert described["description"] == "Repeat some words."
    assert [one["name"] for one in described["parameters"]] == ["times", "words"]

    class InProcess(NewCalls):
        def make(self, call: Call, arguments: dict[str, Any]) -> Any:
            path, body = call.write_request(arguments)
            return call.read_reply(browser.request(call.method, path, json=body).json())

    assert InProcess().shout(3, words="a&b") == ("a&b", "a&b", "a&b")
    assert find_function("shout", (here,))(None, 1, "x") == ("x",), "as without a daemon"
    tool = Tools(None).make_function(vars(NewCalls.shout)["call"])  # type: ignore[arg-type]
    assert str(inspect.signature(tool)).startswith("(*, times: int, words: str = 'hey')")
    assert tool.__doc__ == "Repeat some words."


def test_the_path_of_a_call_is_written_in_one_file() -> None:
    """With its reply, its function and its command that makes four."""
    written: dict[str, set[str]] = {one.path: set() for one in CALLS.values()}
    for path in [*(ROOT / "daemon").rglob("*.py"), *(ROOT / "tui").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and node.value in written:
                written[str(node.value)].add(path.relative_to(ROOT).as_posix())
    allowed = {"daemon/api/routing.py"}  # which lets in /hello, /stop and /activity before others, and guards /secrets
    assert {path: files - allowed for path, files in written.items() if len(files - allowed) != 1} == {}


@pytest.mark.parametrize("name", CALLS)
def test_the_function_of_a_call_takes_its_parameters(name: str) -> None:
    function, call = find_function(name), CALLS[name]
    first, *parameters = inspect.signature(function).parameters
    assert first in ("memory", "services") and tuple(parameters) == call.parameters
    hints = get_type_hints(function, include_extras=True)
    types = {name: getattr(kind, "__metadata__", [kind])[0] for name, kind in hints.items()}
    assert {name: types[name] for name in parameters} == {name: call.types[name] for name in parameters}
    if not call.is_stream and not call.field:
        assert types["return"] == call.types["return"]
    if call.offline and name not in ("ask", "status", "backup"):
        assert first == "memory"


def test_a_call_says_what_it_does() -> None:
    assert len(CALLS) > 85
    for one in CALLS.values():
        assert one.stub.__doc__, one.name
        assert one.types["return"] is not Stream or one.ends or one.name == "activity"
    assert {name for name, one in CALLS.items() if one.types["return"] is Lines} == {"export", "export_with_secrets"}


def test_a_call_without_a_function_is_an_error() -> None:
    class Unfinished(Calls):
        @call("GET", "/nothing")
        def nothing(self) -> None:
            """Nothing."""

    with pytest.raises(LookupError, match="nothing"):
        build(Services(), Unfinished)  # type: ignore[arg-type]
    with pytest.raises(LookupError, match="2 functions are called shout"):
        twice = ModuleType("twice")
        twice.shout = lambda memory: {}  # type: ignore[attr-defined]
        twice.shout.__module__ = "twice"
        find_function("shout", (sys.modules[__name__], twice))


def test_every_type_of_a_call_can_be_described() -> None:
    endpoints = [Endpoint(one, find_function(one.name), None) for one in CALLS.values()]  # type: ignore[arg-type]
    assert sum(len(methods) for methods in describe(endpoints)["paths"].values()) == len(CALLS)
