"""How much models may read in the background: tokens and minutes a day, and not on the battery."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path

from daemon.config.settings import EnrichmentSettings
from memory import Memory
from plugins.llms import READING

STATES = ("Discharging", "Charging", "Full", "Not charging")
SUPPLIES = Path("/sys/class/power_supply")


def sum_spent(memory: Memory) -> tuple[int, float]:
    """Tokens and minutes that models have taken today to read. A day is one of this machine's clock."""
    uses = [use for use in memory.models.uses(date.today().isoformat()) if use.purpose in READING]
    return sum(use.usage.total for use in uses), sum(use.ms for use in uses) / 60_000


def why_not_now(memory: Memory, most: EnrichmentSettings, battery: Callable[[], bool | None]) -> str:
    """Why models may not read now, and what to do about it; "" if they may."""
    tokens, minutes = sum_spent(memory)
    if most.daily_tokens and tokens >= most.daily_tokens:
        return f"Reading used {tokens:,} tokens today, the daily limit: enrichment.daily_tokens"
    if most.daily_minutes and minutes >= most.daily_minutes:
        return f"Models read for {minutes:,.0f} minutes today, the daily limit: enrichment.daily_minutes"
    if not most.on_battery and battery():
        return "This machine runs on battery. Reading continues on mains power: enrichment.on_battery"
    return ""


def on_battery(supplies: Path = SUPPLIES, pmset: str = "pmset") -> bool | None:
    """Whether this machine runs on battery, on Linux or macOS; None if unknown."""
    if sys.platform == "darwin":
        return _read_pmset(pmset)
    discharging: list[bool] = []
    try:
        for supply in sorted(supplies.iterdir()):
            kind, status = _read_file(supply / "type"), _read_file(supply / "status")
            if kind == "Mains":
                if _read_file(supply / "online") == "1":
                    return False
                discharging.append(True)
            elif (
                kind == "Battery" and _read_file(supply / "scope") != "Device" and status in STATES
            ):  # not that of a mouse
                discharging.append(status == "Discharging")
    except OSError:
        pass
    return any(discharging) if discharging else None


def _read_pmset(pmset: str) -> bool | None:
    try:
        output = subprocess.run([pmset, "-g", "ps"], capture_output=True, text=True, timeout=5).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    return "'Battery Power'" in output if "drawing from" in output else None


def _read_file(file: Path) -> str:
    try:
        return file.read_text("ascii", "replace").strip()
    except OSError:
        return ""
