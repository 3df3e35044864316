from __future__ import annotations

from memory.store import sources
from memory.store.store import Store
from memory.time.timestamps import from_ms
from memory.views import Skipped


def test_a_folder_is_watched_once_and_remembers_how(store: Store) -> None:
    with store.writing() as conn:
        sources.watch_folder(conn, "/notes", 1000)
        sources.watch_folder(conn, "/mail", 2000, "any", {"ignore": ["*.tmp"]})
        sources.watch_folder(conn, "/notes", 3000, "any")
        assert sources.list_folders(conn) == [
            ("/mail", "any", {"ignore": ["*.tmp"]}),
            ("/notes", "any", {}),
        ]
        for uri in ("/mail/a.eml", "/mailing.md"):
            sources.skip(conn, uri, "not text", 1)
        for _ in range(2):
            sources.unwatch_folder(conn, "/mail", "/mail")
        assert [skip.uri for skip in sources.list_skipped(conn)] == ["/mailing.md"]
        assert [path for path, _, _ in sources.list_folders(conn)] == ["/notes"]


def test_a_skip_keeps_its_newest_reason_until_it_is_cleared(store: Store) -> None:
    with store.writing() as conn:
        sources.skip(conn, "a", "not text", 1)
        sources.skip(conn, "b", "too large", 2)
        sources.skip(conn, "a", "no permission", 3)
        assert sources.list_skipped(conn) == [
            Skipped("a", "no permission", from_ms(3)),
            Skipped("b", "too large", from_ms(2)),
        ]
        assert sources.list_skipped(conn, limit=1) == [Skipped("a", "no permission", from_ms(3))]
        assert sources.search_skipped(conn, "", 1) == ([Skipped("a", "no permission", from_ms(3))], 2)
        assert sources.search_skipped(conn, "LARGE", 9) == ([Skipped("b", "too large", from_ms(2))], 1)
        assert sources.search_skipped(conn, "%", 9) == ([], 0)
        for _ in range(2):
            sources.unskip(conn, ["a"])
        assert sources.list_skipped(conn) == [Skipped("b", "too large", from_ms(2))]


def test_the_policy_of_what_lies_in_a_watched_folder(store: Store) -> None:
    with store.writing() as conn:
        sources.watch_folder(conn, "/notes", 1000, "any")
        paths = ("/notes", "/notes/a/b.md", "/notes-2/a.md", "/", "notes")
        assert [sources.folder_policy(conn, path) for path in paths] == ["any", "any", None, None, None]
