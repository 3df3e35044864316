"""Contacts: each is a source named after the person, with the details as fields."""

from __future__ import annotations

import quopri
import re
from calendar import month_name
from collections.abc import Iterator, Sequence
from pathlib import Path

from memory.nouns import Document
from memory.time.dates import parse_date
from plugins.readers import Unreadable
from plugins.readers.common import Property, parse_property, unescape, unfold
from plugins.readers.common.decode import decode_bytes, text_of

_FIELDS = {  # property -> label
    "TEL": "Phone", "EMAIL": "Email", "BDAY": "Birthday", "ANNIVERSARY": "Anniversary", "DEATHDATE": "Died on",
    "ADR": "Address", "ORG": "Organisation", "TITLE": "Job title", "ROLE": "Role", "URL": "Website",
    "IMPP": "Messenger", "X-SOCIALPROFILE": "Profile", "X-ABRELATEDNAMES": "Related", "RELATED": "Related",
    "LANG": "Language", "HOBBY": "Hobby", "INTEREST": "Interest", "EXPERTISE": "Expertise", "BIRTHPLACE": "Born in",
    "DEATHPLACE": "Died in", "X-SPOUSE": "Spouse", "X-MANAGER": "Manager", "X-ASSISTANT": "Assistant",
    "X-ANNIVERSARY": "Anniversary", "X-SKYPE": "Skype", "X-JABBER": "Jabber",
}  # fmt: skip
_DAYS = ("BDAY", "ANNIVERSARY", "DEATHDATE", "X-ANNIVERSARY")
_KINDS = {("TEL", "cell"): "mobile", ("ADR", "home"): "lives at", ("ADR", "work"): "works at"}
_NO_KINDS = frozenset("pref voice internet text x-internet uri".split())
_DAY = re.compile(r"(?P<year>\d{4}|--)-?(?P<month>\d\d)-?(?P<day>\d\d)(?:[T ].*)?$")
_NO_YEAR = "1604"  # Apple's placeholder for an unknown year
_APPLE_LABEL = re.compile(r"_\$!<(.*)>!\$_")
_CHARSET = re.compile(rb";CHARSET=\"?([\w-]{2,40})", re.IGNORECASE)
_SCHEME = re.compile(r"(?:tel|mailto|xmpp|sip|skype|x-apple):", re.IGNORECASE)


def read(path: Path, data: bytes) -> list[Document]:
    declared = _CHARSET.search(data)
    text = text_of(data, declared[1].decode("ascii") if declared else None)
    documents = [document for card in _split_cards(text) if (document := _convert(card)) is not None]
    if not documents:
        raise Unreadable("no contact with a name in it")
    return documents


def _split_cards(text: str) -> Iterator[list[Property]]:
    """Yields the properties of each contact."""
    card: list[Property] | None = None
    for number, content in unfold(_join_quoted(text)):
        property = parse_property(content, number)
        if property is None:
            continue
        if property.name == "BEGIN" and property.value.strip().upper() == "VCARD":
            if card:  # an unterminated card
                yield card
            card = []
        elif property.name == "END" and card is not None:
            yield card
            card = None
        elif card is not None:
            card.append(_decode(property))
    if card:
        yield card


def _join_quoted(text: str) -> str:
    """Returns the text with quoted-printable values folded like other values. Line numbers stay the same."""
    if "QUOTED-PRINTABLE" not in text.upper():
        return text
    lines = text.split("\n")
    for place in range(len(lines) - 1):
        if lines[place].endswith("=") and ("QUOTED-PRINTABLE" in lines[place].upper() or lines[place][:1] == " "):
            lines[place] = lines[place][:-1]
            lines[place + 1] = f" {lines[place + 1]}"
    return "\n".join(lines)


def _decode(field: Property) -> Property:
    encoding, charset = field.parameters.get("ENCODING", ""), field.parameters.get("CHARSET")
    if "QUOTED-PRINTABLE" not in {key.upper() for key in (*field.parameters, encoding)}:
        return field
    return field._replace(value=decode_bytes(quopri.decodestring(field.value.encode()), charset))


def _convert(card: Sequence[Property]) -> Document | None:
    """Returns the document of a contact; None without a name."""
    first = {field.name: field for field in reversed(card)}
    name = _find_name(first)
    if not name:
        return None
    aliases = [alias for field in card if field.name == "NICKNAME" for alias in _split_parts(field.value, ",")]
    labels = {field.group: field.value for field in card if field.name == "X-ABLABEL" and field.group}
    shown = []
    for field in card:
        if field.name in _FIELDS and (value := _show(field)):
            shown.append((field.line, f"{_make_label(field, labels)}: {value}"))
        elif field.name == "NOTE":
            shown += [(field.line, line.strip()) for line in unescape(field.value).split("\n") if line.strip()]
    shown.sort(key=lambda line: line[0])
    heading = f"{name} ({', '.join(aliases)})" if aliases else name
    shown.insert(0, (card[0].line, f"# {heading}"))
    own_id = first["UID"].value.strip() if "UID" in first else name
    tags = [
        tag.replace(" ", "-") for field in card if field.name == "CATEGORIES" for tag in _split_parts(field.value, ",")
    ]
    return Document(
        uri=own_id,
        text="\n".join(line for _, line in shown),
        title=name,
        at=parse_date(first["REV"].value) if "REV" in first else None,
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


def _make_label(field: Property, labels: dict[str, str]) -> str:
    """Returns the label of a field with its kind: "Phone (mobile)"."""
    label = labels.get(field.group, "")
    apple = _APPLE_LABEL.fullmatch(label)
    kinds = [(apple[1] if apple else label).lower()] if label else []
    if not kinds:
        stated = [
            *field.parameters.get("TYPE", "").split(","),
            *(key for key, setting in field.parameters.items() if not setting),
        ]
        kinds = [kind.lower() for kind in stated if kind and kind.lower() not in _NO_KINDS]
    if field.name in ("X-ABRELATEDNAMES", "RELATED") and kinds:
        return kinds[0].capitalize()
    kinds = [_KINDS.get((field.name, kind), kind) for kind in dict.fromkeys(kinds)]
    return f"{_FIELDS[field.name]} ({', '.join(kinds)})" if kinds else _FIELDS[field.name]


def _show(field: Property) -> str:
    value = field.value.strip()
    if field.name in _DAYS:
        return _show_day(value)
    if field.name in ("ADR", "ORG"):
        return ", ".join(_split_parts(value, ";"))
    if field.name == "RELATED" and value.lower().startswith("urn:"):
        return ""
    return " ".join(_SCHEME.sub("", unescape(value)).split())


def _show_day(value: str) -> str:
    match = _DAY.match(value)
    if match is None:
        return value
    if match["year"] in ("--", _NO_YEAR):
        month = int(match["month"])
        return f"{int(match['day'])} {month_name[month]}" if 0 < month <= 12 else value
    return f"{match['year']}-{match['month']}-{match['day']}"


def _split_parts(value: str, mark: str, keep: bool = False) -> list[str]:
    """Returns the non-empty parts of a value; all parts with `keep`."""
    parts = (" ".join(unescape(part).split()) for part in re.split(rf"(?<!\\){mark}", value))
    return [part for part in parts if part or keep]
