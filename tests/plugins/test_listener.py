"""Nothing is sent to the program of another user, on the port of a model server."""

from __future__ import annotations

import os
import socket

import pytest

from memory.errors import ModelUnavailableError
from plugins.llms.call import OTHERS
from plugins.llms.ollama import OllamaModel
from plugins.settings import OllamaSettings
from tests.fakes import FakeOllama
from tests.fakes import OllamaModel as Served

STRANGER = 1777


@pytest.mark.skipif(not hasattr(os, "seteuid") or os.getuid() != 0, reason="only root can listen as another user")
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_nothing_is_sent_to_another_users_program(host: str) -> None:
    os.seteuid(STRANGER)
    try:
        listener = socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    finally:
        os.seteuid(0)
    with listener:
        port = listener.getsockname()[1]
        model = OllamaModel("llama", OllamaSettings(host=f"http://{f'[{host}]' if ':' in host else host}:{port}"))
        with pytest.raises(ModelUnavailableError, match=OTHERS):
            model.info()
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):  # nobody has connected
            listener.accept()


def test_ones_own_server_is_asked() -> None:
    with FakeOllama(Served("llama", context=8192)) as server:
        assert OllamaModel("llama", OllamaSettings(host=server.url)).info().context_tokens == 8192
    assert "/api/show" in [request.path for request in server.seen]
