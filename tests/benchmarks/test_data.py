"""Reading question sets: both shapes, and what is wrong with a folder is said with file and line."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from benchmarks import data
from benchmarks.command import DataError
from memory.ingest.chunk import chunk_document
from memory.settings import ChunkSettings
from tests.benchmarks.sets import write_set

PASSAGES = [
    {"id": "d0", "title": "Mill", "text": "The mill grinds."},
    {"id": "d1", "title": "Tide", "text": "It ebbs."},
]
TURNS = [
    {
        "id": f"c{c}:{s}:{i}",
        "conversation": c,
        "session": s,
        "time": "1:56 pm on 8 May, 2023",
        "speaker": who,
        "text": text,
    }
    for c in ("a", "b")
    for s in (1, 2)
    for i, (who, text) in enumerate([("Ana", "Hello"), ("Bo", "Hi")])
]


def test_passages_become_a_document_each(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "river", PASSAGES, [{"id": "q", "question": "Who?", "gold": ["d1"], "answer": 7}])
    questions = data.load(folder)
    assert not questions.turns
    assert [(d.uri, d.title, d.text, d.ref) for d in questions.documents] == [
        ("river/d0", "Mill", "The mill grinds.", "d0"),
        ("river/d1", "Tide", "It ebbs.", "d1"),
    ]
    assert questions.questions == (data.Question("q", "Who?", ("d1",), answers=("7",)),)
    assert questions.texts == {"d0": "The mill grinds.", "d1": "It ebbs."}


def test_turns_become_a_document_per_session(tmp_path: Path) -> None:
    query = {"id": "q", "question": "Who?", "gold": ["ca:1:0"], "conversation": "a", "category": 2}
    questions = data.load(write_set(tmp_path / "talk", TURNS, [query]))
    assert questions.turns
    assert [(d.uri, d.conversation) for d in questions.documents] == [
        ("talk/a/1", "a"),
        ("talk/a/2", "a"),
        ("talk/b/1", "b"),
        ("talk/b/2", "b"),
    ]
    first = questions.documents[0]
    assert [(t.speaker, t.text, t.ref) for t in first.turns] == [("Ana", "Hello", "ca:1:0"), ("Bo", "Hi", "ca:1:1")]
    assert first.at == first.turns[0].at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert questions.questions[0] == data.Question("q", "Who?", ("ca:1:0",), "a", "2")


def test_chats_are_read_as_a_file_of_them_would_be(tmp_path: Path) -> None:
    rows = [TURNS[0], TURNS[1] | {"text": "  \n"}, TURNS[1] | {"id": "ca:1:2", "text": " Bye "}]
    query = {"id": "q", "question": "Who?", "gold": [], "conversation": "a"}
    (chat,) = data.load(write_set(tmp_path / "talk", rows, [query])).documents
    assert (chat.kind, chat.reader, chat.title, chat.text) == ("chat", "chat", "1", "")
    assert [(turn.text, turn.ref) for turn in chat.turns] == [("Hello", "ca:1:0"), ("Bye", "ca:1:2")]


def test_with_pauses_each_turn_becomes_an_episode(tmp_path: Path) -> None:
    query = {"id": "q", "question": "Who?", "gold": [], "conversation": "a"}
    rows = [*TURNS, TURNS[0] | {"id": "dots", "text": "..."}]
    questions = data.load(write_set(tmp_path / "talk", rows, [query]))
    alone = ChunkSettings(turn_gap_minutes=0)
    drafts = [draft for chat in questions.paused_documents() for draft in chunk_document(chat, alone)]
    assert [draft.refs for draft in drafts] == [(turn["id"],) for turn in TURNS]  # without words there is no episode
    whole = [draft for chat in questions.paused_documents() for draft in chunk_document(chat, ChunkSettings())]
    assert [len(draft.refs) for draft in whole] == [3, 2, 2, 2]


def test_limit_keeps_the_first_questions_and_the_whole_corpus(tmp_path: Path) -> None:
    queries = [{"id": f"q{i}", "question": "Who?", "gold": ["d0"]} for i in range(5)]
    questions = data.load(write_set(tmp_path / "river", PASSAGES, queries), limit=2)
    assert [q.id for q in questions.questions] == ["q0", "q1"]
    assert len(questions.documents) == 2


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("12:05 am on 1 January, 2024", datetime(2024, 1, 1, 0, 5, tzinfo=UTC)),
        ("2024-02-29T10:00:00", datetime(2024, 2, 29, 10, tzinfo=UTC)),
        ("2024-02-29T10:00:00+02:00", datetime(2024, 2, 29, 10, tzinfo=timezone(timedelta(hours=2)))),
    ],
)
def test_times(text: str, moment: datetime) -> None:
    assert data.parse_time(text, Path("corpus.jsonl")) == moment


def test_a_folder_of_sets_is_each_of_them_by_name(tmp_path: Path) -> None:
    for name in ("tide", "mill"):
        write_set(tmp_path / name, PASSAGES, [])
    (tmp_path / "other").mkdir()
    assert [folder.name for folder in data.find_sets(tmp_path)] == ["mill", "tide"]
    assert data.find_sets(tmp_path / "tide") == [tmp_path / "tide"]
    assert data.find_sets(tmp_path, ["tide"]) == [tmp_path / "tide"]
    with pytest.raises(DataError, match="no set moon"):
        data.find_sets(tmp_path, ["tide", "moon"])


@pytest.mark.parametrize("name", ["missing", "empty"])
def test_a_folder_without_sets_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"corpus\.jsonl"):
        data.find_sets(tmp_path / name)


QUERY = '{"id": "q", "question": "Who?", "gold": ["d0"]}'
PASSAGE = '{"id": "d0", "title": "Mill", "text": "It grinds."}'
TURN = '{"id": "t", "conversation": "a", "session": 1, "time": "%s", "speaker": "Ana", "text": "Hi"}'


@pytest.mark.parametrize(
    ("corpus", "queries", "message"),
    [
        ("", QUERY, r"corpus\.jsonl is empty"),
        (PASSAGE, "\n", r"queries\.jsonl is empty"),
        (PASSAGE + "\n{broken", QUERY, r"corpus\.jsonl:2 is not JSON"),
        ("[1]", QUERY, r"corpus\.jsonl:1 is not a JSON object"),
        ('{"id": "d0", "title": "Mill"}', QUERY, r'corpus\.jsonl:1 needs "text" as str'),
        (PASSAGE + "\n" + PASSAGE, QUERY, "an id occurs twice"),
        (PASSAGE, '{"id": "q", "question": "Who?"}', r'queries\.jsonl:1 needs "gold" as list'),
        (TURN % "8 May 2023", QUERY, 'the time "8 May 2023" is neither'),
        (TURN % "2023-05-08", QUERY, r'queries\.jsonl:1 needs "conversation" as str'),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(tmp_path: Path, corpus: str, queries: str, message: str) -> None:
    (tmp_path / "corpus.jsonl").write_text(corpus, encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text(queries, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        data.load(tmp_path)


def test_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_bytes(b'{"id": "d\xff"}\n')
    with pytest.raises(DataError, match="not UTF-8"):
        data.load(tmp_path)
