"""What the families share: plain HTTP requests, pieces of a reply, error messages, keys.

No setting of the environment redirects a request: no proxy, no redirect."""

import ipaddress
import os
import stat
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import urlsplit

import httpx

from memory.errors import ModelError, ModelUnavailableError, OverBudgetError
from memory.llm import NOTHING, LlmRequest, Reply, ToolCall, Usage
from plugins.installing import install_command
from plugins.llms import ModelInfo
from plugins.llms.call import Call, client_arguments, shorten_reason, without_thoughts

CONNECT_SECONDS = 2.0
ASK_SECONDS = 5.0  # for what a server knows without a model
FRESH_SECONDS = 60.0  # for which its word about a model is believed

PLAIN = {"accept-encoding": "identity"}  # what is compressed may be larger than what is counted

LATER = "Ask again in a minute, or use another model: pal models use answer NAME"
LOADING_SECONDS = 10.0  # before a server that loads its model is asked again
TOO_LONG = ("context length", "context size", "context window", "too long")  # of the error of a long prompt
STATUS_OF = {  # of an error in the middle of a reply, by its kind
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "insufficient_quota": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "overloaded_error": 529,
}

More = TypeVar("More")


class ServedModel(ABC, Generic[More]):
    """A model of a server that need not be running yet: a `plugins.llms.Backend` without `stream`. `More` is a family's
    further description of a model."""

    def __init__(self, model: str, at: tuple[str, bool], limits: tuple[float, float, float]) -> None:
        """`at`: the server's URL, and whether it is on this machine."""
        self._model = model
        self._url, self._here = at
        self._known: tuple[float, tuple[ModelInfo, More]] | None = None
        self.limits = limits

    def is_local(self) -> bool:
        """Answers without contacting a remote server."""
        return self._here and self.info().is_local

    def info(self) -> ModelInfo:
        """Describes the model from its server, cached for a minute. ModelUnavailableError."""
        return self._get_description()[0]

    def close(self) -> None:
        """Does nothing: each call closes its connection."""

    def _get_description(self) -> tuple[ModelInfo, More]:
        if self._known is None or time.monotonic() - self._known[0] > FRESH_SECONDS:
            self._known = (time.monotonic(), self._describe())
        return self._known[1]

    @abstractmethod
    def _describe(self) -> tuple[ModelInfo, More]:
        """Requests the model's description. ModelUnavailableError."""


@contextmanager
def post(
    url: str, body: Mapping[str, Any], limits: tuple[float, float, float], headers: Mapping[str, str] | None = None
) -> Iterator[httpx.Response]:
    """Yields the response to a request, with its body unread; `limits` are those of `plugins.llms.Backend`.
    httpx.HTTPError."""
    arguments = client_arguments(httpx, url, limits, CONNECT_SECONDS)
    with (
        httpx.Client(trust_env=False, headers=PLAIN, **arguments) as client,
        client.stream("POST", url, json=body, headers=headers) as response,
    ):
        yield response


def ask(
    url: str,
    path: str,
    body: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    proxied: bool = False,
) -> httpx.Response:
    """Returns the complete response of any status within ASK_SECONDS and MOST_BYTES; `proxied`: by the environment's
    proxy. httpx.HTTPError."""
    limits = (ASK_SECONDS, ASK_SECONDS, ASK_SECONDS)

    def exchange() -> Iterator[httpx.Response]:
        arguments = client_arguments(httpx, url, limits, CONNECT_SECONDS)
        with httpx.Client(trust_env=proxied, headers=PLAIN, **arguments) as client:
            yield client.request("POST" if body else "GET", url + path, json=body, headers=headers)

    with Call(limits, lambda: False) as call:
        try:
            response = next(call.stream(exchange()))
        except OSError as error:
            raise httpx.ReadError(str(error)) from error
    if call.reason:  # a body without a length looks whole where it was broken off
        raise httpx.ReadTimeout(str(call.reason))
    return response


def read_rows(reply: Any, key: str, name: str) -> list[dict[str, Any]]:
    """Returns the objects at a key of a reply, which may be anything, that have a text called `name`."""
    rows = reply.get(key) if isinstance(reply, dict) else None
    named = rows if isinstance(rows, list) else []
    return [row for row in named if isinstance(row, dict) and isinstance(row.get(name), str) and row[name]]


def make_tools(request: LlmRequest) -> list[dict[str, Any]]:
    """Converts the tools of a request for the protocols of Ollama and OpenAI."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)},
        }
        for tool in request.tools
    ]


@dataclass(slots=True)
class Pieces:
    """The reply so far. `stop` is "" until its end; "length" if it was cut."""

    text: list[str] = field(default_factory=list)
    thought: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    usage: Usage = NOTHING
    stop: str = ""


def collect(contents: Iterator[str], pieces: Pieces) -> Iterator[str | Reply]:
    """Yields the text of a reply without reasoning, and the reply at its end. Reading `contents` fills `pieces`, except
    their text."""
    for piece in without_thoughts(contents):
        pieces.text.append(piece)
        yield piece
    if pieces.stop:
        yield Reply(
            "".join(pieces.text),
            pieces.usage,
            calls=tuple(pieces.calls),
            stop="length" if pieces.stop == "length" else "tools" if pieces.calls else "end",
            native="".join(pieces.thought) or None,
        )


class Remedies(NamedTuple):
    """The `server`'s name, and remedies for a rejected key or account, used up credit, a missing model, a fault, and an
    address at which nobody answers."""

    server: str
    key: str
    credit: str
    missing: str
    fault: str
    gone: str

    def make_gone(self, url: str) -> ModelUnavailableError:
        """Returns the error for a server that cannot be reached."""
        return ModelUnavailableError(self.gone.format(url))

    def make_missing(self, model: str) -> ModelUnavailableError:
        """Returns the error for a model that the server does not have."""
        return ModelUnavailableError(
            f"{self.server} has no model {model!r}. {self.missing.format(model)}", lasting=True
        )

    def make_error(
        self, model: str, status: int, why: str, kind: str = "", headers: Mapping[str, str] | None = None
    ) -> ModelError:
        """Converts an error to words. Within a reply the status is meaningless, and only the `kind` counts."""
        why, server = shorten_reason(why), self.server
        status = 402 if "credit balance" in why else STATUS_OF.get(kind, status)
        if status == 404:
            return self.make_missing(model)
        if status == 413 or any(words in why.lower() for words in TOO_LONG):
            return OverBudgetError(f"The question to {model} is too long for its context. Ask about less.")
        detail = f"{status}: {why}" if status >= 300 else why
        lasting = {
            401: f"{server} does not accept the API key or account (401). {self.key}",
            402: f"{server} says that no credit is left ({why}). {self.credit}",
            403: f"The API key or account may not use {model} ({why}). {self.key}",
        }
        if text := lasting.get(status, ""):
            return ModelUnavailableError(text, lasting=True)
        if 300 <= status < 500 and status != 429:
            return ModelUnavailableError(
                f"{server} refuses the request to {model} ({detail}). Try another model.", lasting=True
            )
        if status == 503 and "loading" in why.lower():
            return ModelUnavailableError(f"{model} is still being loaded. Ask again.", retry_after=LOADING_SECONDS)
        if status == 429:
            text = f"{server} takes no more requests to {model} now ({why}). {LATER}"
        elif status in (503, 529):
            text = f"{server} is overloaded ({why}). {LATER}"
        else:
            text = f"{server} could not answer with {model} ({detail}). {self.fault}"
        wait = (headers or {}).get("retry-after", "")
        error = ModelUnavailableError(text, retry_after=_to_seconds(wait))
        error.add_note(kind)  # for who reads a log
        return error


def _to_seconds(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def read_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yields the non-empty lines of a stream. Splits at line feeds only: other separators (U+0085, U+2028) may occur in
    the JSON of a reply."""
    buffer: list[bytes] = []
    for chunk in chunks:
        first, *others = chunk.split(b"\n")
        buffer.append(first)
        for other in others:
            yield from filter(None, [b"".join(buffer).strip()])
            buffer = [other]
    yield from filter(None, [b"".join(buffer).strip()])


def locate_server(named: str, default_port: int) -> tuple[str, bool]:
    """Returns the URL for an address as a person writes it, and whether it is on this machine. ValueError for an
    invalid address."""
    text = named.strip().rstrip("/")
    scheme, colons, rest = text.partition("://")
    if not colons:
        scheme, rest = "http", text
    if scheme not in ("http", "https") or any(map(str.isspace, rest)):
        raise ValueError(text)
    parts = urlsplit(f"{scheme}://{rest}")
    host = parts.hostname or "127.0.0.1"
    port = parts.port or ({"http": 80, "https": 443}[scheme] if colons else default_port)
    if host in ("0.0.0.0", "::"):  # where a server listens; a client has to say which of them
        host = "127.0.0.1"
    is_local = host == "localhost"
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        pass
    else:
        is_local = address.is_loopback
        host = f"[{host}]" if address.version == 6 else host
    return f"{scheme}://{host}:{port}{parts.path}", is_local


KEYRING = "keyring:"  # prefix of the name of a key, in place of the name of a file
SERVICE = "palimpsest"  # its name in the keyring


def read_key(file: str, variable: str, setting: str) -> str:
    """Reads an API key from a file, the system's keyring ("keyring:NAME") or, without a name, the environment; ""
    without one. It appears in no message or log. ModelUnavailableError."""
    if not file:
        return os.environ.get(variable, "").strip()
    if file.startswith(KEYRING):
        return _read_keyring(file.removeprefix(KEYRING), setting)
    path = Path(file).expanduser()
    try:
        mode, key = path.stat().st_mode, path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise ModelUnavailableError(f"The API key in {path} cannot be read. Correct {setting}.", lasting=True) from None
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ModelUnavailableError(f"Others can read the API key. Fix it: chmod 600 {path}", lasting=True)
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ModelUnavailableError(f"What is in {path} is no API key: it must be one line.", lasting=True)
    return key


def _read_keyring(name: str, setting: str) -> str:
    try:
        import keyring  # of the extra `keyring`
    except ImportError as error:
        raise ModelUnavailableError(
            f"{setting} names the keyring, which is not installed: {install_command('keyring')}", lasting=True
        ) from error
    try:
        key = str(keyring.get_password(SERVICE, name) or "")
    except Exception:  # each system's keyring has its own; what they say may hold anything
        raise ModelUnavailableError("The keyring cannot be read. Unlock it.") from None
    if not key:
        raise ModelUnavailableError(
            f"There is no key {name!r} in the keyring. Put it there: keyring set {SERVICE} {name}", lasting=True
        )
    return key.strip()
