"""Notes, pages, code, notebooks and subtitles, written by hand."""

from __future__ import annotations

import json

from benchmarks.samples.words import Words


def make_org(words: Words) -> bytes:
    show, hide = words.show, words.hide
    return f"""#+TITLE: {show(2)}
#+TODO: {hide()} | {hide()}
# {hide()}
{show(3)}
* TODO {show(2)} :{show()}:
SCHEDULED: <2026-12-01 Tue> DEADLINE: <2026-12-04 Fri>
:PROPERTIES:
:ID: {hide()}
:PHONE: {show()}
:END:
** {show()}
:PROPERTIES:
:BIRTHDAY: {show()}
:END:
- {show(2)} [[https://example.org][{show()}]]
| {show()} | {show()} |
|---+---|
#+BEGIN_COMMENT
{hide()}
#+END_COMMENT
#+BEGIN_QUOTE
{show(2)}
#+END_QUOTE
#+BEGIN_SRC python
{show()} = 1
#+END_SRC
#+CAPTION: {show()}
""".encode()


def make_logseq(words: Words) -> bytes:
    show = words.show
    return f"""mooring:: {show()}
# {show()}
{show(2)}
- LATER {show(2)}
  id:: 63f3a0c2-1111-4222-8333-444455556666
- {show()}
\t- {show()} [[{show()}]]
\t  phone:: {show()}
- ((63f3a0c2-1111-4222-8333-444455556666))
""".encode()


def make_markdown(words: Words) -> bytes:
    show = words.show
    return f"""---
title: {show()}
keeper: {show()}
---
# {show(2)}
> [!note] {show()}
> {show(2)}

| {show()} | {show()} |
|---|---|
| {show()} | {show()} |

```sh
{show()}
```
- [ ] {show()} [^1] ![{show()}](a.png)
[^1]: {show()}
""".encode()


def make_html(words: Words) -> bytes:
    show, hide = words.show, words.hide
    words.shown.append("café 3 €")
    return f"""<html><head><meta charset="windows-1252"><title>{show()}</title><script>{hide()}</script></head><body>
<!-- {hide()} --><p hidden>{hide()}</p><h1>{show()}</h1><p>{show()}<br>{show()} &lsquo;caf\u00e9 3 \u20ac&rsquo;</p>
<ul><li>{show()}<ul><li>{show()}</ul></ul><table><tr><th>{show()}<td>{show()}</table>
<pre>{show()}</pre><details><summary>{show()}</summary>{show()}</details><img alt="{show()}"><footer>{show()}</footer>
""".encode("cp1252")


def make_python(words: Words) -> bytes:
    show = words.show
    body = f'class {show()}:\n    """{show()}"""\n\n    def {show()}(self):  # {show()}\n'
    return f'"""{show(2)}"""\n# {show()}\n\n{body}'.encode()


def make_go(words: Words) -> bytes:
    show = words.show
    return f"// {show(2)}\npackage a\n\n/* {show()}\n   {show()} */\nfunc {show()}() {{ // {show()}\n}}\n".encode()


def make_notebook(words: Words) -> bytes:
    failed = {"output_type": "error", "ename": words.show(), "evalue": words.show(), "traceback": []}
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": [f"# {words.show()}\n", words.show()]},
        {
            "cell_type": "code",
            "metadata": {},
            "outputs": [failed],
            "source": f"# {words.show()}",
            "execution_count": None,
        },
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def make_subtitles(words: Words) -> bytes:
    show = words.show
    first = f"1\n00:00:01,000 --> 00:00:04,000\n<i>{show(2)}</i>\n{show()}.\n\n"
    return f"{first}2\n00:00:05,000 --> 00:00:06,000\n{show()}\n".encode()
