"""The daemon as a user service, which the system starts at login and after a crash: systemd on Linux, launchd on macOS.
If installed, the daemon is always started through it, so that there is only one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from daemon.paths import Paths

NAME = "palimpsest"
LABEL = "org.palimpsest.daemon"
HOPELESS = (3, 4, 74, 75, 78)  # exit codes that the same start would end with again
STOP_SECONDS = 20  # the daemon gives itself fifteen
DESCRIPTORS = 4096
MEMORY = "2G"


Calls: TypeAlias = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Service:
    """A service's file, and the commands that load, enable, disable and start it and query its state (if the system has
    such a command)."""

    file: Path
    text: str
    on: Calls
    off: Calls
    start: tuple[str, ...]
    state: tuple[str, ...] = ()
    forget: Calls = ()


def choose_service(paths: Paths, writable: Sequence[Path] = ()) -> Service | None:
    """Returns this system's kind of service, or None if it is unknown."""
    if sys.platform == "darwin":
        return describe_agent(paths)
    if sys.platform == "linux":
        return describe_unit(paths, writable)
    return None


def find_installed(paths: Paths) -> Service | None:
    """Returns the installed service of this home, or None."""
    service = choose_service(paths)
    if service is None:
        return None
    try:
        is_ours = _read_environment(service.file.read_text("utf-8")) == _read_environment(service.text)
    except Exception:  # there is no service, or it is not ours
        return None
    return service if is_ours else None


def _read_environment(text: str) -> object:
    """Parses the environment in a service's file."""
    if text.startswith("<?xml"):
        import plistlib

        return plistlib.loads(text.encode())["EnvironmentVariables"]
    return [line for line in text.splitlines() if line.startswith("Environment=")]


def describe_unit(paths: Paths, writable: Sequence[Path] = ()) -> Service:
    """Returns a systemd user unit. Everything is read-only for it except its own folders and `writable`. /tmp is not
    private, so that `pal add /tmp/x` finds the file."""
    own = dict.fromkeys(str(path.resolve()) for path in (paths.data, paths.logs, paths.config.parent, *writable))
    lines = [
        "# Written by `pal daemon install`, removed by `pal daemon uninstall`.",
        "[Unit]",
        "Description=Palimpsest, a personal memory",
        "StartLimitIntervalSec=600",
        "StartLimitBurst=5",
        "",
        "[Service]",
        "Type=exec",
        f"ExecStart={_quote(sys.executable.replace('$', '$$'))} -P -m daemon run",
        *(f"Environment={_quote(f'{name}={value}')}" for name, value in paths.environment().items()),
        "Restart=on-failure",
        "RestartSec=5",
        f"RestartPreventExitStatus={' '.join(map(str, HOPELESS))}",
        f"TimeoutStopSec={STOP_SECONDS}",
        "UMask=0077",
        "NoNewPrivileges=yes",
        "ProtectSystem=strict",
        "ProtectHome=read-only",
        f"ReadWritePaths={' '.join(map(_quote, own))}",
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
        start=(*call, "start", NAME),
        state=(*call, "is-active", NAME),
        forget=(reload,),
    )


def describe_agent(paths: Paths) -> Service:
    """Returns a launchd agent."""
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
        start=("launchctl", "kickstart", f"{domain}/{LABEL}"),
    )


def run_calls(calls: Sequence[tuple[str, ...]]) -> str:
    """Runs the commands up to the first failure; returns that command with its output, "" if all succeed."""
    for call in calls:
        code, output = _run(call)
        if code:
            return f"{' '.join(call)}: {output}"
    return ""


def start_service(service: Service) -> Iterator[str]:
    """Starts the service if it does not run, and checks it at each `next`: yields "" while it may come up, at last why
    it failed. Restarts one that is about to end."""
    begun = False
    while True:
        state = _run(service.state)[1] if service.state else ("active" if begun else "")
        if state == "failed" and begun:
            yield f"it failed; see why: {' '.join(service.state).replace('is-active', 'status')}"
        elif state in ("active", "activating", "deactivating", "reloading"):
            yield ""
        else:
            begun = True
            yield run_calls([service.start])


def _run(call: Sequence[str]) -> tuple[int, str]:
    """Returns the exit code of a command, and its output."""
    try:
        done = subprocess.run(call, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        return -1, str(error)
    return done.returncode, done.stdout.strip() or done.stderr.strip()


def _quote(text: str) -> str:
    """Quotes for systemd: a percent sign begins a specifier."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'
