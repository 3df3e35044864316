"""The contract between the daemon and every client: requests, replies and events, as frozen dataclasses.

Standard library only, no I/O. What the library has a noun for is that noun. On the wire a value is a JSON object; an
event carries the name of its class in `"type"`, so that a stream of newline-delimited JSON can be decoded line by line
with `parse_event`. Times are ISO 8601 strings with an offset.

A question's stream:  SavedStatement?  (Step | Visit | Preview | Token | Citation)*  then one Answered or one Failed.
An ingestion's stream: Progress*  Skipped*  then one Added or one Failed.
A rebuild's stream: Progress*  then one Rebuilt or one Failed.
Learning's stream: Progress*  then one TrainingReport or one Failed.
A probe's stream:  Progress*  then one Grades or one Failed.
An export's stream: lines of JSON whose "type" says what they tell: palimpsest first, end last, or one Failed.
The activity stream:  Progress, SourceChanged, FactChanged, Skipped, Notice, as long as the client listens.

The requests are the calls of `daemon.calls`.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import memory
from daemon.wire.codec import decode as decode
from daemon.wire.codec import encode as encode
from daemon.wire.codec import encode_event as encode_event
from daemon.wire.codec import event_line as event_line

if TYPE_CHECKING:
    from daemon.wire.documents import *
    from daemon.wire.objects import *
    from daemon.wire.replies import *
    from daemon.wire.status import *
    from memory.events import *
    from memory.llm import *
    from memory.nouns import *
    from memory.revisions import *
    from memory.stages import *
    from memory.trace import *
    from memory.views import *

TIERS = {"R0": "replay", "R2": "search", "R3": "guided", "R4": "agent"}  # how far a question went, in words
PROTOCOL = 1  # raised when a client of the version before could misread what it gets

# A module is imported when one of its names is first asked for: each dataclass takes half a millisecond to make, and a
# command needs few of them. Which module has a name is read in its text. The nouns of the library that clients get
# unchanged are values, of the standard library only.
MODULES = {
    sys.modules[__name__]: ("replies", "documents", "objects", "status"),
    memory: ("events", "llm", "nouns", "revisions", "stages", "trace", "views"),
}
HOMES: dict[str, str] = {}  # name -> its module
for _package, _modules in MODULES.items():
    for _module in _modules:
        _text = Path(_package.__path__[0], f"{_module}.py").read_text("utf-8")
        _names = re.findall(r"^(?:class|def) (\w+)", _text, re.MULTILINE)
        HOMES |= dict.fromkeys(_names, f"{_package.__name__}.{_module}")


if not TYPE_CHECKING:  # so that who checks types knows of no name that is not here

    def __getattr__(name: str) -> Any:
        if name not in HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(importlib.import_module(HOMES[name]), name)
        return value


def parse_event(line: bytes | str) -> Event:
    """Parses a line of a stream. ValueError for an invalid line."""
    from memory.events import Event

    data = json.loads(line)
    name = data.pop("type", None) if isinstance(data, dict) else None
    kind = getattr(sys.modules[__name__], name) if isinstance(name, str) and name in HOMES else None
    if not isinstance(kind, type) or not issubclass(kind, Event):
        raise ValueError(f"no event of this protocol: {name!r}")
    event: Event = decode(kind, data)
    return event
