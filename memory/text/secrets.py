"""Secrets in a text: passwords, PINs, keys, tokens, card and account numbers, recovery codes.

Three kinds of evidence, surest first: a unique form (a vendor's prefix, a check digit), a label ("WLAN-Passwort: ...",
"PIN of the bike lock is ..."), and a random-looking word on a line about a secret. Labelled values favour recall;
unlabelled ones favour precision, so that dates, phone numbers, order numbers and hashes stay. Linear in the length of
the text."""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from memory.text.secret_lines import SecretKind, find_labelled

MAX_KEY_BLOCK = 40_000  # characters of an armoured private key
MAX_LINE = 2000  # characters of a line that can name a secret
LOTTERY_CHARS, LOTTERY_CHARS_NAMED = 32, 16  # of a random-looking word: anywhere, on a line that names a secret


class Secret(NamedTuple):
    """A secret at characters [start, end) of a text."""

    start: int
    end: int
    kind: SecretKind


def find_secrets(text: str) -> list[Secret]:
    """Returns the secrets of a text, in order, merged where they touch."""
    secrets = [
        *_find_vendor_tokens(text),
        *_find_key_blocks(text),
        *_find_numbers(text),
        *_find_logins(text),
        *_find_random_words(text),
    ]
    secrets += [Secret(*secret) for secret in find_labelled(text)]
    merged: list[Secret] = []
    for secret in sorted(secrets):
        if merged and secret.start < merged[-1].end:
            last = merged[-1]
            kind = last.kind if last.end - last.start >= secret.end - secret.start else secret.kind
            merged[-1] = Secret(last.start, max(last.end, secret.end), kind)
        elif secret.end > secret.start:
            merged.append(secret)
    return merged


# By their form ---------------------------------------------------------------------------------

# The keys and tokens of vendors: (text to search first, pattern, kind), in the formats that the vendors document. A
# pattern covers the token alone. No word of a language has such a form, so the context does not matter.
_HEX, _WORD, _URLSAFE = "[0-9a-f]", "[A-Za-z0-9]", "[A-Za-z0-9_-]"

_VENDOR_TOKENS: tuple[tuple[str, str, SecretKind], ...] = (
    ("IA", r"A(?:KI|SI)A[A-Z0-9]{16}", "api-key"),  # Amazon
    ("gh", rf"gh[pousr]_{_WORD}{{36,255}}", "token"),  # GitHub
    ("github_pat_", r"github_pat_\w{22,255}", "token"),
    ("gl", rf"gl(?:pat|dt|rt)-{_URLSAFE}{{20,}}", "token"),  # GitLab
    ("sk-", rf"sk-(?:[a-z0-9]{{2,12}}-){{0,3}}{_URLSAFE}{{20,}}", "api-key"),  # OpenAI, Anthropic, OpenRouter, DeepSeek
    ("gsk_", rf"gsk_{_WORD}{{40,}}", "api-key"),  # Groq
    ("xai-", rf"xai-{_WORD}{{40,}}", "api-key"),
    ("pplx-", rf"pplx-{_WORD}{{40,}}", "api-key"),
    ("hf_", rf"hf_{_WORD}{{30,}}", "token"),  # Hugging Face
    ("r8_", rf"r8_{_WORD}{{30,}}", "token"),  # Replicate
    ("AIza", rf"AIza{_URLSAFE}{{35}}", "api-key"),  # Google
    ("GOCSPX-", rf"GOCSPX-{_URLSAFE}{{20,}}", "api-key"),
    ("ya29.", rf"ya29\.{_URLSAFE}{{20,}}", "token"),
    ("xox", rf"xox[abeoprs](?:\.xox[bp])?-{_URLSAFE}{{10,}}", "token"),  # Slack
    ("xapp-", rf"xapp-\d-{_URLSAFE}{{20,}}", "token"),
    ("hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows|triggers)/[\w/]{20,}", "token"),
    ("discord", r"discord(?:app)?\.com/api/webhooks/\d{15,}/[\w-]{40,}", "token"),
    (".", rf"[MNO]{_URLSAFE}{{22,27}}\.{_URLSAFE}{{6}}\.{_URLSAFE}{{27,40}}", "token"),  # a bot of Discord
    (":AA", rf"\d{{8,10}}:AA{_URLSAFE}{{32,34}}", "token"),  # a bot of Telegram
    ("k_", rf"[rs]k_(?:live|test)_{_WORD}{{16,}}", "api-key"),  # Stripe
    ("whsec_", r"whsec_[A-Za-z0-9+/=]{24,}", "api-key"),
    ("sq0", rf"sq0(?:atp|csp|idp)-{_URLSAFE}{{22,}}", "token"),  # Square
    ("EAAA", rf"EAAA{_URLSAFE}{{56,}}", "token"),
    ("shp", rf"shp(?:at|ca|pa|ss)_{_HEX}{{32}}", "token"),  # Shopify
    ("access_token$", rf"access_token\$(?:production|sandbox)\${_WORD}{{16}}\${_HEX}{{32}}", "token"),  # PayPal
    ("npm_", rf"npm_{_WORD}{{36}}", "token"),
    ("pypi-", rf"pypi-{_URLSAFE}{{50,}}", "token"),
    ("rubygems_", rf"rubygems_{_HEX}{{48}}", "token"),
    ("dckr_", rf"dckr_(?:pat|oat)_{_URLSAFE}{{20,}}", "token"),  # Docker
    ("SG.", rf"SG\.{_URLSAFE}{{16,}}\.{_URLSAFE}{{30,}}", "api-key"),  # SendGrid
    ("SK", rf"SK{_HEX}{{32}}", "api-key"),  # Twilio
    ("key-", rf"key-{_HEX}{{32}}", "api-key"),  # Mailgun
    ("-us", rf"{_HEX}{{32}}-us\d{{1,2}}", "api-key"),  # Mailchimp
    ("_v1_", rf"do[oprt]_v1_{_HEX}{{64}}", "token"),  # DigitalOcean
    ("HRKU-", rf"HRKU-{_URLSAFE}{{30,}}", "api-key"),  # Heroku
    ("dapi", rf"dapi{_HEX}{{32}}", "token"),  # Databricks
    ("lin_", rf"lin_(?:api|oauth)_{_WORD}{{32,}}", "api-key"),  # Linear
    ("ntn_", rf"ntn_{_WORD}{{40,}}", "token"),  # Notion
    ("secret_", rf"secret_{_WORD}{{43}}", "token"),
    ("figd_", rf"figd_{_URLSAFE}{{30,}}", "token"),  # Figma
    ("PMAK-", rf"PMAK-{_HEX}{{24}}-{_HEX}{{34}}", "api-key"),  # Postman
    ("glsa_", rf"glsa_{_WORD}{{32}}_{_HEX}{{8}}", "token"),  # Grafana
    ("ATATT3", rf"ATATT3{_URLSAFE}{{50,}}=?[0-9A-F]{{0,8}}", "token"),  # Atlassian
    ("hvs.", rf"hvs\.{_URLSAFE}{{24,}}", "token"),  # Vault
    (".atlasv1.", rf"{_WORD}{{14}}\.atlasv1\.{_URLSAFE}{{60,}}", "token"),  # Terraform
    ("sntry", rf"sntry[su]_{_URLSAFE}{{30,}}=?", "token"),  # Sentry
    ("NRAK-", r"NRAK-[A-Z0-9]{27}", "api-key"),  # New Relic
    ("tskey-", rf"tskey-[a-z]+-{_URLSAFE}{{16,}}", "api-key"),  # Tailscale
    ("sbp_", rf"sbp_{_HEX}{{40}}", "token"),  # Supabase
    ("nfp_", rf"nfp_{_WORD}{{36,}}", "token"),  # Netlify
    ("dp.", rf"dp\.(?:pt|st|ct|sa)\.{_WORD}{{40,}}", "token"),  # Doppler
    ("k.eyJ", rf"[sp]k\.eyJ{_URLSAFE}{{20,}}\.{_URLSAFE}{{20,}}", "token"),  # Mapbox
    ("eyJ", r"eyJ[\w-]{8,}(?:\.[\w-]*){2,4}", "token"),  # a JSON Web Token, signed or encrypted
    ("Key=", r"(?:Account|SharedAccess)Key=[A-Za-z0-9+/]{40,}={0,2}", "api-key"),  # Azure
    ("AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{58}", "private-key"),
    ("prv", r"[xyz]prv[1-9A-HJ-NP-Za-km-z]{100,112}", "private-key"),  # a wallet's
)


@cache
def _compile_vendor_tokens() -> tuple[tuple[str, re.Pattern[str], SecretKind], ...]:
    edges = r"(?<![A-Za-z0-9_])(?:{})(?![A-Za-z0-9_])"
    return tuple((sign, re.compile(edges.format(pattern)), kind) for sign, pattern, kind in _VENDOR_TOKENS)


def _find_vendor_tokens(text: str) -> Iterator[Secret]:
    for sign, pattern, kind in _compile_vendor_tokens():
        if sign in text:
            for match in pattern.finditer(text):
                token = match[0]
                if kind != "api-key" or not token.startswith("sk-") or any(map(str.isdigit, token)):
                    yield Secret(*match.span(), kind)


_ARMOUR = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_BASE64_LINES = re.compile(r"\s*(?:[A-Za-z0-9+/=]{16,}\s*)+")


def _find_key_blocks(text: str) -> Iterator[Secret]:
    """Yields the text between BEGIN and END, or the lines of base64 without an END."""
    for begin in _ARMOUR.finditer(text) if "-----BEGIN" in text else ():
        end = text.find("-----END", begin.end(), begin.end() + MAX_KEY_BLOCK)
        if end < 0:
            lines = _BASE64_LINES.match(text, begin.end(), begin.end() + MAX_KEY_BLOCK)
            end = lines.end() if lines else begin.end()
        body = text[begin.end() : end]
        start = begin.end() + len(body) - len(body.lstrip())
        if body.strip() and "‹" not in body:
            yield Secret(start, start + len(body.strip()), "private-key")


_LOGIN = re.compile(r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,20}://[^\s:/@‹]{0,80}:([^\s/@‹]{1,200})@", re.IGNORECASE)


def _find_logins(text: str) -> Iterator[Secret]:
    if "://" in text and "@" in text:
        for match in _LOGIN.finditer(text):
            yield Secret(*match.span(1), "password")


_CARD = re.compile(r"(?<![\w.,+/-])(?:\d{4}([ -]?)\d{4}\1\d{4}\1\d{4}|3[47]\d\d([ -]?)\d{6}\2\d{5})(?![\w-]|[.,]\d)")
_ISSUER = re.compile(r"4|5[1-5]|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)|3[47]|3[068]|35(?:2[89]|[3-8])|6011|64[4-9]|65|62")
_IBAN = re.compile(r"(?<![\w/-])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)")


def _find_numbers(text: str) -> Iterator[Secret]:
    """Yields cards by issuer and check digit, accounts by country and check digits."""
    from stdnum import iban, luhn

    for match in _CARD.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        if _ISSUER.match(digits) and luhn.is_valid(digits):
            yield Secret(*match.span(), "card-number")
    for match in _IBAN.finditer(text):
        written = match[0]
        while len(written) >= 15 and not iban.is_valid(written, check_country=False):
            written = written.rpartition(" ")[0]  # the following text may match the pattern, too
        if len(written) >= 15:
            yield Secret(match.start(), match.start() + len(written), "account-number")


# Drawn by lot ----------------------------------------------------------------------------------

_LOTTERY_WORD = re.compile(
    rf"(?<![\w./:@#%&?=+‹~-])[A-Za-z0-9+/_-]{{{LOTTERY_CHARS_NAMED},128}}={{0,2}}(?![\w/+@‹-]|\.\w)"
)
_HASH = re.compile(r"(?:sha\d+|md5|blake\w+)[-:]|[0-9a-fA-F-]+$")
_LOT = re.compile(r"[a-z]+|[A-Z]+|[0-9]+")
_NAMES_A_SECRET = re.compile(
    r"secret|password|passwort|kennwort|credential|zugangsdaten|token|api.?key|access.?key|totp|\botp\b|2fa|authenticator",
    re.IGNORECASE,
)


def _find_random_words(text: str) -> Iterator[Secret]:
    """Yields words of letters and digits that alternate too often to be invented."""
    for match in _LOTTERY_WORD.finditer(text):
        word = match[0]
        if not any(map(str.isdigit, word)) or _HASH.match(word):
            continue
        runs = _LOT.findall(word)
        is_base32 = not len(word) % 8 and re.fullmatch(r"[A-Z2-7]+", word) and len(runs) > 4
        if len(runs) * 3 < len(word) and not is_base32:
            continue  # words, a name in camel case, a word with a date
        begin, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
        line = text[begin : end if end >= 0 else None]
        is_mixed = re.search("[a-z]", word) and re.search("[A-Z]", word)
        if (len(word) >= LOTTERY_CHARS and is_mixed) or (len(line) < MAX_LINE and _NAMES_A_SECRET.search(line)):
            yield Secret(*match.span(), "token")
