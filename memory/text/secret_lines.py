"""Secrets recognized by a label: "password: ...", "PIN of the bike lock is ...", a heading "Recovery codes", a column
"password"; in English and German.

A value after a label is a secret unless it is clearly none: a word like "see" or "expired", a placeholder, a link.
Ambiguous labels ("key", "token", "secret") only take values that look like one."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

SecretKind = Literal[
    "password", "pin", "api-key", "token", "private-key", "card-number", "account-number", "recovery-code"
]
Found = tuple[int, int, SecretKind]

MAX_VALUE = 300  # characters looked at after a label
MAX_CODES = 40  # lines of recovery codes below their heading
MAX_WORDS = 8  # of a passphrase of plain words; a seed phrase has up to 24
_SEED_WORDS = range(12, 26)

# Every label contains one of these in lower case; other lines are skipped.
_PASSWORD_SIGNS = ("pass", "kennw", "pw")
_NETWORK_SIGNS = ("wifi", "wi-fi", "wlan", "wpa", "network", "netzwerk", "router", "hotspot")
_KEY_SIGNS = ("key", "token", "secret", "code", "credential", "zugangsdaten", "bearer")
_PIN_SIGNS = ("pin", "puk", "cvv", "cvc", "csc", "geheimzahl", "nummer", "code", "kombination", "combination")
_CODES_SIGNS = ("code", "key", "schlüssel", "passw", "tan-", "phrase", "words", "mnemonic")

_PASSWORD = r"pass(?:wor[dt]s?|wörter|phrase|wd)|kennw(?:ort|örter)|\bpwd|\bpw\b|(?:\buser|\blogin)\s?/\s?pass(?:word)?"
_NETWORK = r"(?:wi-?fi|wlan|wpa[23]?|network|netzwerk|router|hotspot)[ _-]?(?:key|schlüssel|code|psk)"
_KEYS = (
    r"(?:api|secret|access|auth|private|client|app|account|signing|encryption|licen[sc]e|session|refresh|bearer)"
    r"[ _-]?(?:key|token|secret|code)(?:[ _-]id)?|(?<![\w-])(?:token|secret|credentials?|zugangsdaten)|bearer"
)
_ABOUT = r"(?:\s?\([^()\n]{1,40}\)|\s(?:for|of|to|at|on|in|von|vom|für|zum|zur|des|der|im|am|beim)\s[^:=|;\n]{1,60}?)?"
_QUOTES = r"[\"'`*_”“]{0,3}"
_LABEL = re.compile(
    rf"(?:(?P<password>{_PASSWORD}|{_NETWORK})|(?P<key>{_KEYS})){_QUOTES}{_ABOUT}{_QUOTES}"
    rf"\s?(?::=|=>|->|→|[:=])(?![:=/])[^\S\n]*",
    re.IGNORECASE,
)
# the same inside a sentence
_TOLD = re.compile(
    rf"(?:(?P<password>{_PASSWORD}|{_NETWORK})|(?P<key>{_KEYS}))\b[^.:=|\n]{{0,60}}?"
    r"\s(?:is|was|are|ist|lautet|lauten|war|heißt|now|jetzt|to|auf)(?:\s(?:now|still|jetzt|noch|nun))?:?\s+",
    re.IGNORECASE,
)
# between two cells of a row: "a | b", "a<tab>b", or as rows of tables are read, "name: a; value: b"
_NEXT_CELL = r"\s*(?:\||\t|;[ ][^:;|\n\d]{1,40}:)\s*"
# a value directly after the label, perhaps in the next cell: wifi password ...
_BESIDE = re.compile(rf"(?:{_PASSWORD}|{_NETWORK})(?:\s|{_NEXT_CELL})(?P<value>[^\s\"'`“„<\[(]{{6,64}})", re.IGNORECASE)
# a quoted value directly after it: Passwort "..."
_QUOTED = re.compile(
    rf"(?:{_PASSWORD}|{_NETWORK})\b[^\n:=\"`“„]{{0,30}}[\"`“„](?P<value>[^\s\"`“”]{{4,64}})[\"`“”]",
    re.IGNORECASE,
)

_PIN = re.compile(
    r"(?:(?<![\w])(?:PINs?|PIN[ -]?(?:[Cc]ode|[Nn]ummer|[Nn]umber)|PUK2?|CVV2?|CVC2?|CSC)(?!\w)"
    r"|(?i:(?<!\w)pin[ -]?code|(?<!\w)pin(?=\s?[:=])|geheimzahl|(?:karten)?prüfnummer|sicherheitscode|security code"
    r"|\b(?:door|gate|alarm|safe|lock|lock ?box|locker|entry|access|keypad|key ?box|garage"
    r"|bike lock|padlock|suitcase|phone|sim|(?:haus|wohnungs|garagen)?tür|tor|alarmanlagen?|zugangs|schließfach"
    r"|tresor|fahrradschloss|koffer|handy)[ -]?"
    r"(?:codes?|pin|kombination|combination)\b))"
    r"(?P<about>(?:\s?\([^()\n]{1,40}\)|\s(?:for|of|to|at|on|von|vom|für|zum|zur|des|der)\s[^\d:=.\n]{1,50}?)?"
    rf"(?:{_NEXT_CELL}|\s?(?:[:=]|is|was|ist|lautet|war|[-–—])?\s*)[`*\"'#]{{0,3}})"
    r"(?P<value>(?<!\w)\d{3,8}|\d\d \d\d|\d{3} \d{3})(?![\d.,]\d|\w|[-/]\d)",
)
_SAYS_WHEN = re.compile(r"(?!.*(?:[:=]|\b(?:is|ist|lautet)\b)).*[a-z]")  # words that are no values
_INDIAN_POSTCODE = re.compile(r"PIN(?:[ -]?[Cc]ode)?\s?[:-]?\s?[1-9]\d{2} ?\d{3}$")  # other names

_ACCOUNT_LABEL = (  # of a bank account or a card, in common languages
    r"(?:account|acct|acc|a/c|card)[.\s_-]{0,2}(?:numbers?|no|nr|\#)(?!\w)|(?:konto|karten)[\s-]?(?:nummer|nr)(?!\w)"
    r"|\bkto(?:[.\s-]{0,2}nr)?(?!\w)|n\Sm\Sro (?:de |di |da )?(?:compte|cuenta|cont[oa])|numer konta"
    r"|rekeningnummer|номер (?:сч[её]та|карты)|口座番号|账号|帳號|계좌번호|iban"
)
_ACCOUNT_SIGNS = ("acc", "a/c", "konto", "kto", "compte", "cuenta", "conto", "conta", "rekening", "card", "karte",
    "счета", "счёта", "карты", "口座番号", "账号", "帳號", "계좌번호", "iban")  # fmt: skip
_ACCOUNT = re.compile(
    rf"(?:{_ACCOUNT_LABEL})[^\d\n‹]{{0,40}}?(?P<value>(?<![\w.,+])(?:[a-z]{{2}}\d\d(?:[ -]?[a-z\d]{{2,4}}){{3,8}}"
    r"|(?!\d{4}-\d\d-\d\d\b|\d\d[ -]\d\d[ -]\d{4}\b)\d(?:[ /-]?\d){5,23}))(?![\w-]|[.,]\d)",
    re.IGNORECASE,
)

_CODES = re.compile(
    r"(?:recovery|backup|rescue|2fa|two-factor|one-time|scratch|emergency|wiederherstellungs|sicherungs|ersatz|einmal|"
    r"notfall)[ _-]?(?:codes?|keys?|schlüssel|passw\w+)\b|\btan-?liste",
    re.IGNORECASE,
)
_CODE = r"(?=[A-Za-z0-9-]*\d|[a-z0-9]+-[a-z0-9]+\b)[A-Za-z0-9]{3,12}(?:-[A-Za-z0-9]{3,12}){0,7}"
_CODE_LINE = re.compile(
    r"[ \t>]*(?:[-*+•]\s+|\d{1,2}[.):]\s+)?(?:\[[ xX]?\]\s+)?"
    rf"[`~]{{0,2}}(?P<codes>{_CODE}(?:[ ,;\t]{{1,4}}{_CODE}){{0,9}})[`~]{{0,2}}\s*"
)
_CODE_SEPARATOR = re.compile(r"[^\n]{0,40}?[:=]\s+(?=\S)|\s+(?=\S*\d\S*[a-z]|\S*[a-z]\S*\d)", re.IGNORECASE)
_SEED = re.compile(r"(?:seed|recovery|mnemonic|wallet)[ _-]?(?:phrase|words)|mnemonic\b", re.IGNORECASE)

_NONE = frozenset(
    "see same as the a an in on at is are to for not none no yes unknown changed change reset required forgotten "
    "forgot lost my your our ask it its this that with manager tbd optional and or policy wrong expired weak "
    "strong invalid incorrect correct missing empty blank saved stored needed known here there below above secret "
    "safe too long short easy hard hidden protected only if when where what how please enter default n/a todo "
    "null nil true false siehe wie im auf der die das den dem nicht kein keins keine gleiche dasselbe geändert "
    "vergessen unbekannt liegt steht bei mit von vom aus ist sind falsch abgelaufen leer geheim zu oder und ja "
    "nein fehlt hier dort unten oben string text str int bool password passwort kennwort token key value wert "
    "beim neu new old alt was also now still being been set sent shared given again always never up by be from of "
    "one very really kept".split()
)
_PLACEHOLDER = re.compile(r"[*•.xX…_?#-]+$|[<{\[$%(‹].*|os\.|env\b|https?:|www\.|\w+\(|/[\w/.-]+$|~/")
_DESCRIBING = frozenset(  # parts of words like "case-sensitive"
    "case well read write one self auto out hard user non pre time only sensitive known based generated encrypted "
    "protected coded date long short stored saved shared defined related specific".split()
)
_EDGES = "\"'`*“”„«»"
_WORDS_OF_ITS_OWN = re.compile(r"[a-zäöüß]+")


def find_labelled(text: str) -> Iterator[Found]:
    """Yields the secrets of a text with a label."""
    lowered = text.lower()
    if len(lowered) != len(text):  # one letter becomes two in lower case, the Turkish İ
        lowered = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    for begin, end in _find_lines(lowered, (*_PASSWORD_SIGNS, *_NETWORK_SIGNS, *_KEY_SIGNS)):
        for match in (*_LABEL.finditer(text, begin, end), *_TOLD.finditer(text, begin, end)):
            kind: SecretKind = "password" if match["password"] else "token"
            yield from _find_values(text, match.end(), kind, is_label=match.re is _LABEL)
        for match in _BESIDE.finditer(text, begin, end):
            a, b = _trim(text, *match.span("value"))
            if is_strong(text[a:b], 6) and re.search(r"\d", text[a:b]) and text[a:b].lower() != "1password":
                yield a, b, "password"
        for match in _QUOTED.finditer(text, begin, end):
            if match["value"].casefold() not in _NONE and not _PLACEHOLDER.match(match["value"]):
                yield *match.span("value"), "password"
    for begin, end in _find_lines(lowered, _PIN_SIGNS):
        for match in _PIN.finditer(text, begin, end):
            is_year = re.fullmatch(r"(?:19|20)\d\d", match["value"]) and _SAYS_WHEN.match(match["about"])
            if not is_year and not _INDIAN_POSTCODE.match(match[0]):
                yield *match.span("value"), "pin"
    for begin, end in _find_lines(lowered, _ACCOUNT_SIGNS):
        for match in _ACCOUNT.finditer(text, begin, end):
            yield *match.span("value"), "account-number"
    for begin, end in _find_lines(lowered, _CODES_SIGNS):
        if label := _CODES.search(text, begin, end) or _SEED.search(text, begin, end):
            yield from _find_codes(text, label.end(), end)
    yield from _find_in_columns(text, lowered)


def _find_lines(text: str, signs: Sequence[str]) -> list[tuple[int, int]]:
    """Returns the lines that contain one of the signs, in order."""
    lines: dict[int, int] = {}
    for sign in signs:
        place = text.find(sign)
        while place >= 0:
            begin, end = text.rfind("\n", 0, place) + 1, text.find("\n", place)
            lines[begin] = end if end >= 0 else len(text)
            place = text.find(sign, lines[begin])
    return sorted(lines.items())


def _find_end(text: str, start: int) -> int:
    """Returns the end of the line, or of the longest value."""
    end = text.find("\n", start, start + MAX_VALUE)
    return min(len(text), start + MAX_VALUE) if end < 0 else end


def _find_values(text: str, start: int, kind: SecretKind, is_label: bool) -> Iterator[Found]:
    """Yields the value at `start`: a word, groups of digits, or the words of a passphrase."""
    end = _find_end(text, start)
    if is_label and not text[start:end].strip(" \t*_`\\"):  # the value is on the next line
        start, end = end + 1, _find_end(text, end + 1)
        alone = text[start:end].strip().strip(_EDGES)
        if " " in alone or not is_strong(alone):
            return
    quote = re.match(r"([\"'`“„«])([^\n]{1,200}?)[\"'`”“»](?=[\s,;.)|}\]]|$)", text[start:end])
    if quote and not _PLACEHOLDER.match(quote[2]) and quote[2].casefold() not in _NONE:
        if kind == "password" or is_strong(quote[2], 8):
            yield start + quote.start(2), start + quote.end(2), kind
        return
    segment = re.match(r".*?(?=;\s|;$|\s\||,\s|\s\(|\s[–—-]\s|\t|\s{2,}|[.!?]\s|$)", text[start:end])
    assert segment is not None
    words = [*re.finditer(r"\S+", segment[0])]
    if not words:
        return
    spans = [_trim(segment[0], *word.span()) for word in words]
    texts = [segment[0][a:b] for a, b in spans]
    if kind != "password":
        if is_strong(texts[0], 8) and re.fullmatch(r"[\w+/=.~-]+", texts[0]) and any(map(str.isdigit, texts[0])):
            yield start + spans[0][0], start + spans[0][1], kind
        return
    if len(texts) == 1 and _is_value(texts[0], is_label):
        yield start + spans[0][0], start + spans[0][1], kind
    elif _is_number(texts) or (is_label and 1 < len(texts) <= MAX_WORDS and _is_passphrase(texts)):
        yield start + spans[0][0], start + spans[-1][1], kind
    else:
        strong = [span for span, word in zip(spans, texts, strict=True) if is_strong(word)]
        for begin, stop in strong if is_label else [span for span in strong if span == spans[0]]:
            yield start + begin, start + stop, kind


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Returns the span without marks of Markdown and punctuation at its edges."""
    while start < end and text[start] in _EDGES:
        start += 1
    while start < end and text[end - 1] in _EDGES + ",;?":
        end -= 1
    if end - start > 1 and text[end - 1] in ".)" and "(" not in text[start:end]:
        end -= 1
    while start < end and text[end - 1] in _EDGES:
        end -= 1
    return start, end


def _is_value(word: str, is_label: bool) -> bool:
    """Whether a single word after a label is a password; inside a sentence it must look like one."""
    if len(word) < 4 or word.casefold().strip(".,;:!?") in _NONE or _PLACEHOLDER.match(word):
        return False
    return is_label or is_strong(word)


def _is_number(words: list[str]) -> bool:
    """Whether these are groups of digits, like the keys of many routers."""
    return all(word.isdigit() and len(word) > 1 for word in words) and len("".join(words)) >= 8


def _is_passphrase(words: list[str]) -> bool:
    """Whether these are plain words that do not describe a password."""
    telling = sum(word in _NONE for word in words)
    return all(map(_WORDS_OF_ITS_OWN.fullmatch, words)) and telling <= (len(words) > 3)


def is_strong(word: str, least: int = 4) -> bool:
    """Whether a word looks like a password or a key: letters and digits, or a mark inside."""
    if len(word) < least or _PLACEHOLDER.match(word) or word.casefold() in _NONE:
        return False
    if re.fullmatch(r"\d{1,2}[:.]\d\d(?:h|am|pm)?|\d+(?:st|nd|rd|th|px|gb|mb|kb|%|€)|[\d.,]+", word, re.IGNORECASE):
        return False
    has_digit, has_letter = any(map(str.isdigit, word)), any(map(str.isalpha, word))
    has_mark = bool(re.search(r"\w[^\w\s'’.,:/-]+\w|[!$%&§]$", word))
    is_camel = bool(re.search(r"[a-z][A-Z]", word)) and len(word) >= 8
    parts = word.lower().split("-")
    is_joined = (
        len(parts) > 1 and all(len(part) > 2 and part.isalpha() for part in parts) and _DESCRIBING.isdisjoint(parts)
    )
    return (has_letter and (has_digit or has_mark or is_camel)) or (has_digit and has_mark) or is_joined


def _find_codes(text: str, label_end: int, line_end: int) -> Iterator[Found]:
    """Yields recovery codes after or below their label, and the words of a seed phrase."""
    if separator := _CODE_SEPARATOR.match(text[label_end:line_end]):
        yield from _read_code_line(text, label_end + separator.end(), line_end)
    begin, blanks = line_end + 1, 0
    for _ in range(MAX_CODES):
        end = text.find("\n", begin)
        end = len(text) if end < 0 else end
        if text[begin:end].strip(" \t`~=-"):
            codes = [*_read_code_line(text, begin, end)]
            if not codes:
                return
            yield from codes
        elif (blanks := blanks + 1) > 2 or begin > len(text):
            return
        begin = end + 1


def _read_code_line(text: str, begin: int, end: int) -> Iterator[Found]:
    if end - begin > MAX_VALUE:
        return
    if match := _CODE_LINE.fullmatch(text[begin:end].rstrip(".")):
        yield begin + match.start("codes"), begin + match.end("codes"), "recovery-code"
        return
    words = re.findall(r"[a-z]+", text[begin:end])
    if len(words) in _SEED_WORDS and all(3 <= len(word) <= 8 for word in words):
        stripped = text[begin:end].strip()
        start = begin + text[begin:end].index(stripped)
        yield start, start + len(stripped), "recovery-code"


_COLUMN = re.compile(
    rf"\W*(?:{_PASSWORD}|{_NETWORK}|pin|puk|(?:api|secret|access)[ _-]?(?:key|token)|totp|secret|login_password"
    r"|geheimzahl)\W*",
    re.IGNORECASE,
)


_COLUMN_SIGNS = (*_PASSWORD_SIGNS, "key", "token", "secret", "totp", "pin", "puk", "geheimzahl", "/")


def _find_in_columns(text: str, lowered: str) -> Iterator[Found]:
    """Yields the cells below a column named password, in tables of Markdown or separated values."""
    if not any(sign in lowered for sign in _COLUMN_SIGNS):
        return
    columns: list[int] = []
    begin, mark, width = 0, "", 0
    for line in text.split("\n"):
        if columns and line.count(mark) == width:
            for start, end in _find_cells(line, mark, columns):
                if re.search(r"\w", line[start:end]) and not _PLACEHOLDER.match(line[start:end]):
                    yield begin + start, begin + end, "password"
        else:
            columns = []
            for mark in "|\t;,":
                cells = line.split(mark)
                columns = (
                    [number for number, cell in enumerate(cells) if _COLUMN.fullmatch(cell)] if len(cells) > 1 else []
                )
                if columns and not any(":" in cell for cell in cells):
                    width = len(cells) - 1
                    break
                columns = []
        begin += len(line) + 1


def _find_cells(line: str, mark: str, columns: list[int]) -> Iterator[tuple[int, int]]:
    start, column_set = 0, frozenset(columns)
    for number, cell in enumerate(line.split(mark)):
        if number in column_set and cell.strip(' \t"`'):
            inner = cell.strip(' \t"`')
            offset = start + cell.index(inner)
            yield offset, offset + len(inner)
        start += len(cell) + 1
