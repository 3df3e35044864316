"""Names in scripts without capitals: what stands in title marks, before a form of address, or in katakana.

Few and sure rather than many: a name that nothing marks is found by full text all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from memory.text.unicode import ascii_digits
from memory.text.words import UNSPACED


class Found(NamedTuple):
    """A name at its place; `kind` as of a Mention, `named` what it is called if not as it is written."""

    surface: str
    kind: str
    start: int
    end: int
    named: str


_HAN, _KANA = "\u3005\u4e00-\u9fff", "\u30a1-\u30fa\u30fc"
_MARKED = re.compile(
    r"『([^『』\n]{1,40})』|《([^《》\n]{1,40})》|〈([^〈〉\n]{1,40})〉|【([^【】\n]{1,40})】|「([^「」\n。！？!?、，,]{2,20})」"
)
_KATAKANA = re.compile(f"[{_KANA}]{{3,}}(?:[・＝][{_KANA}]{{2,}})*|[{_KANA}]{{2,}}(?:[・＝][{_KANA}]{{2,}})+")
_JAPANESE = re.compile(
    f"([{_HAN}]{{1,8}}|[{_KANA}]{{2,10}})(さん|さま|様|ちゃん|くん|氏|先生|先輩|部長|課長|社長|教授|医師)"
)
_MOST_KANJI = 3  # of a family name; of a longer run the last two are taken: 昨日田中さん
_CHINESE = re.compile(
    "([王李张張刘劉陈陳杨楊赵趙黄黃周吴吳徐孙孫胡朱高林何郭马馬罗羅梁宋郑鄭谢謝韩韓唐冯馮于董萧蕭程曹袁邓鄧许許傅沈曾彭吕呂苏蘇卢盧"
    "蒋蔣蔡贾賈丁魏薛叶葉阎閻余潘杜戴夏钟鍾汪田任姜范方石姚谭譚廖邹鄒熊金陆陸郝孔白崔康毛邱秦江史顾顧侯邵孟龙龍万萬段雷钱錢汤湯"
    f"尹黎易常武乔喬贺賀赖賴龚龔文][{_HAN}]{{0,2}}?)(先生|女士|小姐|老师|老師|医生|醫生|大夫|教授|经理|經理|同学|同學|阿姨|叔叔)"
)
_KOREAN = re.compile(
    "(?<![가-힣])([김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주구민나진지엄채원천방공현함변염여추도소석선설마길연위표명기"
    "반왕금옥육인맹제모탁국어은편용][가-힣]{1,2})(?=(?: ?(?:씨|님|선생님|선생|교수|과장|부장|대표|대리|박사)))"
)
_NO_KOREAN_NAMES = frozenset(
    "우리 저희 이분 그분 여러 모든 전임 현직 어떤 이전 고객 손님 선생 부모 형님 누님 하느".split()
)

_SPOKEN = re.compile("[\u3041-\u3096\u30fc]+")  # 「はい」 is no title
_DAY = r"(1[0-2]|0?[1-9])\s?[月월]\s?([12]\d|3[01]|0?[1-9])\s?[日號号일]"
_DATE = re.compile(rf"(?<!\d)((?:1[0-9]|20)\d\d)\s?[年년](?:\s?{_DAY}|\s?(1[0-2]|0?[1-9])\s?[月월])?|(?<!\d){_DAY}")


def names(text: str) -> Iterator[Found]:
    """What `text` names in Chinese, Japanese or Korean; places may overlap, the surer ones come first."""
    if text.isascii() or not UNSPACED.search(text):
        return
    for match in _MARKED.finditer(text):
        surface = next(group for group in match.groups() if group)
        if _SPOKEN.fullmatch(surface):
            continue
        yield Found(surface, "title", *match.span(), surface)
    for match in _DATE.finditer(ascii_digits(text)):
        year, *parts = match.groups()
        iso = "-".join([year or "", *(f"{int(part):02}" for part in parts if part)])
        yield Found(text[match.start() : match.end()], "date", *match.span(), iso)
    for match in _KOREAN.finditer(text):
        if match[1] not in _NO_KOREAN_NAMES:
            yield Found(match[1], "name", *match.span(1), match[1])
    for match in (*_CHINESE.finditer(text), *_JAPANESE.finditer(text)):
        name, end = match[1], match.end(1)
        if len(name) > _MOST_KANJI and name[0] >= "\u4e00":
            name = name[-2:]
        if len(name) == 1:  # alone it may be any word
            name, end = match[0], match.end()
        yield Found(name, "name", end - len(name), end, name)
    for match in _KATAKANA.finditer(text):
        yield Found(match[0], "name", *match.span(), match[0])
