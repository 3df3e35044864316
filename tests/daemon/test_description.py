"""The API as it describes itself, asked all that its description allows and much that it does not: nothing is a fault
of the daemon (500), and every reply is what the description says."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance

from tests.daemon.conftest import QUICK
from tests.running import run_daemon

EXAMPLES = max(1, settings.default.max_examples // 16)  # of each route, for what it takes and for what it does not
NOT_ASKED = ("/stop", "/activity", "/backup")  # ends it, never ends, and writes a verified copy every time
CHECKS = (not_a_server_error, content_type_conformance, response_schema_conformance)


def confined(value: Any, folder: Path) -> Any:
    """The same with every path below a folder: "/" may be made up, too."""
    if isinstance(value, str):
        return f"{folder}{value}" if value.startswith("/") else value
    if isinstance(value, dict):
        return {name: confined(item, folder) for name, item in value.items()}
    return [confined(item, folder) for item in value] if isinstance(value, list) else value


@contextmanager
def port_of(path: Path) -> Iterator[int]:
    """A port that leads to a socket file, for a tool that knows ports alone."""

    class Forward(StreamRequestHandler):
        def handle(self) -> None:
            with socket.socket(socket.AF_UNIX) as there:
                there.connect(str(path))
                reply = Thread(target=copy, args=[there, self.request])
                reply.start()
                copy(self.request, there)
                reply.join()

    with ThreadingTCPServer(("127.0.0.1", 0), Forward) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


@pytest.mark.timeout(600)  # it asks eighty routes; a busy machine is no fault
@pytest.mark.filterwarnings("default")  # of the tools
def test_every_route_keeps_to_its_description(tmp_path: Path) -> None:
    asked = set()
    with run_daemon(tmp_path / "home", QUICK) as daemon, port_of(daemon.paths.socket) as port:
        schema = schemathesis.openapi.from_url(f"http://127.0.0.1:{port}/openapi.json")

        for found in schema.get_all_operations():
            operation = found.ok()
            if operation.path in NOT_ASKED:
                continue
            for mode in GenerationMode:

                @settings(
                    max_examples=EXAMPLES, deadline=None, derandomize=True, database=None,
                    suppress_health_check=list(HealthCheck),
                )  # fmt: skip
                @given(case=operation.as_strategy(generation_mode=mode))
                def ask(case: Any) -> None:
                    case.body, case.query = confined(case.body, tmp_path), confined(case.query, tmp_path)
                    case.validate_response(case.call(), checks=CHECKS)
                    asked.add((case.method, case.path))

                with suppress(Unsatisfiable):  # nothing can be wrong with it
                    ask()
        assert daemon.client.check().problems == ()
        assert "Traceback" not in daemon.paths.log.read_text()
    assert len(asked) > 45
