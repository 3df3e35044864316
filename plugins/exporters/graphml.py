"""GraphML: objects and statements as nodes, facts and what statements speak of as edges, for Gephi, yEd or networkx."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from plugins.exporters.contract import LAST, Line, Part

KINDS = ("thing", "fact", "statement")
BESIDE = "beside"  # of two objects, that `passages` mention both: in a part of the graph that is drawn
# what is said of a node or an edge -> its type
ON_NODES = {
    "label": "string", "kind": "string", "names": "string", "facts": "int", "notes": "int", "modality": "string",
    "valid_from": "string", "valid_to": "string", "recorded": "string", "replaced_by": "string", "read_by": "string",
    "source": "string", "line": "int",
}  # fmt: skip
ON_EDGES = {
    "label": "string", "kind": "string", "modality": "string", "valid_from": "string", "valid_to": "string",
    "recorded": "string", "replaced_by": "string", "read_by": "string", "source": "string", "line": "int",
    "quote": "string", "passages": "int",
}  # fmt: skip
HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
    ' xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">\n'
)
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(lines: Iterator[Line]) -> Iterator[Part]:
    """One graph. A fact whose ends are not told is left out."""
    yield _part(
        HEAD, *_keys("node", ON_NODES), *_keys("edge", ON_EDGES), '<graph id="memory" edgedefault="directed">\n'
    )
    known: set[int] = set()
    for line in lines:
        fields = line.fields if line.kind in KINDS else {}
        if line.kind == "thing":
            known.add(fields["id"])
            names = "; ".join(name for name in fields["names"] if name != fields["name"])
            yield _part(_node(fields["id"], fields | {"label": fields["name"], "names": names}))
        elif line.kind == BESIDE:
            beside = line.fields
            src, dst = beside["ends"]
            yield _part(_edge(beside["id"], src, dst, beside | {"kind": BESIDE}))
        elif fields and fields["kind"] == "relation":
            src, dst = fields["ends"]
            if src in known and dst in known:
                yield _part(_edge(fields["id"], src, dst, _told(fields) | {"label": fields["predicate"]}))
        elif fields:
            yield _part(_node(fields["id"], _told(fields) | {"label": fields["text"], "kind": "thesis"}))
            for place, end in enumerate(one for one in fields["ends"] if one in known):
                yield _part(_edge(f"{fields['id']}-{place}", fields["id"], end, {"kind": "member"}))
        elif line.kind == LAST:
            yield _part("</graph>\n</graphml>\n")


def _told(fields: dict[str, Any]) -> dict[str, Any]:
    """What is said of a fact, under the names that it has here."""
    renamed = {"replaced_by": fields["superseded_by"], "read_by": fields["origin"], "source": fields["uri"]}
    return fields | renamed


def _keys(of: str, names: dict[str, str]) -> Iterator[str]:
    for name, kind in names.items():
        yield f'<key id="{of}-{name}" for="{of}" attr.name="{name}" attr.type="{kind}"/>\n'


def _node(id: int, fields: dict[str, Any]) -> str:
    return f'<node id="n{id}">{_data("node", ON_NODES, fields)}</node>\n'


def _edge(id: int | str, src: int, dst: int, fields: dict[str, Any]) -> str:
    data = _data("edge", ON_EDGES, fields)
    return f'<edge id="e{id}" source="n{src}" target="n{dst}">{data}</edge>\n'


def _data(of: str, names: dict[str, str], fields: dict[str, Any]) -> str:
    values = ((name, fields.get(name)) for name in names)
    return "".join(
        f"<data key={quoteattr(f'{of}-{name}')}>{escape(_NO_XML.sub(' ', str(value)))}</data>"
        for name, value in values
        if value not in (None, "")
    )


def _part(*texts: str) -> Part:
    return Part("", "".join(texts).encode())
