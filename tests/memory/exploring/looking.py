"""A toolbox over a question, and what its answers show."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from memory import Memory
from memory.exploring.tools import Toolbox
from memory.llm import Message, ToolCall
from memory.nouns import Scope
from memory.retrieval.state import RetrievalResult

ROW = re.compile(r'^\[(\d+)\] "([^"]*)"', re.MULTILINE)


def found(memory: Memory, question: str, as_of: datetime | None = None, within: Scope | None = None) -> RetrievalResult:
    return memory.questions.retrieve(question, 10, as_of, within, None)


def toolbox(memory: Memory, question: str, *, only_open: bool = False, **more: Any) -> Toolbox:
    here = found(memory, question, **more)
    return Toolbox(memory.store.reading, here, only_open=only_open)


def call(box: Toolbox, name: str, arguments: Mapping[str, Any]) -> Message:
    return box.call(ToolCall("1", name, arguments))


def rows(result: Message | str) -> dict[str, int]:
    """Name or title -> number, of what a result lists."""
    text = result if isinstance(result, str) else result.text
    return {name: int(number) for number, name in ROW.findall(text)}


def outside(text: str, fence: str) -> str:
    """What of a result stands in no fence."""
    return "\n".join(text.split(f"{fence}\n")[::2])
