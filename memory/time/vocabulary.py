"""How people write times in questions: the words, in English, German, Dutch, French and Spanish.

Tables only; `memory.time.expressions` knows what they mean. Every word is lower case, every alternative a
regular expression without groups.
"""

from __future__ import annotations

import re

from memory.time.dates import month_names

Unit = str  # "day" | "week" | "weekend" | "month" | "quarter" | "year"

UNITS: dict[str, Unit] = {
    word: unit
    for unit, words in {
        "day": "day days tag tage tagen dag dagen jour jours día días dia dias",
        "week": "week weeks woche wochen weken semaine semaines semana semanas",
        "weekend": "weekend weekends wochenende finde",
        "month": "month months monat monate monaten monats maand maanden mois mes meses",
        "quarter": "quarter quarters quartal quartals kwartaal trimestre",
        "year": "year years jahr jahre jahren jahres jaar jaren an ans année années annee año años ano anos",
    }.items()
    for word in words.split()
}

SEASONS = {
    word: first
    for first, words in {
        3: "spring springtime frühling frühjahr lente voorjaar printemps primavera",
        6: "summer summertime sommer zomer été ete verano",
        9: "autumn fall herbst herfst najaar automne otoño",
        12: "winter wintertime hiver invierno",
    }.items()
    for word in words.split()
}

WEEKDAYS = {
    word: number
    for number, words in enumerate(
        (
            "monday montag maandag lundi lunes",
            "tuesday dienstag dinsdag mardi martes",
            "wednesday mittwoch woensdag mercredi miércoles",
            "thursday donnerstag donderdag jeudi jueves",
            "friday freitag vrijdag vendredi viernes",
            "saturday samstag sonnabend zaterdag samedi sábado",
            "sunday sonntag zondag dimanche domingo",
        )
    )
    for word in words.split()
}

NUMBERS = {
    word: number
    for number, words in enumerate(
        (
            "a an one ein eine einem einer een één un une una uno",
            "two zwei twee deux dos",
            "three drei drie trois tres",
            "four vier quatre cuatro",
            "five fünf vijf cinq cinco",
            "six sechs zes seis",
            "seven sieben zeven sept siete",
            "eight acht huit ocho",
            "nine neun negen neuf nueve",
            "ten zehn tien dix diez",
            "eleven elf onze once",
            "twelve zwölf twaalf douze doce",
        ),
        1,
    )
    for word in words.split()
}

ORDINALS = {
    word: number
    for number, words in enumerate(
        (
            "first 1st erste ersten erstes eerste premier première primer primera",
            "second 2nd zweite zweiten zweites tweede deuxième segundo segunda",
            "third 3rd dritte dritten drittes derde troisième tercer",
            "fourth 4th vierte vierten viertes vierde quatrième cuarto",
        ),
        1,
    )
    for word in words.split()
}

SHORT_MONTHS = frozenset("may mei mai maj juni juli june july juin août aout mars".split())  # stand alone all the same

# Days and parts of them that need no date: how many days from today.
DAY_WORDS = {
    words: days
    for days, alternatives in {
        0: "today|tonight|this morning|this afternoon|this evening|heute|vandaag|aujourd'hui|aujourd’hui|hoy|"
        "今天|今日|오늘",
        -1: "yesterday|last night|gestern|gisteren|hier soir|hier|ayer|anoche|昨天|昨日|어제",
        -2: "the day before yesterday|day before yesterday|vorgestern|eergisteren|avant-hier|anteayer|antier",
        1: "tomorrow|morgen|demain|mañana|明天|明日|내일",
        2: "the day after tomorrow|day after tomorrow|übermorgen|overmorgen|après-demain|pasado mañana",
    }.items()
    for words in alternatives.split("|")
}

NOW = (
    "right now|now|nowadays|currently|at present|presently|at the moment|these days|as of today|as of now|"
    "jetzt|derzeit|momentan|zurzeit|zur zeit|aktuell|im moment|gerade|heutzutage|nu|momenteel|tegenwoordig|"
    "op dit moment|thans|maintenant|actuellement|en ce moment|de nos jours|ahora|actualmente|en este momento|"
    "hoy en día|现在|目前|今は|現在|지금|현재"
)

LAST = (
    "(?:the |this )?last|(?:the )?past|(?:the )?previous|letzte[rnms]?|vorige[nrsm]?|vergangene[nrsm]?|"
    "(?:de )?afgelopen|(?:le |la )?dernier|(?:la )?dernière|(?:el |la )?pasad[oa]"
)
THIS = "this|the current|diese[rmsn]?|deze|dit|ce|cette|cet|este|esta|am|het"
NEXT = "(?:the )?next|(?:the )?coming|nächste[rnms]?|kommende[rnms]?|volgende?|komende?|prochaine?|próxim[oa]"

CHRISTMAS = "christmas|xmas|weihnachten|kerst|kerstmis|noël|noel|navidad"
NEW_YEAR = "new year['’]?s eve|silvester|oudejaarsavond|oud en nieuw|la saint-sylvestre|nochevieja"

# What may stand before a time and say which part of it is meant.
PARTS = {
    "start": "(?:the )?(?:beginning|start) of|zu beginn|(?:het )?begin van|(?:le )?début de",
    "end": "(?:the )?end of|ende|(?:het )?einde? van|(?:la )?fin de|final de",
    "early": "early(?: in)?|anfang|begin|début|principios de|comienzos de",
    "mid": "mid|(?:the )?middle of|mitte|midden|half|mi|mediados de",
    "late": "late(?: in)?|eind|fin|finales de|fines de",
}

# What may stand before a time and say which side of it is meant.
BEFORE = "before|prior to|vor|voor|avant|antes de|antes del"
AFTER = "after|following|nach|na|après|después de|después del"
SIDES = {
    "as_of": "as of|as at|stand|per",
    "before": BEFORE,
    "after": AFTER,
    "since": "(?:ever )?since|starting|seit|ab|sinds|vanaf|depuis|à partir de|desde",
    "until": "until|till|up to|up until|through|by|bis|bis zum|tot|tot en met|jusqu['’]à|jusqu['’]en|jusqu['’]au|hasta",
    "in": "in|during|throughout|within|of|on|at|around|over|for|im|am|an|zu|um|während|op|met|tijdens|rond|en|à|au|aux|"
    "au mois de|pendant|durant|vers|a|durante|por",
}
BETWEEN = "between|from|zwischen|von|vom|tussen|van|entre|de|du|desde|del"
AND = "and|to|till|until|through|und|bis|bis zum|en|tot|et|à|au|y|e|a|al|hasta|-|–|—"
ARTICLE = "the|den|dem|der|die|das|de|het|le|la|el|los|jahr|jaar|año|the year|the month of|the night of|the day of"

# What asks for a time is not limited to one.
ASKS_TIME = (
    r"\b(?:when|what (?:date|day|year|month|time)|which (?:date|day|year|month)|how long|how many (?:days|weeks|months"
    r"|years)|since when|how often|wann|seit wann|wie lange|welche[rmsn]? (?:tag|datum|jahr|monat)|wanneer|hoe lang|"
    r"sinds wanneer|quand|depuis quand|combien de temps|cuándo|cuando|desde cuándo|когда|いつ|什么时候|什麼時候|언제)\b"
)

# Verbs of what goes on for a while: asked of a past time they ask how things stood then.
STATES = frozenset(
    """was were is are am be been being had has have lived live lives living cost costs worked works working work owned
    own owns used use uses using pays paid pay charged charge charges earned earn earns weighed weigh weighs belonged
    belong belongs followed follow follows following reported report reports reporting called named knew known kept
    keep keeps held hold holds needed need needs covered cover covers studied studying managed manage manages ran run
    runs running led lead leads rented rent rents employed drove drive drives spoke speak speaks required require
    requires stood carried retained based located valid handled deployed ruled taught teach attends stayed lasted
    war waren ist sind hatte hatten habe hat wohnte wohnten wohne wohnst wohnt lebte lebten lebe kostete kosteten kostet
    arbeitete arbeiteten arbeitet arbeitete hieß hießen gehörte nutzte nutzten benutzte verdiente zahlte besaß galt
    was waren is zijn had hadden woonde woonden woon woont kostte kostten werkte werkten werkt heette heetten gebruikte
    betaalde verdiende bezat
    était étais étaient est sont avait avais avaient habitait habitais habitaient habite coûtait coûtaient travaillait
    travaillais vivait vivais utilisait payait gagnait appelait
    era eran estaba estaban es son tenía tenían vivía vivías vivían vive costaba costaban trabajaba trabajaban usaba
    pagaba ganaba llamaba""".split()
)
# Verbs of what happens once: asked of a past time they ask for what is told of that time.
EVENTS = frozenset(
    """happen happened happens doing done there contributed said told wrote written met went gone visited visiting saw
    seen watched attended discussed talked decided sent received got gave given found made ate eaten baked joined
    started finished won lost took taken travelled traveled participated hosted shared created mentioned announced tried
    learned learnt changed moved cooked ordered signed booked called cancelled arrived left sold
    passierte passiert geschah gemacht machte machten getan tat gesagt sagte geschrieben schrieb traf getroffen ging
    gegangen gekauft kaufte besucht besuchte gab gesehen sah gelesen
    gebeurde gebeurd gedaan deed deden gezegd zei geschreven schreef ontmoet ontmoette ging gegaan gekocht kocht bezocht
    fait passé dit écrit rencontré allé allée acheté visité vu lu
    pasó hice hizo hicimos dijo dije escribí escribió fui fue compré compró visité visitó vi vio""".split()
)
# The same as they stand behind "did"; elsewhere most of them are nouns.
DID = frozenset(
    """do happen say tell write meet go visit see watch buy attend discuss talk decide send receive get give find make
    eat bake read join start finish win lose take travel participate host share create mention announce try learn change
    move cook order sign book call cancel arrive leave sell contribute dinner lunch breakfast""".split()
)
# What is asked of a time as a whole.
WHATEVER = frozenset(
    "happen happens happened happening do does doing done did passiert passierte geschah los tat getan gemacht gebeurd "
    "gebeurde gedaan deed passé passe fait pasó paso pasado hice hizo hicimos hecho ocurrió sucedió successo accaduto "
    "aconteceu stało działo skete hänt hände случилось произошло έγινε εγινε συνέβη συνεβη oldu حدث جرى קרה हुआ हुई "
    "geschehen 发生 發生".split()
)
AHEAD = r"\b(?:will|upcoming|coming|next|shall|going to|planned for|werde[nt]?|wird|zal|zullen|prochaine?|próxim[oa])\b"
PAST = frozenset(
    "did was were had went war waren hatte hatten gab hat habe haben heeft heb hebben had was deed deden ai as avons "
    "était avait hice hizo era tenía".split()
)

_LITTLE = frozenset("an as at ce de des dit dia en este finde im la le mes nos of op s the these this zur".split())


def _tokens(*texts: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", " ".join(texts))) - _LITTLE


DAY_TOKENS = _tokens(*DAY_WORDS) - {"after", "before", "day", "last", "this", "saint"}
FEAST_TOKENS = _tokens(CHRISTMAS, NEW_YEAR) - {"new", "la", "en"}
# One of these, or a digit, stands in every ASCII question that speaks of a time.
CUES = _tokens(*month_names(), *SEASONS, *WEEKDAYS, *UNITS, NOW) | DAY_TOKENS | FEAST_TOKENS
