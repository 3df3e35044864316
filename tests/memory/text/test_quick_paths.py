"""What is tried only where it can succeed finds what it finds when it is tried everywhere."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory.text import mentions, sentences
from memory.text.languages import guess_language
from tests.examples import examples
from tests.memory.notes_by_language import VAULTS

NOTES = [text for vault in VAULTS.values() for text in vault.notes.values()]
TEXTS = st.one_of(
    st.text(st.sampled_from("aA bB.!?…。；;ก็ๆ١3 \n\"'“”«»*_#@[]()Ö中文しカ-–,:’"), max_size=200), st.sampled_from(NOTES)
)


@examples(2)
@given(text=TEXTS)
def test_sentence_ends_and_names(text: str) -> None:
    ends = [match.span() for match in sentences._find_ends(text, 0, len(text))]
    assert ends == [match.span() for match in sentences._END.finditer(text)]
    names = [match.span() for match in mentions._find_names(text)]
    assert names == [match.span() for match in mentions._NAME.finditer(text)]


def test_a_guess_is_the_same_whoever_asked_before() -> None:
    for _ in range(2):
        assert [guess_language("zum Bo", least) for least in (1, 4)] == ["de", "en"]
