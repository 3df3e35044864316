from __future__ import annotations

from memory.store import folders
from memory.store.folders import Skip, WatchedFolder
from memory.store.store import Store


def test_a_folder_is_watched_once_and_remembers_how(store: Store) -> None:
    with store.writing() as conn:
        assert folders.add(conn, "/notes", 1000)
        assert folders.add(conn, "/mail", 2000, "any", {"ignore": ["*.tmp"]})
        assert not folders.add(conn, "/notes", 3000, "any")
        assert folders.list_folders(conn) == [
            WatchedFolder(2, "/mail", "any", 2000, {"ignore": ["*.tmp"]}),
            WatchedFolder(1, "/notes", "any", 1000, {}),
        ]
        assert folders.remove(conn, "/mail")
        assert not folders.remove(conn, "/mail")
        assert [folder.path for folder in folders.list_folders(conn)] == ["/notes"]


def test_a_skip_keeps_its_newest_reason_until_it_is_cleared(store: Store) -> None:
    with store.writing() as conn:
        folders.skip(conn, "a", "not text", 1)
        folders.skip(conn, "b", "too large", 2)
        folders.skip(conn, "a", "no permission", 3)
        assert folders.list_skipped(conn) == [Skip("a", "no permission", 3), Skip("b", "too large", 2)]
        assert folders.list_skipped(conn, limit=1, offset=1) == [Skip("b", "too large", 2)]
        assert folders.unskip(conn, "a")
        assert not folders.unskip(conn, "a")
        assert folders.count_skipped(conn) == 1


def test_the_policy_of_what_lies_in_a_watched_folder(store: Store) -> None:
    with store.writing() as conn:
        folders.add(conn, "/notes", 1000, "any")
        paths = ("/notes", "/notes/a/b.md", "/notes-2/a.md", "/", "notes")
        assert [folders.policy_of(conn, path) for path in paths] == ["any", "any", None, None, None]
