"""A newer version of a source beside the former one: which sentence was which."""

from collections.abc import Sequence

from memory.facts.edits import align_sentences, is_statement
from memory.ingest.chunk import Draft
from memory.store import episodes, past
from memory.store.connect import Connection

FormerSentence = tuple[past.StoredSentence, bool]  # what a sentence was, and whether it says something else now


def align_versions(
    conn: Connection,
    drafts: Sequence[Draft],
    kept: Sequence[episodes.Placed | None],
    removed: Sequence[episodes.Placed],
) -> dict[tuple[int, int], FormerSentence]:
    """(episode, sentence) of a newer version, by their numbers -> the one of the former version that it was, where it
    was edited, or had been. `kept`: for each episode the stored one with the same words, or None; `removed`: those that
    are no longer there."""
    told = past.sentences_of(conn, [placed.id for placed in removed])
    former: list[tuple[past.StoredSentence | None, str]] = []
    for placed in sorted((*removed, *filter(None, kept)), key=lambda placed: placed.seq):
        if placed in kept:
            former.append((None, _anchor(placed)))
        else:
            former += [(one, one.text) for one in told.get(placed.id, ()) if is_statement(one.text, one.before)]
    new: list[tuple[tuple[int, int], str]] = []
    for number, (draft, stored) in enumerate(zip(drafts, kept, strict=True)):
        if stored is not None:
            new.append(((number, 0), _anchor(stored)))
            continue
        spans, text = enumerate(draft.sentences), draft.text
        new += [
            ((number, place), text[a:b]) for place, (a, b) in spans if is_statement(text[a:b], text[max(0, a - 6) : a])
        ]
    same, edited = align_sentences([words for _, words in former], [words for _, words in new])
    found = {new[j][0]: (one, False) for i, j in same if (one := former[i][0]) and one.replaced}
    return found | {new[j][0]: (one, True) for i, j in edited if (one := former[i][0])}


def _anchor(kept: episodes.Placed) -> str:
    """What stands for an episode that is in both versions."""
    return f"episode{kept.id}"
