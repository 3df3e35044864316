"""What a thinking model writes before its answer: left out of it, and looked into where the answer got lost in it."""

import itertools
import json
from collections.abc import Iterable, Iterator

OPEN, CLOSE = "<think>", "</think>"  # around the thoughts that some models write before their answer


def find_json(text: str, thought: str) -> str:
    """The text in which the JSON of a reply is: servers take it for a thought, or a thought for it."""
    if not text.strip() and thought.lstrip().startswith("{"):
        return thought
    return text if text.lstrip().startswith("{") else text.rpartition(CLOSE)[2]


def holds_object(text: str) -> bool:
    """Whether a text contains a JSON object, possibly in a fence or after prose."""
    try:
        json.JSONDecoder().raw_decode(text, text.index("{"))
    except (ValueError, RecursionError):
        return False
    return True


def without_thoughts(pieces: Iterable[str]) -> Iterator[str]:
    """The answer in the pieces of a text, without the thoughts before it, `<think>...</think>`, which are not kept."""
    pieces = iter(pieces)
    buffer = ""
    for piece in pieces:
        buffer += piece
        start = buffer.lstrip()
        if len(start) >= len(OPEN) or not OPEN.startswith(start):
            break
    if buffer.lstrip().startswith(OPEN):
        while CLOSE not in buffer:
            if (more := next(pieces, None)) is None:
                return
            buffer = buffer[-len(CLOSE) :] + more
        buffer = buffer.partition(CLOSE)[2].lstrip()
        while not buffer:
            if (more := next(pieces, None)) is None:
                return
            buffer = more.lstrip()
    yield from filter(None, itertools.chain([buffer], pieces))
