"""What there is to do: a class of failure -> what is wrong and the commands that mend it; and advice beside that.

The commands are those of `pal`, with the words of the question that stands as the example, so that they can be given
as they stand; only what nobody knows but the person is a word in capitals.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence

from memory.insight.diagnosis import Diagnosis, FailureName

ADVISED = 3  # names that may be one, with their command
ENOUGH_FIRED, PRECISE = 50, 0.3  # edges replayed; share of them that led to what was cited, below which it is told
OFTEN, WORTHWHILE = 0.3, 0.2  # share of questions for which a model looked further; share of those it answered
CONTENT = 0.25  # confidence that is little, but more than nothing: `memory.answer.threshold`


def repair(name: FailureName, question: str, trace: int, unknown: Sequence[str] = (), known: Sequence[str] = ()) -> str:
    """A sentence or two, then a command in each line, and after a # what it does. `unknown`: the names in the question
    that the memory knows nothing by; `known`: the first of those that it knows."""
    asked = _quoted(question)
    match name:
        case "coverage":
            missing = _line(unknown[0]) if unknown else "NAME"
            heard = f"knows nothing by the name {missing}" if unknown else "knows no name in the question"
            lines = [
                f"The memory {heard}. If something was read about it under another name, write this one there as well:"
                f" [[{missing}]] in the text, or `aliases: [{missing}]` at the head of the note.",
                "pal add PATH  # if nothing was read about it",
                "pal status --skipped  # what could not be read",
                f"pal remember {_quoted(f'{missing} is another name of OTHER.')}"
                "  # if the memory knows it as OTHER; then",
                f"pal same {_quoted(missing)} OTHER",
            ]
        case "connectivity":
            lines = [
                "Nothing leads from what the question named to what answered it. Name both in one passage, or link them"
                " with [[NAME]].",
                f"pal facts {_quoted(_line(known[0]) if known else 'NAME')}  # what leads away from it",
                "pal remember TEXT  # a passage that names both",
                "pal models  # a model that reads your notes finds more such links",
            ]
        case "provenance":
            lines = [
                "Passages were shown, but none held an answer that was sure enough.",
                f"pal recall {asked}  # is the answer among them?",
                f"pal ask --effort deep {asked}  # a model, if you have one, looks further",
                f"pal config set memory.answer.threshold {CONTENT}  # without one: be content with less sure lines",
                "pal daemon restart  # from then on it counts",
            ]
        case "queryability":
            lines = [
                "The question took longer than it may. Hubs make many ways: name something rarer beside them.",
                f"pal trace {trace}  # which stage took the time",
                f"pal ask --effort quick {asked}  # a model is asked once at most",
                "pal config set memory.recall.strategy spread  # the quickest way, if you chose another",
                "pal daemon restart  # from then on it counts",
            ]
    return "\n".join(lines)


def advice(found: Diagnosis, figures: Mapping[str, float], fired: int) -> Iterator[str]:
    """What there is to do, beside the repairs of the questions that failed: a sentence each, with its command.
    `fired`: how many edges were replayed, without many of which their figures say little."""
    if found.stale_memory:
        yield f"Memory hangs on {found.stale_memory:,} links that no longer hold. Make it anew: `pal rebuild --memory`"
    if figures.get("extraction_loss"):
        yield (
            f"Models gave up on {figures['extraction_loss']:.0%} of the passages that they were to read. Why:"
            " `pal status --failed`; to have them read again: `pal retry`"
        )
    elif found.dead_jobs:
        yield f"Jobs that were given up: {found.dead_jobs:,}. Why: `pal status --failed`; again: `pal retry`"
    if conflicts := int(figures.get("conflicts", 0)):
        yield f"Facts that contradict each other, and that nobody has decided: {conflicts:,}. `pal review`"
    for pair in found.alias_suspects[:ADVISED]:
        names = shlex.join([pair.one, pair.other])
        yield f"If these are one: `pal same {names}`; if they are two, leave them."
    if fired >= ENOUGH_FIRED and figures["replay_precision"] < PRECISE:
        yield (
            "Most of what earlier answers bring back is not what answers. Say which were wrong: `pal traces` and"
            " `pal bad`; or do without: `pal config set memory.recall.replay false`, then `pal daemon restart`"
        )
    if figures.get("escalation_rate", 0) > OFTEN and figures["escalation_gain"] < WORTHWHILE:
        yield (
            "Where a model looked further, it seldom found an answer. To spare its tokens: `pal ask --effort quick"
            " QUESTION`; for a better model: `pal models`"
        )


def _line(text: str) -> str:
    return " ".join(text.split())


def _quoted(text: str) -> str:
    """One word for a shell; in double quotes where they do, which every shell knows."""
    line = _line(text)
    quoted = shlex.quote(line)
    return quoted if quoted == line or set(line) & set('"$`\\!') else f'"{line}"'
