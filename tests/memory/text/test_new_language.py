"""A new language is one file: an invented one is added, and its dates, stop words and question words are understood."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from memory.text.languages import DATA, languages, tables

KORVIN = """
rank = 50
stop_words = 'ma le vu zak hol dez pri'

[asks]
date = 'zakan'
number = 'zakor'
name = 'zakil'

[time]
months = [
  'unmor', 'dumor', 'trimor', 'kvamor', 'pinmor', 'sesmor', 'sepmor', 'okmor', 'novmor', 'demor', 'elmor', 'lasmor',
]
weekdays = ['undi', 'dudi', 'tridi', 'kvadi', 'pindi', 'sesdi', 'sepdi']
last = 'pasit[ae]'
next = 'venit[ae]'
of = 'le'
ago = ['fra {n} {unit}']
numbers = ['un', 'du', 'tri']

[time.days]
-1 = 'yestu'

[time.units]
week = 'vika viki'

[time.signals]
in = 'hol'
since = 'dez'
begin = 'pri'

[time.tense]
past = '\\w+it'

[sentences]
abbreviations = 'dol'

[claims]
numbers = ['nul', 'un', 'du', 'tri']

[followup]
goes_on = 'kaj ma\\b'
refers = '^kaj ma\\b'
"""

PROGRAM = """
import sys
from datetime import UTC, datetime
from pathlib import Path

from memory.text import languages

languages.DATA = Path(sys.argv[1])
from memory.retrieval.question_type import expected_types
from memory.answering.grounding import Proof, judge_claim
from memory.answering.followups import resolve_followup
from memory.facts.rules.phrases import read_begin
from memory.text.mentions import mentions
from memory.text.sentences import sentences
from memory.time.dates import parse_date
from memory.time.expressions import resolve_time

now = datetime(2026, 11, 22, 12, tzinfo=UTC)
assert languages.guess_language("zak vu le brum hol ma") == "xk"
assert languages.content_words("zak vu le brum", "xk") == ["brum"]
assert expected_types("zakor vu brum?", "xk") == {"number"}
assert expected_types("zakan vu brum?", "xk") == {"date"}
assert parse_date("5 trimor 2024").date().isoformat() == "2024-03-05"
assert [one.norm for one in mentions("Brum hol 5 le trimor 2024.")][-1] == "2024-03-05"
for question, since in (
    ("zak vu brumit hol lasmor?", "2025-12-01"),  # the past tense
    ("zak vu bruma hol lasmor?", "2026-12-01"),
    ("zak vu brumit yestu?", "2026-11-21"),
    ("zak vu bruma hol venita vika?", "2026-11-23"),
    ("zak vu brumit fra du viki?", "2026-11-05"),
    ("zak vu bruma hol tridi?", "2026-11-25"),
):
    found = resolve_time(question, now, UTC)
    assert found is not None and found.since.date().isoformat() == since, (question, found)
assert resolve_time("zakan vu brumit hol lasmor?", now, UTC) is None  # it asks for a time itself
assert read_begin("Brum kosta 5 pri 3 trimor 2027", now).date().isoformat() == "2027-03-03"
assert judge_claim("Brum kosta du [1].", {1: Proof("Brum kosta 2.")}, "").verdict == "proved"
assert judge_claim("Brum kosta tri [1].", {1: Proof("Brum kosta 2.")}, "").verdict != "proved"
assert resolve_followup("kaj ma brum?", ["zak vu Tovin?"]) == "brum (Tovin)?"
text = "Brum kosta 5 dol. ma. Bruma."
assert [text[start:end] for start, end in sentences(text)] == ["Brum kosta 5 dol. ma.", "Bruma."]
"""


def test_a_language_is_understood_by_its_file_alone(tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(DATA, data)
    (data / "xk.toml").write_text(KORVIN, encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(data)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_language_of_a_file_has_what_all_of_them_need() -> None:
    for language, data in languages().items():
        assert data["rank"] >= 0, language
        assert data["stop_words"].split(), language
        for key, count in (("months", 12), ("weekdays", 7), ("seasons", 4)):
            assert all(len(listed) == count for listed in tables("time", key, language=language)), (language, key)
