"""Repairs: for each class of failure what is wrong and the commands that fix it; and general advice.

The commands are those of `pal` with the words of the example question, ready to run; only placeholders for the person
are in capitals."""

import shlex
from collections.abc import Iterator, Mapping, Sequence

from memory.insight.diagnosis import Diagnosis, FailureName

ADVISED = 3  # pairs of names that get a command
ENOUGH_FIRED, PRECISE = 50, 0.3  # minimum of replayed edges, and precision below which advice is given
OFTEN, WORTHWHILE = 0.3, 0.2  # share of questions that a model searched further, and share of those answered
CONTENT = 0.25  # a low confidence above 0, for `memory.answer.threshold`


def repair(name: FailureName, question: str, trace: int, unknown: Sequence[str] = (), known: Sequence[str] = ()) -> str:
    """A sentence or two, then a command per line with its effect after a #. `unknown`: names in the question without an
    object; `known`: the first known ones."""
    asked = _quote_word(question)
    match name:
        case "coverage":
            missing = _join_lines(unknown[0]) if unknown else "NAME"
            problem = f"does not know the name {missing}" if unknown else "knows no name in the question"
            lines = [
                f"The memory {problem}. If it has another name in your notes, add this one:"
                f" [[{missing}]] in the text, or `aliases: [{missing}]` at the top of the note.",
                "pal add PATH  # if you have unread files about it",
                "pal status --skipped  # what could not be read",
                f"pal remember {_quote_word(f'{missing} is another name of OTHER.')}"
                "  # if the memory knows it as OTHER; then",
                f"pal same {_quote_word(missing)} OTHER",
            ]
        case "connectivity":
            lines = [
                "There is no link between the names in the question and the passages that answered it. Name both in one"
                " passage, or link them with [[NAME]].",
                f"pal facts {_quote_word(_join_lines(known[0]) if known else 'NAME')}  # its links",
                "pal remember TEXT  # a passage that names both",
                "pal models  # a model that reads your notes finds more such links",
            ]
        case "provenance":
            lines = [
                "Passages were shown, but none contained a sure enough answer.",
                f"pal recall {asked}  # is the answer among them?",
                f"pal ask --effort deep {asked}  # searches further with a model, if you have one",
                f"pal config set memory.answer.threshold {CONTENT}  # without a model: accept less sure lines",
                "pal daemon restart  # to apply it",
            ]
        case "queryability":
            lines = [
                "The question took too long. Its names are mentioned very often: add a rarer one.",
                f"pal trace {trace}  # which stage took the time",
                f"pal ask --effort quick {asked}  # calls a model once at most",
                "pal config set memory.recall.strategy spread  # the fastest strategy, if you chose another",
                "pal daemon restart  # to apply it",
            ]
    return "\n".join(lines)


def advice(diagnosis: Diagnosis, figures: Mapping[str, float], fired: int) -> Iterator[str]:
    """Advice in addition to the repairs: a sentence each with its command. `fired`: the number of replayed edges,
    without which their figures mean little."""
    if diagnosis.stale_memory:
        yield f"Edge memory has {diagnosis.stale_memory:,} rows on expired links. Rebuild it: `pal rebuild --memory`"
    if figures.get("extraction_loss"):
        yield (
            f"Models gave up on {figures['extraction_loss']:.0%} of the passages. Why:"
            " `pal status --failed`; to try again: `pal retry`"
        )
    elif diagnosis.dead_jobs:
        yield f"Failed jobs: {diagnosis.dead_jobs:,}. Why: `pal status --failed`; to try again: `pal retry`"
    if conflicts := int(figures.get("conflicts", 0)):
        yield f"Unresolved contradictions between facts: {conflicts:,}. `pal review`"
    for pair in diagnosis.alias_suspects[:ADVISED]:
        names = shlex.join([pair.one, pair.other])
        yield f"If these are the same: `pal same {names}`; otherwise ignore this."
    if fired >= ENOUGH_FIRED and figures["replay_precision"] < PRECISE:
        yield (
            "Most passages reused from earlier answers do not help. Mark wrong answers: `pal traces` and"
            " `pal bad`; or turn replay off: `pal config set memory.recall.replay false`, then `pal daemon restart`"
        )
    if figures.get("escalation_rate", 0) > OFTEN and figures["escalation_gain"] < WORTHWHILE:
        yield (
            "Further searches by a model seldom found an answer. To save tokens: `pal ask --effort quick"
            " QUESTION`; for a better model: `pal models`"
        )


def _join_lines(text: str) -> str:
    return " ".join(text.split())


def _quote_word(text: str) -> str:
    """One shell word; in double quotes where possible, which every shell supports."""
    line = _join_lines(text)
    quoted = shlex.quote(line)
    return quoted if quoted == line or set(line) & set('"$`\\!') else f'"{line}"'
