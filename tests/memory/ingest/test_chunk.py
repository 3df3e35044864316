"""Episodes are exact slices of their document with its lines, cut where a reader would cut."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.ingest.blocks import title_of
from memory.ingest.chunk import Draft, chunk_document
from memory.nouns import Document, Turn, TurnStart
from memory.settings import ChunkSettings
from memory.text.words import count_words
from tests.memory.ingest.texts import anything, assert_linear, markdown

NOON = datetime(2025, 5, 15, 12, 0, tzinfo=UTC)
SETTINGS = ChunkSettings()


def episodes(text: str, title: str | None = "Note", **settings: int) -> list[Draft]:
    return chunk_document(Document("a.md", text, title=title), ChunkSettings(**settings))


def words(number: int, name: str = "w") -> str:
    """Sentences of ten words each, no two alike."""
    return " ".join(f"{name}{n}." if n % 10 == 9 else f"{name}{n}" for n in range(number))


def titles(text: str, **settings: int) -> list[str]:
    return [draft.title for draft in episodes(text, **settings)]


# One passage ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["One passage.", "\n\n  Two\nlines.\n\nAnd - more.\n", words(360), "- a\n- b\n", "> q"]
)
def test_one_passage_is_one_episode(text):
    (draft,) = episodes(text, title="A title")
    assert (draft.title, draft.text) == ("A title", text.strip())


def test_what_is_known_of_the_document_is_known_of_its_episodes():
    document = Document("a", "Hello.", title="T", at=NOON, speaker="Ana", ref="17")
    assert chunk_document(document, SETTINGS) == [Draft("T", "Hello.", 1, 1, NOON, None, "Ana", ("17",))]


@pytest.mark.parametrize("text", ["", " \n\t", "---\n", "...\n\n***\n", "👍", "| |\n|-|\n"])
def test_no_words_no_episodes(text):
    assert episodes(text) == []
    assert chunk_document(Document("a", turns=(Turn("Ana", text, NOON),)), SETTINGS) == []


def test_lines_are_those_of_the_original():
    text = f"# A\n\n{words(100)}\n\n# B\n\n{words(100)}\n\nend\n"
    document = Document("a.md", text, title="T", lines=tuple(range(5, 14)))
    assert [(draft.line, draft.end_line) for draft in chunk_document(document, SETTINGS)] == [(5, 7), (9, 13)]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("intro\n\n## The *first* heading\n\n# Another", "The first heading"),
        ("Bought it! Green, silent.", "Bought it!"),
        ("Sold the Outback.\nMore.", "Sold the Outback"),
        (words(30).replace(".", ""), "w0 w1 w2 w3 w4 w5 w6 w7 w8 w9 w10 w11…"),
        ("---\ntags: [a]\n---\n\n- [x] call the bank", "call the bank"),
        ("-" * 3 + "\n\n…\n\nLast line", "Last line"),
    ],
)
def test_a_missing_title_is_made_of_the_text(text, title):
    assert title_of(Document("a", text)) == title
    assert title_of(Document("a", text, title=" \n")) == title
    assert episodes(text, title=None)[0].title.startswith(title)


# Sections -------------------------------------------------------------------------------------


def test_a_section_is_an_episode_and_its_headings_are_its_title():
    text = f"# Trip\n\n{words(100)}\n\n## Food\n\n{words(90)}\n\n### Fish\n\n{words(90)}\n\n## Trains\n\n{words(90)}\n"
    drafts = episodes(text)
    assert [draft.title for draft in drafts] == ["Note › Trip", "Note › Trip › Food", "Note › Trip › Trains"]
    assert [draft.text.split("\n")[0] for draft in drafts] == ["# Trip", "## Food", "## Trains"]


def test_the_title_says_nothing_twice():
    assert titles(f"# note\n\n## A\n\n{words(100)}\n\n## B\n\n{words(100)}") == ["Note › A", "Note › B"]


def test_tiny_sections_share_an_episode():
    text = "".join(f"## Part {n}\n\n{words(18)}\n\n" for n in range(8))
    assert titles(text) == ["Note"]
    assert len(episodes("# Note\n\n" + text * 2)) == 2


def test_a_section_that_is_not_small_stands_alone():
    text = f"## A\n\n{words(20)}\n\n## B\n\n{words(150)}\n\n## C\n\n{words(20)}\n\n## D\n\n{words(20)}\n"
    assert titles(text) == ["Note › A", "Note › B", "Note"]


def test_the_words_above_the_first_subheading_belong_to_it():
    text = f"# ADR 3\n\nDate: 2023\n\n## Context\n\n{words(150)}\n\n## Decision\n\n{words(150)}\n"
    drafts = episodes(text)
    assert [draft.title for draft in drafts] == ["Note › ADR 3 › Context", "Note › ADR 3 › Decision"]
    assert drafts[0].text.startswith("# ADR 3\n\nDate: 2023\n\n## Context")


def test_a_document_of_third_level_headings_has_sections():
    assert titles(f"### A\n\n{words(100)}\n\n### B\n\n{words(100)}\n") == ["Note › A", "Note › B"]


def test_a_heading_is_never_left_behind():
    text = f"# A\n\n{words(230)}\n\n### B\n\n{words(300)}\n\n### C\n\n{words(200)}\n"
    drafts = episodes(text)
    assert [draft.text.split("\n")[0] for draft in drafts] == ["# A", "### B", "### C"]
    assert [draft.title for draft in drafts] == ["Note › A", "Note › A › B", "Note › A › C"]


# Length ---------------------------------------------------------------------------------------


def test_a_long_section_is_cut_between_paragraphs():
    drafts = episodes("# A\n\n" + "\n\n".join(words(80, f"p{n}-") for n in range(9)))
    assert len(drafts) > 2 and sum(count_words(draft.text) for draft in drafts) == 722
    assert all(count_words(draft.text) <= 1.5 * SETTINGS.words for draft in drafts)


def test_a_long_paragraph_is_cut_at_sentence_ends():
    drafts = episodes(words(1000))
    assert len(drafts) == 5
    assert all(draft.text.endswith(".") and 150 <= count_words(draft.text) <= 240 for draft in drafts)
    assert " ".join(draft.text for draft in drafts) == words(1000)


@pytest.mark.parametrize("text", [words(3000).replace(".", ""), "x" * 200_000, "你好" * 3000, ("y" * 33 + " ") * 999])
def test_what_has_no_sentence_end_is_cut_all_the_same(text):
    drafts = episodes(text)
    assert all(SETTINGS.words / 4 < count_words(draft.text) <= 1.5 * SETTINGS.words for draft in drafts)
    assert "".join(draft.text for draft in drafts) == text or " ".join(draft.text for draft in drafts) == text.strip()


def test_code_and_tables_are_never_cut():
    code = "```py\n" + "".join(f"# step {n}. then on\nx{n} = {n}\n\n" for n in range(200)) + "```"
    table = "| a | b |\n|---|---|\n" + "\n".join(f"| row {n}. | {n} |" for n in range(300))
    intro = "The script:"
    drafts = episodes(
        f"{words(200)}\n\n{words(100, 'v')}\n\n{intro}\n\n{code}\n\n{words(200, 'u')}\n\n{table}\n\nend\n"
    )
    assert sum(draft.text.count(code) for draft in drafts) == 1
    assert sum(draft.text.count(table) for draft in drafts) == 1
    assert any(f"{intro}\n\n{code}" in draft.text for draft in drafts)


def test_a_monstrous_table_is_cut_at_lines():
    table = "| a | b |\n|---|---|\n" + "\n".join(f"| row {n} | {n} |" for n in range(8_000))
    drafts = episodes(table)
    assert len(drafts) > 10
    assert all(draft.text.startswith("| ") and draft.text.endswith("|") for draft in drafts)


def test_list_items_are_kept_whole():
    items = [f"- {words(25, f'i{n}-')}\n  {words(10, f'j{n}-')}" for n in range(30)]
    drafts = episodes("\n".join(items))
    assert "\n".join(draft.text for draft in drafts) == "\n".join(items)
    assert len(drafts) > 3
    assert all(draft.text.startswith("- ") for draft in drafts)


# Chats ----------------------------------------------------------------------------------------


def chat(*turns: Turn, title: str | None = "Chat") -> list[Draft]:
    return chunk_document(Document("c.json", turns=turns, title=title), SETTINGS)


def test_a_short_chat_is_one_episode():
    later = NOON + timedelta(minutes=5)
    assert chat(Turn("Ana", "Where do you live now?", NOON, "1"), Turn("Ben", " Porto.\nSince May.\n", later, "2")) == [
        Draft("Chat", "Ana: Where do you live now?\nBen: Porto.\nSince May.", None, None, NOON, later, None, ("1", "2"),
              turns=(TurnStart(0, 1, "Ana", NOON), TurnStart(28, 2, "Ben", later)))
    ]  # fmt: skip


def test_a_pause_and_a_new_day_begin_a_new_group():
    midnight = datetime(2025, 5, 15, 23, 55, tzinfo=UTC)
    at = [NOON, NOON + timedelta(minutes=60), NOON + timedelta(minutes=121), midnight, midnight + timedelta(minutes=6)]
    drafts = chat(*(Turn("Ana", f"turn {n}", time, str(n)) for n, time in enumerate(at)))
    assert [draft.refs for draft in drafts] == [("0", "1"), ("2",), ("3",), ("4",)]
    assert {draft.speaker for draft in drafts} == {"Ana"}


def test_turns_without_a_time_or_a_speaker():
    document = Document("c", turns=(Turn("", "First."), Turn("", "Second.", None, "b")), at=NOON)
    assert chunk_document(document, SETTINGS) == [
        Draft("First", "First.\nSecond.", at=NOON, refs=("b",), turns=(TurnStart(0, 1), TurnStart(7, 2)))
    ]


def test_a_long_chat_is_grouped_and_a_group_begins_with_what_it_answers():
    turns = [Turn("AB"[n % 2], words(29, f"t{n}-"), NOON + timedelta(minutes=n), str(n)) for n in range(20)]
    drafts = chat(*turns)
    assert [draft.refs for draft in drafts] == [
        tuple(str(n) for n in range(start, after)) for start, after in ((0, 7), (6, 14), (13, 20))
    ]
    for draft in drafts:
        assert count_words(draft.text) <= SETTINGS.words
        assert (draft.at, draft.until) == (turns[int(draft.refs[0])].at, turns[int(draft.refs[-1])].at)


def test_a_very_long_turn_is_cut_and_its_ref_repeated():
    drafts = chat(
        Turn("Ana", "Tell me.", NOON, "q"), Turn("Bot", words(700), NOON, "a"), Turn("Ana", "Thanks!", NOON, "t")
    )
    assert [(draft.refs, draft.speaker) for draft in drafts] == [
        (("q",), "Ana"),
        *[(("a",), "Bot")] * 3,
        (("t",), "Ana"),
    ]
    assert " ".join(draft.text.removeprefix("Bot: ") for draft in drafts[1:4]) == words(700)
    assert all(draft.text.startswith("Bot: ") for draft in drafts[1:4])


# Any text -------------------------------------------------------------------------------------

tight = st.builds(ChunkSettings, words=st.integers(4, 60), overlap=st.integers(0, 10))


@given(markdown | anything, tight)
def test_episodes_are_slices_with_their_lines_and_hold_every_word(text, settings):
    document = Document("a", text, title="T")
    drafts = chunk_document(document, settings)
    assert drafts == chunk_document(document, settings)
    lines = text.split("\n")
    place = 0
    for draft in drafts:
        assert draft.text == draft.text.strip()
        assert re.search(r"[^\W_]", draft.text)
        assert draft.line is not None
        assert draft.end_line is not None
        assert draft.end_line - draft.line == draft.text.count("\n")
        assert draft.text in "\n".join(lines[draft.line - 1 : draft.end_line])
        assert draft.line - 1 >= place
        place = draft.line - 1
    kept = re.sub(r"[\W_]+", "", "".join(draft.text for draft in drafts))
    assert kept == re.sub(r"[\W_]+", "", text)


@given(st.lists(st.tuples(st.sampled_from(["Ana", "Ben", ""]), markdown, st.integers(-90, 90)), max_size=12), tight)
def test_chats_hold_every_turn(turns, settings):
    at = NOON
    document_turns = []
    for number, (speaker, text, minutes) in enumerate(turns):
        at += timedelta(minutes=minutes)
        document_turns.append(Turn(speaker, text, at, str(number)))
    document = Document("c", turns=tuple(document_turns), title="T")
    drafts = chunk_document(document, settings)
    assert drafts == chunk_document(document, settings)
    refs = [int(ref) for draft in drafts for ref in draft.refs]
    assert refs == sorted(refs)
    spoken = {n for n, turn in enumerate(document_turns) if re.search(r"[^\W_]", turn.text)}
    assert spoken <= set(refs)
    everything = "".join(draft.text for draft in drafts)
    assert all(word in everything for n in spoken for word in re.findall(r"\w+", document_turns[n].text))


@pytest.mark.parametrize(
    "pattern", ["word ", "x", "Hello there. ", "### a b\n", "# a\nb\n", "- a b\n", "> a\n", "5. b "]
)
def test_no_text_takes_quadratic_time(pattern):
    assert_linear(lambda text: chunk_document(Document("a", text), SETTINGS), "## x\n", pattern)
