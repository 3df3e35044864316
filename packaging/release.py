"""Fills in the recipes of a release: `python packaging/release.py dist/palimpsest_memory-1.0.tar.gz --url URL` writes
the Homebrew formula and the PKGBUILD for it into packaging/out/. Version and checksum are those of the file.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
RECIPES = {"palimpsest.rb.in": "palimpsest.rb", "PKGBUILD.in": "PKGBUILD"}


def fill_recipes(sdist: Path, url: str, homepage: str, out: Path) -> list[Path]:
    """Writes the recipes of a source distribution, which is to be had at `url`. ValueError for what is none."""
    named = re.fullmatch(r"palimpsest_memory-(\d[\w.]*)\.tar\.gz", sdist.name)
    if named is None:
        raise ValueError(
            f"{sdist.name} is no source distribution of Palimpsest: build one with python -m build --sdist"
        )
    values = {
        "version": named[1],
        "sha256": hashlib.sha256(sdist.read_bytes()).hexdigest(),
        "url": url,
        "homepage": homepage,
    }
    out.mkdir(parents=True, exist_ok=True)
    written = []
    for template, name in RECIPES.items():
        text = re.sub(r"@(\w+)@", lambda match: values[match[1]], (HERE / template).read_text("utf-8"))
        (out / name).write_text(text, "utf-8")
        written.append(out / name)
    return written


def main() -> int:
    """Reads the command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sdist", type=Path, help="the source distribution that was built")
    parser.add_argument("--url", required=True, help="where it will be downloaded from")
    parser.add_argument("--homepage", required=True, help="the project's page")
    parser.add_argument("--out", type=Path, default=HERE / "out", help="where the recipes are written")
    options = parser.parse_args()
    try:
        for path in fill_recipes(options.sdist, options.url, options.homepage, options.out):
            print(path)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
