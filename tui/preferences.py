"""What the chat keeps of one person from one time to the next: the theme, the panes, what is used most."""

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
    """Loaded when the chat opens, saved with every change. Without a `path` nothing is kept.

    `theme` empty: that of the terminal's background. `seen_at`: when the chat was open last, before this time. `used`
    counts what was chosen from the palette and by slash commands. `pinned`: names on top of the list of the memory.
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
        """What was kept; the defaults for what was not, or cannot be read: no chat stays closed for a damaged file."""
        try:
            kept = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError):
            kept = {}
        if not isinstance(kept, dict):
            kept = {}
        loaded = cls(path)
        for name in ("theme", "effort"):
            if isinstance(kept.get(name), str):
                setattr(loaded, name, kept[name])
        for name in ("evidence", "motion"):
            if isinstance(kept.get(name), bool):
                setattr(loaded, name, kept[name])
        loaded.seen_at = _moment(kept.get("seen_at"))
        pinned = kept.get("pinned")
        if isinstance(pinned, list):
            loaded.pinned = [name for name in pinned if isinstance(name, str)]
        used = kept.get("used")
        if isinstance(used, dict):
            loaded.used.update({str(key): n for key, n in used.items() if isinstance(n, int) and n > 0})
        return loaded

    def note_use(self, name: str) -> None:
        """Counts that an action was chosen by its name."""
        self.used[name] += 1
        self.save()

    def save(self, now: datetime | None = None) -> None:
        """Keeps all of it, readable by this person alone; `now`, if given, is when the chat was open last.

        A disk that takes nothing is not told: what is lost is a theme, and the chat goes on.
        """
        if self.path is None:
            return
        seen = now or self.seen_at
        kept: dict[str, Any] = {
            "theme": self.theme,
            "effort": self.effort,
            "evidence": self.evidence,
            "motion": self.motion,
            "seen_at": seen.isoformat() if seen else None,
            "pinned": self.pinned,
            "used": dict(self.used.most_common(100)),
        }
        new = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            new.touch(mode=0o600)
            new.write_text(json.dumps(kept, indent=1), "utf-8")
            new.replace(self.path)
        except OSError:
            return


def _moment(text: object) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return moment if moment is not None and moment.tzinfo is not None else None
