"""The tests. Daemons that they start use the static table, whatever is installed: those of `auto` say otherwise."""

import os

os.environ["PALIMPSEST_EMBEDDER"] = "static"
