"""pal graph: what stands around something, drawn."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from daemon import wire
from daemon.cli import output
from daemon.cli.export import refuse_watched
from daemon.cli.facts import span
from daemon.cli.options import as_of_option, json_option
from daemon.cli.session import Session, pass_session
from daemon.terminal import count, display_safe, file_link, modality, size

if TYPE_CHECKING:
    from daemon.drawing.layout import Graph
    from daemon.drawing.page import Saying
    from plugins.exporters.contract import Line

FAINT = 0.4  # the weight of what is only mentioned beside something
WIDEST = 160  # cells
STYLES = {"root": {"bold": True}, "label": {}, "faint": {"dim": True}, "relation": {"dim": True}, "line": {"dim": True}}

STDOUT = "-"
file_type = click.Path(path_type=Path, dir_okay=False, allow_dash=True)


@click.command()
@click.argument("name")
@click.option("--depth", type=click.IntRange(1, 6), default=1, show_default=True, help="So many steps out.")
@as_of_option
@click.option(
    "-n", "limit", type=click.IntRange(2, 500), default=40, show_default=True, help="At most so many objects."
)
@click.option("--svg", metavar="FILE", type=file_type, help="Write the drawing to FILE, as a picture; - prints it.")
@click.option("--html", metavar="FILE", type=file_type, help="Write it to FILE, as a page to look around in.")
@click.option("--graphml", metavar="FILE", type=file_type, help="Write it to FILE, for Gephi, yEd or networkx.")
@click.option("--force", is_flag=True, help="Write over FILE if it exists.")
@json_option
@pass_session
def graph(
    session: Session,
    name: str,
    depth: int,
    as_of: datetime | None,
    limit: int,
    svg: Path | None,
    html: Path | None,
    graphml: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Draw what stands around NAME: a person, a place, a thing.

    What facts join it to, with what they say, and, faint, what is mentioned beside it. Facts are those that hold, or
    held on the day of --as-of.
    """
    from daemon.exporting.files import NewFile

    wanted = {kind: path for kind, path in (("svg", svg), ("html", html), ("graphml", graphml)) if path is not None}
    printed = [kind for kind, path in wanted.items() if str(path) == STDOUT]
    if len(printed) + as_json > 1:
        raise click.UsageError("Only one thing can go to standard output.")
    files = {kind: path for kind, path in wanted.items() if kind not in printed}
    places = {kind: _check(session, path, f"--{kind}", force) for kind, path in files.items()}
    found = session.client.neighbourhood(name, depth, limit, as_of)
    for kind, place in places.items():
        with NewFile(place) as file:
            for part in _render(kind, found, depth):
                file.write(part)
    for kind in printed:
        for part in _render(kind, found, depth):
            click.echo(part, nl=False)
    if as_json:
        output.print_json(found)
    elif wanted:
        for place in places.values():
            written = f"Written: {place}, {size(place.stat().st_size)}. It holds words of your notes."
            if printed:
                output.say(written)
            else:
                output.print_text(written)
    else:
        _draw(found)
    if found.left_out and not as_json:
        output.say(f"and about {count(found.left_out, 'other')}; -n draws more.")


def _check(session: Session, path: Path, hint: str, force: bool) -> Path:
    place = path.expanduser().absolute()
    if not place.parent.is_dir():
        raise click.BadParameter(f"There is no folder {str(place.parent)!r}.", param_hint=hint)
    if place.exists() and not force:
        raise click.BadParameter("It exists already. Choose another name, or add --force.", param_hint=hint)
    refuse_watched(session, place)
    return place


def _draw(found: wire.Neighbourhood) -> None:
    from daemon.drawing.text import draw_lines

    if len(found.nodes) < 2:
        output.say(
            f"Nothing is drawn of {found.name!r}: no fact joins it to anything, and nothing is mentioned beside it."
        )
        return
    width = min(WIDEST, shutil.get_terminal_size((100, 24)).columns)
    for line in draw_lines(make_graph(found), width):
        click.echo("".join(output.style_text(piece.text, **STYLES[piece.role]) for piece in line).rstrip())


def make_graph(found: wire.Neighbourhood) -> Graph:
    """A neighbourhood as it is drawn."""
    from daemon.drawing.layout import Edge, Graph, Node

    told = {id for edge in found.edges if edge.fact for id in (edge.source, edge.target)}
    middle = found.nodes[0].id if found.nodes else 0
    nodes = (
        Node(one.id, _flat(one.name), 1.0 if one.id in told else FAINT, "●" if one.id == middle else "○")
        for one in found.nodes
    )
    edges = (Edge(one.source, one.target, _flat(one.relation)) for one in found.edges)
    return Graph(tuple(nodes), tuple(edges), (middle,))


def _flat(text: str) -> str:
    """Foreign text on one line."""
    return " ".join(display_safe(text, line=True).split())


def _render(kind: str, found: wire.Neighbourhood, depth: int) -> Iterator[bytes]:
    """A drawing as parts of its file."""
    if kind == "svg":
        from daemon.drawing.svg import draw_svg

        yield draw_svg(make_graph(found), found.name).encode("utf-8", "replace")
    elif kind == "html":
        from daemon.drawing.page import draw_page

        page = draw_page(make_graph(found), found.name, _describe(found, depth), dict(_sayings(found)))
        yield page.encode("utf-8", "replace")
    else:
        from plugins.exporters.graphml import write

        yield from (part.data for part in write(_lines(found)))


def _describe(found: wire.Neighbourhood, depth: int) -> str:
    """`40 things, 2 steps out, as of 2026-03-09`."""
    parts = [count(len(found.nodes), "thing"), f"{count(depth, 'step')} out"]
    return ", ".join(parts + ([f"as of {found.as_of.date()}"] if found.as_of else []))


def _sayings(found: wire.Neighbourhood) -> Iterator[tuple[str, list[Saying]]]:
    """What is said of each node: facts with their lines first, then what it is mentioned beside."""
    from daemon.drawing.page import Saying

    said: dict[int, list[Saying]] = defaultdict(list)
    for edge in found.edges:
        for here, there in ((edge.source, edge.target), (edge.target, edge.source)):
            if (fact := edge.fact) is not None:
                forward = here == edge.source
                words = f"{fact.predicate}{modality(fact)}" if forward else f"{fact.predicate}{modality(fact)} of"
                place = output.place(fact.uri, fact.line, fact.title)
                quote = " ".join(fact.quote.split())
                said[here].append(
                    Saying(words, span(fact).strip(), quote, place, file_link(fact.uri) or "", str(there))
                )
            else:
                said[here].append(Saying(f"in {count(edge.passages, 'passage')} with", "", "", "", "", str(there)))
    for id, rows in said.items():
        yield str(id), rows


def _lines(found: wire.Neighbourhood) -> Iterator[Line]:
    """A neighbourhood as an exporter reads it."""
    import json

    from plugins.exporters.contract import FIRST, LAST, Line

    def line(type: str, **fields: object) -> Line:
        return Line(json.dumps({"type": type, **fields}, separators=(",", ":")).encode())

    yield line(FIRST, counts={})
    facts = [edge for edge in found.edges if edge.fact is not None]
    for node in found.nodes:
        told = sum(node.id in (edge.source, edge.target) for edge in facts)
        names = list(found.names) if node.steps == 0 else [node.name]
        yield line("thing", id=node.id, name=node.name, kind=node.kind, names=names, facts=told, notes=None)
    for edge in found.edges:
        ends = [edge.source, edge.target]
        if edge.fact is not None:
            yield line("fact", **wire.encode(edge.fact), ends=ends)
        else:
            yield line("beside", id=f"{edge.source}-{edge.target}", ends=ends, passages=edge.passages)
    yield line(LAST)
