"""pal daemon install, uninstall: the daemon as a service of the person's own, which the system starts with the session
and after a crash. systemd on Linux, launchd on macOS.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from daemon.cli import output
from daemon.cli.session import Session, pass_session
from daemon.client import Client
from daemon.lock import is_held
from daemon.paths import Paths, private_folder
from daemon.terminal import display_safe

NAME = "palimpsest"
LABEL = "org.palimpsest.daemon"
HOPELESS = (3, 4, 74, 75, 78)  # exit codes that the same start would end with again
STOP_SECONDS = 20  # the daemon gives itself fifteen
DESCRIPTORS = 4096
MEMORY = "2G"


@dataclass(frozen=True, slots=True)
class Service:
    """A service's file, and the commands that make the system take notice of it, go on and off."""

    file: Path
    text: str
    on: tuple[tuple[str, ...], ...]
    off: tuple[tuple[str, ...], ...]
    forget: tuple[tuple[str, ...], ...] = ()


def choose_service(paths: Paths, writable: Sequence[Path] = ()) -> Service:
    """The service of this system. UsageError where there is none."""
    if sys.platform == "darwin":
        return describe_agent(paths)
    if sys.platform == "linux":
        return describe_unit(paths, writable)
    raise click.UsageError("There is no service of this system that Palimpsest knows. Any command starts the daemon.")


def describe_unit(paths: Paths, writable: Sequence[Path] = ()) -> Service:
    """A unit of the user's systemd. What it reads stays as it is, by the kernel's word: all but its own folders and
    `writable` is read-only. /tmp is not made private, for `pal add /tmp/x` must find it there."""
    own = dict.fromkeys(str(path.resolve()) for path in (paths.data, paths.logs, *writable))
    lines = [
        "# Written by `pal daemon install`, removed by `pal daemon uninstall`.",
        "[Unit]",
        "Description=Palimpsest, a personal memory",
        "StartLimitIntervalSec=600",
        "StartLimitBurst=5",
        "",
        "[Service]",
        "Type=exec",
        f"ExecStart={_quoted(sys.executable.replace('$', '$$'))} -P -m daemon run",
        *(f"Environment={_quoted(f'{name}={value}')}" for name, value in paths.environment().items()),
        "Restart=on-failure",
        "RestartSec=5",
        f"RestartPreventExitStatus={' '.join(map(str, HOPELESS))}",
        f"TimeoutStopSec={STOP_SECONDS}",
        "UMask=0077",
        "NoNewPrivileges=yes",
        "ProtectSystem=strict",
        "ProtectHome=read-only",
        f"ReadWritePaths={' '.join(map(_quoted, own))}",
        "ReadWritePaths=/tmp /var/tmp -%h/.cache/huggingface",
        "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6",
        "RestrictRealtime=yes",
        "LockPersonality=yes",
        f"LimitNOFILE={DESCRIPTORS}",
        "LimitCORE=0",
        f"MemoryMax={MEMORY}",
        "TasksMax=128",
        "",
        "[Install]",
        "WantedBy=default.target",
    ]
    folder = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    call = ("systemctl", "--user")
    reload = (*call, "daemon-reload")
    return Service(
        folder / "systemd" / "user" / f"{NAME}.service",
        "\n".join(lines) + "\n",
        on=(reload, (*call, "enable", "--now", NAME)),
        off=((*call, "disable", "--now", NAME),),
        forget=(reload,),
    )


def describe_agent(paths: Paths) -> Service:
    """An agent of launchd."""
    import plistlib

    limits = {"NumberOfFiles": DESCRIPTORS, "Core": 0}
    agent = {
        "Label": LABEL,
        "ProgramArguments": [sys.executable, "-P", "-m", "daemon", "run"],
        "EnvironmentVariables": paths.environment(),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 60,
        "ExitTimeOut": STOP_SECONDS,
        "ProcessType": "Background",
        "Umask": 0o077,
        "SoftResourceLimits": limits,
        "HardResourceLimits": limits,
        "StandardOutPath": str(paths.output),
        "StandardErrorPath": str(paths.output),
    }
    file = Path.home() / "Library" / "LaunchAgents" / f"{LABEL}.plist"
    domain = f"gui/{os.getuid()}"
    return Service(
        file,
        plistlib.dumps(agent).decode(),
        on=(("launchctl", "bootstrap", domain, str(file)),),
        off=(("launchctl", "bootout", f"{domain}/{LABEL}"),),
    )


@click.command()
@click.option("--print", "only_print", is_flag=True, help="Print the service's file and change nothing.")
@click.option(
    "--writable",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    multiple=True,
    help="A folder, beside its own, into which `pal backup FILE` may write. May be repeated.",
)
@pass_session
def install(session: Session, only_print: bool, writable: tuple[Path, ...]) -> None:
    """Let the system start it: with your session, and again after a crash.

    A service of your own: systemd on Linux, launchd on macOS. With systemd it may write into nothing
    but its own folders, and takes 2 GB of memory at most.
    """
    service = choose_service(session.paths, writable)
    if only_print:
        output.print_text(service.text, nl=False)
        return
    for folder in (session.paths.data, session.paths.logs):
        private_folder(folder)
    if is_held(session.paths.lock):
        Client(session.paths).stop()
    service.file.parent.mkdir(parents=True, exist_ok=True)
    service.file.write_text(service.text, "utf-8")
    if problem := _run(service.on):
        service.file.unlink()
        raise click.ClickException(display_safe(f"It is not installed. {problem}"))
    output.print_text(f"Installed: {service.file}")
    output.say("It runs from now on, and starts with your session. To end that: pal daemon uninstall")
    output.say("Keys of models in this shell's environment are not known to it: pal config set anthropic.key_file FILE")


@click.command()
@pass_session
def uninstall(session: Session) -> None:
    """Let the system start it no more. The memory stays; any command starts the daemon as before."""
    service = choose_service(session.paths)
    if not service.file.exists():
        output.say("It was not installed.")
        return
    problem = _run(service.off)
    service.file.unlink()
    problem = _run(service.forget) or problem
    output.print_text(f"Removed: {service.file}")
    if problem:
        output.say(f"What the system was to be told, it did not hear. {problem}")


def _run(calls: Sequence[tuple[str, ...]]) -> str:
    """The first of these commands that fails, with what it said; nothing if none does."""
    for call in calls:
        try:
            done = subprocess.run(call, capture_output=True, text=True, timeout=60)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"{' '.join(call)}: {error}"
        if done.returncode:
            return f"{' '.join(call)}: {done.stderr.strip()}"
    return ""


def _quoted(text: str) -> str:
    """As systemd reads it back: a percent sign begins a specifier."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'
