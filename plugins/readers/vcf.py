"""Contacts: each is a source of its own, called as the person is, with what is known of them as fields."""

from __future__ import annotations

import quopri
import re
from calendar import month_name
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from memory.nouns import Document
from memory.time.dates import parse_date
from plugins.hookspecs import hookimpl
from plugins.readers import MIB, Reader, Unreadable
from plugins.readers.content_lines import Property, parse_property, unescape, unfold
from plugins.readers.decode import decode_bytes, text_of

_FIELDS = {  # what is shown -> its label
    "TEL": "Phone", "EMAIL": "Email", "BDAY": "Birthday", "ANNIVERSARY": "Anniversary", "DEATHDATE": "Died on",
    "ADR": "Address", "ORG": "Organisation", "TITLE": "Job title", "ROLE": "Role", "URL": "Website",
    "IMPP": "Messenger", "X-SOCIALPROFILE": "Profile", "X-ABRELATEDNAMES": "Related", "RELATED": "Related",
    "LANG": "Language",
}  # fmt: skip
_DAYS = ("BDAY", "ANNIVERSARY", "DEATHDATE")
_KINDS = {("TEL", "cell"): "mobile", ("ADR", "home"): "lives at", ("ADR", "work"): "works at"}
_NO_KINDS = frozenset("pref voice internet text x-internet uri".split())
_DAY = re.compile(r"(?P<year>\d{4}|--)-?(?P<month>\d\d)-?(?P<day>\d\d)(?:[T ].*)?$")
_NO_YEAR = "1604"  # what Apple writes where the year is not known
_APPLE_LABEL = re.compile(r"_\$!<(.*)>!\$_")
_CHARSET = re.compile(rb";CHARSET=\"?([\w-]{2,40})", re.IGNORECASE)
_SCHEME = re.compile(r"(?:tel|mailto|xmpp|sip|skype|x-apple):", re.IGNORECASE)


def read(path: Path, data: bytes) -> list[Document]:
    declared = _CHARSET.search(data)
    text = text_of(data, declared[1].decode("ascii") if declared else None)
    documents = [found for card in _split_cards(text) if (found := _convert(card)) is not None]
    if not documents:
        raise Unreadable("no contact with a name in it")
    return documents


def _split_cards(text: str) -> Iterator[list[Property]]:
    """The properties of each contact."""
    card: list[Property] | None = None
    for number, content in unfold(_join_quoted(text)):
        found = parse_property(content, number)
        if found is None:
            continue
        if found.name == "BEGIN" and found.value.strip().upper() == "VCARD":
            if card:  # the one before never ends
                yield card
            card = []
        elif found.name == "END" and card is not None:
            yield card
            card = None
        elif card is not None:
            card.append(_decode(found))
    if card:
        yield card


def _join_quoted(text: str) -> str:
    """The text with the lines of quoted-printable values folded as all others are. No line moves to another number."""
    if "QUOTED-PRINTABLE" not in text.upper():
        return text
    lines = text.split("\n")
    for place in range(len(lines) - 1):
        if lines[place].endswith("=") and ("QUOTED-PRINTABLE" in lines[place].upper() or lines[place][:1] == " "):
            lines[place] = lines[place][:-1]
            lines[place + 1] = f" {lines[place + 1]}"
    return "\n".join(lines)


def _decode(one: Property) -> Property:
    if "QUOTED-PRINTABLE" not in {key.upper() for key in one.parameters} | {one.parameters.get("ENCODING", "").upper()}:
        return one
    return one._replace(value=decode_bytes(quopri.decodestring(one.value.encode()), one.parameters.get("CHARSET")))


def _convert(card: Sequence[Property]) -> Document | None:
    """The document of a contact; None if it has no name."""
    first = {one.name: one for one in reversed(card)}
    name = _find_name(first)
    if not name:
        return None
    aliases = [alias for one in card if one.name == "NICKNAME" for alias in _split_parts(one.value, ",")]
    labels = {one.group: one.value for one in card if one.name == "X-ABLABEL" and one.group}
    shown = []
    for one in card:
        if one.name in _FIELDS and (value := _show(one)):
            shown.append((one.line, f"{_make_label(one, labels)}: {value}"))
        elif one.name == "NOTE":
            shown += [(one.line, line.strip()) for line in unescape(one.value).split("\n") if line.strip()]
    shown.sort(key=lambda line: line[0])
    called = f"{name} ({', '.join(aliases)})" if aliases else name
    shown.insert(0, (card[0].line, f"# {called}"))
    own_id = first["UID"].value.strip() if "UID" in first else name
    tags = [tag.replace(" ", "-") for one in card if one.name == "CATEGORIES" for tag in _split_parts(one.value, ",")]
    return Document(
        uri=own_id,
        text="\n".join(said for _, said in shown),
        title=name,
        at=_parse_moment(first.get("REV")),
        tags=tuple(dict.fromkeys(tags)),
        aliases=tuple(dict.fromkeys(alias for alias in aliases if alias != name)),
        lines=tuple(line for line, _ in shown),
    )


def _find_name(first: dict[str, Property]) -> str:
    for key in ("FN", "N", "ORG", "NICKNAME", "EMAIL"):
        if key in first and (value := first[key].value.strip(" ;")):
            if key == "N":
                family, given, more, before, after = (*_split_parts(value, ";", keep=True), *[""] * 5)[:5]
                return " ".join(filter(None, (before, given, more, family, after)))
            return (
                " ".join(", ".join(_split_parts(value, ";")).split())
                if key == "ORG"
                else " ".join(unescape(value).split())
            )
    return ""


def _make_label(one: Property, labels: dict[str, str]) -> str:
    """What a field is called, with what the contact says of its kind: "Phone (mobile)"."""
    told = labels.get(one.group, "")
    apple = _APPLE_LABEL.fullmatch(told)
    kinds = [(apple[1] if apple else told).lower()] if told else []
    if not kinds:
        stated = [
            *one.parameters.get("TYPE", "").split(","),
            *(key for key, held in one.parameters.items() if not held),
        ]
        kinds = [kind.lower() for kind in stated if kind and kind.lower() not in _NO_KINDS]
    if one.name in ("X-ABRELATEDNAMES", "RELATED") and kinds:
        return kinds[0].capitalize()
    kinds = [_KINDS.get((one.name, kind), kind) for kind in dict.fromkeys(kinds)]
    return f"{_FIELDS[one.name]} ({', '.join(kinds)})" if kinds else _FIELDS[one.name]


def _show(one: Property) -> str:
    value = one.value.strip()
    if one.name in _DAYS:
        return _show_day(value)
    if one.name in ("ADR", "ORG"):
        return ", ".join(_split_parts(value, ";"))
    if one.name == "RELATED" and value.lower().startswith("urn:"):
        return ""
    return " ".join(_SCHEME.sub("", unescape(value)).split())


def _show_day(value: str) -> str:
    found = _DAY.match(value)
    if found is None:
        return value
    if found["year"] in ("--", _NO_YEAR):
        month = int(found["month"])
        return f"{int(found['day'])} {month_name[month]}" if 0 < month <= 12 else value
    return f"{found['year']}-{found['month']}-{found['day']}"


def _split_parts(value: str, mark: str, keep: bool = False) -> list[str]:
    """The parts of a value, those that say something; all of them with `keep`."""
    parts = (" ".join(unescape(part).split()) for part in re.split(rf"(?<!\\){mark}", value))
    return [part for part in parts if part or keep]


def _parse_moment(one: Property | None) -> datetime | None:
    return parse_date(one.value.strip()) if one is not None else None


@hookimpl
def register_readers(register: Callable[[Reader], None]) -> None:
    register(Reader("contacts", (".vcf", ".vcard"), "Contacts, each with its fields", read, 50 * MIB, version=2))
