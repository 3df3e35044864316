"""A relation in words: "Ana lives in Porto", "Ana, phone: 555 0100", and of the person whose memory it is "you live in
Porto" and "your phone: 555 0100".
"""

from __future__ import annotations

NAMELESS = "you"  # what the owner is called as long as no name is known
_IRREGULAR = {"is": "are", "was": "were", "has": "have", "does": "do", "goes": "go"}
# Third persons that can stand alone. Any other word that ends so may be a noun: "kids", "address", "opening hours".
_ALONE = frozenset(
    """admires attends avoids becomes bought built buys calls chairs charges collects contains cooks costs created
    directs dislikes drinks drives eats enjoys expects fixes follows founded gave hates heads hires holds includes keeps
    knew knows leads learns leases left likes loves made makes manages means met needs offers opens owes owned owns paid
    pays plans plays prefers produces provides ran reads recommends rents replaces requires runs says sells serves
    shares sings sold speaks studies supports takes teaches took treats uses visits wants wears weighs writes wrote
    arbeitet bezahlt hat heißt ist kostet lebt liebt mag spielt spricht war wiegt wohnt""".split()
)
_PARTICLES = frozenset("about after as at by for from in into like on out over to towards under up with".split())


def statement(subject: str, predicate: str, object: str) -> str:
    """Subject, predicate and object as a sentence without a point; as a label and its value if the predicate is a
    noun."""
    return f"{subject_and_predicate(subject, predicate)}{'' if _is_verb(predicate) else ':'} {object}"


def subject_and_predicate(subject: str, predicate: str) -> str:
    """What is told of a subject, without what it is: "Ana lives in", "Ana, phone", "you live in", "your phone"."""
    if not _is_verb(predicate):
        return f"your {predicate}" if subject == NAMELESS else f"{subject}, {predicate}"
    if subject == NAMELESS:
        verb, _, rest = predicate.partition(" ")
        predicate = f"{_spoken_to(verb)} {rest}".rstrip()
    return f"{subject} {predicate}"


def _is_verb(predicate: str) -> bool:
    """Whether it begins with a verb, as far as its form tells; what is in doubt is none, for a label always reads."""
    verb, _, rest = predicate.partition(" ")
    if verb in _IRREGULAR or verb in _ALONE or (verb.endswith("ed") and not verb.endswith("eed") and len(verb) > 4):
        return True
    return verb.endswith("s") and not verb.endswith(("ss", "us", "'s", "’s")) and rest.split(" ")[0] in _PARTICLES


def _spoken_to(verb: str) -> str:
    """The verb as it follows "you"; a word that is no verb's third person stays as it is."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith(("sses", "shes", "ches", "xes")):
        return verb[:-2]
    if verb.endswith("ies") and len(verb) > 4:
        return f"{verb[:-3]}y"
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") and len(verb) > 3 else verb
