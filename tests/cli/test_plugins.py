"""pal plugins, with the sample plug-in installed by pip, and next to it such as fail when they are imported."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

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
BROKEN = {"raises": "raise RuntimeError('out of order')", "leaves": "import sys; sys.exit(9)"}
REASONS = {"raises": "RuntimeError: out of order", "leaves": "SystemExit: 9"}


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
    for name, code in BROKEN.items():
        install(site, name, code)
    said = shell.pal("plugins", "--json")
    assert said.code == 0, said
    found = {one["name"]: one for one in said.json["plugins"]}
    assert found["cooklang"] == {
        "name": "cooklang", "package": "palimpsest-cooklang 1.0", "problem": "", "is_off": False,
        "adds": {"readers": ["cooklang"]},
    }  # fmt: skip
    assert {name: found[name]["problem"] for name in BROKEN} == REASONS
    own = said.json["built_in"]["adds"]
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
    assert "pal plugins off leaves" in looked.out


def test_one_that_is_off_is_not_loaded_until_it_is_on_again(site: Path, shell: Shell) -> None:
    (shell.folder / "soup.cook").write_text(RECIPE)
    assert shell.pal("plugins", "off", "cooklang").code == 0
    assert shell.pal("config", "get", "plugins.disabled").out == "cooklang\n"
    [found] = [one for one in shell.pal("plugins", "--json").json["plugins"] if one["name"] == "cooklang"]
    assert found["is_off"] and found["adds"] == {} and found["problem"] == ""
    assert "off: pal plugins on cooklang" in shell.pal("plugins").out
    assert "cooklang" not in shell.pal("doctor").out
    assert "no reader for .cook" in shell.pal("add", "soup.cook").err

    assert shell.pal("plugins", "on", "cooklang", "--json").json == {"plugins.disabled": []}
    shell.pal("daemon", "restart")
    assert shell.pal("add", "soup.cook").code == 0


def test_one_that_is_not_installed_cannot_be_turned_off(shell: Shell) -> None:
    said = shell.pal("plugins", "off", "cooking")
    assert said.code == 4 and "No plug-in 'cooking' is installed. Installed: cooklang" in said.err


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
