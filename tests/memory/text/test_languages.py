"""Notes in many languages, end to end: asked about in other forms of their words, answered with the line."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memory import Memory
from memory.nouns import Answer
from memory.protocols import Embedder
from memory.retrieval.analyse import analyse
from memory.retrieval.question_type import expected_types
from memory.text.languages import content_words, guess_language, stem
from tests.memory.notes_by_language import VAULTS


@pytest.fixture(scope="module", params=VAULTS)
def vault(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, static: Embedder
) -> Iterator[tuple[str, Memory]]:
    language: str = request.param
    path: Path = tmp_path_factory.mktemp("languages") / f"{language}.db"
    with Memory.open(path, embedder=static) as memory:
        for title, text in VAULTS[language].notes.items():
            memory.ingest.remember(text, title=title, source=f"/{title}.md")
        yield language, memory


def answer(memory: Memory, question: str) -> Answer:
    *_, last = memory.questions.ask(question)
    assert isinstance(last, Answer)
    return last


def test_the_note_comes_first_and_the_answer_cites_its_line(vault: tuple[str, Memory]) -> None:
    language, memory = vault
    wrong = []
    for question, (title, line) in VAULTS[language].questions.items():
        hits = memory.questions.retrieve(question).recall.hits
        cited = answer(memory, question).citations
        if not hits or hits[0].episode.title != title or not cited or line not in cited[0].quote:
            wrong.append(
                (question, [hit.episode.title for hit in hits[:1]], [citation.quote for citation in cited[:1]])
            )
    assert wrong == []


def test_what_no_note_holds_is_refused_without_a_question_mark_too(vault: tuple[str, Memory]) -> None:
    language, memory = vault
    unknown = {
        "de": "Wie lange dauert der Flug nach Lissabon", "fr": "Combien dure le vol pour Lisbonne",
        "es": "Cuánto dura el vuelo a Lisboa", "it": "Quanto dura il volo per Lisbona",
        "ru": "Сколько длится рейс до Лиссабона", "el": "Πόσο διαρκεί η πτήση για Λισαβόνα",
        "tr": "Lizbon uçuşu kaç saat sürer", "ar": "كم تستغرق الرحلة إلى لشبونة", "he": "כמה זמן נמשכת הטיסה לליסבון",
        "hi": "लिस्बन की उड़ान कितनी लंबी है", "th": "เที่ยวบินไปลิสบอนนานเท่าไร", "zh": "飞往里斯本的航班多长时间",
        "zh-Hant": "飛往里斯本的航班多長時間", "ja": "リスボンへの飛行時間は何時間",
        "ko": "리스본행 비행기는 얼마나 걸리지",
    }  # fmt: skip
    assert answer(memory, unknown[language]).no_answer


@pytest.mark.parametrize(
    ("note", "question"),
    [
        ("Müller repariert Geigen in Gießen.", "Wo repariert Mueller die Geige?"),
        ("Müller repariert Geigen in Gießen.", "was macht muller in giessen"),
        ("Mueller repariert Geigen in Giessen.", "Was macht Müller in Gießen?"),
        ("Die Straße ist gesperrt.", "Ist die Strasse gesperrt?"),
        ("Die Strasse ist gesperrt.", "Warum sind die Straßen gesperrt?"),
        ("Die Versicherungsnummer ist 4711.", "Welche Nummer hat die Versicherung?"),
        ("Le café ferme à neuf heures.", "quand ferme le cafe"),
        ("Le cafe ferme a neuf heures.", "Quand ferme le café ?"),
        ("W piątek Łukasz jedzie do Łodzi.", "kiedy lukasz jedzie do lodzi"),
        ("Bjørn bor i Tromsø.", "hvor bor bjorn"),
        ("Bjørn lives in Tromsø.", "Who lives in Tromso?"),
        ("Işık Iğdır'da oturuyor.", "isik nerede oturuyor"),
        ("Isik Igdir'da oturuyor.", "IŞIK NEREDE OTURUYOR"),
        ("İzmir güzel bir şehir.", "izmir nasıl bir şehir"),
        ("Ёлка стоит в углу.", "где стоит елка"),
        ("Кафе́ закрыто в понеде́льник.", "когда закрыто кафе"),
        ("المدرسة في شارع النخيل.", "اين توجد مدرسة"),
        ("مدرسة جديدة في شارع النخيل.", "أين المدرسة؟"),
        ("قرأت كِتَابًا عن البحر.", "كتاب عن ماذا"),
        ("שָׁלוֹם גר בחיפה.", "איפה גר שלום"),
        ("הספר בארון.", "איפה ספרים"),
        ("ＮＡＳの容量は４ＴＢです。", "NASの容量は4TBですか"),
        ("ﾌﾟﾘﾝﾀｰのｲﾝｸを買う。", "プリンターのインクは?"),
        ("GitHub Actionsの設定を変えた。", "github actionsの設定はどう変えた"),
        ("打印机的IP地址是10.0.0.7。", "打印机IP"),
        ("김민수는 부산에서 일한다.", "김민수가 어디서 일해"),
        ("부산은 비가 왔다.", "부산의 비"),
    ],
)
def test_however_it_is_typed(fresh: Memory, note: str, question: str) -> None:
    fresh.ingest.remember("Zebra 12 xyz.", title="other")
    fresh.ingest.remember(note, title="note")
    assert fresh.questions.retrieve(question).recall.hits[0].episode.title == "note"
    assert [citation.quote for citation in answer(fresh, question).citations] == [note]


def test_accents_beside_their_letters_are_put_onto_them(fresh: Memory) -> None:
    """As the file system of a Mac writes names, and with it titles."""
    note = unicodedata.normalize("NFD", "Am 5. März 2024 spielte Jérôme Müller die Geige.")
    fresh.ingest.remember(note, title=unicodedata.normalize("NFD", "Gießen für Anfänger"), source="/n.md")
    assert {fact.text for fact in fresh.knowledge.facts("Jérôme Müller")} == {unicodedata.normalize("NFC", note)}
    assert fresh.knowledge.facts("2024-03-05")
    assert answer(fresh, "Was spielte Müller?").citations[0].title == "Gießen für Anfänger"


def test_a_date_is_one_object_in_any_language(fresh: Memory) -> None:
    dates = [
        "5 March 2024", "5. März 2024", "5.3.2024", "5 mars 2024", "5 de marzo de 2024", "5 marzo 2024", "5 марта 2024",
        "5 Μαρτίου 2024", "5 Mart 2024", "5 مارس 2024", "٥ مارس ٢٠٢٤", "5 במרץ 2024", "5 मार्च 2024", "5 มีนาคม 2024",
        "2024年3月5日", "２０２４年３月５日", "2024년 3월 5일",
    ]  # fmt: skip
    for place, date in enumerate(dates):
        fresh.ingest.remember(f"{date}: Ana met number {place}", source=f"/{place}.md", title=f"n{place}")
    assert len(fresh.knowledge.facts("2024-03-05")) == len(dates)
    for date in dates:
        time = analyse(f"x {date}").when
        assert time is not None and time.since is not None and time.since.date().isoformat() == "2024-03-05"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Where is the key?", "en"),
        ("Wo ist der Schlüssel", "de"),
        ("Termine im Dezember an", "de"),
        ("Où est la clé", "fr"),
        ("Anahtarım nerede", "tr"),
        ("Kde je klíč", "cs"),
        ("Hol van a kulcs", "hu"),
        ("Missä avain on", "fi"),
        ("Unde este cheia", "ro"),
        ("איפה המפתח", "he"),
        ("鑰匙在哪裡", "zh"),
        ("鍵はどこ", "ja"),
        ("GitHub Actionsの設定", "ja"),
        ("Where is the 東京タワー?", "en"),
        ("", "en"),
    ],
)
def test_the_language_of_a_question(text: str, language: str) -> None:
    assert guess_language(text) == language


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("Où est la clé ?", ["clé"]),
        ("ou est la clé", ["clé"]),
        ("¿Dónde está la llave?", ["llave"]),
        ("donde esta la llave", ["llave"]),
        ("Anahtar nerede?", ["anahtar"]),
        ("מה השם של הכלבה", ["השמ", "לבה"]),
        ("鍵はどこですか", ["鍵"]),
        ("열쇠는 어디에 있어", ["열쇠", "쇠는"]),
    ],
)
def test_little_words_are_left_out_with_and_without_accents(question: str, left: list[str]) -> None:
    assert content_words(question, guess_language(question)) == left


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("de", "müller mueller muller"),
        ("de", "helga helgas"),
        ("fr", "coûté coute coûter"),
        ("es", "revisión revision"),
        ("tr", "anahtarı anahtari anahtarları"),
        ("he", "סתימות סתימה"),
        ("cs", "kočka kočky kocky"),
        ("fi", "talo talossa"),
        ("hu", "kulcs kulcsok"),
    ],
)
def test_forms_of_one_word_have_one_stem(language: str, forms: str) -> None:
    assert len({stem(form, language) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("When did it cost 5?", {"date", "number"}),
        ("What is it?", set()),
        ("Wie viel kostet das", {"number"}),
        ("Où est-il ?", {"name"}),
        ("cuando fue", {"date"}),
        ("Кто это?", {"name"}),
        ("كم الثمن؟", {"number"}),
        ("何時に始まりますか", {"date"}),
        ("いくらですか", {"number"}),
        ("누가 왔어", {"name"}),
        ("ราคาเท่าไร", {"number"}),
    ],
)
def test_what_is_asked_for(question: str, kinds: set[str]) -> None:
    assert expected_types(question, guess_language(question)) == kinds


def test_what_happened_is_no_topic() -> None:
    for question in ("What happened on 5 March 2024?", "Que s'est-il passé le 5 mars 2024 ?", "2024年3月5日发生了什么"):
        assert analyse(question).topic == ()
    assert analyse("What happened?").topic == ("happened",)


def test_that_something_takes_place_says_nothing_of_it() -> None:
    for question in ("When does the concert take place?", "Where did the concert take place?"):
        assert analyse(question).topic == ("concert",)
    for question in ("Wann findet das Konzert statt?", "Wo hat das Konzert stattgefunden?"):
        assert [str(term) for term in analyse(question).topic] == ["konzert"]
    assert "place" in analyse("Which place did Ana take?").topic


@pytest.mark.parametrize("question", ["Was steht morgen an?", "Was steht heute an?", "Was steht übermorgen an?"])
def test_a_word_for_a_day_near_today_tells_its_language(question: str) -> None:
    assert guess_language(question) == "de"


def test_threads_that_stem_side_by_side_get_the_stems_of_their_own_words() -> None:
    words = [
        f"{begin}{end}" for begin in ("walk", "paint", "happ", "generat") for end in ("ing", "ed", "ier", "ions")
    ] * 40
    alone = [stem.__wrapped__(word) for word in words]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            together = [*threads.map(lambda word: stem.__wrapped__(word), words)]
    finally:
        sys.setswitchinterval(before)
    assert together == alone


def test_a_guess_is_the_same_whoever_asked_before() -> None:
    for _ in range(2):
        assert [guess_language("zum Bo", least) for least in (1, 4)] == ["de", "en"]
