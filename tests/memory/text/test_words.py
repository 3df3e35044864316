"""What a word is, in any script: for any text, and not only for what people write."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.retrieval.analyse import analyse
from memory.store import text as full_text
from memory.store.store import Store
from memory.text.languages import content_words, guess_language, stem
from memory.text.mentions import mentions
from memory.text.sentences import sentences
from memory.text.words import Term, ascii_digits, index_form, strip_accents, words
from tests.examples import examples
from tests.memory.store.building import remember

# Letters of each script, and the marks that stand with them.
SCRIPTS = {
    "latin": "aeiouAEIOU bcdßéèüöäñçıİłøÅşğ -'.5",
    "cyrillic": "абвгдеёйжЁЙ їєґ -.5\u0301",
    "greek": "αβγδάέήίόύώϊΐΣσς Ά.;5",
    "hebrew": "אבגדהוכלמנסעפצקרשתםןץףך \u05b8\u05c1-.5",
    "arabic": "ابتثجحأإآىةلوكهـ \u064b\u0651؟.٥",
    "devanagari": "कखगघचड़क़ािीुे्ंँ ।.५",
    "thai": "กขคงจะาิีุเแโ่้์ ๆ.5",
    "chinese": "我的猫叫咪在学校書館 。，5",
    "japanese": "あいうがぱはをアイウガヴー猫犬 ｱｶﾞ。・5",
    "korean": "가나다라김수은는이를학교 .5",
    "mixed": "abé 猫アあ가ไท अक ия الم הב 12",
}
TEXTS = {script: st.text(letters, max_size=30) for script, letters in SCRIPTS.items()}
anything = st.one_of(st.text(max_size=60), *TEXTS.values())


@given(anything)
@settings(deadline=None)
def test_any_text_is_read(text: str) -> None:
    found = list(words(text))
    assert all(word and word == word.strip() for word in found)
    assert isinstance(index_form(text), str)
    language = guess_language(text)
    assert set(content_words(text, language)) <= set(found) | {word for word in found if isinstance(word, Term)} or (
        language in ("zh", "ja", "ko", "th")  # where what is cut out changes how the rest is cut
    )
    for word in found:
        assert strip_accents(stem(word, language)) == stem(word, language)
    mentions(text)
    sentences(text)
    if text.strip():
        analyse(text)


@given(anything)
@settings(deadline=None)
def test_composed_and_decomposed_text_is_the_same(text: str) -> None:
    composed, parts = unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)
    assert list(words(composed)) == list(words(parts))
    assert index_form(composed) == index_form(parts)
    assert guess_language(composed) == guess_language(parts)


@given(anything)
def test_digits_and_accents_are_plain_once_and_for_all(text: str) -> None:
    assert len(ascii_digits(text)) == len(text)
    assert ascii_digits(ascii_digits(text)) == ascii_digits(text)
    assert strip_accents(strip_accents(text)) == strip_accents(text)


numbers = count()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(tmp_path_factory.mktemp("words") / "memory.db") as store:
        yield store


@pytest.mark.parametrize("script", SCRIPTS)
@given(data=st.data())
@examples(1 / 2)
def test_a_text_is_found_by_any_of_its_own_words(store: Store, script: str, data: st.DataObject) -> None:
    text = data.draw(TEXTS[script])
    with store.writing() as conn:
        (id,) = remember(conn, f"{script}{next(numbers)}", text, title="")
        for form in ("NFC", "NFD"):
            for word in words(unicodedata.normalize(form, text)):
                found, _ = full_text.search(conn, [word], 1, within=[id])
                assert found.tolist() == [id], word


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("Crème brûlée, 3 €", ["crème", "brûlée", "3"]),
        ("GitHub Actionsの設定", ["github", "actions", "の", "設定"]),
        ("ＮＡＳ ４ＴＢ", ["nas", "4tb"]),
        ("猫", ["猫"]),
        ("학교에서", ["학교", "교에", "에서"]),
        ("والمدرسة", ["مدرسه"]),
        ("בבית הספר", ["בית", "ספר"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
    ],
)
def test_words(text: str, found: list[str]) -> None:
    assert list(words(text)) == found


def test_a_lone_character_stands_for_all_that_begin_with_it() -> None:
    (cat,) = words("猫")
    assert isinstance(cat, Term) and cat.forms == ("猫*",)
