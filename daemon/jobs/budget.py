"""How much models may read in the background: tokens and minutes a day, and not on the battery."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path

from daemon.settings import EnrichmentSettings
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
        return f"Reading took {tokens:,} tokens today, which is enough. More tomorrow: enrichment.daily_tokens"
    if most.daily_minutes and minutes >= most.daily_minutes:
        return f"Models read for {minutes:,.0f} minutes today, enough. More tomorrow: enrichment.daily_minutes"
    if not most.on_battery and battery():
        return "This machine runs on its battery. It goes on when it is plugged in: enrichment.on_battery"
    return ""


def on_battery(supplies: Path = SUPPLIES, pmset: str = "pmset") -> bool | None:
    """Whether this machine runs on its battery, as Linux or macOS tells it; None where that cannot be known."""
    if sys.platform == "darwin":
        return _read_pmset(pmset)
    told: list[bool] = []
    try:
        for supply in sorted(supplies.iterdir()):
            kind, status = _said(supply / "type"), _said(supply / "status")
            if kind == "Mains":
                if _said(supply / "online") == "1":
                    return False
                told.append(True)
            elif kind == "Battery" and _said(supply / "scope") != "Device" and status in STATES:  # not that of a mouse
                told.append(status == "Discharging")
    except OSError:
        pass
    return any(told) if told else None


def _read_pmset(pmset: str) -> bool | None:
    try:
        said = subprocess.run([pmset, "-g", "ps"], capture_output=True, text=True, timeout=5).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    return "'Battery Power'" in said if "drawing from" in said else None


def _said(file: Path) -> str:
    try:
        return file.read_text("ascii", "replace").strip()
    except OSError:
        return ""
