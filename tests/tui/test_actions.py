"""The registry of actions is whole: everything in it works, and everything that is shown comes from it."""

from __future__ import annotations

import re

import pytest
from textual.binding import Binding
from textual.dom import DOMNode

from tests.tui import world
from tests.tui.conftest import chatting
from tests.tui.scripted import Script
from tui.actions import ACTIONS, Action, actions_of, commands
from tui.app import PalimpsestApp
from tui.chat.screen import ChatScreen
from tui.chat.topic import Topic
from tui.dialogs.help import HelpScreen, KeyTable
from tui.dialogs.sessions import SessionsScreen
from tui.folders.folders import FolderList
from tui.folders.health import HealthList
from tui.folders.reading import ReadingList
from tui.folders.rows import TabList
from tui.folders.screen import FoldersScreen
from tui.keys import key_names
from tui.memory.lists import BrowseList, Detail, SearchField
from tui.memory.screen import MemoryScreen
from tui.page import Page
from tui.review.screen import ReviewScreen
from tui.review.widgets import RevisionList
from tui.widgets.below import Waiting
from tui.widgets.evidence import Evidence
from tui.widgets.home import HomeList
from tui.widgets.plain import Choices, Options, Plain
from tui.widgets.prompt import Prompt
from tui.widgets.walk import WalkView

OWNERS: dict[str, type[DOMNode]] = {
    "app": PalimpsestApp,
    "chat": ChatScreen,
    "prompt": Prompt,
    "home": HomeList,
    "list": Options,
    "evidence": Evidence,
    "queue": Waiting,
    "sessions": SessionsScreen,
    "review": ReviewScreen,
    "memory": MemoryScreen,
    "finding": SearchField,
    "items": BrowseList,
    "detail": Detail,
    "changes": RevisionList,
    "walk": WalkView,
    "folders": FoldersScreen,
    "rows": TabList,
    "watched": FolderList,
    "reading": ReadingList,
    "health": HealthList,
}
PAGES: dict[str, type[Page]] = {
    "changes": ReviewScreen,
    "finding": MemoryScreen,
    "detail": MemoryScreen,
}  # where a part of a page is on; else it is the chat


def test_every_action_can_be_done() -> None:
    offers = [(action.name, find_offers(action)) for action in ACTIONS]
    assert [offer for offer in offers if len(offer[1]) != 1] == [], "none has its method, or several have"
    assert [action for action in ACTIONS if not (action.key or action.slash or action.palette)] == []
    assert [action.sentence for action in ACTIONS if not action.sentence.endswith(".")] == []


def find_offers(action: Action) -> list[str]:
    """The classes that have the method of an action."""
    target, _, name = action.handler.partition("(")[0].rpartition(".")
    places = {"screen": PAGES.get(action.where, ChatScreen), "app": PalimpsestApp}
    owner = places.get(target) or OWNERS[action.where]
    owners = [owner, *(Topic.__subclasses__() if owner is ChatScreen else ())]
    return [each.__name__ for each in owners if callable(getattr(each, f"action_{name}", None))]


@pytest.mark.parametrize("where", OWNERS)
def test_every_key_is_bound_where_the_registry_says(where: str) -> None:
    keys = [key for action in actions_of(where) for key in action.key.split(",") if key]  # type: ignore[arg-type]
    assert len(keys) == len(set(keys))
    bound = {
        binding.key: binding.action
        for bindings in OWNERS[where]._merged_bindings.key_to_bindings.values()  # type: ignore[union-attr]
        for binding in bindings
    }
    for action in actions_of(where):  # type: ignore[arg-type]
        for key in filter(None, action.key.split(",")):
            assert bound[key] == action.handler


def test_no_two_actions_share_a_command() -> None:
    assert len({action.slash for action in commands()}) == len(commands())


async def test_help_tells_every_command_and_every_key() -> None:
    async with chatting(world.client()) as chat:
        await chat.pilot.press("f1")
        await chat.until(lambda: isinstance(chat.app.screen, HelpScreen))
        await chat.until(lambda: chat.app.screen.query(KeyTable).last().size)
        text = " ".join(" ".join(plain.text for plain in chat.app.screen.query(Plain)).split())
        assert text.index("Type a question and press Enter") < text.index("While typing"), "first what to do at all"
        for action in ACTIONS:
            assert action.usage in text and key_names(action.key) in text and action.sentence in text
            assert action.key or action.slash or f"Ctrl+P {action.name}: {action.sentence}" in text
        await chat.pilot.press("escape")
        await chat.until(lambda: isinstance(chat.app.screen, ChatScreen))


async def test_the_palette_offers_what_the_registry_says() -> None:
    async with chatting(world.client(kept=world.sessions(), answers=[world.answer()])) as chat:
        names = [command.title for command in chat.app.get_system_commands(chat.screen)]
        assert {"Sessions", "Back up"} <= set(names) and {"Evidence", "Good", "Why"}.isdisjoint(names)
        await chat.ask(world.QUESTION)
        names = [command.title for command in chat.app.get_system_commands(chat.screen)]
        offered = [action for action in ACTIONS if action.palette or action.slash]
        offered = [action for action in offered if action.where in ("app", "chat")]
        assert sorted(names) == sorted(action.name for action in offered)
        here = [action.name for action in offered if action.where == "chat"]
        assert names[: len(here)] == here and names[-1] == "Quit"
        await chat.pilot.press("ctrl+p")
        await chat.pilot.press(*"sessions")
        await chat.until(lambda: "Choose an earlier session" in chat.text())
        await chat.pilot.press("enter")
        await chat.until(lambda: isinstance(chat.app.screen, SessionsScreen))


async def test_the_palette_finds_an_action_by_its_sentence_shows_its_key_and_begins_its_command() -> None:
    async with chatting(world.client()) as chat:
        await chat.pilot.press("ctrl+p", *"earlier")
        await chat.until(lambda: "^S · Choose an earlier session" in chat.text())
        await chat.pilot.press("escape")
        await chat.choose("Facts")
        await chat.until(lambda: chat.screen.prompt.text == "/facts ")
        assert chat.screen.prompt.has_focus


async def test_the_palette_begins_with_what_can_be_done_on_the_page_and_does_it() -> None:
    async with chatting(world.reviewed(kept=world.sessions())) as chat:
        await chat.pilot.press("f7")
        await chat.until(lambda: isinstance(chat.app.screen, ReviewScreen) and chat.app.screen.changes.revision)
        names = [command.title for command in chat.app.get_system_commands(chat.app.screen)]
        assert {"Keep new", "Keep old", "Both are true"} <= set(names[:8]) and names[-1] == "Quit"
        await chat.pilot.press("ctrl+p", *"filter", "enter")
        await chat.until(lambda: chat.app.screen.query_one(Choices).chosen == "decided")
        await chat.pilot.press("ctrl+p", *"sessions")
        await chat.until(lambda: "Choose an earlier session" in chat.text())
        await chat.pilot.press("enter")
        await chat.until(lambda: isinstance(chat.app.screen, SessionsScreen))
        assert chat.app.current_mode == "chat"


async def test_the_footer_shows_what_can_be_done_here() -> None:
    async with chatting(world.client(answers=[world.answer()])) as chat:

        def footer() -> list[str]:
            return re.split(r"\s{2,}", chat.text().splitlines()[-1].strip())

        await chat.until(lambda: footer() == ["^S sessions", "^P actions", "F1 help"])
        await chat.pilot.press("f2")
        await chat.until(lambda: "There is no answer yet." in chat.text())
        await chat.ask(world.QUESTION)
        await chat.until(lambda: footer() == ["F2 evidence", "^S sessions", "^N new", "^P actions", "F1 help"])
        await chat.pilot.press("tab")
        await chat.until(lambda: chat.text().splitlines()[-1].startswith("  Enter open  → next source  ^O copy"))
        await chat.pilot.click("#hints", offset=(chat.said("#hints").index("copy") + 2, 0))
        await chat.until(lambda: world.PRISM.quote in chat.app.clipboard)
        await chat.pilot.click("#hints", offset=(chat.said("#hints").index("F1") + 2, 0))
        await chat.until(lambda: isinstance(chat.app.screen, HelpScreen))
        assert chat.app.return_code is None


async def test_the_footer_shows_no_key_that_has_nothing_to_act_on() -> None:
    async with chatting(world.examined()) as chat:
        await chat.pilot.press("f7")
        await chat.until(lambda: "There is nothing to review." in chat.text())
        assert "undo" not in chat.said("#hints") and "filter" in chat.said("#hints")
        await chat.pilot.press("enter", "f8", "right")
        await chat.until(lambda: "Nothing was skipped or failed." in chat.text())
        assert "choose" not in chat.said("#hints")
        await chat.pilot.press("enter", "right")
        await chat.until(lambda: "No problems." in chat.text())
        await chat.pilot.press("enter")
        await chat.until(lambda: "Check again." in chat.text())
        assert "Fix" not in chat.text()


@pytest.mark.parametrize("page", ["memory", "review", "folders"])
async def test_esc_and_where_letters_go_are_always_in_the_footer(page: str) -> None:
    async with chatting(world.remembered(changed=world.changes()), (60, 24)) as chat:
        await chat.app.action_open_page(page)
        await chat.pilot.press("down", "down")
        rule = "type to search" if page == "memory" else "type to ask"
        await chat.until(lambda: all(said in chat.said("#hints") for said in ("Esc back", rule, "^P actions", "F1")))
        assert len(chat.said("#hints")) <= 56


async def test_the_footer_of_the_memory_shows_what_applies_to_the_line() -> None:
    async with chatting(world.remembered()) as chat:
        await chat.app.action_open_page("memory")
        await chat.until(lambda: "Facts now" in chat.text())
        assert not any(word in chat.said("#hints") for word in ("Enter look", "forget", "letters"))
        await chat.pilot.press("down")
        await chat.until(lambda: "Enter look  Del forget" in chat.said("#hints") and "undo" not in chat.said("#hints"))
        await chat.choose("Same")
        await chat.pilot.press(*"Oz", "enter")
        await chat.until(lambda: "^Z undo" in chat.said("#hints"))


async def test_while_a_question_runs_the_footer_says_how_to_stop_it() -> None:
    async with chatting(world.client(answers=[Script(ends=False)])) as chat:
        assert "Esc" not in chat.said("#hints")
        await chat.send("Who?")
        await chat.until(lambda: "Esc stop" in chat.said("#hints"))
        chat.screen.prompt.insert("/")
        await chat.until(lambda: "Esc close" in chat.said("#hints"))
        await chat.pilot.press("escape", "escape")
        await chat.until(lambda: "Esc" not in chat.said("#hints"))


@pytest.mark.parametrize(
    ("keys", "names"),
    [
        ("ctrl+q,ctrl+c", "Ctrl+Q or Ctrl+C"),
        ("f1", "F1"),
        ("alt+up", "Alt+↑"),
        ("y", "y"),
        ("f", "f"),
        ("space,pagedown", "Space or PgDn"),
        ("down,j", "↓ or j"),
    ],
)
def test_keys_are_written_for_people(keys: str, names: str) -> None:
    assert key_names(keys) == names


def test_a_binding_is_made_of_its_action() -> None:
    binding = next(b for b in PalimpsestApp.BINDINGS if isinstance(b, Binding) and b.key == "f1")
    assert (binding.action, binding.description, binding.show) == ("show_help", "help", True)
