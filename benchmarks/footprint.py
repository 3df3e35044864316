"""What an installation costs: `python -m benchmarks.footprint` builds the wheel, installs it as a new user would, with
`--extras onnx,readers` if wanted, and prints seconds, megabytes and a table.

Sizes are those of the files of a package, without what Python compiles beside them; what is downloaded are the wheels.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import venv
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
MB = 1e6
OF_VENV = ("pip", "setuptools")  # which are there before
SMALLEST_MB = 0.05  # that has a row of its own


class Cost(NamedTuple):
    """A package, the bytes of its files, and who needs it directly."""

    name: str
    size: int
    needed_by: tuple[str, ...]


def measure_packages(site: Path) -> list[Cost]:
    """Every package of an installation, the largest first."""
    found = {canonicalize_name(one.name): one for one in distributions(path=[str(site)])}
    needs = {name: _needs(one) for name, one in found.items()}
    costs = [
        Cost(name, _count_bytes(one), tuple(sorted(other for other, wanted in needs.items() if name in wanted)))
        for name, one in found.items()
        if name not in OF_VENV
    ]
    return sorted(costs, key=lambda cost: -cost.size)


def _needs(distribution: Distribution) -> set[str]:
    """What it needs on this machine, without its extras."""
    wanted = map(Requirement, distribution.requires or ())
    return {canonicalize_name(one.name) for one in wanted if one.marker is None or one.marker.evaluate({"extra": ""})}


def _count_bytes(distribution: Distribution) -> int:
    files = (Path(str(distribution.locate_file(file))) for file in distribution.files or ())
    return sum(path.stat().st_size for path in files if path.is_file() and path.suffix != ".pyc")


def install(folder: Path, extras: str) -> tuple[Path, float, int]:
    """Builds the wheel and installs it into a new environment, from wheels that are already here -> where it is, how
    many seconds of the processor that took, and how many bytes were downloaded."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    built, wheels, environment = folder / "built", folder / "wheels", folder / "environment"
    _run(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(built), str(ROOT))
    [wheel] = built.glob("*.whl")
    wanted = f"{wheel}[{extras}]" if extras else str(wheel)
    constraints = ("--constraint", str(ROOT / "constraints.txt"))
    _run(*pip, "download", "--dest", str(wheels), *constraints, wanted)
    venv.create(environment, with_pip=True)
    python = next(path for path in environment.glob("*/python*") if path.is_file())
    began = _used_seconds()
    _run(str(python), *pip[1:], "install", "--no-index", "--find-links", str(wheels), *constraints, wanted)
    seconds = _used_seconds() - began
    return next(environment.glob("**/site-packages")), seconds, sum(path.stat().st_size for path in wheels.iterdir())


def _used_seconds() -> float:
    """Of the processor, by all processes that were started here."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _run(*command: str) -> None:
    subprocess.run(command, check=True)


def write_table(costs: list[Cost]) -> str:
    """The packages as a table of Markdown; small ones in a row together."""
    large = [cost for cost in costs if cost.size >= SMALLEST_MB * MB]
    rows = [
        f"| `{one.name}` | {one.size / MB:.1f} | {', '.join(f'`{name}`' for name in one.needed_by)} |" for one in large
    ]
    rest = sum(cost.size for cost in costs[len(large) :]) / MB
    return "\n".join([
        "| package | MB | needed by |", "|---|---|---|", *rows, f"| {len(costs) - len(large)} others | {rest:.1f} | |",
    ])  # fmt: skip


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--extras", default="", help="extras to install, with commas between them")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        site, seconds, downloaded = install(Path(folder), options.extras)
        costs = measure_packages(site)
        compiled = sum(path.stat().st_size for path in site.rglob("*.pyc"))
    print(write_table(costs))
    total = sum(cost.size for cost in costs)
    print(
        f"\n{len(costs)} packages: {downloaded / MB:.0f} MB downloaded, {total / MB:.0f} MB of files"
        f" (and {compiled / MB:.0f} MB that Python compiles), installed in {seconds:.0f} s of the processor"
    )


if __name__ == "__main__":
    main()
