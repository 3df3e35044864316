from __future__ import annotations

import os
from pathlib import Path

import pytest

from daemon.config.file import describe_exposure, read_or_make, write_setting

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX's")


def test_a_key_in_a_file_that_others_can_read_is_reported_and_the_defaults_are_none(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    read_or_make(config)
    config.chmod(0o644)
    assert describe_exposure(config) == "", "the names of files that hold passwords are no passwords"
    write_setting(config, "anthropic.key_file", "sk-ant-api03-" + "a1B2c3D4" * 11)
    config.chmod(0o644)
    line = next(n for n, text in enumerate(config.read_text("utf-8").splitlines(), 1) if "sk-ant" in text)
    said = describe_exposure(config)
    assert f"line {line} looks like it holds" in said and f"chmod 600 {config}" in said and "a1B2" not in said
    config.chmod(0o600)
    assert describe_exposure(config) == ""
