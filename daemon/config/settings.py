"""Every setting of Palimpsest, declared once: default and sentence side by side, here and in `memory.settings`. A field
without a sentence is a parameter, which no person needs to change.

`load` reads config.toml, `render` writes it; config.toml in the repository is `render(Settings())`. Standard library
only, without numpy: a client process reads its settings in a few milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, cast

from daemon.config import (
    TABLE_NAME,
    SectionReader,
    describe_setting,
    first_line,
    is_listed,
    is_section,
    is_table,
    list_sections,
    show_example,
    to_toml,
)
from daemon.config import SettingsError as SettingsError
from memory.settings import MemorySettings, setting
from plugins.settings import (
    AnthropicSettings,
    OllamaSettings,
    OpenAISettings,
    PluginSettings,
    TrainedSettings,
    TraverserSettings,
)

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
    request_s: float = 10.0  # in which a client must send its request
    page_port: int = setting(
        0, "The port of the page that `pal web` opens, 1024 or above; 0: any that is free.", most=65535
    )
    page_idle_minutes: float = 60.0  # without use after which a session of the page ends


@dataclass(frozen=True, slots=True)
class DiskSettings:
    """The disk with the memory."""

    check_s: float = 30.0  # between two checks of the file and of the free space
    pause_mb: int = 500  # free, below which watched folders are not read
    full_mb: int = 100  # free, below which only `pal forget` writes
    wait_s: float = 5.0  # for another program that writes to the memory
    log_mb: int = 256  # of SQLite's log above which, while another program keeps it, folders are not read
    network: bool = setting(False, "Allow a memory on a network drive, where locks and SQLite's log are not reliable.")
    ballast_mb: int = 32  # kept in reserve, so that forgetting works on a full disk


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """Watched folders."""

    debounce_s: float = setting(2.0, "Seconds without a change after which a file is read.")
    longest_wait_s: float = 60.0  # after which a file that keeps changing is read anyway
    poll_s: float = 60.0  # between two scans of a folder without file events, as on a network drive
    root_check_s: float = 30.0  # between two checks that a watched folder still exists
    gone_wait_s: float = 60.0  # after which many missing files are looked for again
    ignore: tuple[str, ...] = setting(IGNORE, "Files and folders that are never read, in .gitignore syntax.")
    key_files: tuple[str, ...] = setting(
        KEY_FILES,
        "Names of files with passwords or keys, in any case. Only `pal add FILE` reads them.",
    )


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """The chat."""

    remember: Literal["ask", "yes", "no"] = setting(
        "ask",
        "Whether what you state of yourself in the chat or `pal ask` is saved as a note. ask: the chat asks once.",
    )


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    """The model that turns text into vectors."""

    name: str = setting(
        "auto",
        "auto: minilm-int8 where the extra `onnx` is installed, else static. For others see `pal embedder --help`.",
    )


@dataclass(frozen=True, slots=True)
class ModelsSettings:
    """The language models for each use, in order of preference: `pal models` lists them."""

    extract: tuple[str, ...] = setting(
        ("auto",), "Extracts facts from notes. auto: the best model on this machine that passed `pal models probe`."
    )
    answer: tuple[str, ...] = setting(("auto",), "Writes answers.")
    agent: tuple[str, ...] = setting(("auto",), "Answers questions that need many steps.")
    policy: Literal["ask", "local", "any"] = setting(
        "ask",
        "Whether models elsewhere may get text of new folders. local: no; any: yes; ask: no, and `pal add` asks once.",
    )
    daily_tokens: int = setting(1_000_000, "Tokens a day for models elsewhere, read and written; 0: no limit.")


@dataclass(frozen=True, slots=True)
class EnrichmentSettings:
    """Background reading with a language model, which extracts facts."""

    enabled: bool = setting(
        True, "Whether a model reads notes in the background; `pal pause` and `pal unpause` change it."
    )
    daily_minutes: int = setting(240, "Minutes a day of reading by models; 0: no limit.", most=1440)
    on_battery: bool = setting(False, "Whether models read while the machine runs on battery.")


@dataclass(frozen=True, slots=True)
class UpkeepSettings:
    """Automatic backups and checks."""

    hour: int = setting(4, "The hour at which they begin. A missed one is made up for once.", most=23)
    backup_days: int = setting(1, "Days between two automatic backups; 0: none.", most=365)
    backups_kept: int = setting(
        3, "Days for which a daily backup is kept. Backups by `pal backup` are never removed.", least=1, most=1000
    )
    backups_weekly: int = 3  # weeks for which the last backup is kept
    backups_monthly: int = 3  # months
    trial_days: int = 30  # between two test restores of the newest backup; 0: none
    check_days: int = setting(7, "Days between two checks for damage; 0: none. `pal check` checks now.", most=365)
    scrub_nights: int = 7  # in which all rows are compared once with their checksums; 0: never


@dataclass(frozen=True, slots=True)
class NightSettings:
    """Nightly maintenance while nobody asks."""

    enabled: bool = setting(True, "Whether there is nightly work; `pal tidy` does the maintenance at any time.")
    hour: int = setting(3, "The hour at which it begins. A missed night is made up for once.", most=23)
    after_start_s: float = 60.0  # until the first check for due work
    on_battery: bool = setting(False, "Whether it runs on battery.")


@dataclass(frozen=True, slots=True)
class RetentionSettings:
    """How long deleted and earlier text and traces are kept. The rest is erased at night."""

    deleted_days: int = setting(30, "Days for which the text of deleted files is kept; 0: for ever.")
    edited_days: int = setting(0, "Days for which earlier text of edited notes is kept; 0: for ever.")
    questions: int = 500  # whose whole trace is kept; of earlier ones only the evidence is


@dataclass(frozen=True, slots=True)
class McpClientSettings:
    """What an agent may read and do."""

    everything: bool = setting(False, "Whether it may read the whole memory.")
    folders: tuple[str, ...] = setting((), "Folders that it may read; none: those watched with `--policy any`.")
    write: bool = setting(False, "Whether it may add notes, judge answers to its questions, and forget its own notes.")


@dataclass(frozen=True, slots=True)
class McpSettings:
    """Agents that use the memory over the Model Context Protocol: `pal mcp`."""

    calls_per_minute: int = 60  # of each agent
    note_kb: int = 20  # in a note of an agent
    notes_per_minute: int = 10
    notes_per_day: int = 200
    clients: Mapping[str, McpClientSettings] = field(
        default_factory=dict,
        metadata={"help": "What each agent may read and do, by its name: `pal mcp clients` lists them."},
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings. A section of config.toml is a path: [memory.recall] is `settings.memory.recall`. The user names the
    sections of a table: [mcp.clients.cursor]."""

    daemon: DaemonSettings = field(default_factory=DaemonSettings)
    disk: DiskSettings = field(default_factory=DiskSettings)
    watch: WatchSettings = field(default_factory=WatchSettings)
    chat: ChatSettings = field(default_factory=ChatSettings)
    embedder: EmbedderSettings = field(default_factory=EmbedderSettings)
    models: ModelsSettings = field(default_factory=ModelsSettings)
    enrichment: EnrichmentSettings = field(default_factory=EnrichmentSettings)
    night: NightSettings = field(default_factory=NightSettings)
    upkeep: UpkeepSettings = field(default_factory=UpkeepSettings)
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    mcp: McpSettings = field(default_factory=McpSettings)
    ollama: OllamaSettings = field(default_factory=OllamaSettings)
    openai: OpenAISettings = field(default_factory=OpenAISettings)
    anthropic: AnthropicSettings = field(default_factory=AnthropicSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    traversers: TraverserSettings = field(default_factory=TraverserSettings)
    ranker: TrainedSettings = field(default_factory=TrainedSettings)
    plugins: PluginSettings = field(default_factory=PluginSettings)


def entries(settings: Settings) -> dict[str, tuple[Any, Any, str]]:
    """Returns all settings, in the order of config.toml: "section.name" -> (value, default, sentence)."""
    return {
        f"{section}.{item.name}": (getattr(values, item.name), item.default, describe_setting(item))
        for section, values in list_sections(settings)
        for item in fields(values)
        if is_listed(item) and not is_table(item)
    }


def render(settings: Settings) -> str:
    """Returns the text of config.toml: every setting with its sentence and value, and changed parameters."""
    text = [
        "# All settings of Palimpsest with their defaults. Changes take effect after `pal daemon restart`.",
    ]
    for section, values in list_sections(settings):
        lines: list[str] = []
        for item in fields(values):
            if is_section(item):
                continue
            value = getattr(values, item.name)
            if is_table(item):
                lines += ["", *show_example(values, section, item)]
            elif is_listed(item):
                lines += ["", f"# {describe_setting(item)}", f"{item.name} = {to_toml(value)}"]
            elif value != item.default:
                lines.append(f"{item.name} = {to_toml(value)}")
        if lines:
            text += ["", "", f"[{section}]  # {first_line(values)}", *lines]
    return "\n".join(text) + "\n"


def entries_for(key: str) -> dict[str, tuple[Any, Any, str]]:
    """Returns the `entries` of the defaults, with those of an agent if `key` is one."""
    section, _, name = key.rpartition(".")[0].rpartition(".")
    is_client = section == "mcp.clients" and CLIENT_NAME.fullmatch(name)
    clients = {name: McpClientSettings()} if is_client else {}
    return entries(Settings(mcp=McpSettings(clients=clients)))


def load(path: Path) -> Settings:
    """Reads config.toml; all defaults without the file. SettingsError, with the line and a remedy."""
    return read_settings(path)[0]


def read_settings(path: Path) -> tuple[Settings, list[str]]:
    """Reads config.toml as `load` does; returns also its names that are not settings, as of an earlier version, and are
    ignored."""
    try:
        return parse(path.read_text("utf-8"), path)
    except (FileNotFoundError, NotADirectoryError):
        return Settings(), []
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"{path} cannot be read: {error}. Correct that, or move it away to use the defaults."
        ) from error


def parse(text: str, path: Path) -> tuple[Settings, list[str]]:
    """Reads the text of a config.toml as `read_settings` does. SettingsError."""
    import tomllib

    reader = SectionReader(path, text)
    try:
        return cast(Settings, reader.read(Settings, tomllib.loads(text))), reader.ignored
    except ValueError as error:  # also a number of some thousand digits
        raise SettingsError(f"{path} is not TOML: {error}. Correct it, or move it away to use the defaults.") from error


def describe_ignored(path: Path) -> str:
    """Lists the names in config.toml that are not settings, in a sentence; "" without any. SettingsError."""
    if not (ignored := read_settings(path)[1]):
        return ""
    names = ", ".join(ignored)
    return f"{path} has names that are no settings any more, and are ignored: {names}. To remove them: pal config edit"


def new_folder_policy(path: Path) -> Literal["local", "any"]:
    """Returns the policy of new folders in config.toml; local by default."""
    try:
        return "any" if load(path).models.policy == "any" else "local"
    except SettingsError:
        return "local"
