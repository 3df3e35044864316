"""A person's preferences, kept between runs: the theme, the panes, the most used actions."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any


@dataclass
class Preferences:
    """Loaded when the chat opens, saved with every change. Without a `path` nothing is saved.

    `theme` empty: chosen by the terminal's background. `seen_at`: when the chat was last open, before this run. `used`
    counts actions from the palette and slash commands. `pinned`: names at the top of the memory's list.
    """

    path: Path | None = None
    theme: str = ""
    effort: str = "normal"
    evidence: bool = True
    motion: bool = True
    seen_at: datetime | None = None
    used: Counter[str] = field(default_factory=Counter)
    pinned: list[str] = field(default_factory=list)

    @classmethod
    def load(cls, path: Path) -> Preferences:
        """The saved values, with defaults for missing or unreadable ones: a damaged file does not keep the chat from
        opening."""
        try:
            stored = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError):
            stored = {}
        if not isinstance(stored, dict):
            stored = {}
        loaded = cls(path)
        for name in ("theme", "effort"):
            if isinstance(stored.get(name), str):
                setattr(loaded, name, stored[name])
        for name in ("evidence", "motion"):
            if isinstance(stored.get(name), bool):
                setattr(loaded, name, stored[name])
        loaded.seen_at = _moment(stored.get("seen_at"))
        pinned = stored.get("pinned")
        if isinstance(pinned, list):
            loaded.pinned = [name for name in pinned if isinstance(name, str)]
        used = stored.get("used")
        if isinstance(used, dict):
            loaded.used.update({str(key): n for key, n in used.items() if isinstance(n, int) and n > 0})
        return loaded

    def note_use(self, name: str) -> None:
        """Counts that an action was chosen by its name."""
        self.used[name] += 1
        self.save()

    def save(self, now: datetime | None = None) -> None:
        """Saves everything, readable by this person alone; `now`, if given, becomes `seen_at`.

        Disk errors are ignored: only a theme would be lost.
        """
        if self.path is None:
            return
        seen_at = now or self.seen_at
        values: dict[str, Any] = {
            "theme": self.theme,
            "effort": self.effort,
            "evidence": self.evidence,
            "motion": self.motion,
            "seen_at": seen_at.isoformat() if seen_at else None,
            "pinned": self.pinned,
            "used": dict(self.used.most_common(100)),
        }
        new = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            new.touch(mode=0o600)
            new.write_text(json.dumps(values, indent=1), "utf-8")
            new.replace(self.path)
        except OSError:
            return


def _moment(text: object) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return moment if moment is not None and moment.tzinfo is not None else None
