"""pal web: the page in the browser."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from daemon.cli import output
from daemon.cli.options import json_option
from daemon.cli.session import Session, pass_session


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), help="The port; 0: any that is free. By default web.port.")
@click.option("--print", "only_print", is_flag=True, help="Open no browser.")
@click.option("--stop", is_flag=True, help="End the page: all its sessions, and its port is closed.")
@json_option
@pass_session
def web(session: Session, port: int | None, only_print: bool, stop: bool, as_json: bool) -> None:
    """Open the memory in the browser.

    Prints a link that works once, within two minutes, in a browser of this machine, and opens it there. The page is
    for you alone, asks no other machine for anything, and ends when nobody has used it for an hour.
    """
    if stop:
        closed = session.client.close_page()
        if as_json:
            output.print_json(closed)
        else:
            output.say("The page is closed." if closed.was_open else "The page was not open.")
        return
    link = session.client.open_page(port)
    if as_json:
        output.print_json(link)
    else:
        output.print_text(link.url)
    if only_print:
        output.say("It works once, within two minutes, in a browser of this machine. To end the page: pal web --stop")
    elif open_browser(Path(link.opener)):
        output.say("The page opens in your browser. If it does not: the link works once. To end it: pal web --stop")
    else:
        output.say("There is no browser to open it with. The link works once, within two minutes, on this machine.")


def open_browser(file: Path) -> bool:
    """Opens a file in a browser with windows; whether one was found."""
    graphical = {"DISPLAY", "WAYLAND_DISPLAY", "BROWSER"} & os.environ.keys()
    if sys.platform not in ("darwin", "win32") and not graphical:
        return False  # what is there else would draw itself into this terminal
    import webbrowser

    return webbrowser.open(file.as_uri())
