"""A hundred made-up secrets of 27 kinds: masked before anything is kept, shown to who asks for them, gone with their
source. None of them stands in this file: they are drawn at run time."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks.canaries import KINDS, Canary, make_canaries, make_ordinary
from memory import Memory
from memory.events import drop_letters, fill_placeholders, find_placeholders
from memory.ingest.blocks import title_of
from memory.ingest.draft import Masker
from memory.nouns import Answer, Document, Turn
from memory.protocols import Embedder
from memory.settings import MemorySettings
from memory.text.secrets import find_secrets
from tests.memory.conftest import OpenFilled

CANARIES = make_canaries(100)
PASSWORD = next(one.value for one in CANARIES if one.kind == "wifi key")
AT = datetime(2026, 5, 1, tzinfo=UTC)
_FIGURE = re.compile(r"(?<=[:\[,]) ?-?\d+(?:\.\d+)?(?:e-?\d+)?(?=[,\]}])|\.\d+")  # of JSON; a fraction


def leaked(text: str, canaries: list[Canary] = CANARIES) -> set[str]:
    """The kinds of those that stand in a text, whole or, of more than a line, one of these; not within other words or
    figures of a trace, as four digits do in any checksum or time."""
    lines = {line: one.kind for one in canaries for line in one.value.split("\n")}
    without_figures = _FIGURE.sub("", text)

    def stands(line: str) -> bool:
        where = without_figures if line.isdigit() else text
        return re.search(rf"(?<!\w){re.escape(line)}(?!\w)", where) is not None

    return {kind for line, kind in lines.items() if stands(line)}


def ask(memory: Memory, question: str) -> Answer:
    *_, last = memory.questions.ask(question)
    assert isinstance(last, Answer)
    return last


@pytest.fixture
def memory(open_filled: OpenFilled) -> Memory:
    """Each canary in a note, in a chat or in the properties of one."""
    return open_filled(fill_memory)


def fill_memory(memory: Memory) -> None:
    documents = []
    for number, one in enumerate(CANARIES):
        match number % 3:
            case 0:
                held = Document(
                    f"/n/{number}.md", f"# Server {number}\n\nMira came at nine.\n\n{one.line}\n\nIt rained."
                )
            case 1:
                turns = (Turn("Mira", "Which one is it?", AT), Turn("Anna", one.line, AT))
                held = Document(f"/n/{number}.json", turns=turns, kind="chat", title=f"Chat {number}")
            case _:
                held = Document(
                    f"/n/{number}.md", f"Server {number}", properties={"remark": one.line, "tags": [one.line]}
                )
        documents.append(held)
    memory.ingest.remember_many(documents)


def everything(memory: Memory) -> str:
    """All text that stands in the file, but for the table of secrets, and what full text is made of."""
    with memory.store.reading() as conn:
        tables = [name for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = [row for name in tables if name != "secret" for row in conn.execute(f'SELECT * FROM "{name}"')]
        rows += conn.execute("SELECT * FROM episode_reading").fetchall()
    return "\n".join(value for row in rows for value in row if isinstance(value, str))


def test_none_is_in_the_index_and_all_can_be_shown(memory: Memory) -> None:
    assert len(KINDS) >= 25
    held = everything(memory)
    assert leaked(held) == set()
    shown = memory.sources.find_secrets(tuple(find_placeholders(held)))
    assert [one.kind for one in CANARIES if not any(one.value in value for value in shown.values())] == []


def test_none_is_in_a_name(fresh: Memory) -> None:
    """Of a part of a file, a note, a speaker, a chat or its writer: all of them are shown as they are."""
    for number, line in enumerate(canary.line for canary in CANARIES if "\n" not in canary.line):
        documents = (
            Document(f"/n/{number}.mbox#{line}", f"It rained {number} times.", speaker=line),
            Document(f"note:{line}", f"The sun shone {number} times."),
            Document(f"/{line}", f"Hail fell {number} times."),  # a name that begins like a path
            Document(f"/n/{number}.vcf#{line.replace('/', '-')}", f"It froze {number} times.", kind="file", title=line),
            Document(
                f"/n/{number}.json",
                kind="chat",
                conversation=line,
                turns=(Turn(line, f"Snow fell {number} times.", AT),),
            ),
        )
        fresh.ingest.remember_many(documents)
    assert leaked(everything(fresh)) == set()
    assert fresh.sources.get("/n/1.json") is not None


@pytest.mark.parametrize("row", ["| {} | {} |", "{}\t{}", "name: {}; value: {}"])
def test_a_label_and_its_value_may_be_cells_of_a_row(row: str) -> None:
    for label, value in (("WLAN-Schlüssel", "prism#0123"), ("Router password", "kelp-6055-x"), ("Alarm code", "68847")):
        text = row.format(label, value)
        assert [text[start:end] for start, end, _ in find_secrets(text)] == [value]
    assert find_secrets(row.format("Password", "Username")) == find_secrets(row.format("PIN", "Name")) == []


def test_codes_follow_their_label_on_the_same_line() -> None:
    for text in ("Wiederherstellungscodes u5cb0-l2jc7", "Backup codes 7xk2p 99ab1 c3po9"):
        assert [text[start:end] for start, end, _ in find_secrets(text)] == [text.partition("codes ")[2]]
    assert find_secrets("Backup codes 2024") == find_secrets("Backup codes v2 are in the drawer") == []


def test_one_that_the_text_has_escaped_is_known_by_its_property() -> None:
    text = '---\nnote: "WLAN-Schl\\u00fcssel: Gannet9600"\n---\nIt rained.'
    document = Document("/a.md", text, properties={"note": "WLAN-Schlüssel: Gannet9600"})
    masked, (secret,) = Masker(b"k").mask_document(document)
    assert secret.value == "Gannet9600" and "Gannet" not in f"{masked}"


def test_none_is_found_by_its_own_text_or_kept_with_a_question(memory: Memory) -> None:
    chat = memory.conversations.create(f"about {CANARIES[0].line}")
    for one in CANARIES[:27]:
        memory.conversations.add_question(chat, f"Is it so: {one.line}")
        assert leaked(ask(memory, f"Is it so: {one.line}").text) == set()
    memory.ingest.remember(f"Now the wifi key = {PASSWORD}")
    assert leaked(everything(memory)) == set()


def test_a_question_finds_the_line_and_names_the_secret_by_its_kind(fresh: Memory) -> None:
    fresh.ingest.remember(f"The router stands in the hall.\n\nOur wifi password is {PASSWORD}.", source="/house.md")
    answer = ask(fresh, "What is our wifi password?")
    (placeholder,) = find_placeholders(answer.text)
    assert placeholder.startswith("‹password-") and answer.citations[0].line == 3
    assert (
        fill_placeholders(answer.text, fresh.sources.find_secrets([placeholder]))
        == f"- Our wifi password is {PASSWORD}. [1]"
    )
    (found,) = find_placeholders(fresh.questions.retrieve(f"is our wifi password {PASSWORD}?").recall.trace.question)
    assert found == placeholder
    assert [(one.uri, one.line, one.kind) for one in fresh.sources.list_masked()] == [("/house.md", 3, "password")]


def test_lines_and_structure_stay_as_they_are(fresh: Memory) -> None:
    block = next(one for one in CANARIES if one.kind == "private key")
    document = Document("/k.md", f"# Key\n\n{block.line}\n\nThe dune is high.", lines=tuple(range(10, 21)))
    masked, secrets = Masker(b"key").mask_document(document)
    assert masked.text.count("\n") == document.text.count("\n") and title_of(masked) == "Key"
    assert [(one.kind, one.value, one.line) for one in secrets] == [("private-key", block.value, 13)]
    assert Masker(b"key").mask(masked.text) == masked.text, "what is masked holds no secret"
    assert Masker(b"other").mask(document.text) != masked.text
    assert drop_letters(masked.text).splitlines()[3] == "private-key"


def test_another_password_takes_the_place_of_the_first(fresh: Memory) -> None:
    one, two = f"{PASSWORD}7", f"{PASSWORD}9"
    for value in (one, two):
        fresh.ingest.remember(f"# House\n\n- wifi password: {value}\n- rent: 900 euros", source="/house.md")
    first, second, *_ = ask(fresh, "What is the wifi password?").lines
    shown = fresh.sources.find_secrets([*find_placeholders(first.text), *find_placeholders(second.text)])
    assert (first.kind, second.kind, [*shown.values()]) == ("answer", "earlier", [two])


@pytest.mark.parametrize("how", ["forget", "episode", "edit", "retire"])
def test_a_secret_goes_with_what_said_it(fresh: Memory, how: str) -> None:
    receipt = fresh.ingest.remember(f"Our wifi password is {PASSWORD}.", source="/house.md")
    fresh.ingest.remember(f"The cabin's wifi password is {PASSWORD}1.", source="/cabin.md")
    match how:
        case "forget":
            fresh.forgetting.forget(source="/house.md")
        case "episode":
            fresh.forgetting.forget(episode=receipt.episode_ids[0])
        case "edit":
            fresh.ingest.remember("Our wifi has no password.", source="/house.md")
        case "retire":
            fresh.ingest.retire("/house.md")
    with fresh.store.reading() as conn:
        assert conn.execute("SELECT value FROM secret").fetchall() == [(f"{PASSWORD}1",)]


def test_ordinary_lines_stay_as_they_are() -> None:
    lines = make_ordinary(1000)
    assert len([line for line in lines if find_secrets(line)]) <= 10
    notes = Path(__file__).parents[2] / "examples" / "notes"
    written = [path.read_text("utf-8") for path in notes.rglob("*") if path.is_file()]
    assert sum(len(find_secrets(text)) for text in written) == 1, "the password of the compressor house"


def test_the_same_again_changes_nothing(fresh: Memory) -> None:
    note = Document("/a.md", f"Our wifi password is {PASSWORD}.", title=f"PIN {CANARIES[22].value}")
    fresh.ingest.remember_many([note])
    before = fresh.store.generation, everything(fresh)
    assert fresh.ingest.remember_many([note])[0].kept == 1
    assert [(place.line, place.kind) for place in fresh.sources.list_masked()] == [
        (None, "pin"),
        (1, "password"),
    ]
    assert everything(fresh).count("‹") == before[1].count("‹")


def test_it_can_be_switched_off_and_what_was_read_so_is_listed(tmp_path: Path, static: Embedder) -> None:
    off = MemorySettings(mask_secrets=False)
    with Memory.open(tmp_path / "memory.db", embedder=static, settings=off) as memory:
        memory.ingest.remember(f"Sheds\n\nOur wifi password is {PASSWORD}.", source="/house.md")
        ask(memory, f"Who said password: {PASSWORD}?")
        assert PASSWORD in everything(memory)
    with Memory.open(tmp_path / "memory.db", embedder=static) as memory:
        unmasked = {(place.uri, place.line, place.kind) for place in memory.sources.list_unmasked()}
        assert unmasked == {("/house.md", 3, "password"), ("trace 1", None, "password")}
        memory.forgetting.forget(source="/house.md")
        memory.ingest.remember(f"Sheds\n\nOur wifi password is {PASSWORD}.", source="/house.md")
        assert PASSWORD not in everything(memory) and memory.sources.list_unmasked() == []
