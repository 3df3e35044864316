"""Sentences are spans in order that hold every letter and digit; where in doubt nothing is cut."""

import re

import pytest
from hypothesis import given

from memory.text.sentences import sentences
from tests.memory.ingest.texts import anything, assert_linear, markdown


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    "text",
    [  # sentences are separated by " / "
        "It rained. / We left! / Why? / Nobody knows… / So be it.",
        "Mr. Smith met Dr. Baptiste. / They talked.",
        "J. K. Rowling wrote it. / Priyanka S. declined.",
        "I live in St. Petersburg. / No. 5 is mine, cf. p. 12. / No. of guests: 22.",
        "Lumen Inc. hired Ana. / She left Lumen Inc. / She is at Foo Ltd. now.",
        "Ask e.g. Ben, i.e. the EM. / The U.S. Army came at 5 p.m. on Jan. 5. / It left at 6 p.m. / Then it rained.",
        "Das ist z.B. Nr. 5, bzw. Haus 3. / Am 5. Mai fuhr ich. / Der 2. Weltkrieg endete. / Es war zum 3. Mal.",
        "Pi is 3.14, v1.2.3 is out. / See https://x.org/a.b?c=1. / Mail a.b@c.de. / At 9.30 it ends.",
        "He said “Really?” and left. / “No.” / Ben cried.",
        '"Fine." / (He laughed at that for a while, really. / It was funny.) / Then he left.',
        "Wait... what is the Impulse! label, and who is Per (dir. Platform)?",
        "He is 42. / Marta is 40. / Present: 19. / Apologies: two.",
        "yes. / drew a queue before being asked! / really? / no",
        "He was born in 1980.[1] / He died.[^2] / So it goes.",
        "**Limit.** / One page. / _Really._ / Ok.",
        "What to do: 1. Landlord. / 2. Register. / 3. Insurance.",
        "Told them twice!! / It is on the wall (!) of the room.",
        "call mum!! +family @phone",
        "Option a. / Ben agrees to option b. / It is cheap.",
        "¿Qué? / ¡No! / Приехал в 1990 г. и остался. / Потом уехал.",
        "क्या हुआ। / वह गया।",
    ],
)
def test_prose(text):
    expected = text.split(" / ")
    assert cut(" ".join(expected)) == expected


def test_scripts_without_spaces():
    assert cut("你好。我是安娜！真的吗？是的") == ["你好。", "我是安娜！", "真的吗？", "是的"]
    assert cut("「はい。」と言った。そうですか？") == ["「はい。」と言った。", "そうですか？"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# One. Two\n## Three", ["One. Two", "Three"]),
        (
            "- [x] buy milk. And eggs.\n* [ ] call\n• tea\n  + nested",
            ["buy milk.", "And eggs.", "call", "tea", "nested"],
        ),
        ("1. one\n2. two\n10) ten", ["1. one", "2. two", "10) ten"]),
        ("> quoted\n> > twice", ["quoted", "twice"]),
        ("| a | b. C |\n|---|:-:|\n| 1 | 2 |", ["a | b. C", "1 | 2"]),
        ("Ana: Hello. Well?\nBen: Fine\nand you", ["Ana: Hello.", "Well?", "Ben: Fine", "and you"]),
        ("Date: 2023-03-14\nStatus: accepted", ["Date: 2023-03-14", "Status: accepted"]),
        ("```py\nx = 1. \n\n# why. Because\n```\nEnd.", ["x = 1.", "# why. Because", "End."]),
        ("~~~\na. b\n```\nc\n~~~", ["a. b", "c"]),
        ("```\nnever closed. So prose.", ["never closed.", "So prose."]),
        ("one  \ntwo\\\nthree", ["one", "two\\", "three"]),
        ("-> offer going out\n→ another", ["offer going out", "another"]),
        ("Title\n=====\n\n---\n* * *\n👍\n…", ["Title"]),
        ("crlf one.\r\n\r\ncrlf two.\r\n", ["crlf one.", "crlf two."]),
        ("28 Aug 2023\nDaycare for Ravi", ["28 Aug 2023", "Daycare for Ravi"]),
        ("", []),
        (" \n\t\n", []),
        ("...", []),
    ],
)
def test_lines(text, expected):
    assert cut(text) == expected


def test_hard_wrapped_prose_is_joined():
    text = (
        "The route planner was late, which everybody who had seen the load tests\n"
        "knew before May, the third of May to be precise. Nobody said so aloud,\n"
        "and I least of all.\n\n"
        "> On Monday I wrote to the three of them that the date would not hold and\n"
        "> that it never had.\n"
    )
    assert cut(text) == [
        "The route planner was late, which everybody who had seen the load tests\n"
        "knew before May, the third of May to be precise.",
        "Nobody said so aloud,\nand I least of all.",
        "On Monday I wrote to the three of them that the date would not hold and\n> that it never had.",
    ]


def test_a_line_of_its_own_is_not_joined():
    lines = [
        "take-home (Dmitri graded, the rubric by Jonas): 8/10, tests first, clean",
        "pairing: yes",
        "design: yes, drew a queue before being asked",
        "values: yes",
    ]
    assert cut("\n".join(lines)) == lines
    fields = [
        "Teacher: Mrs Winkler (class 4b), until summer Mr Ozdemir",
        "Best friend is Malik; his mother is Aisha, 0161 496 0131",
        "allergy: penicillin",
    ]
    assert cut("\n".join(fields)) == fields


def test_a_wrapped_date_does_not_begin_a_list():
    text = (
        "Wir sind dann mit dem Zug nach Danzig gefahren und kamen dort am\n"
        "5. Mai an, als es schon lange dunkel war und uns am Bahnsteig so\n"
        "gut wie niemand erwartete."
    )
    assert cut(text) == [text]


@given(markdown | anything)
def test_spans_are_stripped_and_hold_every_word_in_order(text):
    covered = bytearray(len(text))
    end = 0
    for start, after in sentences(text):
        assert end <= start < after
        assert text[start:after] == text[start:after].strip()
        assert re.search(r"[^\W_]", text[start:after])
        covered[start:after] = b"\1" * (after - start)
        end = after
    for match in re.finditer(r"[^\W_]", text):
        if not covered[match.start()]:
            line = text.rfind("\n", 0, match.start()) + 1
            checkbox = re.fullmatch(r"[\W_]*\[[xX]", text[line : match.end()])
            fence = re.match(r"(?:[^\w`~]|\[[xX]\])*(?:```|~~~)", text[line:])
            assert checkbox or fence, text[line : match.end()]


@given(markdown)
def test_the_same_text_gives_the_same_sentences(text):
    assert sentences(text) == sentences(text)


@pytest.mark.parametrize(
    "pattern",
    [
        "a. ",
        ". ",
        ".",
        "b 5. c ",
        ".)",
        "(",
        "[1]",
        "```\n",
        "```x`",
        "~~~\n",
        "a\n",
        "> ",
        "x! y ",
        "word",
        "。",
        "| ",
        "\n",
    ],
)
def test_no_text_takes_quadratic_time(pattern):
    assert_linear(sentences, "Word ", pattern)


def test_rows_and_fields_in_lower_case_are_lines_of_their_own() -> None:
    rows = [f"house no: {number}; owner: Keeper {number}; street: The long Harbour Lane of Vell" for number in range(6)]
    text = "\n".join(rows)
    assert [text[start:end] for start, end in sentences(text)] == rows
