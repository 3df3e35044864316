"""pal plugins, with the sample plug-in installed by pip, and beside it such as do their worst when imported."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from plugins import trial
from plugins.trial import Trial
from tests.cli.vault import ROOT, Shell
from tests.plugins.test_manager import install

SAMPLE = ROOT / "examples" / "plugin"
RECIPE = """>> title: Harbour soup
>> servings: 4

Melt @butter{50%g} in the #big pot{} -- slowly
and add @leeks{3} and @salt.

Let it simmer for ~{20%minutes}. [- longer
does no harm -]
"""
WORST = {
    "raises": "raise RuntimeError('out of order')",
    "leaves": "import os; os._exit(9)",
    "crashes": "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
    "swells": "data = b'x' * (2 << 30)",
}
REASONS = {
    "raises": "RuntimeError: out of order",
    "leaves": "importing it ends the process, with code 9",
    "crashes": "importing it ends the process, by SIGSEGV",
    "swells": "it takes more than 1,024 MiB of memory to import",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder into which the sample was installed, which this process and those that it starts import from."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*command, "--target", str(folder), str(SAMPLE)], check=True, timeout=60)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setenv("PYTHONPATH", os.pathsep.join([str(folder), str(ROOT)]))
        yield folder


@pytest.fixture
def shell(site: Path, tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path, tmp_path / "home")
    yield shell
    shell.pal("daemon", "stop")


def test_the_sample_is_listed_and_reads_whatever_the_others_do(site: Path, shell: Shell) -> None:
    for name, code in WORST.items():
        install(site, name, code)
    said = shell.pal("plugins", "--json")
    assert said.code == 0, said
    found = {one["name"]: one for one in said.json["plugins"]}
    assert found["cooklang"] == {
        "name": "cooklang", "package": "palimpsest-cooklang 1.0", "problem": "", "outside": "",
        "adds": [{"kind": "readers", "names": ["cooklang"]}],
    }  # fmt: skip
    assert {name: found[name]["problem"] for name in WORST} == REASONS
    own = {one["kind"]: one["names"] for one in said.json["built_in"]["adds"]}
    assert {"markdown", "text"} <= {*own["readers"]} and "cooklang" not in own["readers"]

    assert said.err == ""
    listed = shell.pal("plugins").out.splitlines()
    assert listed[listed.index(next(line for line in listed if line.startswith("cooklang"))) + 1].split() == [
        "readers:",
        "cooklang",
    ]
    assert f"          left out: {REASONS['leaves']}" in listed

    (shell.folder / "soup.cook").write_text(RECIPE)
    assert shell.pal("add", "soup.cook").code == 0
    answer = shell.pal("ask", "How long must the harbour soup simmer?")
    assert "Let it simmer for 20 minutes." in answer.out and "soup.cook:7" in answer.out

    looked = shell.pal("doctor")
    assert looked.code == 1
    assert f"The plug-in leaves was left out ({REASONS['leaves']})" in looked.out
    assert "pip uninstall leaves" in looked.out


def test_one_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "hangs", "import time; time.sleep(600)")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(trial, "TRIAL_SECONDS", 0.3)
    results = {entry.name: tried.problem for entry, tried in Trial().results().items()}
    assert results["hangs"].startswith("it had not been imported after")


def test_the_sample_reads_what_is_needed_and_what_is_done(site: Path) -> None:
    import palimpsest_cooklang

    [recipe] = palimpsest_cooklang.read(Path("soup.cook"), RECIPE.encode())
    assert (recipe.title, recipe.properties) == ("Harbour soup", {"servings": "4"})
    assert recipe.text.splitlines() == [
        "Ingredients: butter 50 g, leeks 3, salt.",
        "Tools: big pot.",
        "Melt butter in the big pot",
        "and add leeks and salt.",
        "Let it simmer for 20 minutes.",
    ]
    assert recipe.lines == (4, 4, 4, 5, 7)
