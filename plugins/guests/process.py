"""This end of a guest: starts the process with the first call, and ends it when it is late, dead or talks nonsense.

Each call has a connection of its own, which is closed when it is over: so calls of several threads go on side by side,
and whoever wants no more of an answer just closes his. All that comes of what a guest does is a ModelError.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any

import msgspec

from memory.errors import (
    LocalOnlyError,
    MalformedOutputError,
    ModelCancelledError,
    ModelError,
    ModelRefusedError,
    ModelTimeoutError,
    ModelUnavailableError,
    OverBudgetError,
)
from plugins.guests.environment import guest_environment, is_traced
from plugins.guests.frames import (
    CUT_OFF,
    RECEIVE_BYTES,
    Answer,
    End,
    FrameError,
    Raised,
    Request,
    Value,
    pack,
    unpack_answer,
)
from plugins.settings import PluginSettings

if TYPE_CHECKING:
    from plugins.llms.call import Call

START_SECONDS = 10.0  # until it is loaded: as long as it may take to be tried
SEND_SECONDS = 10.0  # that a guest may leave lie what it is told
MOST_DEATHS = 3  # in a row, after which it is not started any more
SHOWN_CHARS = 300  # of what an error says

_KINDS: dict[str, Callable[[str], ModelError]] = {
    kind.__name__: kind
    for kind in (ModelError, ModelTimeoutError, ModelRefusedError, OverBudgetError, ModelCancelledError, LocalOnlyError)
}
_TOLD = ("NotAvailableError", "NotFoundError", "InvalidInputError")  # whose message says what to do


class Guest:
    """One plug-in. Any number of threads may call it."""

    def __init__(self, entry: EntryPoint, settings: PluginSettings, prefixes: tuple[str, ...] = ()) -> None:
        """`prefixes` are those of the models that it has: it gets their keys."""
        self.name = entry.name
        self.settings = settings
        self._entry = entry
        self._prefixes = prefixes
        self._process: GuestProcess | None = None
        self._deaths = 0  # in a row
        self._given_up = ""
        self._lock = threading.Lock()

    def ask(self, kind: Any, seconds: float, request: Request) -> Any:
        """What the call gives, which is of this `kind`. ModelError."""
        with self.begin(request) as call:
            return call.take(kind, seconds)

    @property
    def is_running(self) -> bool:
        """Whether there is a process."""
        return self._process is not None

    def begin(self, request: Request) -> GuestCall:
        """A call, to be closed. ModelUnavailableError if it cannot be made."""
        frame = pack(request)
        while True:
            process = self._find_process()
            ours, theirs = socket.socketpair()
            try:
                with theirs:
                    process.connect(theirs)
                ours.settimeout(SEND_SECONDS)
                ours.sendall(frame)
                return GuestCall(self, process, ours)
            except (OSError, EOFError) as error:  # it has ended since
                ours.close()
                death = self.bury(process, process.describe_end())
                if self._given_up or isinstance(error, TimeoutError):
                    raise death from error

    def bury(self, process: GuestProcess, why: str, kind: Callable[[str], ModelError] = ModelError) -> ModelError:
        """Ends a process; the error that says why it had to end, or how it ended by itself. It is none after which the
        same would be tried at once."""
        process.why = process.why or why  # of several calls, the first knows
        process.end()
        with self._lock:
            if self._process is process:
                self._process = None
                self._deaths += not process.was_cut_off
                if self._deaths >= MOST_DEATHS:
                    self._given_up = (
                        f"The plug-in {self.name} {why}, and {MOST_DEATHS} times in a row something like it. It is left"
                        " alone until the daemon starts anew: pal daemon restart"
                    )
            if self._given_up:
                return ModelUnavailableError(self._given_up, lasting=True)
        return kind(f"The plug-in {self.name} {why}. It is started anew when it is needed.")

    def praise(self) -> None:
        """It has answered as it should."""
        if self._deaths:
            with self._lock:
                self._deaths = 0

    def translate(self, raised: Raised) -> ModelError:
        """What the plug-in raised, as the memory's own error."""
        message = (raised.message.strip().splitlines() or [""])[0][:SHOWN_CHARS]
        match raised.kind:
            case "MemoryError":
                limit = self.settings.memory_mb
                return ModelUnavailableError(
                    f"The plug-in {self.name} takes more than {limit:,} MB of memory. To let it:"
                    f" pal config set plugins.memory_mb {2 * limit}, then pal daemon restart",
                    lasting=True,
                )
            case "MalformedOutputError":
                return MalformedOutputError(message, raised.text)
            case "ModelUnavailableError":
                return ModelUnavailableError(message, retry_after=raised.retry_after, lasting=raised.lasting)
            case kind if kind in _KINDS:
                return _KINDS[kind](message)
            case kind if kind in _TOLD:
                return ModelUnavailableError(message, lasting=True)
            case kind:
                said = f": {message}" if message else ""
                return ModelUnavailableError(f"The plug-in {self.name} failed with {kind[:SHOWN_CHARS]}{said}.")

    def _find_process(self) -> GuestProcess:
        """The process, which is started if there is none. ModelUnavailableError."""
        with self._lock:
            process = self._process
        if process is not None and process.is_over:
            self.bury(process, process.describe_end())
        with self._lock:
            if self._given_up:
                raise ModelUnavailableError(self._given_up, lasting=True)
            if self._process is None:
                try:
                    self._process = GuestProcess(self._entry, self.settings, self._prefixes)
                except OSError as error:
                    raise ModelUnavailableError(f"The plug-in {self.name} could not be started: {error}") from error
            return self._process


class GuestProcess:
    """A fresh interpreter with one plug-in. It ends with this object, too, and with the process that started it."""

    def __init__(self, entry: EntryPoint, settings: PluginSettings, prefixes: tuple[str, ...]) -> None:
        """OSError."""
        self._control, theirs = socket.socketpair()
        self._connecting = threading.Lock()
        self._is_loaded = False
        self.why = ""  # it had to end, or how it ended
        command = [sys.executable, "-P", "-m", "plugins.guests.child", entry.name, entry.value]
        with theirs:
            self._popen = subprocess.Popen(
                [*command, str(settings.memory_mb), str(settings.call_s)],
                stdin=theirs.fileno(), stdout=subprocess.DEVNULL, stderr=None if is_traced() else subprocess.DEVNULL,
                env=guest_environment(prefixes), start_new_session=True,
            )  # fmt: skip
        self.end = weakref.finalize(self, _end, self._popen, self._control)
        _processes.add(self)

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self._popen.poll() is not None

    @property
    def was_cut_off(self) -> bool:
        """Whether it has ended because nobody waited for it any more."""
        return self._popen.poll() == CUT_OFF

    def connect(self, theirs: socket.socket) -> None:
        """Hands it its end of the connection of a call, once it is loaded. OSError, EOFError."""
        with self._connecting:
            if not self._is_loaded:
                self._control.settimeout(START_SECONDS)
                if not self._control.recv(1):
                    raise EOFError
                self._control.settimeout(SEND_SECONDS)
                self._is_loaded = True
            socket.send_fds(self._control, [b"c"], [theirs.fileno()])

    def describe_end(self) -> str:
        """How it ended, as a clause; a process that closed its connections ends soon."""
        if self.why:
            return self.why
        try:
            code = self._popen.wait(1)
        except subprocess.TimeoutExpired:
            return "stopped answering"
        if code == CUT_OFF:
            return "went on with a call that had been ended"
        if code == -signal.SIGALRM:
            return "had hung"
        if code < 0:
            return f"was ended by {signal.Signals(-code).name}"
        return f"ended the process that it runs in, with code {code}"


class GuestCall:
    """One call on its way, a context manager. `process` serves it."""

    def __init__(self, guest: Guest, process: GuestProcess, connection: socket.socket) -> None:
        self.process = process
        self.socket = connection
        self._guest = guest
        self._received = bytearray()

    def __enter__(self) -> GuestCall:
        return self

    def __exit__(self, *error: object) -> None:
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)  # which also wakes whoever reads from it
        self.socket.close()

    def send(self, message: Any) -> None:
        """What the guest wanted. ModelError."""
        try:
            self.socket.settimeout(SEND_SECONDS)
            self.socket.sendall(pack(message))
        except OSError as error:
            raise self._guest.bury(self.process, self.process.describe_end()) from error

    def stream(self, kind: Any, call: Call) -> Iterator[Any]:
        """What the guest gives, one after the other, each of this `kind`. ModelError, also why the `call` was broken
        off."""
        call.hold(self.socket)
        while not isinstance(answer := self.receive(None, call), End):
            if not isinstance(answer, Value):
                raise self.refuse()
            yield self.convert(answer.value, kind)

    def take(self, kind: Any, seconds: float) -> Any:
        """The one value that the call gives. ModelError."""
        answer = self.receive(seconds)
        if not isinstance(answer, Value):
            raise self.refuse()
        value = self.convert(answer.value, kind)
        self._guest.praise()
        return value

    def receive(self, seconds: float | None, call: Call | None = None) -> Answer:
        """The next answer, within so many seconds; None: until the `call` that holds the socket is broken off.
        ModelError, also for what the plug-in raised."""
        try:
            answer = unpack_answer(self._reader(seconds))
        except TimeoutError as error:
            raise self._guest.bury(
                self.process, f"had not answered after {seconds:.0f} s", ModelTimeoutError
            ) from error
        except (EOFError, OSError) as error:
            if call is not None and call.reason is not None:
                raise call.reason from error
            raise self._guest.bury(self.process, self.process.describe_end()) from error
        except FrameError as error:
            raise self.refuse() from error
        if isinstance(answer, End | Raised):
            self._guest.praise()
        if isinstance(answer, Raised):
            raise self._guest.translate(answer)
        return answer

    def convert(self, value: Any, kind: Any) -> Any:
        """A value that must be of this kind. MalformedOutputError."""
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            raise self.refuse() from error

    def refuse(self) -> ModelError:
        """The error for what is not what was asked for."""
        return self._guest.bury(self.process, "does not answer with what it was asked for", MalformedOutputError)

    def _reader(self, seconds: float | None) -> Callable[[int], bytes]:
        deadline = None if seconds is None else time.monotonic() + seconds

        def receive(count: int) -> bytes:
            while len(self._received) < count:
                self.socket.settimeout(None if deadline is None else max(0.001, deadline - time.monotonic()))
                if not (more := self.socket.recv(max(RECEIVE_BYTES, count - len(self._received)))):
                    raise EOFError
                self._received += more
            data = bytes(self._received[:count])
            del self._received[:count]
            return data

        return receive


_processes: weakref.WeakSet[GuestProcess] = weakref.WeakSet()


def end_all() -> None:
    """Ends the guests of this process, whatever they do; for one that leaves by `os._exit`."""
    for process in list(_processes):
        process.end()


def _end(process: subprocess.Popen[bytes], control: socket.socket) -> None:
    """And whatever it may have started."""
    control.close()
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
