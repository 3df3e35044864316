"""Tiny models as ONNX files, written by hand: what they compute can be seen, and nothing but Python writes them.

The format is protobuf; the numbers of its fields are those of onnx.proto.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, pre_tokenizers, processors

FLOAT, INT64, INT, INTS = 1, 7, 2, 7  # kinds of tensors, then of attributes
WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "query:", "passage:", "harbour", "crane", "rent", "mast", "oak", "fog")


def write_embedder(folder: Path, table: NDArray[np.float32], file: str = "model.onnx", **config: Any) -> Path:
    """A sentence model in a folder: the state of a token is its row of `table` (tokens, d). `config` is that of its
    pooling."""
    ids = _node("Gather", ("table", "input_ids"), "last_hidden_state")
    write_model(folder / file, [ids], {"table": table}, "last_hidden_state", 3)
    write_tokenizer(folder / "tokenizer.json")
    write_json(folder / "config.json", {"hidden_size": table.shape[1]})
    write_json(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": table.shape[1], **config})
    parts = ((0, "", "models.Transformer"), (1, "1_Pooling", "models.Pooling"))
    write_json(folder / "modules.json", [{"idx": n, "path": path, "type": kind} for n, path, kind in parts])
    return folder


def write_cross_encoder(folder: Path, worth: NDArray[np.float32]) -> Path:
    """A cross-encoder in a folder: a pair scores the sum of what its words are `worth`, (tokens,) or (tokens, n)."""
    table = worth.reshape(len(worth), -1)
    nodes = [
        _node("Gather", ("worth", "input_ids"), "each"),
        _node("ReduceSum", ("each", "axis"), "logits", keepdims=0),
    ]
    write_model(folder / "model.onnx", nodes, {"worth": table, "axis": np.array([1], np.int64)}, "logits", 2)
    write_tokenizer(folder / "tokenizer.json")
    write_json(folder / "config.json", {"max_position_embeddings": 64})
    return folder


def write_tokenizer(path: Path) -> None:
    """Words of WORDS, lower or upper, with marks around them and between the two of a pair."""
    tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(path))


def write_json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), "utf-8")


def write_model(
    path: Path, nodes: Sequence[bytes], weights: Mapping[str, NDArray[Any]], output: str, dimensions: int
) -> None:
    """A model with the input `input_ids` (b, tokens) and one output of so many dimensions."""
    graph = b"".join(_field(1, node) for node in nodes) + _field(2, b"tiny")
    graph += b"".join(_field(5, _tensor(name, values)) for name, values in weights.items())
    graph += _field(11, _value("input_ids", INT64, 2)) + _field(12, _value(output, FLOAT, dimensions))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_number(1, 8) + _field(8, _field(1, b"") + _number(2, 17)) + _field(7, graph))


def _node(kind: str, inputs: Sequence[str], output: str, **whole: int) -> bytes:
    node = b"".join(_field(1, name.encode()) for name in inputs) + _field(2, output.encode()) + _field(4, kind.encode())
    return node + b"".join(
        _field(5, _field(1, name.encode()) + _number(3, value) + _number(20, INT)) for name, value in whole.items()
    )


def _tensor(name: str, values: NDArray[Any]) -> bytes:
    kind = FLOAT if values.dtype == np.float32 else INT64
    dims = b"".join(_number(1, size) for size in values.shape)
    return dims + _number(2, kind) + _field(8, name.encode()) + _field(9, values.tobytes())


def _value(name: str, kind: int, dimensions: int) -> bytes:
    shape = b"".join(_field(1, _field(2, f"d{n}".encode())) for n in range(dimensions))
    return _field(1, name.encode()) + _field(2, _field(1, _number(1, kind) + _field(2, shape)))


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])
