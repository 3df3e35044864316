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

FAINT = 0.4  # the weight of what is only mentioned beside something
WIDEST = 160  # cells
STYLES = {"root": {"bold": True}, "label": {}, "faint": {"dim": True}, "relation": {"dim": True}, "line": {"dim": True}}
STDOUT = "-"


@click.command()
@click.argument("name")
@click.option("--depth", type=click.IntRange(1, 6), default=1, show_default=True, help="So many steps out.")
@as_of_option
@click.option(
    "-n", "limit", type=click.IntRange(2, 500), default=40, show_default=True, help="At most so many objects."
)
@click.option(
    "--html",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    help="Write it to FILE, as a page to look around in; - prints it.",
)
@click.option("--force", is_flag=True, help="Write over FILE if it exists.")
@json_option
@pass_session
def graph(
    session: Session,
    name: str,
    depth: int,
    as_of: datetime | None,
    limit: int,
    html: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Draw what stands around NAME: a person, a place, a thing.

    What facts join it to, with what they say, and, faint, what is mentioned beside it. Facts are those that hold, or
    held on the day of --as-of.
    """
    printed = str(html) == STDOUT
    if printed and as_json:
        raise click.UsageError("Only one thing can go to standard output.")
    place = None if html is None or printed else _check(session, html, force)
    found = session.client.neighbourhood(name, depth, limit, as_of)
    if place is not None:
        _write(place, _draw_page(found, depth))
    if as_json:
        output.print_json(found)
    elif printed:
        click.echo(_draw_page(found, depth), nl=False)
    elif place is not None:
        output.print_text(f"Written: {place}, {size(place.stat().st_size)}. It holds words of your notes.")
    else:
        _draw(found)
    if found.left_out and not as_json:
        output.say(f"and about {count(found.left_out, 'other')}; -n draws more.")


def _check(session: Session, path: Path, force: bool) -> Path:
    place = path.expanduser().absolute()
    if not place.parent.is_dir():
        raise click.BadParameter(f"There is no folder {str(place.parent)!r}.", param_hint="--html")
    if place.exists() and not force:
        raise click.BadParameter("It exists already. Choose another name, or add --force.", param_hint="--html")
    refuse_watched(session, place)
    return place


def _write(place: Path, page: bytes) -> None:
    from daemon.exporting.files import NewFile

    with NewFile(place) as file:
        file.write(page)


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


def _draw_page(found: wire.Neighbourhood, depth: int) -> bytes:
    from daemon.drawing.page import draw_page

    page = draw_page(make_graph(found), found.name, _describe(found, depth), dict(_sayings(found)))
    return page.encode("utf-8", "replace")


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
