"""A small memory for the chat's tests: what it holds, and what it answers."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from daemon import wire
from tests.tui.scripted import HOME, NOW, Script, ScriptedClient

STATS = wire.Stats(
    path="/home/tilda/.local/share/palimpsest/memory.db",
    sources=86,
    episodes=1204,
    theses=5120,
    objects=913,
    edges=20480,
    skipped=0,
    bytes=18_400_000,
    embedder="static",
    generation=1,
)
STATUS = wire.Status(
    wire.DaemonProcess("0.1.0", wire.PROTOCOL, pid=4711, uptime_s=12.0),
    STATS,
    wire.FileReading(folders=(wire.Folder(HOME, "watching", 86),)),
)
NO_STATS = replace(STATS, sources=0, episodes=0, theses=0, objects=0, edges=0)
READING = replace(STATUS, stats=NO_STATS, files=wire.FileReading(queue=31, folders=(wire.Folder(HOME, "scanning"),)))
EMPTY = replace(STATUS, stats=replace(NO_STATS, bytes=90_112), files=wire.FileReading())

QUESTION = "When was the fog signal last sounded?"
PRISM = wire.Citation(
    n=1,
    uri=f"{HOME}/museum/fog-signal.md",
    title="Fog signal",
    quote="It was last sounded on 9 March 2026, for the mayor, who asked it to stop.",
    passage="# Fog signal\n\nBeatrice is a diaphone of 1908. She has two notes, and both of them are low.\n\n"
    "It was last sounded on 9 March 2026, for the mayor, who asked it to stop.\n\n"
    "The compressor needs a new belt before she may sing again. Ozzie has the belt.",
    episode_id=31,
    line=14,
    end_line=14,
    at=datetime.fromisoformat("2026-03-09T11:00:00+00:00"),
    is_markdown=True,
)
EARLIER = wire.Citation(
    n=2,
    uri=f"{HOME}/daily/2026-01-14.md",
    title="Wednesday",
    quote="The fog signal has not been sounded since 1987.",
    passage="Rain. Bosun in the leaflets again.\nThe fog signal has not been sounded since 1987.\nOrdered paint.",
    episode_id=12,
    line=6,
    end_line=6,
    at=datetime.fromisoformat("2026-01-14T09:00:00+00:00"),
    earlier=True,
    is_markdown=True,
)
CHAT = wire.Citation(
    n=3,
    uri=f"{HOME}/chats/foghorn-committee.json",
    title="Foghorn committee",
    quote="Nobody is to sound her again before I have had my coffee.",
    passage="Nuria Solano: Nobody is to sound her again before I have had my coffee.\nFerelith Oakes: Noted.",
    episode_id=55,
    at=datetime.fromisoformat("2026-03-10T07:12:00+00:00"),
    speaker="Nuria Solano",
)
TEXT = (
    "- It was last sounded on 9 March 2026, for the mayor, who asked it to stop. [1]\n"
    "- earlier: The fog signal has not been sounded since 1987. [2]\n"
    "- Nobody is to sound her again before I have had my coffee. [3]\n"
)
STEPS: tuple[wire.Event, ...] = (
    wire.Step("analyse", 0.4, {"terms": ["fog", "signal", "sounded"]}),
    wire.Step("scope", 0.1, {"episodes": 1204}),
    wire.Step("text", 12.3, {"lexical": 7.1}),
    wire.Step("seed", 1.2, {"objects": ["Beatrice"]}),
    wire.Step("rank", 20.1, {"episodes": 3}),
    wire.Visit(7, "object", "Beatrice", 0.66, "seed", "seed"),
    wire.Visit(8, "object", "the mayor", 0.41, "graph", "selected", 901, 1, 7, "sounded for"),
    wire.Visit(31, "episode", "Fog signal", 0.91, "rank", "selected", 902, 2, 8),
    wire.Visit(12, "episode", "Wednesday", 0.74, "rank"),
    wire.Visit(55, "episode", "Foghorn committee", 0.52, "rank", "selected", 903, 1, 7),
)
CITED = (PRISM, EARLIER, CHAT)
ANSWERED = wire.Answered(TEXT, CITED, confidence=0.8, trace_id=9, ms=41.0)


def answer() -> Script:
    """The whole answer to QUESTION, in pieces."""
    pieces = [wire.Token(TEXT[start : start + 24]) for start in range(0, len(TEXT), 24)]
    return Script(*STEPS, *CITED, *pieces, ANSWERED)


def clear_answer() -> Script:
    """An answer of which one line is clear, with what it replaced and two lines folded behind it."""
    lines = [
        "- It was last sounded on 9 March 2026, for the mayor. [1]\n",
        "- earlier: The fog signal has not been sounded since 1987. [2]\n",
        "- Nobody is to sound her again before I have had my coffee. [3]\n",
        "- The mayor asked it to stop. [4]\n",
    ]
    folded = replace(CHAT, folded=True)
    cited = (replace(PRISM, value="9 March 2026"), EARLIER, folded, replace(folded, n=4, quote="It was asked to stop."))
    pieces = [event for one, line in zip(cited, lines, strict=True) for event in (one, wire.Token(line))]
    return Script(*STEPS, *pieces, wire.Answered("".join(lines).rstrip(), cited, confidence=0.9, trace_id=9, ms=41.0))


def unsure_answer() -> Script:
    """An answer of two lines that may be meant, from two notes, and a folded one with a secret."""
    cited = (
        replace(PRISM, title="Beatrice › Sounded", quote="Last sounded 9 March.", passage="Last sounded 9 March."),
        replace(PRISM, n=2, title="Fog signal"),
        replace(CHAT, folded=True),
    )
    text = (
        "Your memory does not say this plainly. Closest:\n- Last sounded 9 March. [1]\n"
        "- The fog signal needs a belt. [2]\n- The key is ‹password-kdfqrw›. [3]"
    )
    return Script(*STEPS, *cited, wire.Token(text), wire.Answered(text, cited, confidence=0.3, trace_id=9, ms=41.0))


def refusal() -> Script:
    text = "Your memory does not hold the answer."
    return Script(*STEPS[:2], wire.Answered(text, (), no_answer=True, missing=("Atlantis",), ms=9.0))


def short_answer(text: str = "On Friday. [1]") -> Script:
    return Script(
        wire.Citation(1, 1, "a.md", "A", "On Friday.", 1, passage="On Friday."), wire.Answered(text, (PRISM,), ms=3.0)
    )


def sessions() -> dict[int, wire.MessagesReply]:
    """Three kept sessions, the newest first."""
    rows = [
        (7, "Who has the belt for the compressor?", "2026-04-24T14:02:00+00:00", 6),
        (5, "Opening times at Easter", "2026-04-23T09:10:00+00:00", 2),
        (2, "What the goat may not eat", "2025-12-30T18:45:00+00:00", 12),
    ]
    return {id: session(id, title, datetime.fromisoformat(updated), messages) for id, title, updated, messages in rows}


def session(id: int, title: str, updated: datetime, messages: int) -> wire.MessagesReply:
    """A kept session of so many messages, half of them answers."""
    turns = [
        wire.ChatMessage(2 * n + k, role, text, updated, citations=(PRISM,) if role == "memory" else ())
        for n in range(messages // 2)
        for k, (role, text) in enumerate([("user", f"Question {n + 1}?"), ("memory", f"Answer {n + 1}. [1]")])
    ]
    return wire.MessagesReply(wire.Conversation(id, title, updated, updated, len(turns)), tuple(turns))


def fact(id: int, text: str, episode: int, line: int | None, uri: str, **fields: object) -> wire.Fact:
    """A sentence of a note, as it was read."""
    known: dict[str, object] = {"quote": text, "title": "Fog signal", "since": "" if fields else "2026-03-09"}
    at = datetime.fromisoformat("2026-03-09T11:00:00+00:00")
    return wire.Fact(id, "thesis", text, (), at, None, at, None, None, episode, uri, line, **known | fields)  # type: ignore[arg-type]


def changes() -> dict[int, wire.Revision]:
    """Four changes: one replaced, one ended, one disputed, all of which wait, and one that was decided."""
    at = datetime.fromisoformat("2026-04-24T14:02:00+00:00")
    museum, log = f"{HOME}/museum/fog-signal.md", f"{HOME}/daily/2026-04-20.md"
    rows = [
        (4, "supersedes", ("The compressor has a belt of leather.", 31, 16, museum),
         ("The compressor has a belt of rubber.", 41, 16, museum), "Its note was edited.", "open"),
        (3, "negates", ("Ozzie works at the museum.", 32, 3, museum),
         ("Ozzie no longer works at the museum.", 42, 9, log),
         "It says that it is over.", "open"),
        (2, "contradicts", ("The museum opens at nine.", 33, 2, log), ("The museum opens at ten.", 43, 5, museum),
         "Both are told of the same time.", "open"),
        (1, "supersedes", ("The mayor is Ada Prowse.", 34, 7, log), ("The mayor is Nuria Solano.", 44, None, "note:7"),
         "There is one such fact at a time, and this one began later.", "kept"),
    ]  # fmt: skip
    return {
        id: wire.Revision(
            id, relation, fact(2 * id, *old, until="2026-04-20"), fact(2 * id + 1, *new), reason, "rule", 1.0, state,
            at, at if state == "kept" else None,
        )
        for id, relation, old, new, reason, state in rows
    }  # type: ignore[arg-type]  # fmt: skip


PATH = (
    wire.Hop("Beatrice", "object"),
    wire.Hop("the mayor", "object", "was sounded for"),
    wire.Hop("Fog signal", "episode"),
)
WHY = wire.Why(
    wire.AskedQuestion(9, NOW, QUESTION),
    (
        wire.UsedPassage(PRISM, 1, 0.91, {"lexical": 0.7, "graph": 0.2},
                  (fact(6, "The fog signal was last sounded on 9 March 2026.", 31, 14, PRISM.uri),), PATH),
        wire.UsedPassage(EARLIER, 2, 0.74, {"lexical": 0.7}, (), (wire.Hop("Wednesday", "episode"),)),
    ),
    shown=12,
)  # fmt: skip


def examined(**fields: object) -> ScriptedClient:
    """A memory that tells why the answer to QUESTION is so."""
    return client(**({"answers": [answer()], "whys": {9: WHY}} | fields))


EPISODES = {
    31: "# Fog signal\n\nBeatrice is a diaphone.\nThe compressor has a belt of leather. It is old.\n\nOzzie!",
    41: "# Fog signal\n\nBeatrice is a diaphone.\nThe compressor has a belt of rubber. It is new.\n\nOzzie!",
}


def reviewed(**fields: object) -> ScriptedClient:
    """A memory with changes that wait."""
    state = replace(STATUS, review=3)
    return client(**({"state": state, "changed": changes(), "episodes": dict(EPISODES)} | fields))


GRADED = wire.Grades("qwen3:4b", "1", 0, 0.92, 0.8, 0.9, 1.0, None, 45.0, 0.4, 8192, 12.0)


def working(**fields: object) -> ScriptedClient:
    """A memory with folders of all sorts, files that were skipped, jobs that were given up, models and problems."""
    folders = (
        wire.Folder(HOME, "watching", 86, tags=("museum",)),
        wire.Folder("/media/stick/letters", "missing", 12, "it is not there", "any", gone=3),
    )
    failed = wire.FailedJob(5, "extract", "Fog signal", "the model answered with nothing that can be read")
    enrichment = wire.Enrichment(
        "reading", "", "qwen3:4b", 640, 1204, 12, (failed,), 1, 52_000, 31.0, 240
    )  # fmt: skip
    given_up = wire.FailedJob(6, "read", f"{HOME}/broken.pdf", "the pdf reader failed ten times")
    files = wire.FileReading(7, folders=folders, failed=(given_up,), failed_total=1)
    state = replace(STATUS, files=files, enrichment=enrichment)
    skipped = (
        wire.Skipped(f"{HOME}/plan.docx", "no reader for .docx"),
        wire.Skipped(f"{HOME}/photo.md", "binary file"),
        wire.Skipped(f"{HOME}/empty.md", "empty file"),
    )
    row = wire.ModelRow("qwen3:4b", True, 32_768, 2_600_000_000, 52_000, ("extract",), grades=GRADED)
    other = wire.ModelRow("claude-haiku", False)
    roles = (wire.ModelRole("extract", ("auto",), "qwen3:4b"), wire.ModelRole("answer", ("auto",)))
    known: dict[str, object] = {
        "state": state, "left_out": skipped, "reachable": wire.ModelsReply((row, other), roles),
        "listed": (wire.ListedSource(f"{HOME}/museum/fog-signal.md", "file", "Fog signal", 3, PRISM.at),),
        "problems": ("The last backup is 40 days old. To make one now: pal backup",),
    }  # fmt: skip
    return client(**(known | fields))


def client(**fields: object) -> ScriptedClient:
    return ScriptedClient(**({"state": STATUS} | fields))  # type: ignore[arg-type]


def home() -> wire.Home:
    """What somebody finds who was here on the day before."""

    def planned(day: str, time: str, text: str, due: bool = False) -> wire.PlannedEntry:
        return wire.PlannedEntry(day, time, text, due, f"{HOME}/museum/calendar.ics", "calendar", 7, 40)

    names = "Fog signal", "Opening times", "Paint"
    known = changes()
    return wire.Home(
        changed=(known[4], known[1]),
        changed_total=2,
        read=tuple(wire.ListedSource(f"{HOME}/museum/{name}.md", "file", name, 2) for name in names),
        read_total=12,
        review=known[4],
        review_total=3,
        planned=(
            planned("2026-04-20", "", "Order a belt for the compressor", True),
            planned("2026-04-24", "18:00", "Foghorn committee, the gallery"),
            planned("2026-04-25", "", "Reprint the leaflets", True),
            planned("2026-04-29", "10:00 to 12:00", "Visit of the school of Port Skerrow"),
        ),
        planned_total=4,
    )


THINGS = (
    wire.FoundObject("Ozzie Penhale", "person", 2, 3),
    wire.FoundObject("Compressor", "", 0, 2),
    wire.FoundObject("Beatrice", "", 1, 1),
)
SUGGESTED = ("Who is the mayor?", "What is still open?", "What do you know about Second Opinion?")


def at_home(**fields: object) -> ScriptedClient:
    """A memory to which somebody comes back."""
    state = replace(STATUS, review=3)
    known = {"state": state, "kept": sessions(), "found": home(), "suggested": SUGGESTED, "changed": changes()}
    lately = {"notes": home().read, "things": THINGS}
    return client(**(known | lately | {"episodes": dict(EPISODES)} | fields))


FACT_PHONE = wire.Fact(
    901, "relation", "Ozzie Penhale, phone: 0161 496 07", ("Ozzie Penhale", "0161 496 07"),
    datetime.fromisoformat("2026-03-09T11:00:00+00:00"), None, datetime.fromisoformat("2026-03-09T11:00:00+00:00"),
    None, None, 31, f"{HOME}/people/Ozzie Penhale.md", 2, origin="rule", predicate="phone", quote="phone: 0161 496 07",
    title="Ozzie Penhale", since="2026-03-09",
)  # fmt: skip
FACT_BEFORE = replace(
    FACT_PHONE, id=900, objects=("Ozzie Penhale", "none, and proud of it"), superseded_by=901, since="2024-05-01",
    text="Ozzie Penhale, phone: none, and proud of it", until="2026-03-09", line=1,
    valid_from=datetime.fromisoformat("2024-05-01T11:00:00+00:00"),
)  # fmt: skip
FACT_SOUNDED = replace(
    FACT_PHONE, id=902, text="Beatrice, last sounded: 9 March 2026", objects=("Beatrice", "9 March 2026"),
    predicate="last sounded", uri=PRISM.uri, line=14, quote="", title="Fog signal",
)  # fmt: skip


MINE = wire.Profile(
    ("Tilda",), (),
    (wire.ProfileEntry("phone", (replace(FACT_PHONE, objects=("you", "0161 496 00"), since="2026-04-01"),)),),
)  # fmt: skip


def remembered(**fields: object) -> ScriptedClient:
    """A memory of three things, two facts and two notes, to look around in."""
    ozzie = wire.ObjectReply(
        "Ozzie Penhale",
        ("Ozzie Penhale", "Ozzie"),
        (FACT_PHONE,),
        (
            wire.FactTimeline(
                "Ozzie Penhale", "phone", (wire.TimelineValue(FACT_BEFORE), wire.TimelineValue(FACT_PHONE))
            ),
        ),
        (
            wire.MentionedIn(PRISM.uri, "Fog signal", 16, "Ozzie has the belt.", 2, PRISM.at),
            wire.MentionedIn(EARLIER.uri, "Wednesday", 6, "Ozzie ordered paint.", 1, EARLIER.at),
        ),
        2,
        (wire.Neighbour("Beatrice", passages=2), wire.Neighbour("Compressor", "keeps")),
    )
    compressor = wire.ObjectReply(
        "Compressor", ("Compressor",), (), (), (), 0,
        (wire.Neighbour("Ozzie Penhale", "keeps", False), wire.Neighbour("Beatrice", passages=1)),
    )  # fmt: skip
    passage = wire.Passage(31, PRISM.uri, "file", "Fog signal", PRISM.passage, PRISM.at, line=1, end_line=18)
    signal = wire.ListedSource(PRISM.uri, "file", "Fog signal", 1, PRISM.at)
    read = datetime.fromisoformat("2026-04-20T08:00:00+00:00")
    known = {
        "things": THINGS,
        "told": (FACT_PHONE, FACT_SOUNDED),
        "notes": (signal, wire.ListedSource(EARLIER.uri, "file", "Wednesday", 3, EARLIER.at)),
        "object_pages": {"Ozzie Penhale": ozzie, "Compressor": compressor},
        "mine": MINE,
        "note_pages": {
            PRISM.uri: wire.NoteReply(signal, read, ("museum",), ("qwen",), (passage,), (FACT_SOUNDED,)),
        },
    }
    return client(**(known | fields))
