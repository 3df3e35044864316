"""A relation in words: "Ana lives in Porto", and "you live in Porto" of the person whose memory it is."""

from __future__ import annotations

NAMELESS = "you"  # what the owner is called as long as no name is known
_IRREGULAR = {"is": "are", "was": "were", "has": "have", "does": "do", "goes": "go"}


def statement(subject: str, predicate: str, object: str) -> str:
    """Subject, predicate and object as a sentence without a point."""
    if subject == NAMELESS:
        verb, _, rest = predicate.partition(" ")
        predicate = f"{_spoken_to(verb)} {rest}".rstrip()
    return f"{subject} {predicate} {object}"


def _spoken_to(verb: str) -> str:
    """The verb as it follows "you"; a noun ("rent"), or a word that is no verb's third person, stays as it is."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith(("sses", "shes", "ches", "xes")):
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") and len(verb) > 3 else verb
