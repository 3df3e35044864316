"""Pictures of notes: found where a note means them, drawn in half blocks, or said why not."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from tests.tui import world
from tests.tui.conftest import Chat, chatting
from tests.tui.scripted import Script
from tests.tui.test_hostile import FORBIDDEN, HOSTILE
from tui import pictures
from tui.pictures import HALF, PictureError, draw_picture, find_picture, list_pictures
from tui.screens.pictures import Drawn, PicturesScreen

RED, BLUE, GREY = (200, 0, 0), (0, 0, 200), (40, 40, 40)


@pytest.mark.parametrize(
    ("text", "uri", "found"),
    [
        ("![[lamp.png]] and ![[sub/map.jpg|300]]", "/n/a.md", ("lamp.png", "sub/map.jpg")),
        ('![the lamp](<my lamp.png> "old") ![x](a%20b.gif)', "/n/a.md", ("my lamp.png", "a b.gif")),
        ("<img width=3 src='lamp.webp'> ![[lamp.webp]]", "/n/a.md", ("lamp.webp",)),
        ("![x](https://example.org/x.png) ![y](data:image/png;base64,x) [z](z.png) ![[note]]", "/n/a.md", ()),
        ("taken in May", "/n/IMG_1.JPG", ("/n/IMG_1.JPG",)),
    ],
)
def test_what_a_passage_shows(text: str, uri: str, found: tuple[str, ...]) -> None:
    assert list_pictures(text, uri) == found


def test_a_picture_is_found_beside_the_note_and_in_its_folder_and_nowhere_else(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    for name in ("notes/beside.png", "files/deep/by name.png", "from/root.png", ".hidden/x.png", "../outside.png"):
        (file := vault / name).parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    (vault / "notes" / "link.png").symlink_to(tmp_path / "outside.png")
    note = str(vault / "notes" / "a.md")
    for name, where in (("beside.png", "notes/beside.png"), ("by name.png", "files/deep/by name.png")):
        assert find_picture(name, note, [str(vault)]) == vault / where
    assert find_picture("/from/root.png", note, [str(vault)]) == vault / "from/root.png"
    for name in ("../../outside.png", str(tmp_path / "outside.png"), "link.png", "x.png", "none.png", "b" * 400):
        with pytest.raises(PictureError, match="no such file"):
            find_picture(name, note, [str(vault)])
    with pytest.raises(PictureError, match="no such file"):
        find_picture("by name.png", note, [])
    with pytest.raises(PictureError, match="which has no files"):
        find_picture("x.png", "note:1", [str(vault)])


def test_two_pixels_are_one_cell(tmp_path: Path) -> None:
    picture = Image.new("RGBA", (3, 3), RED)
    for x in range(3):
        picture.putpixel((x, 1), BLUE)
    picture.putpixel((0, 0), (0, 0, 0, 0))
    picture.save(tmp_path / "a.png")
    first, second = draw_picture(tmp_path / "a.png", 80, 24, GREY)
    assert first.text == second.text == HALF * 3
    colours = [(segment.style.color.triplet, segment.style.bgcolor.triplet) for segment in first]  # type: ignore[union-attr]
    assert colours == [(GREY, BLUE), (RED, BLUE)]
    assert [segment.style.bgcolor.triplet for segment in second] == [GREY]  # type: ignore[union-attr]


def test_what_cannot_be_drawn_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (broken := tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\nhalf of it")
    (vector := tmp_path / "a.svg").write_text("<svg/>")
    Image.new("RGB", (4, 4)).save(tmp_path / "a.eps")
    program = (tmp_path / "a.eps").rename(tmp_path / "b.png")  # which ghostscript would be started for
    for file in (broken, vector, program, tmp_path / "none.png"):
        with pytest.raises(PictureError, match="cannot be drawn"):
            draw_picture(file, 80, 24, GREY)
    Image.new("1", (200, 100)).save(tmp_path / "large.png")
    monkeypatch.setattr(pictures, "MAX_PIXELS", 100)
    with pytest.raises(PictureError, match="200 by 100"):
        draw_picture(tmp_path / "large.png", 80, 24, GREY)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(PictureError, match=r"palimpsest\[readers\]"):
        draw_picture(tmp_path / "large.png", 80, 24, GREY)


async def look(chat: Chat) -> None:
    """At the pictures of a passage that an answer rests on."""
    await chat.ask("Where is it?")
    await chat.pilot.press("tab", "enter", "i")


def client(text: str, uri: str) -> world.ScriptedClient:
    cited = replace(world.PRISM, uri=uri, quote=text, passage=text)
    return world.client(answers=[Script(replace(world.ANSWERED, text="There. [1]", citations=(cited,)))])


async def test_pictures_are_looked_at_and_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Path] = []
    monkeypatch.setattr("tui.screens.pictures.open_in_viewer", opened.append)
    for name, colour in (("lamp", RED), ("map", BLUE)):
        Image.new("RGB", (400, 200), colour).save(tmp_path / f"{name}.png")
    monkeypatch.setenv("COLORTERM", "truecolor")
    text, uri = "![[lamp.png]] ![[map.png]] ![[gone.png]]", str(tmp_path / "a.md")
    async with chatting(client(text, uri)) as chat:
        await look(chat)
        await chat.until(lambda: isinstance(chat.app.screen, PicturesScreen))
        await chat.until(lambda: "lamp.png 1 of 3" in chat.words() and HALF * 40 in chat.text())
        width, height = chat.app.screen.query_one(Drawn).size
        assert width == 4 * height, "a cell is twice as high as it is wide"
        assert "o opens it" in chat.words()
        await chat.pilot.press("left")
        await chat.until(lambda: "gone.png 3 of 3" in chat.words() and "no such file" in chat.words())
        await chat.pilot.press("o", "left")
        await chat.until(lambda: "map.png 2 of 3" in chat.words() and HALF * 40 in chat.text())
        await chat.pilot.press("o")
        assert opened == [tmp_path / "map.png"]
        await chat.pilot.press("escape", "y")
        assert not isinstance(chat.app.screen, PicturesScreen)
        await chat.send("/pictures")
        await chat.until(lambda: "lamp.png 1 of 3" in chat.words())


async def test_without_colours_or_pictures_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Image.new("RGB", (4, 4)).save(tmp_path / "lamp.png")
    for colours, text, said in (
        ("NO_COLOR", "![[lamp.png]]", "too few colours"),
        ("", "![[lamp.png]]", "too few colours"),
        ("", "a lamp", "There is no picture in this passage"),
    ):
        with monkeypatch.context() as patch:
            patch.delenv("COLORTERM", raising=False)
            patch.setenv("TERM", "xterm" if not colours else "xterm-256color")
            if colours:
                patch.setenv(colours, "1")
            async with chatting(client(text, str(tmp_path / "a.md"))) as chat:
                await look(chat)
                await chat.until(lambda said=said: said in chat.words())  # type: ignore[misc]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
async def test_hostile_names_are_shown_as_text(tmp_path: Path, text: str) -> None:
    name = f"![x](<{text.partition(chr(10))[0][:60]}.png>)"
    async with chatting(client(name, str(tmp_path / "a.md"))) as chat:
        chat.app._last_guard = []
        await look(chat)
        await chat.pilot.pause(0.1)
        assert not FORBIDDEN.search(chat.text())
