"""What mends the questions that failed: a class of failure -> what is wrong, and the commands that mend it.

The commands are those of `pal`, with the words of the question that stands as the example, so that they can be given
as they stand; only what nobody knows but the person is a word in capitals.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Literal, get_args

FailureName = Literal["coverage", "connectivity", "provenance", "queryability"]
NAMES = get_args(FailureName)

CONTENT = 0.25  # confidence that is little, but more than nothing: `memory.answer.threshold`


def repair(name: FailureName, question: str, trace: int, unknown: Sequence[str] = (), known: Sequence[str] = ()) -> str:
    """A sentence or two, then a command in each line, and after a # what it does. `unknown`: the names in the question
    that the memory knows nothing by; `known`: the first of those that it knows."""
    asked = _quoted(question)
    match name:
        case "coverage":
            lines = _coverage(list(unknown))
        case "connectivity":
            lines = _connectivity(_line(known[0]) if known else "NAME")
        case "provenance":
            lines = iter((
                "Passages were shown, but none held an answer that was sure enough.",
                f"pal recall {asked}  # is the answer among them?",
                f"pal ask --effort deep {asked}  # a model, if you have one, looks further",
                f"pal config set memory.answer.threshold {CONTENT}  # without one: be content with less sure lines",
                "pal daemon restart  # from then on it counts",
            ))  # fmt: skip
        case "queryability":
            lines = iter((
                "The question took longer than it may. Hubs make many ways: name something rarer beside them.",
                f"pal trace {trace}  # which stage took the time",
                f"pal ask --effort quick {asked}  # a model is asked once at most",
                "pal config set memory.recall.strategy spread  # the quickest way, if you chose another",
                "pal daemon restart  # from then on it counts",
            ))  # fmt: skip
    return "\n".join(lines)


def _line(text: str) -> str:
    return " ".join(text.split())


def _quoted(text: str) -> str:
    """One word for a shell; in double quotes where they do, which every shell knows."""
    line = _line(text)
    quoted = shlex.quote(line)
    return quoted if quoted == line or set(line) & set('"$`\\!') else f'"{line}"'


def _coverage(unknown: Sequence[str]) -> Iterator[str]:
    name = _line(unknown[0]) if unknown else "NAME"
    heard = f"knows nothing by the name {name}" if unknown else "knows no name in the question"
    yield (
        f"The memory {heard}. If something was read about it under another name, write this one there as well:"
        f" [[{name}]] in the text, or `aliases: [{name}]` at the head of the note."
    )
    yield "pal add PATH  # if nothing was read about it"
    yield "pal status --skipped  # what could not be read"
    yield f"pal remember {_quoted(f'{name} is another name of OTHER.')}  # if the memory knows it as OTHER; then"
    yield f"pal same {_quoted(name)} OTHER"


def _connectivity(name: str) -> Iterator[str]:
    yield (
        "Nothing leads from what the question named to what answered it. Name both in one passage, or link them with"
        " [[NAME]]."
    )
    yield f"pal facts {_quoted(name)}  # what leads away from it"
    yield "pal remember TEXT  # a passage that names both"
    yield "pal models  # a model that reads your notes finds more such links"
