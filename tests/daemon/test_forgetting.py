"""What was forgotten does not come back by itself."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.client import Client
from memory.nouns import FORGOTTEN, SAME_AS_FORGOTTEN
from tests.daemon.conftest import Listener, added, listening, uris


def diary(folder: Path, year: int) -> str:
    """What stands in the diary; in each folder something else."""
    return f"In {year} I told Nora of the illness of {folder.parent.name}."


@pytest.fixture
def folder(client: Client, tmp_path: Path) -> Iterator[Path]:
    """A watched folder with a diary of two years, both forgotten, and a note that is not."""
    path = tmp_path / "notes"
    (path / "diary").mkdir(parents=True)
    for year in (2018, 2019):
        (path / "diary" / f"{year}.md").write_text(diary(path, year))
    (path / "bread.md").write_text(f"Bread is in the bin of {path.parent.name}.")
    with listening(client) as listener:
        client.watch(path)
        listener.until_changed(path / "bread.md", "added")
    for year in (2018, 2019):
        client.forget(source=str(path / "diary" / f"{year}.md"))
    yield path
    if [row for row in client.folders() if row.path == str(path)]:
        client.unwatch(path)


def reasons(client: Client, below: Path) -> dict[str, str]:
    """Why files below a folder are skipped: name -> reason."""
    return {
        str(Path(skip.uri).relative_to(below)): skip.reason
        for skip in client.status().skipped
        if Path(skip.uri).is_relative_to(below)
    }


def look(listener: Listener, file: Path) -> None:
    """Waits until all that happened before was looked at."""
    file.write_text(f"A beacon called {file.stem} of {file.parent.parent.name}.")
    listener.until_changed(file, "added")


def test_it_does_not_come_back_under_another_name(client: Client, folder: Path) -> None:
    with listening(client) as listener:
        (folder / "diary").rename(folder / "journal")
        look(listener, folder / "renamed.md")
        assert reasons(client, folder) == {"journal/2018.md": FORGOTTEN, "journal/2019.md": FORGOTTEN}
        (folder / "journal" / "2018.md").write_text(diary(folder, 2018) + " She wept.")  # the mark went along
        shutil.copytree(folder / "journal", folder / "copies")
        look(listener, folder / "copied.md")
        assert reasons(client, folder)["copies/2019.md"] == SAME_AS_FORGOTTEN
        assert reasons(client, folder)["journal/2018.md"] == FORGOTTEN
        (folder / "bread.md").write_text(diary(folder, 2019))  # nor over a note that was there
        listener.until_changed(folder / "bread.md", "removed")
    known = {Path(uri).relative_to(folder).as_posix() for uri in uris(client, str(folder))}
    assert known == {"copied.md", "renamed.md", "copies/2018.md"}, "what was written since is another text"


def test_it_does_not_come_back_when_the_folder_is_watched_or_added_again(client: Client, folder: Path) -> None:
    client.unwatch(folder)
    (folder / "diary" / "2018.md").write_text(diary(folder, 2018) + " She wept.")
    with listening(client) as listener:
        client.watch(folder)
        look(listener, folder / "again.md")
        assert added(client, folder)[0].skipped == 2
        (folder / "diary" / "2018.md").rename(folder / "diary" / "2017.md")
        look(listener, folder / "moved.md")
    assert not [uri for uri in uris(client, str(folder)) if "diary" in uri]
    assert reasons(client, folder) == {"diary/2017.md": FORGOTTEN, "diary/2019.md": FORGOTTEN}

    assert client.unwatch(folder, forget=True).sources == 3
    with listening(client) as listener:
        client.watch(folder)
        look(listener, folder / "third.md")
    assert uris(client, str(folder)) == [str(folder / "third.md")]
    forgotten = dict.fromkeys(("again.md", "moved.md", "bread.md"), SAME_AS_FORGOTTEN)
    assert reasons(client, folder) == {"diary/2017.md": FORGOTTEN, "diary/2019.md": FORGOTTEN} | forgotten


def test_it_is_read_again_for_whoever_says_so(client: Client, folder: Path) -> None:
    file = folder / "diary" / "2019.md"
    assert added(client, file)[0].skipped == 1
    assert added(client, file, again=True)[0].sources == 1
    assert reasons(client, folder) == {"diary/2018.md": FORGOTTEN}
    shutil.copy(file, folder / "copy.md")
    with listening(client) as listener:
        look(listener, folder / "later.md")
    assert str(folder / "copy.md") in uris(client)
