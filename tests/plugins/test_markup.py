"""reStructuredText and AsciiDoc come out as Markdown, line by line, and nothing of another file is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.readers.markup.plain import read as read_plain
from tests.plugins.conftest import Read
from tests.plugins.places import find_facts, find_place

RST = """==========
Fog signal
==========

:Author: Ada Holm
:Date: 2024-05-01

.. contents::

The `horn <https://x.example>`_ of |place|, :ref:`see <costs>`, slates_ and ``code_``.

.. note:: Bring boots.
   The path is wet.

.. Nobody sees this,
   nor this.

Costs
-----

Rates::

   not a heading
   -------------

#. Slates

.. code-block:: python
   :linenos:

   x = 1

+------+-----+
| Item | EUR |
+======+=====+
| Oil  | 12  |
+------+-----+

=====  =====
Lamp   Hours
=====  =====
Port   9
=====  =====

.. image:: fog.png
   :alt: Fog over the pier

.. [1] A footnote.
.. _slates: https://y.example
.. |place| replace:: Gannet Head
.. include:: /etc/passwd
.. raw:: html

   <b>raw</b>

Ringing
-------

.. py:function:: ring(times)

   :param times: how often
"""
ADOC = """= Fog signals
Ada Holm <ada@x.example>
v1.2, 2024-05-01
:toc: left
:harbour: Gannet Head

The horn of {harbour} is heard for https://miles.example[three miles].

// Nobody sees this.
////
Nor this.
////

NOTE: Bring boots.

[WARNING]
.Slippery
====
The path is wet.
====

== Costs [[costs]]

* Slates
** [ ] order *them*
. first
Rent:: 690 euros

[source,python]
----
x = 1  # == not a heading
----

[%header,cols="1,2"]
|===
|Item |Price
|Oil
|12 euros
|===

++++
<b>raw</b>
++++

include::/etc/passwd[]
image::fog.png[The fog, 300]

See <<costs,the costs>>, kbd:[Ctrl+C]footnote:[On a Mac another key.].

[quote, A keeper]
____
Keep it lit.
____
"""


def test_restructured_text(read: Read) -> None:
    (page,) = found = read("fog.rst", RST)
    assert page.title == "Fog signal" and page.at is not None and page.at.date().isoformat() == "2024-05-01"
    said = dict(zip(page.lines or (), page.text.split("\n"), strict=True))
    for line, words in {
        2: "# Fog signal", 5: "Author: Ada Holm", 18: "## Costs", 21: "Rates:", 26: "1. Slates",
        10: "The [horn](https://x.example) of |place|, see, slates_ and `code_`.",
        12: "**Note:** Bring boots.", 13: "The path is wet.", 34: "| Item | EUR |", 35: "|---|---|",
        36: "| Oil  | 12  |", 40: "|---|---|", 42: "| Port | 9 |", 45: "**Image:** fog.png Fog over the pier",
        48: "[1] A footnote.", 49: "slates: https://y.example", 50: "**place:** Gannet Head",
        59: "**Function:** ring(times)", 61: "param times: how often",
    }.items():  # fmt: skip
        assert said[line] == words
    assert "```\nnot a heading\n-------------\n```" in page.text and "```python\nx = 1\n```" in page.text
    for words in ("Nobody sees", "nor this", "passwd", "raw", "linenos", "contents"):
        assert words not in page.text
    assert find_place(found, "not a heading") == "fog.rst:23" and find_place(found, "x = 1") == "fog.rst:31"
    assert find_place(found, "path is wet") == "fog.rst:13"
    assert {("Fog signal", "author", "Ada Holm"), ("Oil", "EUR", "12")} <= find_facts(found)


def test_asciidoc(read: Read) -> None:
    (page,) = found = read("fog.adoc", ADOC)
    assert page.title == "Fog signals" and page.at is not None and page.at.date().isoformat() == "2024-05-01"
    assert page.properties["author"] == "Ada Holm" and page.properties["version"] == "1.2"
    said = dict(zip(page.lines or (), page.text.split("\n"), strict=True))
    for line, words in {
        1: "# Fog signals", 5: "harbour: Gannet Head", 14: "**NOTE:** Bring boots.", 16: "**WARNING**",
        17: "**Slippery**", 7: "The horn of {harbour} is heard for [three miles](https://miles.example).",
        19: "The path is wet.",
        22: "## Costs", 24: "- Slates", 25: "- [ ] order **them**", 26: "1. first", 27: "Rent: 690 euros",
        37: "| Oil | 12 euros |", 46: "![The fog](fog.png)",
        48: "See the costs, Ctrl+C (On a Mac another key.).", 52: "> Keep it lit.",
    }.items():  # fmt: skip
        assert said[line] == words
    for words in ("Nobody sees", "Nor this", "passwd", "raw", "toc"):
        assert words not in page.text
    assert "```python\nx = 1  # == not a heading\n```" in page.text
    assert find_place(found, "not a heading") == "fog.adoc:31"
    assert find_place(found, "12 euros") == "fog.adoc:37" and find_place(found, "path is wet") == "fog.adoc:19"
    assert {("Oil", "Price", "12 euros"), ("order them", "status", "open")} <= find_facts(found)


@pytest.mark.parametrize(
    ("name", "text", "kept"),
    [
        ("a.rst", "Title\n==\n\ntext::\n\n", "Title\n==\n\ntext:"),
        ("a.rst", ".. note::\n..\n\n  quoted\n\n====", "**Note:**\n\n  quoted"),
        ("a.rst", "+---+\n| a |\n", "| a |"),
        ("a.rst", "=== ===\na   b\n", "| a | b |"),
        ("a.adoc", "----\nnever closed\n", "never closed"),
        ("a.adoc", "////\nnever closed\n", "never closed"),
        ("a.adoc", "|===\n|a |b\nc", "| a | b c |"),
        ("a.adoc", "[source\n== \n:key\n", "[source\n==\n:key"),
    ],
)
def test_what_breaks_off_is_text(read: Read, name: str, text: str, kept: str) -> None:
    assert read(name, text)[0].text.rstrip("\n") == kept


CHANGES = """Changes
*******

1.2 (2026-03-09)
================

* Gauges may be named; see `the docs`__.

  .. versionchanged:: 1.2
     Names were numbers.

__ https://docs.example

.. only:: html

   For the web.

1.1 (2026-01-04)
================

Fixed
  the :class:`~tide.Gauge` that said ``None``.
"""
MINUTES = """== Meeting of the harbour office

:date: 2026-03-09

.Present
* Ada
* Bo

. Rope: *200 m* are ordered
. Lamp
+
It is to be painted.

[cols=2]
|===
|Who |What

|Ada |paint
|Bo
|rope
|===
"""


def test_a_list_of_changes(read: Read) -> None:
    found = read("CHANGES.rst", CHANGES)
    assert found[0].title == "Changes" and "## 1.2 (2026-03-09)\n\n* Gauges" in found[0].text
    assert find_place(found, "**Versionchanged:** 1.2") == "CHANGES.rst:9"
    assert find_place(found, "For the web.") == "CHANGES.rst:16"
    assert find_place(found, "Names were numbers") == "CHANGES.rst:10"
    assert find_place(found, "the tide.Gauge that said `None`.") == "CHANGES.rst:22"


def test_minutes(read: Read) -> None:
    (minutes,) = found = read("minutes.adoc", MINUTES)
    assert minutes.title == "Meeting of the harbour office"
    assert "**Present**\n- Ada\n- Bo\n\n1. Rope: **200 m** are ordered\n1. Lamp\nIt is" in minutes.text
    assert find_place(found, "painted") == "minutes.adoc:12"
    assert find_place(found, "| Bo | rope |") == "minutes.adoc:19"


MARKS = (
    "", "=====", "-----", "== x", "|===", "|a |b", "----", "....", "____", "////", "++++", "[quote, x]", "[cols=2]",
    ":k: v", "* x", "x:: y", "+---+---+", "| a | b |", "+===+===+", "=== ===", "a   b", ".. note:: x", "   y", "::",
    ".. code::", ".. x", "..", ".. |n| replace:: t", "|n|", "`x <y>`_", ":ref:`x`", "include::x[]", "NOTE: x",
    "<1> x", "image::x[y]",
)  # fmt: skip


@given(st.sampled_from(["a.rst", "a.adoc"]), st.lists(st.sampled_from(MARKS), min_size=1, max_size=12))
def test_every_line_has_its_number_in_order(name: str, marks: list[str]) -> None:
    (page,) = read_plain(Path(name), "\n".join(marks).encode())
    numbers = list(page.lines or ())
    assert len(numbers) == (page.text.count("\n") + 1 if numbers else 0)
    assert numbers == sorted(numbers) and all(0 < number <= len(marks) for number in numbers)
