"""A call is declared once: a new one appears on every surface, and takes four files."""

from __future__ import annotations

import ast
import inspect
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal, get_origin, get_type_hints

import pytest
from starlette.testclient import TestClient

from daemon.api import TOPICS, build, describe, find_function
from daemon.api.routing import Endpoint
from daemon.api.statements import StatementStore
from daemon.calls import Call, Calls, call, list_calls
from daemon.calls.process import DaemonCalls
from daemon.client.connection import Lines, Stream
from daemon.jobs.embedder import EmbedderJob
from daemon.jobs.enrichment import Enrichment
from daemon.jobs.models import Models
from daemon.jobs.night import NightlyJob
from daemon.jobs.replication import Replication
from daemon.jobs.syncing import SyncJob
from daemon.mcp.server import Tools
from daemon.watch.watcher import Watcher
from memory.services.activity import Conversations
from memory.services.browsing import Browsing
from memory.services.maintenance import Maintenance
from memory.services.questions import Questions
from memory.services.sources import Sources

ROOT = Path(__file__).parents[2]
CALLS = {one.name: one for one in list_calls(DaemonCalls)}
PARTS = {
    "embedder": EmbedderJob,
    "enrichment": Enrichment,
    "memory.browsing": Browsing,
    "memory.conversations": Conversations,
    "memory.maintenance": Maintenance,
    "memory.questions": Questions,
    "memory.sources": Sources,
    "models": Models,
    "nightly": NightlyJob,
    "replication": Replication,
    "statements": StatementStore,
    "sync": SyncJob,
    "watcher": Watcher,
}
WIDER = (Literal, Mapping, Sequence, tuple)


class NewCalls(DaemonCalls):
    """What a new call adds: its declaration."""

    @call("GET", "/shout/{times}", thread="read", field="words", offline=True, tool="shout")
    def shout(self, times: Annotated[int, range(1, 4)], words: str = "hey") -> tuple[str, ...]:  # type: ignore[empty-body]
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
    assert browser.get("/shout/4").json()["message"] == "times is 4; ask for 1 to 3."
    assert browser.get("/shout/2?word=x").json()["message"] == "There is no parameter 'word'."
    described = browser.get("/openapi.json").json()["paths"]["/shout/{times}"]["get"]
    assert described["description"] == "Repeat some words."
    assert [one["name"] for one in described["parameters"]] == ["times", "words"]

    class InProcess(NewCalls):
        def make(self, call: Call, arguments: dict[str, Any]) -> Any:
            path, body = call.write_request(arguments)
            return call.read_reply(browser.request(call.method, path, json=body).json())

    assert InProcess().shout(3, words="a&b") == ("a&b", "a&b", "a&b")
    declared = vars(NewCalls.shout)["call"]
    assert find_function(declared, (here,))(None, 1, "x") == ("x",), "as without a daemon"
    tool = Tools(None).make_function(declared)  # type: ignore[arg-type]
    assert str(inspect.signature(tool)).startswith("(*, times: int, words: str = 'hey')")
    assert tool.__doc__ == "Repeat some words."


# What a call with a reply of its own, a function and a command adds to these files.
ADDED = {
    "daemon/wire/objects.py": """

@dataclass(frozen=True, slots=True)
class Shout:
    '''Repeated words.'''

    words: tuple[str, ...]
""",
    "daemon/calls/knowledge.py": """
    @call("GET", "/shout/{times}", thread="read")
    def shout(self, times: int, words: str = "hey") -> wire.Shout:
        '''Repeat some words.'''
""",
    "daemon/api/facts.py": """

def shout(memory: Memory, times: int, words: str) -> wire.Shout:
    return wire.Shout((words,) * times)
""",
    "daemon/cli/facts.py": '''

@click.command()
@click.argument("times", type=int)
@json_command
def shout(session: Session, times: int) -> None:
    """Repeat some words."""
    reply = session.client.shout(times)
    session.show(reply, " ".join(reply.words))
''',
}
RUN = """
from click.testing import CliRunner
from starlette.testclient import TestClient

from daemon.api import build
from daemon.cli import main
from daemon.cli.session import Session
from daemon.client.client import Client


class Services:
    memory = None

    async def read(self, function):
        return function()


class InProcess(Client):
    def make(self, call, arguments):
        path, body = call.write_request(arguments)
        return call.read_reply(browser.request(call.method, path, json=body).json())


browser = TestClient(build(Services()))
session = Session()
session.client = InProcess(None)
for options in ([], ["--json"]):
    print(CliRunner().invoke(main, ["shout", "2", *options], obj=session).output, end="")
print(CliRunner().invoke(main, ["help", "all"]).output.splitlines()[-3].strip())
print(browser.get("/openapi.json").json()["paths"]["/shout/{times}"]["get"]["description"])
"""


def test_a_new_call_with_a_reply_and_a_command_takes_four_files(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "daemon", tmp_path / "daemon", ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in ADDED.items():
        before = (tmp_path / name).read_text("utf-8").replace('"""pal facts, ', '"""pal facts, shout, ')
        (tmp_path / name).write_text(before + text, "utf-8")
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    done = subprocess.run(
        [sys.executable, "-c", RUN], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    *replies, listed, described = done.stdout.splitlines()
    assert replies == ["hey hey", '{"words": ["hey", "hey"]}'], done.stderr
    assert listed.split(None, 1) == ["shout", described] and described == "Repeat some words."
    assert len(ADDED) == 4


def test_the_path_of_a_call_is_written_in_one_file() -> None:
    written: dict[str, set[str]] = {one.path: set() for one in CALLS.values()}
    for path in [*(ROOT / "daemon").rglob("*.py"), *(ROOT / "tui").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and node.value in written:
                written[str(node.value)].add(path.relative_to(ROOT).as_posix())
    allowed = {"daemon/api/routing.py"}  # which lets in /hello, /stop and /activity before others, and guards /secrets
    assert {path: files - allowed for path, files in written.items() if len(files - allowed) != 1} == {}


@pytest.mark.parametrize("name", [name for name, one in CALLS.items() if one.to])
def test_the_method_that_answers_a_call_takes_its_parameters(name: str) -> None:
    call = CALLS[name]
    part, _, method = call.to.rpartition(".")
    function = getattr(PARTS[part], method)
    own = [*inspect.signature(function).parameters.values()][1:]
    mine, others = own[: len(call.parameters)], own[len(call.parameters) :]
    assert all(one.default is not one.empty for one in others)
    types = get_type_hints(function, include_extras=True)
    wanted = [call.types[one] for one in call.parameters] + [call.types["return"]]
    for kind, expected in zip([types[one.name] for one in mine] + [types["return"]], wanted, strict=True):
        kind = getattr(kind, "__metadata__", [kind])[0]
        assert kind == expected or get_origin(expected) in WIDER


@pytest.mark.parametrize("name", [name for name, one in CALLS.items() if not one.to])
def test_the_function_of_a_call_takes_its_parameters(name: str) -> None:
    call = CALLS[name]
    function = find_function(call)
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
        find_function(vars(NewCalls.shout)["call"], (sys.modules[__name__], twice))


def test_every_type_of_a_call_can_be_described() -> None:
    endpoints = [Endpoint(one, find_function(one), None) for one in CALLS.values()]  # type: ignore[arg-type]
    assert sum(len(methods) for methods in describe(endpoints)["paths"].values()) == len(CALLS)
