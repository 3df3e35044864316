"""A person's preferences, kept between runs: the theme, the effort, the evidence."""

from __future__ import annotations

import json
import os
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

CHOICES = {"theme": str, "effort": str, "evidence": bool}


@dataclass
class Preferences:
    """Loaded when the chat opens, saved with every change. Without a `path` nothing is saved.

    `theme` empty: chosen by the terminal's background. `seen_at`: when the chat was last open, before this run.
    """

    path: Path | None = None
    theme: str = ""
    effort: str = "normal"
    evidence: bool = True
    seen_at: datetime | None = None
    _saved: Preferences | None = field(default=None, repr=False, compare=False)  # as they were saved or loaded last

    @classmethod
    def load(cls, path: Path) -> Preferences:
        """Returns the saved values, with defaults for missing or unreadable ones: a damaged file does not keep the chat
        from opening."""
        try:
            stored = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError):
            stored = {}
        if not isinstance(stored, dict):
            stored = {}
        loaded = cls(path)
        for name, kind in CHOICES.items():
            if isinstance(stored.get(name), kind):
                setattr(loaded, name, stored[name])
        loaded.seen_at = _moment(stored.get("seen_at"))
        loaded._saved = deepcopy(loaded)
        return loaded

    def save(self, now: datetime | None = None) -> None:
        """Saves what changed since the last time, readable by this person alone: another chat on the same memory may
        have saved other changes. `now`, if given, becomes `seen_at`.

        Disk errors are ignored: only a theme would be lost.
        """
        if self.path is None:
            return
        before, stored = self._saved or Preferences(), Preferences.load(self.path)
        kept = {
            name: getattr(self if getattr(self, name) != getattr(before, name) else stored, name) for name in CHOICES
        }
        seen_at = now or stored.seen_at or self.seen_at
        values: dict[str, Any] = {
            **kept,
            "seen_at": seen_at.isoformat() if seen_at else None,
        }
        self._saved = None
        self._saved = deepcopy(self)
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
