"""What a daemon imports before its first answer. How long that takes is measured in benchmarks/; what it is, here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from memory import Memory
from plugins.manager import load

HEAVY = (
    "anthropic", "ollama", "httpx", "httpx2", "pydantic", "jsonschema", "mcp", "apscheduler", "watchdog.observers",
    "markdown_it", "bs4", "torch", "rich", "textual",
    "memory.facts.rules.extract", "memory.facts.assertion", "memory.ingest.ingest", "memory.ingest.chunk",
    "memory.insight.diagnosis", "memory.services.maintenance", "memory.services.ingest",
    "plugins.readers.common.parts", "plugins.readers.common.html", "plugins.readers.common.calendars", "yaml",
    "plugins.rankers.training", "plugins.rankers.scorer",
)  # fmt: skip

CODE = """
import sys
import daemon.api
import daemon.process.server
from memory import Memory
from plugins import manager

plugins = manager.load()
with Memory.open(sys.argv[1], embedder=plugins.embedder("static"), ranker=plugins.ranker()) as memory:
    list(memory.questions.ask("Who is the vet for Bosun?"))
print(*sys.modules)
"""


def test_nothing_heavy_is_imported_before_the_first_answer(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    with Memory.open(file, embedder=load().embedder("static")) as memory:
        memory.ingest.remember("The vet for Bosun is Dr Holm.")
    done = subprocess.run([sys.executable, "-c", CODE, str(file)], capture_output=True, text=True, check=True)
    modules = set(done.stdout.splitlines()[-1].split())
    assert {"uvicorn", "starlette.routing", "memory.services.questions"} <= modules
    assert modules & set(HEAVY) == set()
