"""A plug-in of somebody else's for tests, installed: everything that it has does as its name says."""

from __future__ import annotations

from pathlib import Path

from tests.plugins.test_manager import install

WAYS = ("raise", "hang", "exit", "leave", "crash", "swell")
CODE = """
import os, signal, sys, time
from memory.llm import Reply
from plugins.exporters.contract import Exporter, Part
from plugins.hookspecs import hookimpl
from plugins.llms import Family, Look, ModelInfo
from plugins.traversers.contract import Traversal

WAYS = ("raise", "hang", "exit", "leave", "crash", "swell", "good", "odd")

def do(what):
    match what:
        case "raise": raise KeyError("no")
        case "hang": time.sleep(600)
        case "exit": sys.exit(0)
        case "leave": os._exit(7)
        case "crash": signal.raise_signal(signal.SIGSEGV)
        case "garble":
            for descriptor in range(3, 64):
                try: os.write(descriptor, b"\\x00\\x00\\x00\\x02{}")
                except OSError: pass
        case "swell": import numpy; numpy.ones(1 << 28)

class Embedder:
    dimension = 4
    batch = 8
    query_prefix = document_prefix = ""

    def __init__(self, what):
        self.name, self.what = f"strange:{what}", what

    def embed_documents(self, texts):
        import numpy as np
        do(self.what)
        return np.eye(4, dtype=np.float32)[[len(text) % 4 for text in texts]][:, : 3 if self.what == "odd" else 4]

    def embed_query(self, text):
        return self.embed_documents([text])[0]

class Reranker:
    def __init__(self, what):
        self.name, self.what = what, what

    def score(self, question, texts):
        do(self.what)
        if self.what == "pid":
            return [os.getpid()]
        return ["x"] if self.what == "odd" else [len(text) for text in texts]

class Model:
    limits = (2.0, 2.0, 4.0)

    def __init__(self, what, settings):
        self.what = what

    def is_local(self):
        return True

    def info(self):
        return ModelInfo(self.what, is_local=True, context_tokens=4096)

    def stream(self, request, call):
        yield f"{os.environ.get('STRANGE_API_KEY')} {os.environ.get('OPENAI_API_KEY')} "
        do(self.what)
        for message in request.messages:
            yield f"{message.native} "
        if self.what == "odd":
            yield Reply(5)
        while self.what == "endless":
            yield "on and on "
            time.sleep(0.05)
        yield Reply("all", native={1: "thought"})

    def close(self):
        pass

def write(what):
    def write(lines):
        do(what)
        if what == "odd":
            yield 1
        yield Part("", b"".join(line.kind.encode() + b" " for line in lines))
    return write

@hookimpl
def register_embedders(register):
    register("strange:", Embedder)

@hookimpl
def register_rerankers(register):
    register("strange:", Reranker)

@hookimpl
def register_llms(register):
    models = tuple(Model(what, None).info() for what in WAYS)
    register(Family("strange", open=Model, look=lambda settings: Look(models)))

@hookimpl
def register_exporters(register):
    for what in WAYS:
        register(Exporter(f"strange-{what}", "It.", write(what), kinds=("source",), suffixes=(f".{what}",)))

@hookimpl
def register_traversers(register):
    register(Traversal("wild", "Walks off.", make=lambda settings: do, remembers=False))
"""
REASONS = {  # what is said of each
    "raise": "failed with KeyError",
    "hang": "had not answered after",
    "exit": "failed with SystemExit",
    "leave": "ended the process that it runs in, with code 7",
    "crash": "was ended by SIGSEGV",
    "swell": "takes more than 512 MB of memory. To let it: pal config set plugins.memory_mb 1024",
}


def install_strange(folder: Path) -> None:
    """Into a folder that is, or will be, on the path."""
    install(folder, "strange", CODE)
