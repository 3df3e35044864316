"""Made-up secrets in the lines of ordinary notes, and ordinary lines that only look a little like them.

All of them are drawn anew, so that nothing that looks like a secret stands in the repository.
"""

from __future__ import annotations

import string
from base64 import urlsafe_b64encode
from collections.abc import Callable
from random import Random
from typing import NamedTuple

UPPER, LOWER, DIGITS, HEX = string.ascii_uppercase, string.ascii_lowercase, string.digits, "0123456789abcdef"
LETTERS, WORD = UPPER + LOWER, UPPER + LOWER + DIGITS
WORDS = (
    "tern gannet otter kelp dune lantern prism harbour pebble heron copper walnut saddle ribbon candle orchard".split()
)

Make = Callable[[Random], str]


class Canary(NamedTuple):
    """A line of a note that says a secret; `kind` is what a person would call it."""

    kind: str
    line: str
    value: str


def draw(chance: Random, characters: str, count: int) -> str:
    """So many characters; digits and both cases are among them where there is room for all."""
    return "".join(chance.choices(characters, k=count))


def _mixed(chance: Random, count: int) -> str:
    """Letters of both cases and digits, as keys have them."""
    drawn = [*draw(chance, WORD, count - 6), *draw(chance, UPPER, 2), *draw(chance, LOWER, 2), *draw(chance, DIGITS, 2)]
    chance.shuffle(drawn)
    return "".join(drawn)


def _password(chance: Random) -> str:
    one, two = chance.sample(WORDS, 2)
    number = draw(chance, DIGITS, 4)
    return chance.choice(
        [f"{one.title()}{number}", f"{one}-{number}-{two}", f"{one}!{two}{number[:2]}", f"{two}#{number}"]
    )


def _card(chance: Random) -> str:
    digits = chance.choice(["4", "51", "55"]) + draw(chance, DIGITS, 15)
    digits = digits[:15]
    doubled = sum(sum(divmod(int(digit) * (2 - place % 2), 10)) for place, digit in enumerate(digits))
    digits += str(-doubled % 10)
    return " ".join(digits[place : place + 4] for place in range(0, 16, 4)) if chance.random() < 0.7 else digits


def _account(chance: Random) -> str:
    bank = draw(chance, "123456789", 1) + draw(chance, DIGITS, 17)
    check = 98 - int(bank + "131400") % 97
    number = f"DE{check:02}{bank}"
    return " ".join(number[place : place + 4] for place in range(0, 22, 4)) if chance.random() < 0.7 else number


def _json_web_token(chance: Random) -> str:
    head, claims = '{"alg":"HS256"}', f'{{"sub":"{draw(chance, DIGITS, 9)}"}}'
    parts = [urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in (head, claims)]
    return ".".join([*parts, _mixed(chance, 43)])


def _block(chance: Random) -> str:
    return "\n".join(_mixed(chance, 64) for _ in range(3))


def _codes(chance: Random) -> str:
    return "-".join(draw(chance, LOWER + DIGITS, 4) + draw(chance, DIGITS, 1) for _ in range(2))


KINDS: dict[str, tuple[Make, tuple[str, ...]]] = {
    "Amazon key id": (lambda c: "AK" + "IA" + draw(c, UPPER + "234567", 16), ("The bucket is opened with {}.",)),
    "Amazon secret key": (lambda c: _mixed(c, 40), ("aws_secret_access_key = {}", "The secret beside it is {}")),
    "GitHub token": (lambda c: "gh" + c.choice("pous") + "_" + _mixed(c, 36), ("Pushing works with {}",)),
    "GitHub fine-grained": (lambda c: "github_" + "pat_" + _mixed(c, 22) + "_" + _mixed(c, 59), ("For the site: {}.",)),
    "GitLab token": (lambda c: "gl" + "pat-" + _mixed(c, 20), ("The mirror uses {}, until May.",)),
    "OpenAI key": (lambda c: "s" + "k-proj-" + _mixed(c, 48), ("I pay for {} each month.",)),
    "Anthropic key": (lambda c: "s" + "k-ant-api03-" + _mixed(c, 60), ("Mira's key: {}",)),
    "Slack token": (lambda c: "xox" + "b-" + draw(c, DIGITS, 12) + "-" + _mixed(c, 24), ("The bot says {} first.",)),
    "Stripe key": (lambda c: "s" + "k_live_" + _mixed(c, 24), ("Shop: {}",)),
    "Google key": (lambda c: "AI" + "za" + _mixed(c, 35), ("Maps were drawn with {}.",)),
    "npm token": (lambda c: "np" + "m_" + _mixed(c, 36), ("//registry.npmjs.org/:_authToken={}",)),
    "SendGrid key": (lambda c: "S" + "G." + _mixed(c, 22) + "." + _mixed(c, 43), ("Mails go out by {}",)),
    "Telegram bot": (lambda c: draw(c, "123456789", 9) + ":A" + "A" + _mixed(c, 33), ("The door bell writes by {}.",)),
    "Hugging Face token": (lambda c: "h" + "f_" + _mixed(c, 34), ("Models come with {}",)),
    "JSON Web Token": (_json_web_token, ("Authorization: Bearer {}", "It answered {} once.")),
    "private key": (_block, ("-----BEGIN " + "RSA PRIVATE KEY-----\n{}\n-----END " + "RSA PRIVATE KEY-----",)),
    "login in an address": (_password, ("postgres://mira:{}@db.example.com:5432/prod", "https://anna:{}@nas.example/x")),
    "card": (_card, ("My card is {}, valid until 09/29.", "Kreditkarte: {}")),
    "account": (_account, ("The rent goes to {}", "IBAN: {} (Sparkasse)")),
    "password": (_password, ("Password: {}", "- **password** for the shed: `{}`", "The barn's password is {}.")),
    "Passwort": (_password, ("Passwort: {}", "Das Kennwort der Scheune ist {}.", "Passwort vom NAS = {}")),
    "wifi key": (_password, ("wifi key = {}", "WLAN-Schlüssel: {}", "Our wifi password is {} since Easter.")),
    "PIN": (lambda c: draw(c, "1346789", 4), ("PIN {}", "PIN of the Visa card: {}", "Die PIN der Karte ist {}.")),
    "door code": (lambda c: draw(c, "1346789", 5), ("Door code: {}", "Der Türcode lautet {}.", "alarm code {}")),
    "API key": (lambda c: _mixed(c, 24).lower() + "7", ("api_key: {}", "API token = '{}'", "client_secret={}")),
    "recovery code": (_codes, ("Recovery codes:\n\n- {}", "Wiederherstellungscodes\n{}")),
    "second factor": (lambda c: draw(c, "ABCDEFGH", 8) + draw(c, "JK234567", 24), ("The TOTP secret is {}",)),
}  # fmt: skip


def make_canaries(count: int, seed: int = 1) -> list[Canary]:
    """As many canaries, of all kinds in turn."""
    chance = Random(seed)
    found = []
    for number in range(count):
        kind = [*KINDS][number % len(KINDS)]
        make, lines = KINDS[kind]
        value = make(chance)
        found.append(Canary(kind, chance.choice(lines).format(value), value))
    return found


ORDINARY: tuple[Callable[[Random], str], ...] = (
    lambda c: f"Call Anna on +49 {draw(c, DIGITS, 3)} {draw(c, DIGITS, 7)} before noon.",
    lambda c: f"Tel. 0161 {draw(c, DIGITS, 3)} {draw(c, DIGITS, 4)}, or 0{draw(c, DIGITS, 4)}/{draw(c, DIGITS, 6)}",
    lambda c: f"Met the plumber on 20{draw(c, '12', 1)}{draw(c, DIGITS, 1)}-0{c.randint(1, 9)}-1{c.randint(0, 9)}.",
    lambda c: f"The lamp was {c.randint(1, 900)},{draw(c, DIGITS, 2)} euros, the rope £1{draw(c, DIGITS, 1)}.50.",
    lambda c: f"ISBN 978-3-{draw(c, DIGITS, 3)}-{draw(c, DIGITS, 5)}-{draw(c, DIGITS, 1)}, bought used.",
    lambda c: f"Order {draw(c, DIGITS, 3)}-{draw(c, DIGITS, 7)}-{draw(c, DIGITS, 7)} arrives on Monday.",
    lambda c: f"Fixed in commit {draw(c, HEX, 40)}, see {draw(c, HEX, 7)}.",
    lambda c: f"sha256:{draw(c, HEX, 64)} is what the download should have.",
    lambda c: "The run {}-{}-4{}-a{}-{} failed.".format(*(draw(c, HEX, n) for n in (8, 4, 3, 3, 12))),
    lambda c: f"Flight LH{draw(c, DIGITS, 4)}, seat {c.randint(1, 40)}C, gate B{c.randint(1, 60)}, 18:15",
    lambda c: f"Parcel 00{draw(c, DIGITS, 18)} is at the shop.",
    lambda c: f"Invoice RE-2024-{draw(c, DIGITS, 5)}, customer {draw(c, DIGITS, 8)}, paid.",
    lambda c: f"https://youtu.be/{_mixed(c, 11)} is the talk, https://docs.example.com/d/{_mixed(c, 44)}/edit that",
    lambda c: f"Server 10.0.{c.randint(0, 255)}.{c.randint(0, 255)}, MAC {':'.join(draw(c, HEX, 2) for _ in range(6))}",
    lambda c: f"54.{draw(c, DIGITS, 6)}, 7.{draw(c, DIGITS, 6)} is where the tent stood.",
    lambda c: f"IMG_20240{c.randint(1, 9)}1{c.randint(0, 9)}_{draw(c, DIGITS, 6)}.jpg shows the dune.",
    lambda c: f"Version {c.randint(0, 9)}.{c.randint(0, 30)}.{c.randint(0, 9)}rc{c.randint(1, 4)} of the program",
    lambda c: f"The {c.choice(WORDS)} password was changed in 20{draw(c, '12', 2)}, see the manager.",
    lambda c: f"Password: see {c.choice(WORDS)} folder. The PIN letter came on {c.randint(1, 28)} May.",
    lambda c: f"The key to the {c.choice(WORDS)} shed hangs behind the {c.choice(WORDS)}.",
    lambda c: f"Token of thanks for {c.choice(WORDS).title()}: a book; the secret is good {c.choice(WORDS)}.",
    lambda c: f"Meter reading {draw(c, DIGITS, 6)} kWh, gas {draw(c, DIGITS, 5)},{draw(c, DIGITS, 1)} m3",
    lambda c: f"Number plate M-{draw(c, UPPER, 2)} {draw(c, DIGITS, 4)}, tyres 205/55 R16 91V",
    lambda c: f"{c.choice(WORDS).title()} Street {c.randint(1, 99)}, {draw(c, DIGITS, 5)} {c.choice(WORDS).title()}",
    lambda c: f"Steuernummer {draw(c, DIGITS, 3)}/{draw(c, DIGITS, 3)}/{draw(c, DIGITS, 5)}",
)  # fmt: skip


def make_ordinary(count: int, seed: int = 2) -> list[str]:
    """As many ordinary lines, of all kinds in turn."""
    chance = Random(seed)
    return [ORDINARY[number % len(ORDINARY)](chance) for number in range(count)]
