"""Recipes in Cooklang (`.cook`): what is needed as a list, then the steps as one reads them aloud.

`Add @flour{200%g} to the #bowl{} and wait ~{20%minutes}.` is the step "Add flour to the bowl and wait 20 minutes.", and
needs "flour: 200 g".
"""

import re
from pathlib import Path

from memory.nouns import Document
from plugins.hookspecs import hookimpl
from plugins.readers import Reader, Unreadable

MARKED = re.compile(r"([@#~])(?:([^@#~{}\n]*)\{([^{}\n]*)\}|([\w-]+))")  # with an amount, or one word
PROPERTY = re.compile(r"^>>\s*([^:]+):\s*(.*)$")
COMMENT = re.compile(r"[^\S\n]*--[^\n]*|\[-.*?-\]", re.DOTALL)


@hookimpl
def register_readers(register):
    register(Reader("cooklang", (".cook",), "Recipes in Cooklang", read))


def read(path: Path, data: bytes) -> list[Document]:
    """The recipe in a file. Unreadable if there is nothing to do in it."""
    properties: dict[str, str] = {}
    needed: dict[str, list[str]] = {"@": [], "#": []}
    steps: list[str] = []
    places: list[int] = []  # the line of each step in the file
    text = COMMENT.sub(lambda match: "\n" * match[0].count("\n"), data.decode("utf-8", "replace"))
    for number, line in enumerate(text.split("\n"), 1):
        if stated := PROPERTY.match(line):
            properties[stated[1].strip()] = stated[2].strip()
        elif step := MARKED.sub(lambda match: _say(match, needed), line).strip():
            steps.append(step)
            places.append(number)
    if not steps:
        raise Unreadable("nobody does anything in it")
    lists = [f"{head}: {', '.join(of)}." for head, of in (("Ingredients", needed["@"]), ("Tools", needed["#"])) if of]
    return [
        Document(
            uri="",
            text="\n".join([*lists, *steps]),
            title=properties.pop("title", path.stem),
            properties=properties,
            lines=(*[places[0]] * len(lists), *places),
        )
    ]


def _say(match: re.Match[str], needed: dict[str, list[str]]) -> str:
    """A marked thing as it is said in its step; what it is of goes onto the list."""
    kind, name, amount = match[1], (match[2] or match[4] or "").strip(), (match[3] or "").replace("%", " ").strip()
    if kind == "~":
        return amount or name
    entry = f"{name} {amount}".strip()
    if entry not in needed[kind]:
        needed[kind].append(entry)
    return name
