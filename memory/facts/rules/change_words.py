"""The words by which a text tells a change, as patterns with the groups `old` and `new` where they name them.

English so far; another language adds its alternatives. Every gap is bounded, so that a pattern looks at a bounded
number of characters from each place.
"""

from __future__ import annotations

import re

_I = re.IGNORECASE
_GAP = r"(?:[^.,;:!?()\n]|[.,:](?=\d))"  # a character of a phrase; marks only inside a number

_RISES = (
    r"go(?:es)?|went|gone|going(?! to)|rais(?:e|es|ed|ing)|"
    r"increas(?:e|es|ed|ing)|rises?|rose|risen|drop(?:s|ped)?|falls?|fell|"
    r"fallen|cuts?|lower(?:s|ed)?|reduc(?:e|es|ed)|bump(?:s|ed)?|grew|grows?|grown|up|down|jump(?:s|ed)?|shr[aiu]nk|"
    r"extend(?:s|ed)?|shorten(?:s|ed)?|doubled|halved|climb(?:s|ed)?|slip(?:s|ped)?|adjust(?:s|ed)?"
)
_SWITCHES = (
    r"switch(?:es|ed|ing)?|chang(?:e|es|ed|ing)|migrat(?:e|es|ed|ing)|convert(?:s|ed)?|"
    r"transition(?:s|ed)?|swap(?:s|ped)?"
)
_PROMOTES = r"upgrad(?:e|es|ed)|downgrad(?:e|es|ed)|promot(?:e|es|ed)|demot(?:e|es|ed)"
_MOVES = (
    r"mov(?:e|es|ed|ing)|relocat(?:e|es|ed|ing)|shift(?:s|ed)?|postpon(?:e|es|ed)|push(?:es|ed)?(?: back)?|"
    r"reschedul(?:e|es|ed)|transfer(?:s|red)?"
)
_RENAMES = r"renam(?:e|es|ed|ing)|rebrand(?:s|ed)?"

FROM_TO = re.compile(
    rf"\b(?:(?P<rise>{_RISES})|(?P<switch>{_SWITCHES})|(?P<promote>{_PROMOTES})|"
    rf"(?P<move>{_MOVES})|(?P<rename>{_RENAMES}))\b"
    rf"(?P<between>(?: [^\s.,;:!?()]{{1,30}}){{0,6}}?),? from (?P<old>{_GAP}{{1,60}}?) to (?=\S)",
    _I,
)
ARROW = re.compile(r"\s?(?:->|→|=>|⇒)\s?")
INSTEAD = re.compile(r"\b(?:instead of|in place of|in lieu of)\b", _I)
WAS = re.compile(
    r"(?:\((?:was|were|from|until now|till now|before|previously|formerly|up from|down from|used to be|"
    r"before that|instead of)|, (?:up from|down from|previously|formerly)):? (?P<old>(?:[^(),;]|,(?=\d)){1,60}?)"
    r"(?=[);]|,(?!\d)|\.?$|\. )",
    _I,
)
NOT_ANY_MORE = re.compile(
    r"\b(?P<no>no longer|not) (?P<old>[^.,;:!?()\n]{1,50}?)(?P<more> (?:any ?more|any longer))?(?:\s?\([^()]{0,60}\))?"
    r"(?P<mark>,| but|:) (?:(?:but|only|now|just|instead|rather)\b,? ?){0,3}",
    _I,
)
ISNT = re.compile(
    r"(?:\bis(?:n['’]t| not)|\bare(?:n['’]t| not)|['’]s not|\bwas(?:n['’]t| not))\s(?P<old>[^.,;:!?()\n]{1,50})"
    r"(?:,| but)\s(?:it['’]s|it is|but|they['’]re|they are)\s",
    _I,
)
BUT_NOT = re.compile(
    rf"\b(?:it['’]s|it is|is|should be|should read|are)\s(?P<new>{_GAP}{{1,50}}),? not (?P<old>{_GAP}{{1,50}})", _I
)
REPLACES = re.compile(
    r"(?<![\w-])(?:replac(?:es|ed)|supersed(?:es|ed)|takes? (?:over )?the place of|took the place of|succeeds|"
    r"succeeded|takes? over from|took over from)\b(?! by)(?! with)",
    _I,
)
FORMER = re.compile(
    r"\b(?:this|it|that|which) (?:replac|supersed)(?:es|ed) (?:the|your|our|my) "
    r"(?:former|old|previous|current|existing) "
    r"(?P<n>\d[\d.,]{0,8})[ -](?P<unit>[^\W\d_]{2,12}) (?P<what>[^\W\d_]{3,20})",
    _I,
)
REPLACED_BY = re.compile(
    r"\b(?:(?:is|are|was|were|been|gets|got|be)\s)?(?<![\w-])(?:replaced|superseded|succeeded)\s(?:by|with)\b", _I
)
REPLACE_WITH = re.compile(
    r"\b(?:replac(?:es|ed|ing)|swapp?(?:s|ed|ing)?|exchang(?:es|ed))\s(?P<old>[^.,;:!?()\n]{1,50}?)\s"
    r"(?:with|by)\s",
    _I,
)
RENAMED = re.compile(
    rf"(?<!the )\b(?:{_RENAMES}) (?P<old>[^.,;:!?()\n]{{0,50}}?)\s?(?:to|as|into)\s(?=\S)"
    r"|\b(?:(?:is|are) now (?:called|named|known as)|now goes by)\s",
    _I,
)
GONE = re.compile(
    r"\b(?:(?:is|are|was|has been) (?:closed|out|gone|discontinued|shut down|dead|cancelled|history|no more|retired)|"
    r"(?:contract|subscription|licence|license) (?:ended|ends|ran out|expired|is over))\b"
    r"[^.;:!?\n]{0,50}[.,;:] (?:use|take|call|write to|(?:so )?we['’]re (?:now )?on|(?:so )?i['’]m (?:now )?on) ",
    _I,
)
USED_TO = re.compile(
    r"\bused to be (?P<old>[^.,;:!?()\n]{1,50})(?:,| but|;| and){1,2} "
    r"(?:(?:it|that|he|she|they)(?: is|['’]s| are|['’]re)?|is|are)?\s?now (?:it['’]s |is )?",
    _I,
)
OLD_NEW = re.compile(
    r"\bold (?P<name>[^\W\d_][\w -]{0,24}?): (?P<old>[^.;!?\n]{1,90}).{0,120}?"
    r"\bnew (?P=name): (?P<new>[^.;!?\n]{1,90})",
    _I,
)
STEPS_DOWN = re.compile(
    r"\b(?:steps?|stepped|stepping) down as (?P<old>[^.,;:!?()\n]{1,40}?)(?= after| and| but|[.,;:!?()\n]|$)", _I
)
TAKES_OVER = re.compile(
    r"\b(?:takes over as|took over as|becomes|became|is now|was elected(?: as)?|elected) "
    r"(?P<new>[^.,;:!?()\n]{1,40})",
    _I,
)
BACK = re.compile(r"\bback (?:to|on) ", _I)
NO_LONGER = re.compile(
    r"\b(?:i['’]m|i am|we['’]re|we are) no longer (?:a |an )?(?P<old>[^.,;:!?()\n]{1,40}?)"
    r"(?= and| but|[.,;:!?()\n]|$)",
    _I,
)

# Forms that are nouns as well.
NOUNS = frozenset(
    "switch change swap move shift transfer transition convert cut cuts drop drops rise rises increase increases raise"
    " push upgrade downgrade bump jump climb up down changes moves shifts swaps transfers switches upgrades"
    " downgrades".split()
)
# That a choice holds for good.
SETTLED = re.compile(
    r"\b(?:now|from now on|from then on|as of|as from|from|since|starting|effective|until|decided|decision|agreed|new|"
    r"permanently|for good|going forward|henceforth|changed?|moved)\b",
    _I,
)
CORRECTS = re.compile(r"correct|mistake|wrong|typo|erratum", _I)
# One of a rule's words stands in every sentence that it reads a change in.
SIGNS = {
    rule: frozenset(words.split())
    for rule, words in {
        "from_to": "from",
        "was": "(was (were (from (until (till (before (previously (formerly (up (down (used (instead (was: (until:"
        " (formerly: (previously: up down previously formerly",
        "value": "moves moved goes went extended pushed postponed raised lowered increased reduced cut dropped drops"
        " changed rose rises slips slipped bumped now",
        "isnt": "isn't isn’t aren't aren’t not wasn't wasn’t",
        "but_not": "not",
        "not_any_more": "no not",
        "instead": "instead place lieu",
        "replaces": "replaces replaced replacing supersedes superseded succeeds succeeded take takes took swap swaps"
        " swapped swapping exchanges exchanged",
        "renamed": "rename renames renamed renaming rebrand rebrands rebranded called named known goes",
        "used_to": "used",
        "arrow": "-> → => ⇒",
        "old_new": "old",
        "back": "longer",
        "roles": "down",
        "own": "i i'm i’m i've i’ve my we we're we’re we've we’ve our",
        "new": "new",
        "gone": "closed out gone discontinued shut dead cancelled history more retired ended ends ran expired over",
    }.items()
}
ALL_SIGNS = frozenset[str]().union(*SIGNS.values())
TOKEN = re.compile(r"\(?[^\W_][^\s.,;!?()*\"“”]*|->|→|=>|⇒")
