"""Who writes the answers, and what that takes."""

from __future__ import annotations

from pathlib import Path

from daemon import wire
from daemon.config.settings import load
from daemon.paths import Paths
from tests.tui import world
from tests.tui.conftest import NARROW, Chat, chatting
from tests.tui.scripted import Script, ScriptedClient
from tui.chat.screen import ChatScreen
from tui.widgets.plain import Plain
from tui.widgets.transcript import Note

GRADES = wire.Grades("ollama:qwen3:4b", "1", 0, 0.9, 0.8, 0.92, 1.0, None, 40.0, 0.5, 8000, question_s=12.0)
REACHABLE = wire.ModelsReply(
    (
        wire.ModelRow("ollama:qwen3:4b", True, 8000, 2_600_000_000, grades=GRADES),
        wire.ModelRow("anthropic:[b]claude", False, tokens=12_000),
    ),
    (wire.ModelRole("answer", ("auto",), "ollama:qwen3:4b"),),
    hints=("Another could be fetched.",),
)


def client(**fields: object) -> ScriptedClient:
    return world.client(reachable=REACHABLE, **fields)


async def test_no_model_and_one_by_its_name(tmp_path: Path) -> None:
    told = connected(tmp_path)
    async with chatting(told) as chat:
        await chat.send("/model none")
        await chat.until(lambda: "Answers are now the lines of your notes" in chat.words())
        assert told.reachable.roles[0].names == ()
        await chat.send("/model ollama:gone")
        await chat.until(lambda: "ollama:gone is selected, but cannot be reached now." in chat.words())
        await chat.send("/model")
        await chat.until(lambda: "anthropic:[b]claude elsewhere" in chat.words())
        assert "ollama:qwen3:4b on this machine · 40 tokens/s" in chat.words()
        chat.screen.prompt.fill("/model cla")
        await chat.until(lambda: "anthropic:[b]claude" in chat.said("#suggestions"))


async def test_without_a_model_it_names_the_command_of_the_chat_and_none_of_a_shell() -> None:
    nothing = wire.ModelsReply((), (), hints=("Start it: ollama serve",))
    async with chatting(world.client(reachable=nothing)) as chat:
        await chat.send("/model")
        await chat.until(lambda: "/connect connects Ollama" in chat.words())
        assert "ollama serve" not in chat.words()


async def test_what_models_took_is_on_the_frame() -> None:
    def answer() -> Script:
        step = wire.Step("compose", 9.0, {"model": "qwen3:4b", "calls": 2, "tokens": 1400})
        return Script(step, wire.Answered("On Friday.", model="qwen3:4b", ms=9.0))

    async with chatting(client(answers=[world.short_answer(), answer(), answer()])) as chat:
        await chat.ask("When?")
        assert str(chat.screen.conversation.border_subtitle) == ""
        await chat.ask("And where?")
        assert str(chat.screen.conversation.border_subtitle) == "qwen3:4b · 2 calls · 1,400 tokens"
        await chat.ask("And who?")
        assert "qwen3:4b · 4 calls · 2,800 tokens" in chat.text()
        await chat.pilot.press("ctrl+n")
        await chat.until(lambda: "2,800 tokens" not in chat.text())


def asked(chat: Chat) -> str:
    """What a window over the chat asks."""
    return " ".join(plain.text for plain in chat.app.screen.query(Plain) if plain.has_class("dialog-title"))


def connected(tmp_path: Path, **fields: object) -> ScriptedClient:
    """A memory whose config.toml may be written."""
    return client(paths=Paths.in_folder(tmp_path), **fields)


async def test_a_service_is_connected_with_a_test_call_and_asked_once_what_may_go_there(tmp_path: Path) -> None:
    tried = wire.ModelTest(
        "anthropic:[b]claude", "Ready [/b].", 1234.0, "", False, ("anthropic:[b]claude", "anthropic:x")
    )
    told = connected(tmp_path, tries=[wire.ModelTest("anthropic", problem="It does not accept [/] the key."), tried])
    async with chatting(told, NARROW) as chat:
        await chat.send("/connect")
        await chat.until(lambda: "anthropic" in chat.said("#suggestions"))
        assert "On this machine: private and free." in chat.said("#suggestions")
        await chat.pilot.press("down", "down", "enter")
        await chat.until(lambda: chat.screen.prompt.text == "/connect anthropic")
        await chat.pilot.press("enter")
        await chat.until(lambda: "API key of Anthropic" in chat.words())
        await chat.pilot.press(*"sk-x", "enter")
        await chat.until(lambda: "It does not accept [/] the key. Nothing was saved." in chat.words())
        assert "sk-x" not in chat.text() and not (tmp_path / "anthropic.key").exists()
        await chat.send("/connect anthropic")
        await chat.until(lambda: "API key of Anthropic" in chat.words())
        await chat.pilot.press(*"sk-x", "enter")
        await chat.until(lambda: "Shall anthropic:[b]claude write answers?" in asked(chat))
        settings = load(tmp_path / "config.toml")
        assert settings.anthropic.key_file and "sk-x" not in (tmp_path / "config.toml").read_text("utf-8")
        await chat.pilot.press("right", "enter")
        await chat.until(lambda: "be sent to anthropic:[b]claude?" in asked(chat))
        await chat.pilot.press("right", "enter")
        await chat.until(lambda: "now writes answers" in chat.words())
        assert "answered after 1.2 s: “Ready [/b].” Its server has 1 other model." in chat.words()
        settings = load(tmp_path / "config.toml")
        assert settings.models.answer == ("anthropic:[b]claude",) and settings.models.policy == "any"
        assert [folder.policy for folder in told.state.files.folders] == ["any"]
        await chat.send("/model anthropic:[b]claude")
        await chat.until(lambda: "".join(note.text for note in chat.screen.query(Note)).count("now writes") == 2)
        assert isinstance(chat.app.screen, ChatScreen), "it is not asked again"


async def test_who_thinks_better_of_a_service_cancels(tmp_path: Path) -> None:
    async with chatting(connected(tmp_path)) as chat:
        await chat.send("/connect ollama")
        await chat.until(lambda: "Address of Ollama" in chat.words() and "127.0.0.1:11434" in chat.text())
        await chat.pilot.press("escape")
        await chat.until(lambda: "Nothing was saved." in chat.words() and chat.app.focused is chat.screen.prompt)
        assert not (tmp_path / "config.toml").exists()


async def test_a_server_needs_an_address_and_an_example_is_shown(tmp_path: Path) -> None:
    async with chatting(connected(tmp_path)) as chat:
        await chat.send("/connect openai")
        await chat.until(lambda: "For example http://127.0.0.1:8080 (llama.cpp)" in chat.words())
        await chat.pilot.press("enter")
        await chat.until(lambda: "without its address the server cannot be found" in chat.words())
        assert not (tmp_path / "config.toml").exists()
