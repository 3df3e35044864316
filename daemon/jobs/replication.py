"""A replica of the memory on another disk or computer, maintained by a Litestream process.

Litestream copies each transaction from the write-ahead log, so it decides when that is checkpointed. `replica.json` has
the address, and when text was last forgotten that the replica may still contain."""

from __future__ import annotations

import json
import logging
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from daemon import litestream, wire
from daemon.paths import Paths, write_private
from memory import Memory
from memory.errors import InvalidInputError, NotAvailableError, NotFoundError, PalimpsestError
from memory.views import Copy, Forgotten

log = logging.getLogger(__name__)

FIRST_SECONDS = 60.0  # for the first copy
RENEW_SECONDS = 600.0
STOP_SECONDS = 10.0
SNAPSHOT_HOURS, KEEP_DAYS = 24, 7  # a state of the memory is kept for so long, and the snapshot before it
NO_REPLICA = "There is no replica. To begin one: pal replicate to FOLDER"
AUTO_CHECKPOINT = 1000  # pages, SQLite's default
LOOK = "5s"  # how often Litestream looks at the log; each second takes 0.2 % of a processor, this 0.1 %
MERGE_PAGES = 8192  # of the log, 64 MB, after which Litestream empties it
# A replica without the past: each transaction is in a new snapshot, after which all older files are deleted.
RENEWING = {
    "snapshot": {"interval": "2s", "retention": "1s"},
    "levels": [{"interval": "1s"}, {"interval": "2s"}, {"interval": "3s"}],  # as many as are usual
    "l0-retention": "1s",
    "l0-retention-check-interval": "1s",
}
USUAL = {"snapshot": {"interval": f"{SNAPSHOT_HOURS}h", "retention": f"{KEEP_DAYS * 24}h"}}
# The end of its input is the end of the program, so it does not outlive a daemon that was killed.
UNTIL_INPUT_ENDS = '"$@" & exec 2>/dev/null; cat; kill $!; wait'


@dataclass
class Replication:
    """Runs Litestream while there is a `replica.json`."""

    memory: Memory
    paths: Paths
    _process: subprocess.Popen[str] | None = None
    _at: datetime | None = None  # when the replica was last seen to have everything
    _problem: str = ""
    _is_closing: bool = False

    def __post_init__(self) -> None:
        self._meta = self.paths.memory.with_name(f".{self.paths.memory.name}-litestream")
        self._socket = self.paths.socket.with_suffix(".ls")
        self._turn = threading.RLock()

    def begin(self, address: str, goes_on: bool) -> wire.Replica:
        """Creates a replica and waits for its first copy; `goes_on` replaces an existing one. InvalidInputError,
        NotAvailableError."""
        if "://" not in address and not Path(address).is_absolute():
            raise InvalidInputError("Give the folder's whole path.")
        address, state = litestream.read_address(address), self.state()
        if state is not None and state.address == address:
            return state
        if not goes_on and (times := litestream.list_times(address)):
            raise InvalidInputError(
                f"{address} has a replica already, last written on {max(times).astimezone():%Y-%m-%d %H:%M}. To go on "
                f"with this memory there: pal replicate to {address} --yes. To get that memory: pal restore --from "
                f"{address}"
            )
        if folder := litestream.folder_of(address):
            try:
                folder.mkdir(parents=True, exist_ok=True)
                (folder / litestream.MARKER).touch()
            except OSError as error:
                raise InvalidInputError(f"{folder} cannot be written: {error.strerror}") from error
        with self._turn:
            self._end()
            self._at, self._problem = None, ""
            self._spawn(address, USUAL)
            try:
                self._wait_for_copy(FIRST_SECONDS)
            except PalimpsestError:
                self._end()
                raise
            return self._keep({"address": address})

    def stop(self) -> None:
        """Ends the replica; its files stay. NotFoundError."""
        with self._turn:
            if not self.paths.replica.exists():
                raise NotFoundError(NO_REPLICA)
            self._end()
            self.paths.replica.unlink()
            shutil.rmtree(self._meta, ignore_errors=True)

    def renew(self) -> wire.Replica:
        """Removes all earlier states, and so forgotten text, from the replica. NotFoundError, NotAvailableError."""
        with self._turn:
            address, began = self._settings()["address"], datetime.now(UTC)
            self._end()
            self._spawn(address, RENEWING)
            deadline = time.monotonic() + RENEW_SECONDS
            try:
                while not (times := litestream.list_times(address)) or min(times) < began:
                    if time.monotonic() > deadline:
                        raise NotAvailableError(f"{address} still has earlier states. Again: pal replicate renew")
                    self._wait_for_copy(FIRST_SECONDS)
                    self.memory.store.touch()
                    time.sleep(1)
                return self._keep({"address": address})
            finally:
                self._end()
                self._spawn(address, USUAL)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Stops Litestream while forgotten text is removed from the log. The replica still contains it then."""
        with self._turn:
            was_running = self._end()
            try:
                yield
            finally:
                if was_running:
                    shutil.rmtree(self._meta, ignore_errors=True)  # it has parts of the log
                    settings = self._settings()
                    self._keep(settings | {"forgotten": datetime.now(UTC).isoformat()})
                    self._spawn(settings["address"], USUAL)

    def add_copy(self, forgotten: Forgotten) -> Forgotten:
        """Adds the replica to the copies in `forgotten` that may still contain the text."""
        state = self.state()
        if state is None or forgotten == Forgotten():
            return forgotten
        return replace(forgotten, copies=(*forgotten.copies, Copy(state.address, state.at or datetime.now(UTC))))

    def check(self) -> None:
        """Starts Litestream if it does not run, and checks whether the replica is complete."""
        if not self.paths.replica.exists() or not self._turn.acquire(blocking=False):
            return
        try:
            address = self._settings()["address"]
            folder = litestream.folder_of(address)
            if folder and not (folder / litestream.MARKER).exists():
                self._end()
                self._problem = f"{folder} is not there, or is not the replica's folder."
            elif self._process is None or self._process.poll() is not None:
                self._end()
                self._spawn(address, USUAL)
            else:
                self._compare()
        except PalimpsestError as error:
            self._problem = str(error)
        finally:
            self._turn.release()

    def close(self) -> None:
        """Ends Litestream after it has copied the last transaction."""
        self._is_closing = True
        with self._turn:
            self._end()

    def state(self) -> wire.Replica | None:
        try:
            settings = self._settings()
        except NotFoundError:
            return None
        except PalimpsestError as error:
            return wire.Replica("", problem=str(error))
        until = None
        if forgotten := settings.get("forgotten"):
            until = datetime.fromisoformat(forgotten) + timedelta(days=KEEP_DAYS, hours=SNAPSHOT_HOURS)
        has_forgotten = until is not None and until > datetime.now(UTC)
        return wire.Replica(settings["address"], self._at, self._problem, until if has_forgotten else None)

    def _settings(self) -> dict[str, str]:
        if not self.paths.replica.exists():
            raise NotFoundError(NO_REPLICA)
        try:
            settings: dict[str, str] = json.loads(self.paths.replica.read_text("utf-8"))
            assert isinstance(settings["address"], str)
        except (OSError, ValueError, KeyError, TypeError, AssertionError) as error:
            raise NotAvailableError(f"{self.paths.replica} is damaged. To write it again: pal replicate to") from error
        return settings

    def _keep(self, settings: dict[str, str]) -> wire.Replica:
        write_private(self.paths.replica, json.dumps(settings))
        return wire.Replica(settings["address"], self._at, self._problem)

    def _spawn(self, address: str, keeping: dict[str, Any]) -> None:
        if self._is_closing:
            return
        place = litestream.describe_place(address) | {"sync-interval": LOOK}
        copied = {"path": str(self.paths.memory), "truncate-page-n": MERGE_PAGES, "monitor-interval": LOOK}
        configuration = {
            "socket": {"enabled": True, "path": str(self._socket), "permissions": 0o600},
            "logging": {"type": "json", "level": "warn", "stderr": True},
            "shutdown-sync-timeout": "3s",
            "dbs": [copied | {"replica": place}],
        }
        file = self.paths.runtime / "litestream.json"
        write_private(file, json.dumps(configuration | keeping))
        command = [litestream.find_program(), "replicate", "-config", str(file), "-no-expand-env"]
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", UNTIL_INPUT_ENDS, "sh", *command],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.memory.store.merge_log_after(0)
        threading.Thread(target=self._follow, args=[self._process], name="replica", daemon=True).start()

    def _end(self) -> bool:
        """Ends Litestream; returns whether it was running."""
        process, self._process = self._process, None
        if process is None:
            return False
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self.memory.store.merge_log_after(AUTO_CHECKPOINT)
        return True

    def _follow(self, process: subprocess.Popen[str]) -> None:
        """Records the errors that Litestream logs, until it ends."""
        assert process.stderr is not None and process.stdin is not None
        for line in process.stderr:
            problem = _read_error(line)
            if problem and process is self._process:
                if problem != self._problem:
                    log.warning("not replicated: %s", problem)
                self._problem = problem
        with suppress(OSError):
            process.stdin.close()  # its shell ends, too, and `check` starts another

    def _compare(self) -> None:
        """Checks whether the replica is complete. NotAvailableError if Litestream does not respond."""
        import httpx  # 60 ms, for those who have a replica

        try:
            with httpx.Client(transport=httpx.HTTPTransport(uds=str(self._socket)), timeout=30) as client:
                reply = client.post("http://litestream/sync", json={"path": str(self.paths.memory)}).json()
        except (httpx.HTTPError, ValueError) as error:
            raise NotAvailableError(f"Litestream does not answer: {type(error).__name__}") from error
        if "error" in reply:
            self._problem = str(reply["error"])
        elif reply.get("txid") == reply.get("replicated_txid"):
            self._at, self._problem = datetime.now(UTC), ""

    def _wait_for_copy(self, seconds: float) -> None:
        """Raises NotAvailableError if the replica is not complete after that time, or Litestream ended."""
        deadline, began = time.monotonic() + seconds, datetime.now(UTC)
        while time.monotonic() < deadline:
            with suppress(NotAvailableError):
                self._compare()
                if self._at is not None and self._at >= began:
                    return
            assert self._process is not None
            if self._process.poll() is not None:
                break
            time.sleep(0.1)
        raise NotAvailableError(self._problem or f"nothing was copied within {seconds:.0f} s")


def _read_error(line: str) -> str:
    """Returns the error in a line of Litestream's log; "" for a warning."""
    try:
        entry = json.loads(line)
    except ValueError:
        return line.strip().removeprefix("Error: ")
    return str(entry.get("error") or entry.get("msg", "")) if entry.get("level") == "ERROR" else ""
