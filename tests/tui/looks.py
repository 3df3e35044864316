"""Pictures of the chat, compared with those that were kept.

After a change that is meant: `pytest tests/tui -k snapshots --snapshot-update`, and look at the pictures.
"""

from __future__ import annotations

import pickle
import re
from typing import Any

import pytest
from pytest_textual_snapshot import PseudoApp, PseudoConsole, SVGImageExtension, node_to_report_path
from rich.console import ConsoleDimensions
from syrupy.assertion import SnapshotAssertion

from tests.tui.conftest import NARROW, WIDE, Chat

TAKES, TAKE_SECONDS = 20, 0.1  # pictures of one that looks otherwise, and what lies between two of them

# Of a picture: the frame of each line, which only cuts off what no font writes there; what all have in common.
_SHARP = "rect { shape-rendering: crispEdges }\n    </style>"
_DROPPED = re.compile(
    r'<clipPath id="terminal-line-\d+">.*?</clipPath>\s*| clip-path="url\(#terminal-line-\d+\)"'
    r'| shape-rendering="crispEdges"|<text [^>]*>\n</text>|@font-face \{.*?\}\s*',
    re.S,
)


class Picture(SVGImageExtension):
    """A picture in half of the bytes, a line for each piece of text: it can be read where it changes."""

    def serialize(self, *args: Any, **kwargs: Any) -> Any:
        svg = super().serialize(*args, **kwargs)
        if not isinstance(svg, str):
            return svg
        svg = _DROPPED.sub("", svg).replace("</style>", _SHARP, 1)
        return re.sub(r"(?<=>)(?=<(?:text|rect) )", "\n", svg)


class Looks:
    """What a test has seen of its chat. It goes on where a picture differs: one report has all of them."""

    def __init__(self, snapshot: SnapshotAssertion, node: pytest.Item) -> None:
        self._snapshot = snapshot.use_extension(Picture)
        self._node = node
        self.differing: list[str] = []

    async def now(self, chat: Chat, name: str) -> None:
        """Takes a picture of the chat as it is, once more where it looks otherwise: on a busy machine a chat seems idle
        that has had no time to lay out what it shows."""
        for _ in range(2):  # what is shown may call for another layout
            await chat.pilot.pause()
        for _ in range(TAKES):
            taken = chat.app.export_screenshot(title="Palimpsest", simplify=True)
            kept = self._snapshot(name=name)
            if kept == taken:
                return
            await chat.pilot.pause(TAKE_SECONDS)
        self.differing.append(name)
        self._report(name, kept, taken)

    async def both(self, chat: Chat, name: str) -> None:
        """Takes a picture in the dark of a small terminal, and one in the light of a wide one."""
        for size, theme in ((NARROW, "palimpsest"), (WIDE, "parchment")):
            chat.app.theme = theme
            await chat.pilot.resize_terminal(*size)
            await self.now(chat, f"{name}-{size[0]}")

    def _report(self, name: str, kept: SnapshotAssertion, taken: str) -> None:
        """For the report of pytest-textual-snapshot, which is made when all tests have run."""
        path, line, _ = self._node.reportinfo()
        expected = kept.executions[kept.num_executions - 1].recalled_data
        data = (
            False, str(expected or ""), taken, PseudoApp(PseudoConsole(False, ConsoleDimensions(80, 24))), path,
            line or 0, f"{self._node.name}: {name}", "", "", expected is not None,
        )  # fmt: skip
        file = node_to_report_path(self._node)
        file.with_name(f"{file.name}_{name}").write_bytes(pickle.dumps(data))
