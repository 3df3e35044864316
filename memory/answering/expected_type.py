"""What kind of thing a question asks for, by its words: a date, a number, or a name of somebody or of a place."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from memory.text.languages import ENGLISH
from memory.text.unicode import strip_accents

ExpectedType = Literal["date", "number", "name"]

_ENGLISH: dict[ExpectedType, re.Pattern[str]] = {
    "date": re.compile(r"\b(when|what (date|day|year|month|time)|which (date|day|year|month)|since when|how long)\b"),
    "number": re.compile(r"\b(how (many|much|old|far|big|tall|long)|what (number|price|rate|amount)|cost|price)\b"),
    "name": re.compile(r"\b(who|whom|whose|where|which (city|town|street|country|person))\b"),
}

# The same in other languages, without accents; "|" stands between what is looked for. "" are scripts whose words are
# not told apart by spaces, where any place in the question counts.
_OTHERS: dict[str, tuple[str, str, str]] = {
    "de": (
        "wann|seit wann|wie lange|welche[mnrs]? (tag|datum|jahr|monat)",
        "wie ?viele?|wie (alt|weit|gross|hoch|lang|teuer)|kostete?n?|gekostet|preis",
        "wer|wem|wen|wessen|wo|wohin|woher",
    ),
    "nl": ("wanneer|sinds wanneer|hoe lang", "hoeveel|hoe (oud|ver|groot|hoog|lang|duur)|kostte?|kosten", "wie|waar"),
    "fr": (
        "quand|depuis quand|quel(le)? (jour|date|annee|mois)|combien de temps",
        "combien|quel (age|prix|montant|nombre)|coute[rs]?",
        "qui|ou|d'ou",
    ),
    "es": (
        "cuando|desde cuando|que (dia|fecha|ano|mes)",
        "cuant[oa]s?|que (precio|numero|edad)|costo|cuesta[n]?|costaron",
        "quien(es)?|donde|adonde",
    ),
    "it": ("quando|da quando|che (giorno|data|anno|mese)", "quant[oaie]|che (prezzo|numero)|costa(no)?", "chi|dove"),
    "pt": ("quando|desde quando|que (dia|data|ano|mes)", "quant[oa]s?|que (preco|numero)|custa|custou", "quem|onde"),
    "pl": ("kiedy|od kiedy|jak dlugo", "ile|ilu|kosztuje|kosztowal[oay]?", "kto|kogo|komu|kim|gdzie|skad|dokad"),
    "da": ("hvornar|hvor laenge|hvor længe", "hvor (mange|meget|gammel|stor|langt)|koster|kostede", "hvem|hvor|hvis"),
    "sv": ("nar|hur lange", "hur (manga|mycket|gammal|stor|langt)|kostar|kostade", "vem|vems|var|vart|varifran"),
    "tr": ("ne zaman|hangi (gun|yil|ay|tarih)", "kac|ne kadar|fiyati?", "kim|kimi|kime|kimin|nerede|nereye|nereden"),
    "cs": ("kdy|odkdy|jak dlouho", "kolik|stoji|stal[oay]?", "kdo|koho|komu|kde|kam|odkud"),
    "hu": ("mikor|meddig", "mennyi|hany|mennyibe", "ki|kit|kinek|kinel|hol|hova|honnan"),
    "fi": (
        "milloin|mina vuonna",
        "montako|paljonko|kuinka (monta|paljon)|maksaa|maksoi",
        "kuka|kenen|missa|mista|mihin",
    ),
    "ro": ("cand|de cand", "cat|cata|cati|cate|costa|costat", "cine|cui|unde"),
    "ru": (
        "когда|с каких пор|как долго|в каком (году|месяце)",
        "сколько|стоит|стоил[аои]?",
        "кто|кого|кому|кем|чеи|чья|где|куда|откуда",
    ),
    "el": ("ποτε|απο ποτε", "ποσ[οαεη]ς?|ποσοι|ποσους|κοστι(ζει|σε)", "ποιος|ποια|ποιον|ποιοι|που"),
    "ar": ("متى|متي", "كم|بكم|سعر|ثمن", "من|لمن|اين"),
    "he": ("מתי|ממתי", "כמה|מחיר", "מי|איפה|היכן|לאן"),
    "hi": ("कब", "कितन[ाीे]|कीमत", "कौन|किसने|किसे|किसका|कहाँ"),
    "zh": ("什么时候|什麼時候|何时|何時|哪天|哪年|几月|幾月|几点|幾點", "多少|几|幾", "谁|誰|哪里|哪裡|哪儿|哪兒"),
    "ja": ("いつ|何時|何日|何年|何月", "いくら|いくつ|何[人個回枚本冊匹円]", "誰|だれ|どなた|どこ"),
    "ko": ("언제|며칠|몇 ?[월년시]", "얼마|몇", "누구|누가|어디"),
    "th": ("เมื่อไร|เมื่อไหร่", "เท่าไร|เท่าไหร่|กี่", "ใคร|ที่ไหน"),
}  # fmt: skip
_UNSPACED = frozenset(("zh", "ja", "ko", "th"))


def expected_types(question: str, language: str) -> frozenset[ExpectedType]:
    """The kinds of thing that a question in `language` (ISO 639-1) asks for; none if its words do not say."""
    text = question.lower() if language in (ENGLISH, *_UNSPACED) else strip_accents(question.lower())
    return frozenset(kind for kind, pattern in _patterns(language).items() if pattern.search(text))


@cache
def _patterns(language: str) -> dict[ExpectedType, re.Pattern[str]]:
    if language == ENGLISH or language not in _OTHERS:
        return _ENGLISH
    date, number, name = _OTHERS[language]
    edges = ("", "") if language in _UNSPACED else (r"(?<!\w)", r"(?!\w)")
    said: dict[ExpectedType, str] = {"date": date, "number": number, "name": name}
    return {kind: re.compile(f"{edges[0]}(?:{words}){edges[1]}") for kind, words in said.items()}
