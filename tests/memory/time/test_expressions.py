"""The time a question speaks of."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.time.expressions import find_clock_words, is_relative_to_day, is_state, name_day, resolve_time

NOW = datetime(2026, 6, 30, 12, tzinfo=UTC)  # a Tuesday


def read(question: str, now: datetime = NOW) -> tuple[str, str | None, str | None] | None:
    """Kind, first day and day after the last."""
    when = resolve_time(question, now, UTC)
    if when is None:
        return None
    assert when.words in question
    since, until = (end.date().isoformat() if end else None for end in (when.since, when.until))
    return when.kind, since, until


@pytest.mark.parametrize(
    ("question", "kind", "since", "until"),
    [
        ("Where did I live as of 3 May 2025?", "as_of", "2025-05-03", "2025-05-04"),
        ("As of mid-June 2024, when was the novel due?", "as_of", "2024-06-11", "2024-06-21"),
        ("Where did X live in June 2023?", "as_of", "2023-06-01", "2023-07-01"),
        ("What did the desk cost in August 2024?", "as_of", "2024-08-01", "2024-09-01"),
        ("What was the stipend at the end of 2023?", "as_of", "2023-12-01", "2024-01-01"),
        ("What was my address in early December 2023?", "as_of", "2023-12-01", "2023-12-11"),
        ("When was the main gate opened in autumn 2024?", "as_of", "2024-09-01", "2024-12-01"),
        ("In June 2025, when was the trip due?", "as_of", "2025-06-01", "2025-07-01"),
        ("How long were logs kept in March 2025?", "as_of", "2025-03-01", "2025-04-01"),
        ("Which tool did I use in mid-2024?", "as_of", "2024-05-01", "2024-09-01"),
        ("How many guests were planned in summer 2025?", "as_of", "2025-06-01", "2025-09-01"),
        ("What did I eat at Christmas 2023?", "range", "2023-12-24", "2023-12-27"),
        ("What was the on-call stipend in late 2024?", "as_of", "2024-10-01", "2025-01-01"),
        ("What did it cost on 13/4/2024?", "as_of", "2024-04-13", "2024-04-14"),
        ("Who was the PM before 2024?", "as_of", None, "2024-01-01"),
        ("Where did I live 2023?", "as_of", "2023-01-01", "2024-01-01"),
        ("What did I do in March 2024?", "range", "2024-03-01", "2024-04-01"),
        ("What happened last spring?", "range", "2026-03-01", "2026-06-01"),
        ("What did I write yesterday?", "range", "2026-06-29", "2026-06-30"),
        ("What did we discuss two weeks ago?", "range", "2026-06-13", "2026-06-20"),
        ("What did I buy three months ago?", "range", "2026-03-01", "2026-04-01"),
        ("Which chats were there last week?", "range", "2026-06-22", "2026-06-29"),
        ("What did I do on 3 May?", "range", "2026-05-03", "2026-05-04"),
        ("What did I do on May 3, 2024?", "range", "2024-05-03", "2024-05-04"),
        ("What did I do on 2024-05-03?", "range", "2024-05-03", "2024-05-04"),
        ("What did I do on the night of 3 May 2024?", "range", "2024-05-03", "2024-05-04"),
        ("What did I decide before 2024?", "range", None, "2024-01-01"),
        ("What was said since January 2025?", "range", "2025-01-01", None),
        ("What did I see after 3 May 2025?", "range", "2025-05-04", None),
        ("What did I buy until March 2024?", "range", None, "2024-04-01"),
        ("What happened between March and May 2024?", "range", "2024-03-01", "2024-06-01"),
        ("What happened from December to January 2024?", "range", "2023-12-01", "2024-02-01"),
        ("What happened between 3 March 2024 and 5 April 2024?", "range", "2024-03-03", "2024-04-06"),
        ("What did I buy this year?", "range", "2026-01-01", "2027-01-01"),
        ("What did I do in the last two weeks?", "range", "2026-06-16", "2026-07-01"),
        ("What did Jo do the week before August 3, 2023?", "range", "2023-07-27", "2023-08-03"),
        ("What did Jo see on the Sunday before October 25, 2022?", "range", "2022-10-23", "2022-10-24"),
        ("What did Ana say on Monday?", "range", "2026-06-29", "2026-06-30"),
        ("What did Ana say last Friday?", "range", "2026-06-26", "2026-06-27"),
        ("What do I have next week?", "range", "2026-07-06", "2026-07-13"),
        ("Where will I be in October?", "range", "2026-10-01", "2026-11-01"),
        ("What happened in Q3 2024?", "range", "2024-07-01", "2024-10-01"),
        ("What happened in the first half of 2024?", "range", "2024-01-01", "2024-07-01"),
        ("Wo wohnte ich im März 2023?", "as_of", "2023-03-01", "2023-04-01"),
        ("Wo wohnte ich Ende Juni 2023?", "as_of", "2023-06-21", "2023-07-01"),
        ("Was habe ich letzte Woche gemacht?", "range", "2026-06-22", "2026-06-29"),
        ("Was habe ich vor zwei Wochen gekauft?", "range", "2026-06-13", "2026-06-20"),
        ("Was habe ich am 3. Mai 2025 gemacht?", "range", "2025-05-03", "2025-05-04"),
        ("Was war vorgestern los?", "as_of", "2026-06-28", "2026-06-29"),
        ("Waar woonde ik in maart 2023?", "as_of", "2023-03-01", "2023-04-01"),
        ("Wat heb ik vorige week gedaan?", "range", "2026-06-22", "2026-06-29"),
        ("Wat heb ik twee weken geleden gekocht?", "range", "2026-06-13", "2026-06-20"),
        ("Où habitais-je en mars 2023 ?", "as_of", "2023-03-01", "2023-04-01"),
        ("Qu'est-ce que j'ai fait la semaine dernière ?", "range", "2026-06-22", "2026-06-29"),
        ("Qu'est-ce que j'ai acheté il y a deux semaines ?", "range", "2026-06-13", "2026-06-20"),
        ("¿Dónde vivía en marzo de 2023?", "as_of", "2023-03-01", "2023-04-01"),
        ("¿Qué hice la semana pasada?", "range", "2026-06-22", "2026-06-29"),
        ("¿Qué compré hace dos semanas?", "range", "2026-06-13", "2026-06-20"),
        ("2023年6月にどこに住んでいましたか", "as_of", "2023-06-01", "2023-07-01"),
    ],
)
def test_a_time_is_read(question: str, kind: str, since: str | None, until: str | None) -> None:
    assert read(question) == (kind, since, until)


@pytest.mark.parametrize(
    "question",
    [
        "What did it cost on 3/4/2024?",  # the third of April or the fourth of March
        "Where was I in winter 2023?",  # two winters
        "What was on 31 February 2024?",
        "What did I do in July 2023 after the trip of June 2022?",  # two times
        "Friday evenings",  # past or to come
        "How many glasses do I drink in a week?",
        "Who lives on the 3rd floor?",
        "How far did I run in two weeks?",
        "Where have I lived since 2020?",  # may have been told before
        "When did I move in 2024?",
        "When did Caroline go to the parade in the summer?",
        "Since when have I lived here, as we said in May 2025?",
        "How long did I live in Lisbon in 2024?",
        "Wann bin ich 2024 umgezogen?",
        "Quand ai-je déménagé en 2024 ?",
        "What is the 1968 album?",
        "Who is Mar Rojas?",
        "May I park here?",
        "What about the fall of Rome?",
        "Which room is 2024?1",
        "What did the 12 monkeys do?",
        "Who wrote to me?",
    ],
)
def test_nothing_is_guessed(question: str) -> None:
    assert read(question) is None


@pytest.mark.parametrize("question", ["Where do I live now?", "What does it cost these days?", "Wo wohne ich derzeit?"])
def test_now_is_said_in_many_words(question: str) -> None:
    assert read(question) == ("now", None, None)


def test_what_comes_every_year_is_the_last_one_that_has_begun() -> None:
    def begun(question: str, month: int) -> str | None:
        found = read(question, datetime(2026, month, 15, tzinfo=UTC))
        return found[1] if found else None

    assert begun("What happened in March?", 2) == "2025-03-01"
    assert begun("What happened in March?", 3) == "2026-03-01"
    assert begun("What happened last March?", 3) == "2025-03-01"
    assert begun("What happened last winter?", 1) == "2024-12-01"
    assert begun("What happened last winter?", 3) == "2025-12-01"
    assert begun("What happened at Christmas?", 6) == "2025-12-24"
    assert begun("What happened this spring?", 4) == "2026-03-01"


NOVEMBER = datetime(2026, 11, 22, 12, tzinfo=UTC)  # a Sunday


@pytest.mark.parametrize(
    ("question", "since"),
    [
        ("What do I have in December?", "2026-12-01"),
        ("What is planned for December?", "2026-12-01"),
        ("Who is coming in October?", "2027-10-01"),
        ("Where will I be in November?", "2026-11-01"),
        ("What did I do in December?", "2025-12-01"),
        ("What have I bought in December?", "2025-12-01"),
        ("Who came in December?", "2025-12-01"),
        ("What happened in November?", "2026-11-01"),
        ("dentist in December", "2026-12-01"),
        ("dentist in October", "2026-10-01"),
        ("What is on the 26th?", "2026-11-26"),
        ("What do I have on the 3rd?", "2026-12-03"),
        ("What did I do on the 26th?", "2026-10-26"),
        ("What did I do on the 3rd with Ana?", "2026-11-03"),
        ("When is lunch on 5 March, as of the 20th?", None),
        ("What do I have on 5 March?", "2027-03-05"),
        ("What did I do on 5 March?", "2026-03-05"),
        ("What do I have on Friday?", "2026-11-27"),
        ("What did I do on Friday?", "2026-11-20"),
        ("What do I have this Friday?", "2026-11-27"),
        ("What do I have next week?", "2026-11-23"),
        ("What do I have in two weeks?", "2026-12-03"),
        ("What will I do in a month?", "2026-12-01"),
        ("What do I have in the next two weeks?", "2026-11-22"),
        ("What is due by Friday?", None),
        ("Who visits at Christmas?", "2026-12-24"),
        ("Who visited at Christmas?", "2025-12-24"),
        ("Was habe ich am 26.?", "2026-11-26"),
        ("Was habe ich am 26. gemacht?", "2026-10-26"),
        ("Was mache ich im Dezember?", "2026-12-01"),
        ("Was habe ich im Dezember gemacht?", "2025-12-01"),
        ("Was war im Dezember los?", "2025-12-01"),
        ("Was steht am Freitag an?", "2026-11-27"),
        ("Was habe ich in zwei Wochen vor?", "2026-12-03"),
        ("Wat heb ik op de 26e?", "2026-11-26"),
        ("Wat heb ik in december gedaan?", "2025-12-01"),
        ("Wat doe ik in december?", "2026-12-01"),
        ("Wat heb ik over twee weken?", "2026-12-03"),
        ("Qu'est-ce que j'ai le 26 ?", "2026-11-26"),
        ("Qu'est-ce que j'ai fait en décembre ?", "2025-12-01"),
        ("Qu'est-ce que je fais en décembre ?", "2026-12-01"),
        ("Qu'est-ce qu'il y a dans deux semaines ?", "2026-12-03"),
        ("¿Qué tengo el 26?", "2026-11-26"),
        ("¿Qué hice en diciembre?", "2025-12-01"),
        ("¿Qué tengo en diciembre?", "2026-12-01"),
        ("¿Qué tengo dentro de dos semanas?", "2026-12-03"),
    ],
)
def test_what_comes_again_lies_ahead_but_in_the_past_tense(question: str, since: str | None) -> None:
    found = read(question, NOVEMBER)
    assert (found[1] if found else None) == since


def test_days_are_those_of_the_zone() -> None:
    auckland = ZoneInfo("Pacific/Auckland")
    when = resolve_time("What did I do today?", NOW, auckland)
    assert when is not None
    assert when.since == datetime(2026, 7, 1, tzinfo=auckland)
    local = resolve_time("What did I do today?", NOW)
    assert local is not None
    assert local.since is not None
    assert local.since.utcoffset() == NOW.astimezone().utcoffset()


@given(st.dates(date(1900, 1, 1), date(2099, 12, 30)))
def test_a_written_day_is_that_day(day: date) -> None:
    span = (day.isoformat(), (day + timedelta(days=1)).isoformat())
    for written in (
        day.isoformat(),
        f"{day:%d} {day:%B} {day.year}",
        f"{day:%B} {day.day}, {day.year}",
        f"{day.day}.{day.month}.{day.year}",
    ):
        assert read(f"What happened on {written}?") == ("range", *span)


@given(
    st.text(max_size=60), st.sampled_from(["last ", "in ", "before 2", " weeks ago", "29 February", " 2024", "-13-01"])
)
def test_any_text_is_read_without_an_error(text: str, piece: str) -> None:
    when = resolve_time(text + piece + text, NOW, UTC)
    if when is not None and when.since is not None and when.until is not None:
        assert when.since < when.until


@pytest.mark.parametrize(
    ("question", "state"),
    [
        ("Where did I live?", True),
        ("What did the desk cost?", True),
        ("Who was the manager?", True),
        ("What did I do?", False),
        ("What did I buy?", False),
        ("Were there any letters?", False),
        ("Which car did the trip spoil?", False),
    ],
)
def test_states_last_and_events_happen(question: str, state: bool) -> None:
    assert is_state(question) is state


@pytest.mark.parametrize(
    ("day", "said", "named"),
    [
        ("2021-01-01", "Lives in Dresden since 2021.", "2021"),
        ("2021-01-01", "seit 2021 in Dresden", "2021"),
        ("2021-01-01", "since 1 January 2021", "2021-01-01"),
        ("2021-01-01", "seit dem 1.1.2021", "2021-01-01"),
        ("2021-01-01", "since 2021, to be exact since 2021-01-01", "2021-01-01"),
        ("2024-01-01", "from January 2024", "2024-01"),
        ("2019-03-01", "Editor since March 2019", "2019-03"),
        ("2019-03-01", "seit März 2019", "2019-03"),
        ("2022-10-01", "| Electricity | 84 € | 2022-10 |", "2022-10"),
        ("2026-03-01", "since March", "2026-03"),
        ("2025-01-01", "seit letztem Jahr", "2025"),
        ("2021-05-01", "since mid 2021", "2021-05"),
        ("2021-05-02", "since 2021", "2021-05-02"),
        ("2021-01-01", "no time is named", "2021-01-01"),
        ("2021-01-01", "31 February 2021", "2021-01-01"),
    ],
)
def test_a_day_is_reported_as_precisely_as_it_was(day: str, said: str, named: str) -> None:
    assert name_day(datetime.fromisoformat(day).astimezone(), said, datetime(2026, 11, 23).astimezone()) == named


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("It opens at ten.", "at ten"),
        ("Be there at half past two on Friday", "at half past two"),
        ("Lunch is at noon", "noon"),
        ("Der Laden öffnet um zehn Uhr", "um zehn"),
        ("Abre a las diez.", "a las diez"),
        ("She works at two hospitals", ""),
        ("At one point it rained", ""),
        ("Room ten is open", ""),
    ],
)
def test_a_time_of_day_in_words(text: str, hour: str) -> None:
    assert find_clock_words(text) == hour


@pytest.mark.parametrize(
    ("text", "is_relative"),
    [
        ("It is on Pier 2 from today", True),
        ("We moved two weeks ago", True),
        ("Last year it rained", True),
        ("It sounds every 90 seconds", False),
        ("We meet on Thursday", False),
        ("Since March 2024", False),
    ],
)
def test_what_depends_on_the_day_on_which_it_was_written(text: str, is_relative: bool) -> None:
    assert is_relative_to_day(text) is is_relative
