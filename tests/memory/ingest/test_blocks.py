"""Blocks are exact slices in order that hold every letter and digit, whatever the text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.ingest.blocks import Block, has_structure, split_blocks
from tests.memory.ingest.texts import anything, assert_linear, markdown


def shape(text: str) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in split_blocks(text)]


def lines_of(text: str, block: Block) -> tuple[int, int]:
    return text.count("\n", 0, block.start) + 1, text.count("\n", 0, block.end) + 1


def test_a_note_with_everything_in_it():
    text = (
        "---\ntags: [vko]\n---\n# Cheat *sheet*\n\nTwo lines\nof prose.\n\n## Owners ##\n- one\n  - nested\n- two\n\n"
        "1. first\n2. second\n\n> quoted\n> twice\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\n# no heading\n\nx = 1\n```\n"
        "***\nThe end.\n"
    )
    assert [(b.kind, b.text, *lines_of(text, b), b.headings) for b in split_blocks(text)] == [
        ("frontmatter", "---\ntags: [vko]\n---", 1, 3, ()),
        ("heading", "# Cheat *sheet*", 4, 4, ()),
        ("paragraph", "Two lines\nof prose.", 6, 7, ("Cheat sheet",)),
        ("heading", "## Owners ##", 9, 9, ("Cheat sheet",)),
        ("list_item", "- one\n  - nested", 10, 11, ("Cheat sheet", "Owners")),
        ("list_item", "- two", 12, 12, ("Cheat sheet", "Owners")),
        ("list_item", "1. first", 14, 14, ("Cheat sheet", "Owners")),
        ("list_item", "2. second", 15, 15, ("Cheat sheet", "Owners")),
        ("quote", "> quoted\n> twice", 17, 18, ("Cheat sheet", "Owners")),
        ("table", "| a | b |\n|---|---|\n| 1 | 2 |", 20, 22, ("Cheat sheet", "Owners")),
        ("code", "```py\n# no heading\n\nx = 1\n```", 24, 28, ("Cheat sheet", "Owners")),
        ("paragraph", "The end.", 30, 30, ("Cheat sheet", "Owners")),
    ]


def test_the_heading_path_follows_the_levels():
    blocks = [block for block in split_blocks("# A\n## B\n### C\n## D\n# E\ntext\n") if block.kind == "heading"]
    assert [(b.level, b.title, b.headings) for b in blocks] == [
        (1, "A", ()),
        (2, "B", ("A",)),
        (3, "C", ("A", "B")),
        (2, "D", ("A",)),
        (1, "E", ()),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("An indented\n\n    paragraph of a letter\n", ["paragraph", "paragraph"]),
        ("Hard wrapped\nprose is one\nparagraph.\n", ["paragraph"]),
        ("Thanks,\nRenu\n--\nRenu Castellano\n", ["paragraph", "paragraph"]),  # a signature
        ("We talked for an hour.\n---\nThen we left.\n", ["paragraph", "paragraph"]),  # prose above a rule
        ("Install\n\n    # a comment in code\n    make\n", ["paragraph", "paragraph", "paragraph"]),
        ("#tag and #another\n", ["paragraph"]),
        ("Minutes\n=======\n\nPresent: all.\n", ["heading", "paragraph"]),
        ("<div>\nhtml\n</div>\n\n[a]: https://example.org\n", ["paragraph", "paragraph"]),
        ("one\f\ntwo\n\n\fthree\n", ["paragraph", "paragraph"]),
        ("# A\r\n\r\ntext\r\nmore\r\n\r\nend\r\n", ["heading", "paragraph", "paragraph"]),
        ("---\nno yaml at all\n---\n", ["heading"]),
        ("---\n\n---\n", []),
        ("", []),
        (" \n\t\n", []),
    ],
)
def test_plain_text_survives(text, expected):
    assert [block.kind for block in split_blocks(text)] == expected


def test_code_and_tables_in_a_list_are_blocks_of_their_own():
    assert shape("- run\n\n  ```\n  make\n  ```\n  and wait\n- done\n") == [
        ("list_item", "- run"),
        ("code", "```\n  make\n  ```"),
        ("list_item", "and wait"),
        ("list_item", "- done"),
    ]


def test_a_fence_that_never_closes_swallows_a_short_rest_only():
    assert shape("a\n\n```\n" + "x = 1\n" * 10)[-1][0] == "code"
    blocks = split_blocks("a\n\n```\n" + "lost\n\n" * 30 + "# Found\n\nagain\n")
    assert blocks[-1].headings == ("Found",)
    assert all(block.kind != "code" for block in blocks)


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("# [[Salt Cartographer|Salt]] and [site](https://x.org)", "Salt and site"),
        ("# **Bold** `code` _em_ snake_case", "Bold code em snake_case"),
        ("# " + "word " * 100, "word " * 23 + "word…"),
        ("#", ""),
    ],
)
def test_a_heading_titles_without_its_marks(heading, title):
    (block,) = split_blocks(heading + "\n")
    assert block.title == title


def check(text: str, blocks: list[Block]) -> None:
    end = 0
    covered = bytearray(len(text))
    for block in blocks:
        assert end <= block.start < block.end
        assert block.text == text[block.start : block.end] == block.text.strip()
        covered[block.start : block.end] = b"\1" * (block.end - block.start)
        end = block.end
    assert all(covered[match.start()] for match in re.finditer(r"[^\W_]", text))


def letters(text: str) -> list[str]:
    return re.findall(r"[^\W_]", text)


@given(markdown | anything)
def test_blocks_hold_every_word_in_order(text):
    blocks = split_blocks(text)
    check(text, blocks)
    assert letters(" ".join(block.text for block in blocks)) == letters(text)


@given(st.text("ab \n\t\f\r\x0b\u00a0", max_size=60))
def test_the_quick_way_and_the_parser_agree_on_paragraphs(text):
    assert not has_structure(text)
    parsed = split_blocks(text + "\n\n# end")
    assert split_blocks(text) == parsed[:-1]


@pytest.mark.parametrize(
    "pattern",
    [
        "> ",
        "- ",
        "* a\n",
        "a\n",
        "a\n\n",
        "```\n",
        "```py\n",
        "|a|b|\n|-|-|\n",
        "|",
        "[a]: b\n",
        "a\n---\n",
        "\\",
        "x",
        "\0",
    ],
)
def test_no_text_takes_quadratic_time(pattern):
    assert_linear(split_blocks, "# x\n\n", pattern)
