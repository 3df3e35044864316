"""Languages, as far as finding words needs them: which one a question is in, its little words, and its stems.

A guess is cheap and may be wrong: it only decides which little words are left out of a search, and which endings.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

import snowballstemmer

from memory.text.unicode import strip_accents, to_nfc
from memory.text.words import WORD, words

ENGLISH = "en"
MAX_STEMMED_CHARS = 64  # characters; longer ones have no stem
_PARTICLE = re.compile("[\u3041-\u3096은는이가을를에의로도와과만]")  # Japanese, then Korean ones, standing alone

# The little words of a question: they say nothing of what it is about. English is kept short, since a name may be made
# of such words.
STOP_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(listed.split())
    for language, listed in {
        ENGLISH: """a about after all also am an and any are as at be been before being between both but by can could
            did do does during each for from had has have he her hers him his how i if in into is it its just me mine
            more most much my no not now of on once only or other our ours out over own same shall she should so some
            such than that the their them then there these they this those through to too under until up us very was
            we were what when where which while who whom whose why will with would you your yours s t d ll m re ve tell
            say said please""",
        "de": """aber alle als also am an auch auf aus bei beim bin bis bist da damit dann das dass dein deine dem den
            der des die dies diese dieser dieses dir doch du durch ein eine einem einen einer eines er es euch euer für
            gab gibt habe haben hat hatte hatten ich ihm ihn ihnen ihr ihre im in ist ja kann kein keine konnte macht
            machen man mein meine meinem meinen meiner mich mir mit nach nicht noch nun nur ob oder ohne schon sehr sein
            seine seit sich sie sind so über um und uns unser unsere unserem unseren unserer vom von vor wann war waren
            warum was weil welche welchem welchen welcher welches wem wen wenn wer werden wessen wie wieder wieso wir
            wird wo woher wohin womit wurde wurden zu zum zur""",
        "nl": """aan al als bij ben bent bij dan dat de den deze die dit doen door dus een en er ge geen had hadden
            heb hebben hebt heeft hem het hier hij hoe hoeveel hun ik in is ja je jij jouw jullie kan kon maar me men
            met mij mijn naar niet nog nu of om omdat ons onze ook op over sinds te tegen toch toen tot u uit uw van
            veel voor waar waarom waarheen waarmee wanneer want waren was wat we wel welk welke werd werden wie wij
            wordt worden ze zelf zich zij zijn zo zonder zou""",
        "fr": """a à ai ainsi as au aux avec avait avoir avons c ce cela ces cet cette combien comme comment d dans de
            depuis des dont du elle elles en es est et étaient était été être eu fait il ils j je l la le les leur leurs
            lui m ma mais me mes moi mon n ne nos notre nous on ont ou où par pas plus pour pourquoi qu quand que quel
            quelle quelles quels qui quoi s sa sans se ses si son sont sur t ta te tes toi ton tous tout toute toutes
            tu un une vos votre vous y""",
        "es": """a al algo como cómo con cual cuál cuales cuáles cuando cuándo cuanto cuánto cuanta cuánta cuantos
            cuántos de del desde donde dónde dos durante e el él ella ellas ellos en entre era eran es esa ese eso esta
            está estaba están este esto fue fueron ha había han hay he la las le les lo los más me mi mis mí muy nada
            ni no nos nosotros nuestra nuestro o os otra otro para pero por porque qué que quién quien quiénes se sea
            ser si sí sin sobre son soy su sus también te tenía tiene tengo tu tus un una unas uno unos y ya yo""",
        "it": """a ad agli ai al alla alle allo anche avevo aveva c che chi ci come con cosa cui da dagli dai dal dalla
            dalle de dei degli del della delle dello di dove e è ed era erano essere fu gli ha hai hanno ho i il in io
            l la le lei li lo loro lui ma mi mia mie miei mio ne nei nel nella nelle nello noi non nostra nostro o per
            perché più qual quale quali quando quanta quanti quanto quello questa questo se sei si sia siamo sono sta
            sua sue sugli sui sul sulla suo suoi ti tra tu tua tuo un una uno vi voi""",
        "pt": """a ao aos as às até com como da das de dela dele depois desde do dos e é ela elas ele eles em entre era
            eram essa esse esta está estava este eu foi foram há isso isto já lhe mais mas me meu meus minha minhas na
            não nas nem no nos nós nossa nosso num numa o onde os ou para pela pelo por porque qual quais quando quanta
            quantas quanto quantos que quem se sem ser seu seus só sua suas também te tem tenho tinha tu um uma você""",
        "pl": """a aby ale bo by był była było były być co czy czego czyj dla do gdzie go i ich ile im ja jak jaka jaki
            jakie jako je jego jej jest jestem już kiedy kim kogo komu kto która które którego który ma mam mi mnie moja
            moje mojego mojej mój mu my na nad nam nas nasz nasza nasze nie niż o od on ona one oni po pod przez przed
            przy się są ta tak także tam te tego tej ten to tu ty tylko u w we więc wszystko z za ze że""",
        "da": """af alle at blev da de dem den der deres det dig din dit du efter eller en end er et for fra før ham han
            har havde hende hendes her hun hvad hvem hvilken hvilket hvis hvor hvordan hvorfor hvornår i ikke ind jeg
            jer jo kan kunne man med meget men mig min mine mit mod når nej nu og også om op os over på sig sin sit
            skal skulle som så til ud under var ved vi vil ville være vores""",
        "sv": """alla att av blev de dem den denna deras dess det dig din ditt du där efter ej eller en er ett för från
            ha hade han hans har hennes hon honom hur här i icke in inte jag ju kan kunde man med mig min mina mitt mot
            mycket ni nu när och om oss på sedan sig sin sina som så till under upp ut utan vad var varför varje vart
            vem vi vid vilka vilken vilket vår våra är""",
        "tr": """acaba ama bana bazı ben beni benim bir biz bizim bu bunu bunun burada çok da daha de değil diye en gibi
            hangi hangisi hem hep her için ile ise kaç kaçıncı kaçta kadar ki kim kimdi kime kimin mi mı mu mü nasıl ne
            neden nedir nerede nereden nereye neydi nedir niçin niye o onlar onu onun orada sen senin şu ve var vardı
            veya ya yok ne""",
        "cs": """a aby ale ani asi až bez bude budu by byl byla byli bylo být co což do ho i já jak jaká jaké jako jaký
            je jeho jej její jejich jen jestli ještě již jsem jsi jsme jsou k kam kde kdo kdy kdyby když ke která které
            který kolik má mají mám mé mě mi mít mně moje můj my na nad nám nás náš naše ne nebo než není od on ona oni
            po pod podle pro proč proto při s se si tak také tam ten tento to u už v vám vás ve z za ze že""",
        "hu": """a az egy és is hogy nem van volt voltak vannak ez azt ezt aki ami de ha már még csak meg el fel le ki
            mi mit ki kit kinek kinél hol hova hová honnan mikor miért hogyan mennyi hány melyik milyen én te ő mi ti ők
            nekem neked neki nekünk enyém miénk lesz lenne vagy után előtt alatt szerint""",
        "fi": """ja on oli olen olet olemme ovat olivat ei en et ole se ne tämä nämä tuo nuo että joka jotka jos kun
            kuin mutta myös vain vielä jo niin minä sinä hän me te he minun sinun hänen meidän teidän heidän
            minulla meillä mikä mitä mitkä missä mistä mihin milloin miksi miten millainen kuka kenen ketkä kuinka
            montako paljonko kanssa ennen jälkeen""",
        "ro": """a acest această al ale am ar are au avea avem ca că când care ce cel cine cât câtă câte câți cu cum da
            de decât din după e ea ei el ele era erau este eu fi fost în îi îl îmi îți la le lui mai mea mei meu mi ne
            nu o pe pentru prin s sa să sau se și sunt te un una unde unei unor unui vă""",
        "ru": """а без бы был была были было быть в вам вас ваш весь во вот все всё вы где да для до его ее её ему если
            есть еще ещё же за и из или им их к как какая какие какой какого каком какую когда кого ком кому который кто
            куда ли мне меня мной мои мой моя моё моего моей мою мы на над нам нас наш наша наше нашей нашу не него нее
            ней нет ни них но о об он она они оно от откуда по под почему при про с сколько со так также там те тем то
            того тоже той только том ты у уже чего чем чему что чтобы чья чей это этого этой этом этот эту я""",
        "el": """αλλα αν απο αυτα αυτη αυτο αυτος για γιατι δε δεν εγω ειμαι ειναι εμεις ενα ενας ενω επι εσυ εχει εχω
            η ηταν θα και κατα με μα μας μεσα μετα μη μην μια μου να ο οι ομως οπως οτι ου ποια ποιες ποιο ποιοι ποιον
            ποιος ποσα ποσες ποση ποσο ποσοι ποτε που προς πως σας σε στη στην στης στις στο στον στους στων τα τη την
            της τι τις το τον του τους των ως""",
        "ar": """في من الى على عن مع هو هي هم هذا هذه ذلك تلك كان كانت يكون ما ماذا متى اين كيف كم لماذا هل اي انا نحن
            انت لا لم لن قد و او ثم ان عند كل لي لنا""",
        "hi": """का की के को में से पर है हैं था थी थे हूँ और या यह वह ये वे मैं हम तुम आप मेरा मेरी मेरे हमारा हमारी
            हमारे उसका उसकी उसके क्या कब कहाँ कौन किस किसने कैसे कितना कितनी कितने क्यों ने तो भी ही नहीं एक""",
        "he": """את של על אל מן עם אם או אבל גם לא כן כי זה זאת זו אלה הוא היא הם הן אני אתה אנחנו שלי שלך שלו שלה שלנו
            היה היתה הייתה היו יש אין מה מי איפה איך מתי כמה למה מדוע איזה איזו לאן מאין לי לך לו לה לנו כל עוד
            רק כבר""",
    }.items()
}  # fmt: skip

# The same where words cling together: such strings are cut out of a question, longest first.
UNSPACED_STOP_WORDS = {
    "zh": """有什么 有什麼
        为什么 為什麼 什么时候 什麼時候 什么 什麼 哪里 哪裡 哪儿 哪个 哪個 怎么样 怎么 怎麼 多少 是不是 有没有
        有沒有 几点 现在 現在 我们 我們 你们 他们 我 你 他 她 谁 誰 吗 嗎 呢 吧 的 了 是 在 和 叫""",
    "ja": """していましたか していますか でしたか でしょうか ましたか ありましたか ありますか
        ていますか ています ていた ているか ですか ますか
        ました ます です でした という 何という いくら どこ いつ だれ なに なぜ どう どの どれ 誰 何 から まで""",
    "ko": """어디에서 어디에 어디서 어디 누구를 누구 누가 무엇을 무엇이 무엇 무슨 언제 얼마나 얼마였지 얼마야 얼마
        뭐가 있었어 있었지 있었나 있어 있지 있나 있니 있습니까 어떻게 뭐야 뭐 왜 나는 내가 우리 나의""",
    "th": """ที่ไหน เมื่อไหร่ เมื่อไร เท่าไหร่ เท่าไร อย่างไร ทำไม อะไร ใคร ไหน ของ คือ เป็น ไหม หรือ ฉัน เรา ที่
        ให้ ได้""",
}

_STEMMERS = {
    ENGLISH: "english", "de": "german", "nl": "dutch", "fr": "french", "es": "spanish", "it": "italian",
    "pt": "portuguese", "pl": "polish", "da": "danish", "sv": "swedish", "ru": "russian", "el": "greek",
    "ar": "arabic", "hi": "hindi", "tr": "turkish", "cs": "czech", "hu": "hungarian", "fi": "finnish",
    "ro": "romanian",
}  # fmt: skip
_SCRIPTS = (
    ("ja", re.compile("[\u3041-\u30ff]")),  # before Chinese: both write with Chinese characters
    ("ko", re.compile("[\u1100-\u11ff\uac00-\ud7a3]")),
    ("zh", re.compile("[\u3400-\u9fff]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("el", re.compile("[\u0370-\u03ff\u1f00-\u1fff]")),
    ("ar", re.compile("[\u0620-\u06ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("he", re.compile("[\u0590-\u05ff]")),
)
_LATIN = (ENGLISH, "de", "nl", "fr", "es", "it", "pt", "pl", "da", "sv", "tr", "cs", "hu", "fi", "ro")
_LETTERS = {  # that only one of these languages writes
    "ß": "de", "œ": "fr", "ñ": "es", "¿": "es", "¡": "es", "ã": "pt", "õ": "pt", "ł": "pl", "ą": "pl", "ę": "pl",
    "ğ": "tr", "ı": "tr", "ş": "tr", "ř": "cs", "ě": "cs", "ů": "cs", "ő": "hu", "ű": "hu", "ă": "ro", "ț": "ro",
    "ș": "ro",
}  # fmt: skip
_LITTLE_IN: dict[str, list[str]] = {}
for _language in _LATIN:
    for _word in STOP_WORDS[_language]:
        _LITTLE_IN.setdefault(_word, []).append(_language)
MIN_SENTENCE_STOP_WORDS = 2  # little words of one language, beside a name in another script: "Where is 東京タワー?"
_HEBREW_ENDING = re.compile("(?<=[\u05d0-\u05ea]{2})(?:ימ|ות)$|(?<=[\u05d0-\u05ea]{3})[התינכו]$")


def guess_language(text: str, least: int = 1) -> str:
    """The language of a text (ISO 639-1): by its script, else the one most of whose little words and letters it has.

    In Latin letters what has fewer than `least` of them is English: "Bo" is a name, and a little word of Polish.
    """
    lowered = to_nfc(text.lower())
    hits = dict.fromkeys(_LATIN, 0)
    for word in set(WORD.findall(lowered)):
        for language in _LITTLE_IN.get(word, ()):
            hits[language] += 1
    if not text.isascii():
        for letter, language in _LETTERS.items():
            hits[language] += letter in lowered
    best = max(hits, key=lambda language: hits[language])  # English of equals
    if not text.isascii() and hits[best] < MIN_SENTENCE_STOP_WORDS:
        for language, script in _SCRIPTS:
            if script.search(text):
                return language
    return best if hits[best] > hits[ENGLISH] and hits[best] >= least else ENGLISH


@cache
def stop_words(language: str) -> frozenset[str]:
    """The little words of a language, lower case, also as they are read and as they are typed without accents."""
    listed = STOP_WORDS.get(language, frozenset[str]())
    return listed.union(map(strip_accents, listed), words(" ".join(listed)))


def content_words(text: str, language: str) -> list[str]:
    """The words of a question without the little ones, each once, in order and lower case."""
    if language in UNSPACED_STOP_WORDS:
        text = _cut(language).sub(" ", text)
    little = stop_words(language)
    return list(dict.fromkeys(word for word in words(text) if word not in little and not _PARTICLE.fullmatch(word)))


@lru_cache(maxsize=65536)
def stem(word: str, language: str = ENGLISH) -> str:
    """The stem of a lower-case word, without accents; the word itself where a language has none."""
    if len(word) > MAX_STEMMED_CHARS:
        return word
    if language == "he":
        return _HEBREW_ENDING.sub("", word)
    stemmer = _stemmer(language)
    if stemmer is None:
        return strip_accents(word)
    stemmed: str = stemmer.stemWord(word)
    if language == "tr":  # ı typed as i spoils the vowel harmony by which endings are known
        stemmed = min(stemmed, stemmer.stemWord(word.replace("i", "ı")), key=len)
    return strip_accents(stemmed or word)


@cache
def _stemmer(language: str) -> snowballstemmer.stemmer | None:
    return snowballstemmer.stemmer(_STEMMERS[language]) if language in _STEMMERS else None


@cache
def _cut(language: str) -> re.Pattern[str]:
    return re.compile("|".join(sorted(map(re.escape, UNSPACED_STOP_WORDS[language].split()), key=len, reverse=True)))
