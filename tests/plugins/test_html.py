"""Saved pages: what a reader of the page sees, with its lines."""

from __future__ import annotations

from datetime import datetime

import pytest

from plugins.readers.common import html
from tests.plugins.conftest import Read

PAGE = """<!DOCTYPE html>
<html><head><title>Desks &amp; chairs
 - The Shop</title>
<meta name="date" content="2023-10-24"><meta name="clipped" content="2023-10-30">
<meta name="author" content="Ana"><meta property="og:url" content="https://shop.example/">
<style>p { color: red }</style></head>
<body>
<nav>Home | About</nav>
<h1>Desks
 and chairs</h1>
<p>A <b>good</b> desk, see <a href="/x">the list</a>,
costs 389 euros.</p>
<script>alert("no")</script>
<ul>
<li>oak</li>
<li>pine
  <ol><li>red</li><li>white</li></ol></li>
</ul>
<table>
<tr><th>what</th><th>price</th></tr>
<tr><td>desk</td><td><b>389</b>
</td></tr>
</table>
<p hidden>secret <p>also</p></p>
<div style="display: none">secret</div>
<pre>
x = 1
  y = 2
</pre>
line one<br>line two
<img src="a.png" alt="a cat">
</body></html>
"""


@pytest.mark.parametrize(
    ("mark", "day"),
    [
        ('itemprop="datePublished"', "2019-03-05"),
        ('class="dt-published"', "2019-03-05"),
        ("pubdate", "2019-03-05"),
        ('itemprop="startDate"', None),  # of an event
        ('class="event-date"', None),
        ("", None),
    ],
)
def test_when_a_page_was_published_as_its_text_is_marked(mark: str, day: str | None) -> None:
    at = html.convert(f'<p>Plums <time {mark} datetime="2019-03-05T10:00">in spring</time></p>').at
    assert (at and at.date().isoformat()) == day


def test_a_page(read: Read) -> None:
    (page,) = read("page.html", PAGE)
    assert page.title == "Desks & chairs - The Shop"
    assert page.at == datetime(2023, 10, 30).astimezone()  # the day it was clipped, not the day it was published
    assert page.properties == {"author": "Ana", "url": "https://shop.example/"}
    assert page.lines is not None
    lines = [line for line in zip(page.lines, page.text.split("\n"), strict=True) if line[1]]
    assert lines == [
        (9, "# Desks and chairs"),
        (11, "A good desk, see the list,"),
        (12, "costs 389 euros."),
        (15, "- oak"),
        (16, "- pine"),
        (17, "  1. red"),
        (17, "  2. white"),
        (20, "| what | price |"),
        (21, "| desk | 389 |"),
        (26, "```"),
        (27, "x = 1"),
        (28, "  y = 2"),
        (29, "```"),
        (30, "line one"),
        (30, "line two"),
        (31, "a cat"),
    ]


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("no markup at all", "no markup at all"),
        ("<p>one<p>two", "one\n\ntwo"),
        ("<b>a</b> <i>b</i>", "a b"),
        ("5 < 6 & 7 > 3 &lt;tag&gt;", "5 < 6 & 7 > 3 <tag>"),
        ("<p>a</p><!-- comment --><p>b</p>", "a\n\nb"),
        ("<![if !vml]>office<![endif]>", "office"),
        ("<p>before</p><p class='open>after</p><p>more</p>", "before\n\nafter\n\nmore"),
        ("a<script>never closed", "a"),
        ("<td>loose</td>", "loose"),
        ("<table><tr><td><table><tr><td>a</td><td>b</td></tr></table></td></tr></table>", "| a | b |"),
        ("<head><title>t</title><body>no end of head", "no end of head"),
        ("<svg><title>icon</title></svg>x", "x"),
    ],
)
def test_loose_and_broken_markup(markup: str, text: str) -> None:
    assert html.convert(markup).text == text


def test_the_title_may_be_a_heading(read: Read) -> None:
    assert read("a.html", "<h1>From the <i>page</i></h1>")[0].title == "From the page"
    assert read("a.html", "<p>x</p>")[0].title == "a"
