"""What an agent waits for in a large memory: `python -m benchmarks.mcp --data DIR --episodes N [--json]`.

Builds the memory of `benchmarks.scale`, starts a daemon on it, and asks each question twice, in turns: of the daemon's
API, and of `pal mcp` over stdin and stdout. benchmarks/README.md says what each figure means.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from mcp.client.client import Client as AgentClient
from mcp.client.stdio import StdioServerParameters, stdio_client

from benchmarks import command, metrics
from benchmarks.daemon import child_processes
from benchmarks.scale import WARM_UP, build_apart, load_sets
from benchmarks.watching import QUIET
from daemon.client.client import Client
from daemon.client.starting import connect
from daemon.config.settings import McpClientSettings, McpSettings, render
from daemon.paths import Paths, private_folder

AGENT = "bench"
PASSAGES = 10
OTHERS = 50  # calls of each tool next to `recall`
SETTINGS = replace(QUIET, mcp=McpSettings(calls_per_minute=10_000, clients={AGENT: McpClientSettings(everything=True)}))
PAL = "import sys; from daemon.cli import main; sys.exit(main(prog_name='pal'))"
Asked = Callable[[str], Awaitable[Any]]


async def measure(client: Client, paths: Paths, questions: Sequence[str]) -> dict[str, Any]:
    """The figures, as the JSON object of the README. The two are asked in turns."""
    server = StdioServerParameters(
        command=sys.executable, args=["-c", PAL, "mcp", "--client", AGENT], env=os.environ | paths.environment()
    )
    async with AgentClient(stdio_client(server)) as agent:

        async def recall(question: str) -> None:
            client.recall(question, PASSAGES)

        ways: dict[str, Asked] = {
            "api": recall,
            "stdio": lambda question: _call(agent, "recall", question=question, k=PASSAGES),
        }
        others: dict[str, Asked] = {
            "context": lambda question: _call(agent, "context", task=question),
            "revisions": lambda question: _call(agent, "revisions", state="all"),
        }
        for question in questions[:WARM_UP]:
            for ask in ways.values():
                await ask(question)
        pids = {client.hello().pid, *child_processes(os.getpid())}  # who started the daemon has it among its children
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in (*ways, *others)}
        for number, question in enumerate(questions):
            names = list(ways)
            for name in (*names[number % 2 :], *names[: number % 2]):
                times[name].append(await _time(ways[name], question, pids))
        for name, ask in others.items():
            times[name] = [await _time(ask, question, pids) for question in questions[:OTHERS]]
    result: dict[str, Any] = {"episodes": client.status().stats.episodes, "questions": len(questions)}
    for name, taken in times.items():
        walls, used = zip(*taken, strict=True)
        result[name] = {
            f"{kind}{share}_ms": metrics.percentile(of, share)
            for kind, of in (("p", walls), ("cpu_p", used))
            for share in (50, 95)
        }
    more = [stdio - api for (_, stdio), (_, api) in zip(times["stdio"], times["api"], strict=True)]
    result["stdio"]["more_cpu_p50_ms"] = metrics.percentile(more, 50)
    return result


async def _call(client: AgentClient, tool: str, **arguments: Any) -> None:
    answered = await client.call_tool(tool, arguments)
    if answered.is_error:
        raise command.DataError(f"{tool} was refused: {answered.content}")


async def _time(ask: Asked, question: str, pids: Collection[int]) -> tuple[float, float]:
    """Milliseconds of a call: on the clock, and of the processor in all processes that take part."""
    started, used = time.perf_counter(), used_ms(pids)
    await ask(question)
    return 1000 * (time.perf_counter() - started), used_ms(pids) - used


def used_ms(pids: Collection[int]) -> float:
    """The processor time that these processes have taken, in the threads that they have now; 0 without /proc."""
    tasks = (task for pid in pids for task in Path(f"/proc/{pid}/task").glob("*/schedstat"))
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e6


def show(result: dict[str, Any]) -> None:
    """Print the table: one row for each way to ask."""
    names = {"api": "recall, API", "stdio": "recall, stdio"}
    names |= {tool: f"{tool}, stdio" for tool in ("context", "revisions")}
    command.show_table(
        f"{result['episodes']:,} episodes, {result['questions']:,} questions",
        [{"way": title, **result[name]} for name, title in names.items()],
        {
            "way": "way",
            "p50 ms": "p50_ms",
            "p95 ms": "p95_ms",
            "CPU p50 ms": "cpu_p50_ms",
            "CPU p95 ms": "cpu_p95_ms",
            "more than the API, CPU p50 ms": "more_cpu_p50_ms",
        },
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mcp", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="a question set, or a folder of them")
    parser.add_argument("--episodes", type=command.positive, required=True, metavar="N", help="documents to remember")
    parser.add_argument("--embedder", default="static", help="name of the embedder (default: static)")
    parser.add_argument("--limit", type=command.positive, default=300, metavar="N", help="questions at most (300)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument(
        "--keep", type=Path, metavar="HOME", help="keep the memory in this home, and use it if it is there"
    )
    options = parser.parse_args(arguments)
    return command.run(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    sets = load_sets(options.data)
    asked = [question.text for one in sets for question in one.questions]
    questions = asked[:: max(1, len(asked) // options.limit)][: options.limit]
    kept = nullcontext(options.keep) if options.keep else tempfile.TemporaryDirectory(prefix="palimpsest-bench-")
    with kept as folder:
        paths = Paths.in_folder(Path(folder))
        private_folder(paths.data)
        paths.config.write_text(render(SETTINGS), "utf-8")
        if not paths.memory.exists():
            build_apart(paths.memory, options.data, options.episodes, options.embedder)
        command.note("start the daemon")
        client = connect(paths)
        try:
            command.note(f"ask {len(questions)} questions, both ways")
            result = asyncio.run(measure(client, paths, questions))
        finally:
            client.stop()
    print(json.dumps(result)) if options.json else show(result)


if __name__ == "__main__":
    sys.exit(main())
