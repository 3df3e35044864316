"""Fetching a model with Ollama: its server downloads it and tells how far it is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import httpx

from memory.errors import MalformedOutputError, ModelError, ModelUnavailableError
from plugins.llms import Step, transport
from plugins.llms.call import Call, shorten_reason
from plugins.llms.ollama import locate, tell_gone
from plugins.llms.settings import OllamaSettings

LIMITS = (120.0, 300.0, 7 * 86_400.0)  # seconds until it begins, between two lines, in all
LIBRARY = "https://ollama.com/library"


def pull(model: str, settings: OllamaSettings | None, cancelled: Callable[[], bool]) -> Iterator[Step]:
    """See `plugins.llms.Family`. What was fetched before it broke off is not fetched again."""
    url, _ = locate(settings or OllamaSettings())
    connection = transport.Connection(url, LIMITS)
    layers: dict[str, tuple[int, int]] = {}
    is_done = False
    try:
        with Call(LIMITS, cancelled) as call:
            try:
                for line in call.stream(_lines(connection, model)):
                    call.check()
                    status = str(line.get("status", ""))
                    is_done = is_done or status == "success"
                    if digest := str(line.get("digest", "")):
                        layers[digest] = _count(line.get("completed")), _count(line.get("total"))
                    yield sum(done for done, _ in layers.values()), sum(of for _, of in layers.values()), status[:100]
            except Exception as error:  # also what comes of a socket that was shut
                if call.reason is not None:
                    raise call.reason from error
                raise _understood(error, model, url) from error
    finally:
        connection.close()
    if not is_done:
        raise ModelUnavailableError(f"Ollama stopped fetching {model}. Go on with the same command.")


def _lines(connection: transport.Connection, model: str) -> Iterator[Mapping[str, Any]]:
    """The lines in which the server tells how far it is. MalformedOutputError with what it says of a failure."""
    with connection.post("/api/pull", {"model": model, "stream": True}) as response:
        lines = transport.read_lines(response.iter_bytes())
        for line in map(json.loads, lines):
            if response.status_code != 200 or not isinstance(line, dict) or "error" in line:
                why = line.get("error") if isinstance(line, dict) else None
                raise MalformedOutputError("Ollama failed.", str(why or f"status {response.status_code}"))
            yield line


def _understood(error: Exception, model: str, url: str) -> ModelError:
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        return tell_gone(url)
    if not isinstance(error, MalformedOutputError):
        return ModelUnavailableError(
            f"{model} was not fetched: what answers at {url} broke off, or is no Ollama ({type(error).__name__})."
            " Try again."
        )
    why = shorten_reason(error.text)
    if "file does not exist" in why or "not found" in why:
        return ModelUnavailableError(f"Ollama knows no model {model!r} to fetch. See those there are: {LIBRARY}")
    if "no space left" in why or "not enough space" in why:
        return ModelUnavailableError(f"The disk is full: {model} was not fetched. Make room on it, then try again.")
    if "no such host" in why or "dial tcp" in why:
        return ModelUnavailableError(f"Ollama cannot reach its library. Check the network, then fetch {model} again.")
    return ModelUnavailableError(f"Ollama could not fetch {model} ({why}). Try again.")


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0
