"""A plug-in of somebody else's for tests, installed: everything that it has does as its name says."""

from __future__ import annotations

from pathlib import Path

from tests.plugins.test_manager import install

WAYS = ("raise", "exit")
CODE = """
import sys
from memory.errors import NotAvailableError
from memory.llm import Reply
from plugins.hookspecs import hookimpl
from plugins.llms import Family, ModelList, ModelInfo
from plugins.traversers.contract import Traversal

WAYS = ("raise", "exit", "good")

def do(what):
    match what:
        case "raise": raise KeyError("a word of a note")
        case "exit": sys.exit(0)
        case "lacking": raise NotAvailableError("Install the rest of it.")

class Embedder:
    dimension = 4
    batch = 8
    query_prefix = document_prefix = ""

    def __init__(self, what):
        do(what.removeprefix("make-"))
        self.what = what

    @property
    def name(self):
        do(self.what.removeprefix("name-"))
        return f"strange:{self.what}"

    def embed_documents(self, texts):
        import numpy as np
        do(self.what.removeprefix("embed-"))
        return np.eye(4, dtype=np.float32)[[len(text) % 4 for text in texts]]

    def embed_query(self, text):
        return self.embed_documents([text])[0]

class Model:
    limits = (2.0, 2.0, 4.0)

    def __init__(self, what, settings):
        self.what = what

    def is_local(self):
        do(self.what.removeprefix("local-"))
        return True

    def info(self):
        return ModelInfo(self.what, is_local=True, context_tokens=4096)

    def stream(self, request, call):
        do(self.what.removeprefix("stream-"))
        yield Reply("all")

    def close(self):
        pass

def make(what, settings):
    do(what)
    def walk(graph, seeds, allowed, recall):
        do(what.removeprefix("walk-"))
    return walk

@hookimpl
def register_embedders(register):
    register("strange:", Embedder)

@hookimpl
def register_llms(register):
    names = ("good", *(f"{at}-{what}" for at in ("local", "stream") for what in ("raise", "exit")))
    models = tuple(Model(name, None).info() for name in names)
    register(Family("strange", open=Model, list_models=lambda settings: ModelList(models)))

@hookimpl
def register_traversers(register):
    for what in (*WAYS, "walk-raise", "walk-exit"):
        register(Traversal(f"wild-{what}", make=lambda settings, what=what: make(what, settings)))
"""
REASONS = {"raise": "KeyError", "exit": "SystemExit"}  # what is said of each


def install_strange(folder: Path) -> None:
    """Into a folder that is, or will be, on the path."""
    install(folder, "strange", CODE)
