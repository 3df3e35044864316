"""What a person says of themselves by hand: for each thing a note of its own, so that it has a date, a history and can
be taken back like any other.
"""

from __future__ import annotations

from datetime import datetime

from daemon import wire
from memory import Memory
from memory.errors import InvalidInputError, NotFoundError
from memory.nouns import TOLD, Document

BY_HAND = "note:me/"  # how the uris of what was said by hand begin
TITLE = "About me"
MOST_KEY, MOST_VALUE = 40, 120  # characters
NEWEST = 20  # revisions that are looked at


def profile(memory: Memory) -> wire.ProfileReply:
    return wire.ProfileReply(memory.knowledge.profile())


def set_profile(memory: Memory, key: str, value: str) -> wire.ProfileReply:
    key, value = _checked(key), " ".join(value.split())
    if not 0 < len(value) <= MOST_VALUE:
        raise InvalidInputError(f"The value has {len(value)} characters; write 1 to {MOST_VALUE}.")
    uri, now = BY_HAND + key, datetime.now().astimezone()
    note = Document(uri, f"{key}: {value}", title=TITLE, reader=TOLD, at=now, properties={key: value})
    memory.remember_many([note])
    made = [one for one in memory.revisions("all", NEWEST) if one.new.uri == uri and one.state == "open"]
    held = [one for one in made if one.new.objects[-1:] == (value,)]  # a sentence of the note has none
    return wire.ProfileReply(memory.knowledge.profile(), tuple(held))


def remove_from_profile(memory: Memory, key: str) -> wire.ProfileReply:
    uri = BY_HAND + _checked(key)
    if memory.sources.get(uri) is None:
        told = next((one.facts for one in memory.knowledge.profile().entries if one.key == _checked(key)), ())
        remedy = f" It stands in {told[0].uri}; edit it there." if told else ""
        raise NotFoundError(f"You have said nothing of your {key} here.{remedy}")
    memory.ingest.retire(uri)
    return profile(memory)


def _checked(key: str) -> str:
    key = " ".join(key.casefold().split())
    if not 0 < len(key) <= MOST_KEY or not all(char.isalnum() or char in " -" for char in key):
        raise InvalidInputError(f"{key[:MOST_KEY]!r} is no name of a thing. Write one like phone, address or sister.")
    return key
