"""Every setting of Palimpsest, declared once: default and sentence side by side, here and in `memory.settings`.

`load` reads config.toml, `render` writes it; config.toml in the repository is `render(Settings())`. Standard library
only, without numpy: a client process reads its settings in a few milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast

from daemon.sections import (
    TABLE_NAME,
    build_section,
    describe_setting,
    first_line,
    is_section,
    is_table,
    list_sections,
    locate_error,
    show_example,
    to_toml,
)
from daemon.sections import SettingsError as SettingsError
from memory.settings import MemorySettings, setting
from plugins.llms.settings import AnthropicSettings, OllamaSettings, OpenAISettings
from plugins.rankers.settings import RankerSettings
from plugins.settings import PluginSettings
from plugins.traversers.settings import TraverserSettings

IGNORE = (
    # version control, packages, caches
    ".*/", "node_modules/", "__pycache__/", "venv/", "site-packages/", "$RECYCLE.BIN/", "System Volume Information/",
    # what editors, browsers and office programs leave while they write
    "*~", "~$*", ".~lock*", ".#*", "#*#", "*.swp", "*.swx", "*.swo", "4913", "*.tmp", "*.temp", "*.bak",
    "*.part", "*.partial", "*.crdownload", "*.download", ".DS_Store", "Thumbs.db", "desktop.ini",
    # what package managers write
    "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "*.min.js",
    # keys and passwords
    "*.pem", "*.key", "*.p12", "*.pfx", "*.kdb", "*.kdbx", "*.keychain", "*.keychain-db", "*.gpg", "*.asc", "*.age",
    ".env*", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", ".netrc", "_netrc", ".pgpass", ".npmrc", ".pypirc",
    ".git-credentials", ".htpasswd", "*.keystore", "*.jks",
)  # fmt: skip


KEY_FILES = (
    "*password*.txt", "*password*.csv", "*password*.json", "*passwort*.txt", "*passwort*.csv", "*kennwort*.txt",
    "*kennwort*.csv", "passwords", "credentials", "*credentials*.txt", "*credentials*.csv", "*credentials*.json",
    "bitwarden*.csv", "bitwarden*.json", "1password*.csv", "lastpass*.csv", "keepass*.csv", "dashlane*.csv",
    "*recovery*code*.txt", "*backup*code*.txt", "*recovery*key*.txt", "*wiederherstellungscode*.txt", "kubeconfig*",
    "shadow", "shadow-", "gshadow", "key", "*.key.txt", "*.pem.txt", "id_rsa*.txt", "secrets.*", "*.secret.txt",
)  # fmt: skip


CLIENT_NAME = TABLE_NAME  # of an agent's program


@dataclass(frozen=True, slots=True)
class DaemonSettings:
    """The background process."""

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = setting(
        "INFO", "How much is logged: DEBUG, INFO, WARNING or ERROR. Texts are never logged at INFO."
    )
    readers: int = setting(4, "Questions that are worked on at the same time.", least=1, most=32)
    in_flight: int = setting(
        16, "Requests that may be open at the same time; more are told to try again.", least=1, most=64
    )
    request_s: float = setting(
        10.0, "Seconds within which a client must have sent the whole of its request.", least=0.1, most=3600
    )


@dataclass(frozen=True, slots=True)
class WebSettings:
    """The page in the browser, which `pal web` opens."""

    port: int = setting(0, "The port of the page on this machine, 1024 or above; 0: any that is free.", most=65535)
    idle_minutes: float = setting(
        60.0, "Minutes for which nobody uses the page, after which its session ends.", least=0.01, most=10_080
    )


@dataclass(frozen=True, slots=True)
class DiskSettings:
    """The disk that the memory lies on."""

    check_s: float = setting(
        30.0, "Seconds between two looks at the memory's file and the room on its disk.", least=0.1, most=3600
    )
    pause_mb: int = setting(500, "Megabytes free below which no files are read by themselves.")
    full_mb: int = setting(100, "Megabytes free below which nothing is written but what `pal forget` removes.")
    wait_s: float = setting(5.0, "Seconds to wait for another program that writes to the memory.", most=60)
    log_mb: int = setting(
        256, "Megabytes of the memory's log, held by another program, above which no files are read by themselves.",
        least=1, most=100_000,
    )  # fmt: skip
    network: bool = setting(
        False, "Whether the memory may lie on a network drive, where neither locks nor its log can be relied on."
    )
    ballast_mb: int = setting(
        32, "Megabytes kept in reserve, so that forgetting works on a full disk; 0: none.", most=10000
    )


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """Watched folders."""

    debounce_s: float = setting(2.0, "Seconds a file must be quiet before it is read.")
    longest_wait_s: float = setting(60.0, "Seconds after which files that never become quiet are read all the same.")
    scan_interval_s: float = setting(
        3600.0, "Seconds between two full scans of the folders, about; they find what events missed.", least=1
    )
    poll_s: float = setting(
        60.0,
        "Seconds between two scans of a folder of which the system gives no events, as on a network drive.",
        least=0.1,
    )
    root_check_s: float = setting(30.0, "Seconds between two looks whether a watched folder is still there.", least=0.1)
    gone_wait_s: float = setting(60.0, "Seconds after which many files that are gone are looked for once more.")
    gone_files: int = setting(
        20, "More files than this gone, and more than the share below: they stay until you say what becomes of them."
    )
    gone_share: float = setting(0.2, "The share of a folder's files that makes a loss suspicious.", most=1)
    gone_window_s: float = setting(86_400.0, "Seconds within which files that go one after the other are added up.")
    ignore: tuple[str, ...] = setting(
        IGNORE, "What is never read, in .gitignore syntax; later lines win, ! takes back."
    )
    key_files: tuple[str, ...] = setting(
        KEY_FILES,
        "Names of files that hold passwords or keys, in upper or lower case: they are read only when you name them"
        " (`pal add FILE`), and listed by `pal status --skipped`.",
    )


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """The chat."""

    remember: Literal["ask", "yes", "no"] = setting(
        "ask",
        "Whether what you tell of yourself there, and to `pal ask`, is kept as a note of your own words. ask: the chat"
        " asks once. It counts at once.",
    )


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    """What turns text into vectors."""

    name: str = setting(
        "auto",
        "auto: minilm-int8 where the extra `onnx` is installed, else static. For others see `pal embedder --help`.",
    )
    keep_old: bool = setting(False, "Keep the vectors of the embedder before, so that going back to it is quick.")


@dataclass(frozen=True, slots=True)
class RerankerSettings:
    """What reads the first passages of chats again, with the question, and puts the best first."""

    name: str = setting(
        "none",
        "none, or cross-encoder:FOLDER: a second of the processor a question, for better answers from chats.",
    )


@dataclass(frozen=True, slots=True)
class ModelsSettings:
    """Which language models are used for what: `pal models` lists them. The first that can be reached is taken."""

    extract: tuple[str, ...] = setting(
        ("auto",), "For facts out of notes. auto: the best one on this machine that passed `pal models probe`."
    )
    answer: tuple[str, ...] = setting(("auto",), "For answers.")
    agent: tuple[str, ...] = setting(("auto",), "For questions that take many steps.")
    policy: Literal["ask", "local", "any"] = setting(
        "ask",
        "Whether text of folders that are added may be given to models elsewhere. local: no; any: yes; "
        "ask: no, and `pal add` asks once.",
    )
    daily_tokens: int = setting(
        1_000_000, "Tokens a day that models elsewhere may take, questions and answers together; 0: any number."
    )


@dataclass(frozen=True, slots=True)
class EnrichmentSettings:
    """Background reading with a language model, which extracts facts."""

    enabled: bool = setting(True, "Whether a model reads at all; `pal pause` and `pal unpause` change it.")
    daily_tokens: int = setting(1_000_000, "Tokens a day that this may take, of all models together; 0: any number.")
    daily_minutes: int = setting(240, "Minutes a day that models may be busy with it; 0: any number.", most=1440)
    on_battery: bool = setting(False, "Whether it goes on while the machine runs on its battery.")


@dataclass(frozen=True, slots=True)
class UpkeepSettings:
    """Backups and looks for damage that are made by themselves."""

    hour: int = setting(4, "The hour from which on they are made. What was missed is made up for, once.", most=23)
    backup_days: int = setting(
        1, "Days between two backups; 0: none. They lie where those of `pal backup` do.", most=365
    )
    backups_kept: int = setting(3, "Days of which one of these is kept. Others are never removed.", least=1, most=1000)
    backups_weekly: int = setting(3, "Weeks of which one is kept besides, the newest.", most=1000)
    backups_monthly: int = setting(3, "Months of which one is kept besides, the newest.", most=1000)
    trial_days: int = setting(
        30, "Days between two trials whether the newest backup can be restored; 0: none.", most=365
    )
    check_days: int = setting(7, "Days between two looks for damage; 0: none. `pal check` looks now.", most=365)
    scrub_nights: int = setting(
        7, "Nights in which all that cannot be made anew is compared once with its checksums; 0: it is not.", most=365
    )


@dataclass(frozen=True, slots=True)
class LearningSettings:
    """Learning from the questions that were answered well, by `pal train` or at night."""

    enabled: bool = setting(False, "Whether it happens every night by itself.")
    ranker: str = setting("trained", "What learns: a ranker of a plugin, of this program trained; none: nothing.")


@dataclass(frozen=True, slots=True)
class NightSettings:
    """Nightly work while nobody asks: maintenance, and learning from questions."""

    enabled: bool = setting(True, "Whether it is done at all; `pal tidy` does the first of it at any time.")
    hour: int = setting(3, "The hour from which on it is done. A night that was missed is made up for, once.", most=23)
    after_start_s: float = setting(60.0, "Seconds after the start before it is first looked whether it is time.")
    on_battery: bool = setting(False, "Whether it is done while the machine runs on its battery.")


@dataclass(frozen=True, slots=True)
class RetentionSettings:
    """How long is kept what no question about today finds, and how much of questions; the rest goes at night."""

    deleted_days: int = setting(30, "Days for which the text of files that were deleted is kept; 0: for ever.")
    edited_days: int = setting(
        0, "Days for which text that was edited out of a note is kept: the history of its facts; 0: for ever."
    )
    draft_hours: float = setting(
        1.0, "What stood in a note for less time than this many hours is no history, and goes; 0: all of it is kept."
    )
    questions: int = setting(
        500, "Questions of which the whole way to the answer is kept; of earlier ones what is learnt from. 0: of all."
    )


@dataclass(frozen=True, slots=True)
class McpClientSettings:
    """What one agent's program may see and do."""

    everything: bool = setting(False, "Whether it sees all of the memory.")
    folders: tuple[str, ...] = setting(
        (), "Folders whose text it sees; none: those that are watched with `--policy any`."
    )
    write: bool = setting(False, "Whether it may remember, judge answers to its questions, and forget what it wrote.")


@dataclass(frozen=True, slots=True)
class McpSettings:
    """Agents that use the memory over the Model Context Protocol: `pal mcp`."""

    calls_per_minute: int = setting(60, "Calls a minute that are answered, of each agent.", least=1, most=10000)
    note_kb: int = setting(20, "Kilobytes that a note of an agent may have.", least=1, most=1000)
    notes_per_minute: int = setting(10, "Notes a minute that an agent may write.", least=1, most=1000)
    notes_per_day: int = setting(200, "Notes within 24 hours that an agent may write.", least=1, most=100000)
    clients: Mapping[str, McpClientSettings] = field(
        default_factory=dict, metadata={"help": "What each may see and do, by its name: `pal mcp clients` lists them."}
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """All of it. A section of config.toml is a path in here: [memory.recall] is `settings.memory.recall`; those of a
    table have names of the user's: [mcp.clients.cursor]."""

    daemon: DaemonSettings = field(default_factory=DaemonSettings)
    web: WebSettings = field(default_factory=WebSettings)
    disk: DiskSettings = field(default_factory=DiskSettings)
    watch: WatchSettings = field(default_factory=WatchSettings)
    chat: ChatSettings = field(default_factory=ChatSettings)
    embedder: EmbedderSettings = field(default_factory=EmbedderSettings)
    reranker: RerankerSettings = field(default_factory=RerankerSettings)
    models: ModelsSettings = field(default_factory=ModelsSettings)
    enrichment: EnrichmentSettings = field(default_factory=EnrichmentSettings)
    night: NightSettings = field(default_factory=NightSettings)
    upkeep: UpkeepSettings = field(default_factory=UpkeepSettings)
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    learning: LearningSettings = field(default_factory=LearningSettings)
    mcp: McpSettings = field(default_factory=McpSettings)
    ollama: OllamaSettings = field(default_factory=OllamaSettings)
    openai: OpenAISettings = field(default_factory=OpenAISettings)
    anthropic: AnthropicSettings = field(default_factory=AnthropicSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    traversers: TraverserSettings = field(default_factory=TraverserSettings)
    rankers: RankerSettings = field(default_factory=RankerSettings)
    plugins: PluginSettings = field(default_factory=PluginSettings)


def entries(settings: Settings) -> dict[str, tuple[Any, Any, str]]:
    """All settings, in the order of config.toml: "section.name" -> its value, its default and its sentence."""
    return {
        f"{section}.{item.name}": (getattr(values, item.name), item.default, describe_setting(item))
        for section, values in list_sections(settings)
        for item in fields(values)
        if not (is_table(item) or is_section(item))
    }


def render(settings: Settings) -> str:
    """config.toml: every setting with its sentence and its value."""
    text = [
        "# Palimpsest's settings. Every one is here, with its default; change what you like and restart with",
        "# `pal daemon stop`: the next command starts it again.",
    ]
    for section, values in list_sections(settings):
        text += ["", "", f"[{section}]  # {first_line(values)}"]
        for item in fields(values):
            if is_table(item):
                text += ["", *show_example(values, section, item)]
            elif not is_section(item):
                text += ["", f"# {describe_setting(item)}", f"{item.name} = {to_toml(getattr(values, item.name))}"]
    return "\n".join(text) + "\n"


def entries_for(key: str) -> dict[str, tuple[Any, Any, str]]:
    """`entries` of the defaults; where `key` is one of an agent's program, with those of that."""
    section, _, name = key.rpartition(".")[0].rpartition(".")
    is_client = section == "mcp.clients" and CLIENT_NAME.fullmatch(name)
    clients = {name: McpClientSettings()} if is_client else {}
    return entries(Settings(mcp=McpSettings(clients=clients)))


def load(path: Path) -> Settings:
    """Reads config.toml; without the file all defaults. Raises SettingsError, with the line and the remedy."""
    try:
        return parse(path.read_text("utf-8"), path)
    except FileNotFoundError:
        return Settings()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"{path} cannot be read: {error}. Correct that, or move it away to use the defaults."
        ) from error


def parse(text: str, path: Path) -> Settings:
    """The settings of a config.toml that says this. SettingsError."""
    import tomllib

    try:
        return cast(Settings, build_section(Settings, tomllib.loads(text), "", partial(locate_error, path, text)))
    except ValueError as error:  # also a number of some thousand digits
        raise SettingsError(f"{path} is not TOML: {error}. Correct it, or move it away to use the defaults.") from error


def new_folder_policy(path: Path) -> Literal["local", "any"]:
    """The policy of new folders as config.toml says it now; local as long as nobody has said anything else."""
    try:
        return "any" if load(path).models.policy == "any" else "local"
    except SettingsError:
        return "local"
