"""People by form: what the properties of a person's note say they are to the owner, and the address of a mail's sender.

Prose ("my daughter Ife", "Ife - daughter") and the lines of signatures are left to the text: rules for them found three
relations in 369 notes, one of them wrong, and took sizes and job titles for addresses.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from memory.facts.attributes import owner_words, person_of
from memory.facts.extraction import OWNER, ExtractedRelation
from memory.facts.rules.passages import PassageText

_FROM = re.compile(r"(?:.*\n){0,4}?From: .*?(?P<address>[\w.+-]+@[\w-]+\.[\w.-]*\w)")


def people_facts(passage: PassageText, topic: str, properties: Mapping[str, Any]) -> Iterator[ExtractedRelation]:
    """The people of the first passage of a note about `topic`."""
    for key, value in properties.items():
        if topic and key.casefold() in owner_words("relation") and isinstance(value, str) and person_of(value):
            yield ExtractedRelation(subject=OWNER, predicate=value.lower(), object=topic, start=-1, end=-1, conf=0.9)
    if "from" in properties and passage.lines and (sender := _FROM.match(passage.text)):
        start, end = sender.span("address")
        yield ExtractedRelation(
            subject=passage.lines[0].speaker, predicate="mail address", object=sender["address"], start=start, end=end,
        )  # fmt: skip
