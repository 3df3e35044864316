"""Questions about the person whose memory it is: from what is theirs, over their people, never with another's."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from memory import Memory
from memory.nouns import UNKNOWN, Answer, Document

AT = datetime(2026, 2, 1, tzinfo=UTC)
ABOUT = "# About me\n\n- **Name:** Nadia Okafor\n- **Address:** 14 Ash Grove, Leeds\n- **Phone:** 07700 900142\n"
NOTES = {
    "about.md": ("About me", ABOUT),
    "People/Kit.md": (
        "Kit",
        "---\nrelation: son\n---\n# Kit\n\n- passport expires: 2027-03-09\n- blood type: A-\n- phone: 555 0199\n",
    ),
    "People/Ife.md": ("Ife", "---\nrelation: daughter\n---\n# Ife\n\nTeacher: Ms Calloway\n"),
    "People/Sunita.md": ("Sunita", "# Sunita\n\nLives at 9 Micklegate, York. Her GP is Dr Whitfield.\n"),
    "health.md": ("Health", "# Health\n\nMy GP is Dr Anand Rao.\n"),
    "diary.md": ("2026-01-05", "# 2026-01-05\n\nAnke lives in Kiel now and drives a van.\n"),
}
FAMILY = {"Kit": {"relation": "son"}, "Ife": {"relation": "daughter"}}


@pytest.fixture(scope="module")
def memory(static: Any) -> Iterator[Memory]:
    with Memory.open(":memory:", embedder=static) as memory:
        memory.ingest.remember_many(
            [
                Document(f"/notes/{uri}", text, title=title, at=AT, properties=FAMILY.get(title, {}))
                for uri, (title, text) in NOTES.items()
            ]
        )
        yield memory


def first(memory: Memory, question: str) -> str:
    """The first line of the answer; "" for a refusal."""
    *_, answer = memory.questions.ask(question)
    assert isinstance(answer, Answer)
    return "" if answer.no_answer else answer.text.split("\n")[0]


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What is my phone number?", "07700 900142"),
        ("Where do I live?", "14 Ash Grove"),
        ("Where does Nadia live?", "14 Ash Grove"),
        ("Who is my doctor?", "Anand Rao"),
        ("Who is my son?", "Kit"),
        ("Who is my daughter's teacher?", "Calloway"),
        ("When does my son's passport expire?", "2027-03-09"),
        ("When does Kit's passport expire?", "2027-03-09"),
        ("Where does Sunita live?", "Micklegate"),
    ],
)
def test_a_question_about_the_owner_is_answered_with_what_is_theirs(memory: Memory, question: str, value: str) -> None:
    assert value in first(memory, question)


@pytest.mark.parametrize(
    "question", ["When does my passport expire?", "What is my blood type?", "Where does my brother live?"]
)
def test_what_is_known_of_others_alone_is_not_known(memory: Memory, question: str) -> None:
    assert first(memory, question) == ""


def test_a_refusal_tells_what_is_known_of_others(memory: Memory) -> None:
    *_, answer = memory.questions.ask("When does my passport expire?")
    assert isinstance(answer, Answer) and answer.no_answer
    assert "passport expires: 2027-03-09" in answer.text and answer.citations[0].title == "Kit"


def test_the_same_is_asked_in_german(static: Any) -> None:
    with Memory.open(":memory:", embedder=static) as memory:
        notes = {
            "Über mich": "# Über mich\n\nTelefon: 0761 5550134\nGeburtstag: 3. November 1984\n",
            "Jens": "---\nbeziehung: mann\n---\n# Jens\n\nTelefon: 0761 5550882\n"
            "Geburtstag: 12. Juli\nReisepass bis: 30.06.2028\n",
        }
        memory.ingest.remember_many(
            [
                Document(
                    f"/n/{title}.md", text, title=title, at=AT,
                    properties={"beziehung": "mann"} if title == "Jens" else {},
                )
                for title, text in notes.items()
            ]
        )  # fmt: skip
        assert "5550134" in first(memory, "Wie ist meine Telefonnummer?")
        assert "3. November" in first(memory, "Wann habe ich Geburtstag?")
        assert "5550882" in first(memory, "Wie ist die Telefonnummer meines Mannes?")
        assert "Jens" in first(memory, "Wie heißt mein Mann?")
        assert first(memory, "Wann läuft mein Reisepass ab?") == ""


def test_another_speaker_s_own_is_not_the_owner_s(static: Any) -> None:
    def mail(uri: str, sender: str, to: str, body: str) -> Document:
        return Document(
            uri, f"From: {sender}\nTo: {to}\n\n{body}", title="Hello", reader="eml", at=AT,
            speaker=sender.split(" <")[0], properties={"from": sender, "to": to},
        )  # fmt: skip

    joel, ada = "Joel Acht <joel@a.example>", "Ada Berg <ada@b.example>"
    with Memory.open(":memory:", embedder=static) as memory:
        own = "Hi Ada, all is well.\n\n-- \nJoel Acht\nTel. 0161 496 0731\n5 Wharf Close, Stockport\n"
        memory.ingest.remember_many([mail("m1", joel, ada, own)])
        memory.ingest.remember_many(
            [mail(f"m{n}", ada, joel, "I live in Buxton. My number is 01298 555 0190.") for n in (2, 3)]
        )
        assert "0731" in first(memory, "What is my phone number?")
        assert memory.state.serving.owner == ("Joel Acht",)


def test_nobody_else_s_value_stands_under_the_owner_s(memory: Memory) -> None:
    memory.ingest.remember(
        "The tax adviser is Frau Brandt, phone 0341 8899.", source="/notes/tax.md", at=datetime.now(UTC)
    )
    *_, answer = memory.questions.ask("What is my phone number?")
    assert isinstance(answer, Answer)
    assert "07700 900142" in answer.text and "8899" not in answer.text and "0199" not in answer.text


@pytest.mark.parametrize(
    ("text", "speaker", "question"),
    [
        ("# Kettle\n\nMaintainer: Ola Vinter\nPhone: 0161 496 0871\n", UNKNOWN, "What is my phone number?"),
        ("# Kettle\n\nAny questions? The phone is 0161 496 0871.\n", UNKNOWN, "What is my phone number?"),
        ("# A form\n\n```\nphone: 555 0100\n```\n", None, "What is my phone number?"),
        ('Ola wrote: "The boat is old. I live in Vell."', None, "Where do I live?"),
        ("Ola schrieb: „Mein Telefon ist die 0161 496 0871.“", None, "Wie ist meine Telefonnummer?"),
        ("# Releases\n\nShop: went live on the 9th.\n", None, "Where do I live?"),
    ],
)
def test_others_files_examples_and_other_subjects_say_nothing_of_the_owner(
    static: Any, text: str, speaker: str | None, question: str
) -> None:
    with Memory.open(":memory:", embedder=static) as memory:
        memory.ingest.remember_many([Document("/n/a.md", text, title="A", at=AT, speaker=speaker)])
        assert first(memory, question) == ""


def test_the_owner_s_words_after_a_quotation_are_the_owner_s(static: Any) -> None:
    with Memory.open(":memory:", embedder=static) as memory:
        memory.ingest.remember('Ola calls the hut "Heron", and I live in Vell.', source="/n/a.md", at=AT)
        assert "Vell" in first(memory, "Where do I live?")


def test_an_author_may_be_the_owner_until_their_name_is_known(static: Any) -> None:
    with Memory.open(":memory:", embedder=static) as memory:
        note = Document("/n/a.md", "# Card\n\nMy phone is 0161 496 0871.\n", kind="file", at=AT, speaker="Ola Vinter")
        memory.ingest.remember_many([note])
        assert "0871" in first(memory, "What is my phone number?")
        memory.ingest.remember_many([Document("note:me/name", "name: Ada Berg", title="About me", at=AT)])
        assert first(memory, "What is my phone number?") == ""


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Anke lives in Kiel now.", "Where do I live?"),
        ("Anke wohnt in Kiel.", "Wo wohne ich?"),
        ("Ola drives a Volvo.", "Which car do I drive?"),
        ("Meine Schwester heißt Ute. Ute wohnt in Bonn.", "Wo wohne ich?"),
        ("Tom's phone is 555 0199.", "What is my phone number?"),
    ],
)
def test_a_statement_about_another_person_alone_answers_nothing_about_the_owner(
    static: Any, text: str, question: str
) -> None:
    with Memory.open(":memory:", embedder=static) as memory:
        memory.ingest.remember_many([Document("/n/a.md", text, title="A", at=AT)])
        assert first(memory, question) == ""
