"""What is known of a watched folder's place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from daemon.watch.roots import Root, identify, network_of
from daemon.watch.walking import Ignore

MOUNTS = r"""
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 22 0:40 / /home rw shared:1 - btrfs /dev/sda rw
31 30 0:41 / /home/ana/NAS\040music rw - nfs4 nas:/music rw
32 31 0:42 / /home/ana/NAS\040music/local rw - ext4 /dev/sdb rw
33 22 0:43 / /mnt/ssh rw - fuse.sshfs box: rw
34 22 0:44 / /mnt/safe rw - fuse.gocryptfs safe rw
35 22 0:45 / /mnt/share rw - ext4 /dev/sdc rw
36 35 0:46 / /mnt/share rw - cifs //nas/share rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/ana/notes", ""),
        ("/home/ana/NAS music", "nfs4"),
        ("/home/ana/NAS music/2024", "nfs4"),
        ("/home/ana/NAS music too", ""),
        ("/home/ana/NAS music/local/x", ""),
        ("/mnt/ssh/notes", "fuse.sshfs"),
        ("/mnt/safe", ""),
        ("/mnt/share/x", "cifs"),
    ],
)
def test_network_drives_are_recognised_by_their_kind(path: str, kind: str) -> None:
    assert network_of(Path(path), MOUNTS) == kind
    assert network_of(Path(path), "") == ""


def test_a_folder_is_known_by_what_it_is_and_not_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    was = identify(tmp_path / "a")
    assert was is not None and was != identify(tmp_path / "b")
    (tmp_path / "a").rename(tmp_path / "c")
    (tmp_path / "a").symlink_to(tmp_path / "c")
    (tmp_path / "file").touch()
    assert identify(tmp_path / "c") == was
    assert [identify(tmp_path / name) for name in ("a", "file", "nothing")] == [None, None, None]


def test_what_is_known_outlives_the_process(tmp_path: Path) -> None:
    ignore = Ignore(tmp_path, [], [])
    root = Root(tmp_path, ignore, "any", (2, "a-volume", 0), ("boat",), is_undecided=True, settled=99)
    options = json.loads(json.dumps(root.options))
    again = Root.from_options(tmp_path, "any", options, ignore)
    assert (again.known_as, again.tags, again.is_undecided, again.settled) == (root.known_as, ("boat",), True, 99)
    older = Root.from_options(tmp_path, "any", {"identity": [65024, 2]}, ignore)
    assert (older.known_as, older.tags, older.is_undecided, older.settled) == (None, (), False, 0)
