"""A memory on another computer: a real OpenSSH server on this one, with a home of its own, and rsync."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon import litestream
from daemon.client.client import DaemonDownError, DaemonError
from daemon.client.remote import RemoteClient, Server, find_copy, keep_sending, send
from daemon.client.starting import connect
from daemon.lock import end_holder
from daemon.paths import AT, RECEIVED, Paths, find_address, name_received, use_address
from memory import Memory
from memory.errors import InvalidInputError
from plugins.embedders.static import StaticEmbedder
from tests.cli.vault import ROOT, Said
from tests.daemon.conftest import QUICK
from tests.running import run_daemon

SSHD = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin")
NEEDED = (SSHD, shutil.which("ssh"), shutil.which("rsync"))
over_ssh = pytest.mark.skipif(None in NEEDED, reason="ssh, sshd or rsync is not installed")
NOTE = "# Garage\n\nThe code of the garage is 4711.\n"
WAIT_SECONDS = 60


@dataclass
class Net:
    """A laptop and a server with a memory, both below `folder`; `port` is the server's, for ssh."""

    folder: Path
    port: int
    sshd: subprocess.Popen[bytes] | None = None

    @property
    def server(self) -> Paths:
        return Paths.in_folder(self.folder / "server")

    @property
    def address(self) -> str:
        return f"ssh://server{self.server.data}"

    @property
    def laptop(self) -> Paths:
        return replace(Paths.in_folder(self.folder / "laptop"), at=self.address)

    def up(self) -> None:
        """Starts the server's sshd; an end of this process is its end."""
        self.sshd = subprocess.Popen([str(SSHD), "-D", "-f", self.folder / "sshd_config", "-E", self.folder / "log"])
        wait_for(lambda: not socket.socket().connect_ex(("127.0.0.1", self.port)))

    def down(self) -> None:
        """Takes the server off the network: what listens ends, and every connection with it."""
        assert self.sshd is not None
        self.sshd.terminate()
        self.sshd.wait(WAIT_SECONDS)
        self.cut()

    def cut(self) -> None:
        """Ends the shared connection, as a sleep would."""
        control = self.laptop.socket.with_suffix(".ssh")
        subprocess.run(["ssh", "-S", control, "-O", "exit", "server"], capture_output=True, check=False)
        wait_for(lambda: not control.exists())

    def pal(self, *arguments: str, at: str | None = None) -> Said:
        environment = os.environ | {"PALIMPSEST_HOME": str(self.laptop.data), "PYTHONPATH": str(ROOT)}
        run = [sys.executable, "-m", "tests.cli.pal", "--at", self.address if at is None else at, *arguments]
        done = subprocess.run(run, env=environment, capture_output=True, text=True, timeout=120, check=False)
        return Said(done.returncode, done.stdout, done.stderr)

    def client(self) -> RemoteClient:
        client = connect(self.laptop)
        assert isinstance(client, RemoteClient)
        return client


def wait_for(condition: object, seconds: float = WAIT_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline, "it has not happened"
        time.sleep(0.05)


def write_program(path: Path, *lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o700)


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Net]:
    tmp_path = tmp_path_factory.mktemp("net")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        net = Net(tmp_path, free.getsockname()[1])
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / name], check=True)
    (tmp_path / "sshd_config").write_text(
        f"Port {net.port}\nListenAddress 127.0.0.1\nHostKey {tmp_path}/host\nAuthorizedKeysFile {tmp_path}/user.pub\n"
        f"StrictModes no\nUsePAM no\nSubsystem sftp internal-sftp\nPermitRootLogin yes\nPidFile none\n"
        f"SetEnv PATH={tmp_path}/there:/usr/local/bin:/usr/bin:/bin\n"
    )
    (tmp_path / "ssh_config").write_text(
        f"Host server\n HostName 127.0.0.1\n Port {net.port}\n IdentityFile {tmp_path}/user\n"
        f" StrictHostKeyChecking no\n UserKnownHostsFile {tmp_path}/known\n"
    )
    write_program(tmp_path / "here" / "ssh", f'exec {shutil.which("ssh")} -F {tmp_path}/ssh_config "$@"')
    write_program(
        tmp_path / "there" / "pal", f"cd {ROOT}", f'PYTHONPATH={ROOT} exec {sys.executable} -m tests.cli.pal "$@"'
    )
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)  # sshd wants it
    net.up()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{tmp_path}/here:{os.environ['PATH']}")
        try:
            yield net
        finally:
            net.down()
            end_holder(net.server.lock)


@over_ssh
def test_commands_work_on_the_memory_of_the_server(net: Net) -> None:
    assert net.pal("remember", "The tax office closes at noon.").code == 0
    answered = net.pal("ask", "When does the tax office close?")
    assert (answered.code, "noon" in answered.out) == (0, True), answered
    assert net.server.memory.exists() and not net.laptop.memory.exists()
    assert f"At     {net.address}" in net.pal("status").out


@over_ssh
def test_the_settings_are_those_of_the_server(net: Net) -> None:
    assert net.pal("config", "set", "memory.answer.lines", "7").code == 0
    assert "lines = 7" in net.server.config.read_text() and not net.laptop.config.exists()


@over_ssh
def test_a_cut_connection_and_a_stopped_daemon_are_started_again(net: Net) -> None:
    net.client().remember("Water the ferns on Friday.")
    sources = net.client().status().stats.sources
    net.cut()
    assert net.client().status().stats.sources == sources
    end_holder(net.server.lock)
    assert net.client().status().stats.sources == sources


@over_ssh
def test_a_folder_of_the_laptop_is_sent_and_cited_by_its_name(net: Net) -> None:
    notes = net.folder / "sent"
    notes.mkdir()
    (notes / "garage.md").write_text(NOTE)
    (notes / "door.key").write_text("secret")
    added = net.pal("add", str(notes))
    assert added.code == 0 and "Read 1 note" in added.out, added
    cited = net.pal("ask", "What is the code of the garage?")
    computer = os.uname().nodename.partition(".")[0]
    assert f"{computer}:{str(notes / 'garage.md').lstrip('/')}:3" in cited.out, cited
    assert [path.name for path in find_copy(net.client(), notes).iterdir()] == ["garage.md"]
    assert net.client().count([notes]).files == 0
    (notes / "shed.md").write_text("The shed has no lock.\n")
    assert net.client().count([notes]).files == 1


@over_ssh
def test_changes_without_a_connection_are_sent_when_there_is_one(net: Net) -> None:
    notes = net.folder / "watched"
    notes.mkdir()
    (notes / "garage.md").write_text(NOTE)
    client = net.client()
    client.watch(notes)
    copies, said, stopped = find_copy(client, notes), [], threading.Event()
    net.down()
    (notes / "garage.md").unlink()
    (notes / "shed.md").write_text("The shed has no lock.\n")
    worker = threading.Thread(target=keep_sending, args=(client, said.append, stopped))
    worker.start()
    try:
        wait_for(lambda: any("Trying again" in sentence for sentence in said))
        assert [path.name for path in copies.iterdir()] == ["garage.md"]
        net.up()
        wait_for(lambda: [path.name for path in copies.iterdir()] == ["shed.md"])
        wait_for(lambda: any(sentence.startswith("Sent 1 file") for sentence in said))
        (notes / "attic.md").write_text("The attic is dry.\n")
        wait_for(lambda: (copies / "attic.md").exists())
    finally:
        stopped.set()
        (notes / "wake").touch()
        worker.join(WAIT_SECONDS)
    assert not worker.is_alive()


@over_ssh
def test_a_copy_that_is_killed_half_way_is_whole_after_the_next(net: Net) -> None:
    notes = net.folder / "killed"
    notes.mkdir()
    big = os.urandom(24 << 20)
    (notes / "big.bin").write_bytes(big)
    client = net.client()
    copy = find_copy(client, notes) / "big.bin"
    failed: list[DaemonDownError] = []

    def try_to_send() -> None:
        try:
            send(client, notes)
        except DaemonDownError as error:
            failed.append(error)

    worker = threading.Thread(target=try_to_send)
    worker.start()
    wait_for(lambda: copy.parent.exists() and any(copy.parent.iterdir()))
    subprocess.run(["pkill", "-KILL", "-f", f"rsync.*{notes}"], check=False)
    worker.join(WAIT_SECONDS)
    assert failed or copy.read_bytes() == big  # a quick machine may have sent it before
    send(client, notes)
    assert copy.read_bytes() == big
    assert [path.name for path in copy.parent.iterdir()] == ["big.bin"]


@over_ssh
def test_what_is_wrong_is_said(net: Net) -> None:
    end_holder(net.server.lock)
    program = net.folder / "there" / "pal"
    program.rename(program.with_name("moved"))
    missing = net.pal("status")
    program.with_name("moved").rename(program)
    assert (missing.code, "There is no `pal` on server" in missing.err) == (3, True), missing
    net.down()
    gone = net.pal("status")
    net.up()
    assert gone.code == 3 and "server cannot be reached" in gone.err, gone


@given(st.text(max_size=60))
def test_no_address_becomes_an_option_of_ssh(address: str) -> None:
    try:
        server = Server.parse(address)
    except InvalidInputError:
        return
    assert server.host and not server.host.startswith("-") and not set(server.host) & set(" \t\n'\"$`;&|/\\")
    assert not server.port or server.port.isdigit()


def test_addresses() -> None:
    assert Server.parse("me@server") == Server("me@server")
    assert Server.parse("ssh://me@server.example:2222/srv/memory") == Server("me@server.example", "2222", "/srv/memory")
    assert Server.parse("ssh://[fd00::1]:22") == Server("fd00::1", "22")
    for wrong in ("", "ssh://", "-oProxyCommand=x", "me@-x", "me@server:abc", "http://server", "a b"):
        with pytest.raises(InvalidInputError):
            Server.parse(wrong)


def test_the_environment_counts_before_the_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(AT, raising=False)
    config = tmp_path / "config.toml"
    assert find_address(config) == ""
    config.write_text('[web]\nat = "no"\n\n[memory]\n# where it is\nat = "ssh://me@server"\n\n[memory.recall]\nk = 3\n')
    assert find_address(config) == "ssh://me@server"
    paths = Paths.in_folder(tmp_path)
    assert use_address(paths).at == "ssh://me@server"
    monkeypatch.setenv(AT, "")
    assert use_address(paths) == paths


def test_the_name_of_a_received_file() -> None:
    assert name_received(f"/home/me/.local/share/{RECEIVED}/laptop/notes/x.md") == "laptop:notes/x.md"
    assert name_received(f"/srv/{RECEIVED}/laptop") == f"/srv/{RECEIVED}/laptop"
    assert name_received("/home/me/notes/x.md") == "/home/me/notes/x.md"


@over_ssh
def test_a_replica_is_kept_over_sftp_with_the_keys_of_openssh(net: Net, tmp_path: Path) -> None:
    there = net.folder / "replica"
    (net.folder / "known").unlink(missing_ok=True)
    with run_daemon(tmp_path / "home", QUICK) as daemon:
        daemon.client.remember("The boat is called Wendelin.")
        with pytest.raises(DaemonError, match="Connect once: ssh server"):
            daemon.client.replicate(f"sftp://server{there}")
        subprocess.run(["ssh", "server", "true"], check=True)
        daemon.client.replicate(f"sftp://server{there}")
        assert [*there.rglob("*.ltx")]
    restored = tmp_path / "restored.db"
    litestream.restore(f"sftp://server{there}", restored)
    with Memory.open(restored, embedder=StaticEmbedder()) as memory:
        assert memory.browsing.stats().sources == 1
