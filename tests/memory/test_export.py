"""What leaves a memory comes back as the same memory: byte for byte, and answer for answer."""

from __future__ import annotations

import json
import re
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import Memory
from memory.errors import InvalidInputError, NotFoundError, StoreDamagedError, StoreNewerError
from memory.nouns import Answer, Document
from memory.protocols import Embedder
from memory.store.export import COUNTED, KINDS, list_columns
from memory.store.store import Store
from tests.examples import examples

START = datetime(2022, 1, 1, tzinfo=UTC)
LINES = (
    "Ana lives in Bonn.",
    "Ana moved to Riga.",
    "Ana no longer lives in Riga.",
    "Bo works at Orbit.",
    "Rent: 900",
    "Rent: 950",
    "The wifi password: tulip-Harbour-77",
    "Ёлка “‹›” \u2028 \x1b[31m 日本語 \U0001f9c2",
)
QUESTIONS = ("Where does Ana live?", "What is the rent?", "Where does Bo work?", "What was the rent in 2022?")


def exported(memory: Memory, secrets: bool = True) -> bytes:
    return b"".join(memory.browsing.export_rows("1", secrets))


def loaded(export: bytes, folder: Path, embedder: Embedder) -> Memory:
    Memory.load(BytesIO(export), folder / "memory.db", folder / "kept.db")
    memory = Memory.open(folder / "memory.db", embedder=embedder)
    list(memory.maintenance.switch_embedder(embedder))
    return memory


def answers(memory: Memory) -> list[Any]:
    """What is answered, from what, and what the edges say to it."""
    found: list[Any] = []
    for question in QUESTIONS:
        *_, last = memory.questions.ask(question, now=START + timedelta(days=900))
        assert isinstance(last, Answer)
        found.append((last.text, last.citations, last.no_answer, last.confidence))
        found.append(
            [(hit.episode, hit.score, hit.channels) for hit in memory.questions.retrieve(question).recall.hits]
        )
    with suppress(NotFoundError):  # nobody ever spoke of her
        found += memory.knowledge.facts("Ana", history=True)
    return found


class Life:
    """A person's memory, to whom things happen."""

    def __init__(self, path: Path, embedder: Embedder) -> None:
        self.memory = Memory.open(path, embedder=embedder)
        self.conversation = self.memory.conversations.create("Talk")

    def move(self, what: str, *how: Any) -> None:
        with suppress(NotFoundError, InvalidInputError):
            getattr(self, what)(*how)

    def read(self, name: str, lines: list[int], day: int | None) -> None:
        at = None if day is None else START + timedelta(days=day)
        text = "\n\n".join(LINES[line] for line in lines)
        policy = "any" if name == "b" else "local"
        self.memory.ingest.remember_many([Document(name, text, title=name, at=at, tags=("home",), policy=policy)])

    def ask(self, question: int, verdict: str) -> None:
        *_, last = self.memory.questions.ask(QUESTIONS[question], conversation=self.conversation)
        assert isinstance(last, Answer)
        self.memory.conversations.add_question(self.conversation, QUESTIONS[question])
        self.memory.conversations.add_answer(self.conversation, last)
        self.memory.questions.feedback(last.trace_id or 0, verdict)

    def settle(self, verdict: str) -> None:
        for one in self.memory.knowledge.revisions("all", 1):
            self.memory.knowledge.undo(one.id) if verdict == "undo" else self.memory.knowledge.settle(one.id, verdict)  # type: ignore[arg-type]

    def drop(self, name: str) -> None:
        self.memory.ingest.retire(name)

    def forget(self, name: str) -> None:
        self.memory.forgetting.forget(name)

    def join(self) -> None:
        self.memory.knowledge.join_names("Ana", "Bo")


name = st.sampled_from(["a", "b", "c"])
moves = st.one_of(
    *[st.tuples(st.just("read"), name, st.lists(st.integers(0, len(LINES) - 1), min_size=1, max_size=4),
                st.none() | st.integers(0, 800))] * 3,
    *[st.tuples(st.just("ask"), st.integers(0, 3), st.sampled_from(["good", "bad", "none"]))] * 2,
    st.tuples(st.just("settle"), st.sampled_from(["keep", "both", "old", "undo"])),
    st.tuples(st.just("drop"), name),
    st.tuples(st.just("forget"), name),
    st.tuples(st.just("join")),
)  # fmt: skip


@examples(1 / 3)
@given(st.lists(moves, min_size=3, max_size=12))
def test_it_comes_back_as_the_same_memory(static: Embedder, steps: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "life.db"
        life = Life(path, static)
        with life.memory:
            for step in steps:
                life.move(*step)
        with Memory.open(path, embedder=static) as memory:
            export = exported(memory)
            with loaded(export, Path(folder), static) as again:
                assert exported(again) == export
                assert again.maintenance.check().problems == ()
                assert learnt(again) == learnt(memory)
                assert answers(again) == answers(memory)


def learnt(memory: Memory) -> list[Any]:
    """What edges remember of questions."""
    with memory.store.reading() as conn:
        return conn.execute("SELECT edge_id, slot, data, n_pos, n_neg FROM edge_memory ORDER BY 1, 2").fetchall()


def test_what_questions_have_in_common_comes_back(fresh: Memory, tmp_path: Path, static: Embedder) -> None:
    fresh.ingest.remember("\n\n".join(f"Box {n} stands in room {n}." for n in range(52)), title="Boxes", source="boxes")
    for n in range(51):
        *_, last = fresh.questions.ask(f"Where does box {n} stand?")
        fresh.questions.feedback(last.trace_id, "good")  # type: ignore[union-attr]
    fresh.maintenance.consolidate()
    export = exported(fresh)
    assert b'"type":"embedder"' in export
    with loaded(export, tmp_path / "again", static) as again:
        assert exported(again) == export
        assert learnt(again) == learnt(fresh) != []


@pytest.fixture(autouse=True)
def again_folder(tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()


# Damage ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lines(static: Embedder) -> list[bytes]:
    with Memory.open(":memory:", embedder=static) as memory:
        memory.ingest.remember("Ana lives in Bonn. The wifi password: tulip-Harbour-77", title="a", source="a")
        memory.ingest.remember("Ana moved to Riga.", title="b", source="b", at=START)
        return exported(memory).splitlines(keepends=True)


def refusal(lines: list[bytes], folder: Path) -> str:
    with pytest.raises((InvalidInputError, StoreNewerError)) as raised:
        Memory.load(BytesIO(b"".join(lines)), folder / "memory.db", folder / "kept.db")
    assert [file.name for file in folder.iterdir()] == ["again"], "nothing is left of it"
    return str(raised.value)


def place(lines: list[bytes], kind: str) -> int:
    return next(n for n, line in enumerate(lines) if line.startswith(b'{"type":"%s"' % kind.encode()))


Damage = Callable[[list[bytes]], tuple[list[bytes], str]]


def cut_in_a_line(lines: list[bytes]) -> tuple[list[bytes], str]:
    return [*lines[:9], lines[9][:20]], "The export was cut off at line 10."


def cut_between_lines(lines: list[bytes]) -> tuple[list[bytes], str]:
    return lines[:-1], f"The export was cut off at line {len(lines) - 1}."


def another_type(lines: list[bytes]) -> tuple[list[bytes], str]:
    n = place(lines, "source")
    return [
        *lines[:n],
        lines[n].replace(b'"id":1', b'"id":"1"'),
        *lines[n + 1 :],
    ], f"Line {n + 1}: It is damaged: Expected"


def unknown_kind(lines: list[bytes]) -> tuple[list[bytes], str]:
    return [*lines[:3], b'{"type":"spell"}\n', *lines[3:]], "Line 4: It is damaged: Invalid value 'spell'"


def unknown_field(lines: list[bytes]) -> tuple[list[bytes], str]:
    n = place(lines, "edge")
    return [*lines[:n], lines[n].replace(b'"src"', b'"to":1,"src"'), *lines[n + 1 :]], f"Line {n + 1}: It is damaged"


def no_text(lines: list[bytes]) -> tuple[list[bytes], str]:
    return [*lines[:5], b"\xff\xfe\n", *lines[6:]], "Line 6: It is damaged"


def told_twice(lines: list[bytes]) -> tuple[list[bytes], str]:
    n = place(lines, "episode")
    return [*lines[: n + 1], *lines[n:]], f"Line {n + 2}: It contradicts earlier lines: UNIQUE"


def too_large(lines: list[bytes]) -> tuple[list[bytes], str]:
    n = place(lines, "source")
    return [*lines[:n], lines[n].replace(b'"id":1', b'"id":1' + b"0" * 30), *lines[n + 1 :]], f"Line {n + 1}: "


def left_out(lines: list[bytes]) -> tuple[list[bytes], str]:
    n = place(lines, "alias")
    return [*lines[:n], *lines[n + 1 :]], "lines of the kind alias come before it"


def belongs_to_nothing(lines: list[bytes]) -> tuple[list[bytes], str]:
    n = place(lines, "thesis")
    wrong = re.sub(rb'"episode_id":\d+', b'"episode_id":999', lines[n])
    return [*lines[:n], wrong, *lines[n + 1 :]], "refers to a missing episode"


def a_second_header(lines: list[bytes]) -> tuple[list[bytes], str]:
    return [lines[0], *lines], "Line 2: It is damaged: Invalid value 'palimpsest'"


def something_behind(lines: list[bytes]) -> tuple[list[bytes], str]:
    return [*lines, lines[1]], f"Line {len(lines) + 1}: There are more lines after the end"


def a_note(lines: list[bytes]) -> tuple[list[bytes], str]:
    return [b"# Hello\n", b"there\n"], "Line 1: It is no export of Palimpsest."


def nothing(lines: list[bytes]) -> tuple[list[bytes], str]:
    return [], "Line 1: It is no export of Palimpsest."


def a_chat(lines: list[bytes]) -> tuple[list[bytes], str]:
    return [b'{"type":"message","text":"hi"}\n'], "Line 1: It is no export of Palimpsest."


def newer(lines: list[bytes]) -> tuple[list[bytes], str]:
    return [
        lines[0].replace(b'"format":2', b'"format":9,"more":1'),
        *lines[1:],
    ], "Line 1: the export was written by a newer"


@pytest.mark.parametrize(
    "damage",
    [cut_in_a_line, cut_between_lines, another_type, unknown_kind, unknown_field, no_text, told_twice, too_large,
     left_out, belongs_to_nothing, a_second_header, something_behind, a_note, nothing, a_chat, newer],
)  # fmt: skip
def test_what_is_damaged_or_foreign_is_refused_with_its_line(
    lines: list[bytes], damage: Damage, tmp_path: Path
) -> None:
    wrong, words = damage(lines)
    assert words in refusal(wrong, tmp_path)


@examples(2)
@given(st.data())
def test_whatever_bytes_are_changed_a_memory_is_whole_or_refused(lines: list[bytes], data: st.DataObject) -> None:
    export = bytearray(b"".join(lines))
    for _ in range(data.draw(st.integers(1, 3))):
        export[data.draw(st.integers(0, len(export) - 1))] = data.draw(st.integers(0, 255))
    with tempfile.TemporaryDirectory() as folder:
        memory, kept = Path(folder) / "memory.db", Path(folder) / "kept.db"
        with suppress(InvalidInputError, StoreNewerError, StoreDamagedError):
            Memory.load(BytesIO(export), memory, kept)
        assert not any(file.suffix == ".restored" for file in Path(folder).iterdir())


# What is in it --------------------------------------------------------------------------------------------------


def test_secrets_leave_only_when_they_are_asked_for(fresh: Memory, tmp_path: Path, static: Embedder) -> None:
    fresh.ingest.remember("The wifi password: tulip-Harbour-77", title="Wifi", source="wifi")
    masked = exported(fresh, secrets=False)
    assert b"tulip-Harbour-77" not in masked and b"mask_key" not in masked
    with loaded(masked, tmp_path / "again", static) as again:
        assert exported(again, secrets=False) == masked
        assert again.sources.list_masked() == []
    (tmp_path / "all").mkdir()
    with loaded(exported(fresh), tmp_path / "all", static) as again:
        (place,) = again.sources.list_masked()
        assert place.uri == "wifi"
        assert again.state.mask("password: tulip-Harbour-77") == fresh.state.mask("password: tulip-Harbour-77")


def test_marks_of_what_may_leave_stay(fresh: Memory) -> None:
    fresh.ingest.remember_many([Document("a", "Ana sang."), Document("b", "Bo sang.", policy="any")])
    lines = [json.loads(line) for line in exported(fresh).splitlines()]
    assert [line["policy"] for line in lines if line["type"] == "source"] == ["local", "any"]


def test_a_large_memory_takes_no_more_room_than_a_small_one(fresh: Memory) -> None:
    with fresh.store.writing() as conn:
        conn.executemany("INSERT INTO skip VALUES (?, ?, 1)", [(f"file {n}", "x" * 500) for n in range(20_000)])
    pieces: Iterator[bytes] = fresh.browsing.export_rows("1")
    tracemalloc.start()
    try:
        size = sum(len(piece) for piece in pieces)
        assert size > 10_000_000 > 10 * tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# Format 2. Renaming, removing or requiring a field makes a new format, which `load` must tell from this one.
FIELDS = """
meta: key value
source: at? conversation? id kind location? mtime_ns? policy properties reader ref? sha256? size? t_deleted?
    t_ingested title uri
source_tag: source_id tag
secret: kind line? placeholder source_id value
folder: added id options path policy
skip: reason t uri
forgotten: mark t
episode: event_from? event_to? expire_reason? id label? line_from? line_map? line_to? refs? seq sha256 since?
    source_id speaker? t_created t_expired? text turns? until? words
object: expire_reason? id kind? label? t_created t_expired?
alias: conf node_id norm origin surface
thesis: conf episode_id expire_reason? id label? modality origin span_from? span_to? superseded_by? t_created
    t_expired? text? valid_from? valid_to?
predicate: canon_id? id label
edge: conf dst expire_reason? id kind modality? n_support pred_id? role? src superseded_by? t_created t_expired?
    valid_from? valid_to?
provenance: episode_id extractor? item_id item_kind span_from? span_to?
revision: author conf id new_id new_kind old_id old_kind reason? relation state t t_settled?
journal: episode_id? field id item_id item_kind new? old? reason? revision_id? t
extraction: episode_id model t
embedder: center? center_n dimension document_prefix lam_mem? name query_prefix
trace: answer? as_of? citations confidence? feedback? id llm_calls missing ms no_answer? parent_id? plan? question t
    tier? tok_in tok_out
trace_step: detail ms stage step trace_id
trace_edge: delta? edge_id role trace_id
trace_visit: depth node_id parent_edge? score? stage status trace_id visit
train_label: edge_id origin trace_id weight y
ml_model: active id kind metrics? params t
llm_probe: grades name t
llm_use: calls day failed is_local model ms purpose tok_cached tok_read tok_written
conversation: id t_created t_updated title
message: citations conversation_id id no_answer role state t text trace_id?
job: attempts created dedupe_key id kind last_error? not_before payload priority state
sequence: name seq
"""
DERIVED = {"node", "reading", "vec", "sentence_vec", "query", "edge_memory", "seal", "synced"}


def test_a_change_of_the_schema_does_not_change_the_format(tmp_path: Path) -> None:
    with Store.open(tmp_path / "memory.db") as store, store.reading() as conn:
        described = []
        for kind in KINDS:
            columns, _ = list_columns(conn, kind)
            fields = sorted(column.field + "?" * (not column.required) for column in columns)
            described.append(" ".join([f"{kind.name}:", *fields]))
        assert described == FIELDS.strip().replace("\n    ", " ").splitlines()


def test_every_table_is_exported_or_derived(tmp_path: Path) -> None:
    with Store.open(tmp_path / "memory.db") as store, store.reading() as conn:
        shadows = ("episode_text", "vec_fact")
        tables = {name for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        assert {name for name in tables if not name.startswith(shadows)} == DERIVED | {kind.table for kind in KINDS}
        counted = conn.execute(
            "SELECT name FROM sqlite_master WHERE sql LIKE '%AUTOINCREMENT%' ORDER BY name"
        ).fetchall()
        assert repr(tuple(name for (name,) in counted if not name.startswith(shadows))) == COUNTED


def test_an_export_of_the_first_format_is_refused(fresh: Memory, tmp_path: Path) -> None:
    before = exported(fresh).replace(b'"format":2', b'"format":1')
    (tmp_path / "other" / "again").mkdir(parents=True)
    assert "from before the first release" in refusal([before], tmp_path / "other")
