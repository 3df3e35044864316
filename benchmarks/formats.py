"""Visible words that the readers bring back, per format: `python -m benchmarks.formats [--json]`.

Each document is made with its format's own library, or written by hand where there is none. Every word in it is unique:
visible words must come back, and words that nobody sees (deleted text, comments of a format, scripts) must not."""

from __future__ import annotations

import argparse
import csv
import json
import mailbox
import re
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from email.message import EmailMessage
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

from plugins import manager
from plugins.readers import documents

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
M = "http://schemas.openxmlformats.org/officeDocument/2006/math"
MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"
USUAL = re.compile(rb"http://schemas\.openxmlformats\.org/(\w+ml|officeDocument)/2006/")
AT = datetime(2026, 3, 4, 10, 5, tzinfo=UTC)


@dataclass
class Words:
    """Unique words: `shown` ones are visible in a document, `hidden` ones are not."""

    shown: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)

    def show(self, count: int = 1) -> str:
        """New visible words, separated by spaces."""
        new = [_spell("v", len(self.shown) + number) for number in range(count)]
        self.shown += new
        return " ".join(new)

    def hide(self) -> str:
        """A new word that nobody sees."""
        self.hidden.append(_spell("h", len(self.hidden)))
        return self.hidden[-1]


def _spell(first: str, number: int) -> str:
    """A word of letters only: no format reads a meaning into it."""
    letters = "bcdfgklmnprstw"
    return first + "".join(
        letters[number // len(letters) ** place % len(letters)] + "aeiou"[number % 5] for place in range(3)
    )


def make_docx(words: Words) -> bytes:
    """Text, tables, a header and a comment by python-docx, and by XML what it cannot write."""
    import docx
    from docx.oxml import parse_xml

    show, file = words.show, docx.Document()
    file.add_heading(show(2), 1)
    first = file.add_paragraph(show(3))
    file.add_paragraph(show(), style="List Bullet")
    file.add_comment(first.runs, show(), author=show())
    table = file.add_table(2, 2)
    for cell in (cell for row in table.rows for cell in row.cells):
        cell.text = show(2)
    inner = table.cell(0, 0).add_table(2, 2)
    for cell in (cell for row in inner.rows for cell in row.cells):
        cell.text = show()
    file.sections[0].header.paragraphs[0].text = show(2)
    file.sections[0].footer.paragraphs[0].text = show(2)

    def run(text: str, mark: str = "t") -> str:
        return f"<w:r><w:{mark}>{text}</w:{mark}></w:r>"

    def control(inside: str) -> str:
        return (
            f'<w:sdt><w:sdtPr><w:alias w:val="{words.hide()}"/></w:sdtPr><w:sdtContent>{inside}</w:sdtContent></w:sdt>'
        )

    def cell_of(inside: str) -> str:
        return f"<w:tc><w:p>{inside}</w:p></w:tc>"

    sign = f"<m:r><m:t>{show()}</m:t></m:r>"
    field_of = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'.format
    bodies = [
        control(f"<w:p>{run(show())}{control(run(show()))}</w:p>"),
        control(f"<w:tbl><w:tr>{cell_of(run(show()))}{control(cell_of(run(show())))}</w:tr></w:tbl>"),
        f'<w:p><w:ins w:id="1" w:author="a">{run(show())}</w:ins><w:moveTo w:id="2">{run(show())}</w:moveTo></w:p>',
        f'<w:p><w:del w:id="3" w:author="a">{run(words.hide(), "delText")}</w:del>'
        f'<w:moveFrom w:id="4">{run(words.hide())}</w:moveFrom></w:p>',
        f'<w:p><w:fldSimple w:instr="REF {words.hide()}">{run(show())}</w:fldSimple></w:p>',
        f"<w:p>{field_of('begin')}{run(words.hide(), 'instrText')}{field_of('separate')}{run(show())}"
        f"{field_of('end')}</w:p>",
        f"<w:p><m:oMath><m:f><m:num>{sign}</m:num><m:den><m:r><m:t>{show()}</m:t></m:r></m:den></m:f></m:oMath></w:p>",
        f"<w:p><w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><w:txbxContent><w:p>{run(show())}</w:p>"
        f"</w:txbxContent></w:drawing></mc:Choice><mc:Fallback>{run(words.hide())}</mc:Fallback></mc:AlternateContent></w:r></w:p>",
        f"<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>{words.hide()}</w:t></w:r></w:p>",
    ]
    for body in bodies:
        begin, end = body.split(" ", 1) if " " in body[: body.index(">")] else body.split(">", 1)
        rest = f" {end}" if " " in body[: body.index(">")] else f">{end}"
        spaces = f'xmlns:w="{W}" xmlns:m="{M}" xmlns:mc="{MC}"'
        file.element.body.insert_element_before(parse_xml(f"{begin} {spaces}{rest}"), "w:sectPr")
    target = BytesIO()
    file.save(target)
    return target.getvalue()


def make_strict(data: bytes) -> bytes:
    """An Office document in the namespaces of "Strict Open XML"."""
    target = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as package, zipfile.ZipFile(target, "w") as strict:
        for name in package.namelist():
            strict.writestr(name, USUAL.sub(rb"http://purl.oclc.org/ooxml/\1/", package.read(name)))
    return target.getvalue()


def make_pptx(words: Words) -> bytes:
    import pptx

    show, file = words.show, pptx.Presentation()
    slide = file.slides.add_slide(file.slide_layouts[1])
    slide.shapes.title.text, slide.placeholders[1].text = show(2), show(3)
    table = slide.shapes.add_table(2, 2, 0, 0, 100, 100).table
    for cell in (cell for row in table.rows for cell in row.cells):
        cell.text = show()
    group = slide.shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, 9, 9).text_frame.text = show(2)
    slide.notes_slide.notes_text_frame.text = show(2)
    target = BytesIO()
    file.save(target)
    return target.getvalue()


def make_xlsx(words: Words) -> bytes:
    import openpyxl
    from openpyxl.comments import Comment

    show, book = words.show, openpyxl.Workbook()
    sheet = book.active
    sheet.append([show(), show(), show()])
    sheet.append([show(2), 12.5, 0.175])
    sheet["B2"].number_format, sheet["C2"].number_format = "#,##0.00 [$€-407]", "0.0%"
    words.shown += ["12.50 €", "17.5%"]
    sheet["A2"].comment = Comment(show(2), show())
    book.create_sheet(show()).append([show(2), date(2026, 3, 4)])
    words.shown.append("2026-03-04")
    target = BytesIO()
    book.save(target)
    return target.getvalue()


def make_odt(words: Words) -> bytes:
    show, hide = words.show, words.hide
    content = f"""<o:document-content xmlns:o="urn:o" xmlns:t="urn:t"><o:body><o:text>
<t:tracked-changes><t:deletion><t:p>{hide()}</t:p></t:deletion></t:tracked-changes>
<t:h t:outline-level="1">{show(2)}</t:h><t:p>{show()}<t:note><t:note-body><t:p>{show()}</t:p></t:note-body></t:note>
<o:annotation><o:creator>{show()}</o:creator><t:p>{show()}</t:p></o:annotation><t:span>{show()}</t:span></t:p>
<t:section><t:list><t:list-item><t:p>{show()}</t:p><t:list><t:list-item><t:p>{show()}</t:p></t:list-item></t:list>
</t:list-item></t:list></t:section><t:table><t:table-row><t:table-cell><t:p>{show()}</t:p></t:table-cell></t:table-row>
</t:table><t:p><t:frame><t:text-box><t:p>{show()}</t:p></t:text-box></t:frame></t:p></o:text></o:body>
</o:document-content>"""
    edges = f"<t:header><t:p>{show()}</t:p></t:header><t:footer><t:p>{show()}</t:p></t:footer>"
    target = BytesIO()
    with zipfile.ZipFile(target, "w") as package:
        package.writestr("content.xml", content)
        package.writestr("styles.xml", f'<o:styles xmlns:o="urn:o" xmlns:t="urn:t">{edges}</o:styles>')
    return target.getvalue()


def make_pdf(words: Words) -> bytes:
    """A page of lines, written by PDFium."""
    import pypdfium2
    from pypdfium2 import raw

    file = pypdfium2.PdfDocument.new()
    page = file.new_page(600, 800)
    for number in range(6):
        line = raw.FPDFPageObj_NewTextObj(file.raw, b"Helvetica", 12)
        text = (words.show(3) + "\0").encode("utf-16-le")
        raw.FPDFText_SetText(line, _point_to(text))
        raw.FPDFPageObj_Transform(line, 1, 0, 0, 1, 50, 700 - 20 * number)
        raw.FPDFPage_InsertObject(page.raw, line)
    page.gen_content()
    for kind, entries in ((raw.FPDF_ANNOT_TEXT, "T Contents"), (raw.FPDF_ANNOT_FREETEXT, "Contents")):
        note = raw.FPDFPage_CreateAnnot(page.raw, kind)
        for key in entries.split():
            raw.FPDFAnnot_SetStringValue(note, key.encode(), _point_to((words.show() + "\0").encode("utf-16-le")))
        raw.FPDFPage_CloseAnnot(note)
    target = BytesIO()
    file.save(target)
    return target.getvalue()


def _point_to(text: bytes) -> Any:
    """The text as PDFium takes it."""
    import ctypes

    return ctypes.cast(ctypes.create_string_buffer(text), ctypes.POINTER(ctypes.c_ushort))


def make_mail(words: Words, is_mbox: bool = False) -> bytes:
    """A short plain text before the real page, a text and a mail attached, and an invitation."""
    show, mail = words.show, EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = f"{show(2)} <a@example.org>", "b@example.org", show(2)
    mail["Date"] = AT
    mail.set_content("Sent from my phone")
    page = f"<style>{words.hide()}</style><p>{show(9)} <b>{show()}</b></p><table><tr><td>{show()}<td>{show()}</table>"
    mail.add_alternative(page, subtype="html")
    mail.add_attachment(show(3), subtype="markdown", filename="notes.md")
    mail.add_attachment(show(2).encode(), "application", "octet-stream", filename="list.TXT")
    mail.add_attachment(make_ics(words).decode(), subtype="calendar", filename="fair.ics")
    attached = EmailMessage()
    attached["From"], attached["Subject"], attached["Date"] = "c@example.org", show(2), AT
    attached.set_content(f"{show(2)} café", cte="quoted-printable", charset="windows-1252")
    mail.add_attachment(attached)
    mail.add_attachment(b"\x89PNG", "image", "png", filename=f"{show()}.png")
    words.shown.append("café")
    if not is_mbox:
        return mail.as_bytes()
    with tempfile.TemporaryDirectory() as folder:
        box = mailbox.mbox(Path(folder) / "a.mbox")
        box.add(mail.as_bytes())
        box.flush()
        box.close()
        return (Path(folder) / "a.mbox").read_bytes()


def make_ics(words: Words) -> bytes:
    import icalendar

    show, calendar = words.show, icalendar.Calendar()
    for kind in (icalendar.Event, icalendar.Todo, icalendar.Journal):
        entry = kind()
        entry.add("summary", show(2))
        entry.add("description", f"{show(8)}, {show(8)}; {show()}\n{show(2)}")
        entry.add("dtstart", AT)
        entry.add("categories", [show(), show()])
        entry.add("uid", f"{kind.__name__}@example.org")
        if kind is icalendar.Event:
            entry.add("location", show(2))
            entry.add("contact", show(2))
            entry.add("url", f"https://example.org/{show()}")
            person = icalendar.vCalAddress("mailto:d@example.org")
            person.params["cn"] = show(2)
            entry.add("attendee", person)
        calendar.add_component(entry)
    return bytes(calendar.to_ical())


def make_vcf(words: Words) -> bytes:
    import icalendar

    show, card = words.show, type("Card", (icalendar.Component,), {"name": "VCARD"})()
    for key in ("FN", "NICKNAME", "ORG", "TITLE", "NOTE", "ADR", "URL", "ROLE", "HOBBY", "X-SPOUSE"):
        card.add(key, icalendar.vText(show(2)))
    return bytes(card.to_ical())


def make_csv(words: Words, delimiter: str = ",") -> bytes:
    """Lower-case columns, a cell of two lines, quotes."""
    target = StringIO()
    rows = [[words.show() for _ in range(3)] for _ in range(4)]
    rows[2][1] += f' {words.show()} "{words.show()}"\n{words.show()}{delimiter} {words.show()}'
    csv.writer(target, delimiter=delimiter).writerows(rows)
    return target.getvalue().encode()


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


def make_rst(words: Words) -> bytes:
    show, hide = words.show, words.hide
    title = show(2)
    return f"""{title}
{"=" * len(title)}

:Author: {show()}

.. {hide()}

{show(2)} *{show()}* ``{show()}`` :ref:`{show()}` `{show()} <https://example.org>`_

.. note:: {show()}

   {show(2)}

.. code-block:: python

   {show()} = 1

+------------+------------+
| {show()}    | {show()}    |
+============+============+
| {show()}    | {show()}    |
+------------+------------+

========== ==========
{show()}    {show()}
========== ==========
{show()}    {show()}
========== ==========

{show()}
   {show(2)}

.. [1] {show()}
""".encode()


def make_asciidoc(words: Words) -> bytes:
    show, hide = words.show, words.hide
    return f"""= {show(2)}
{show()} {show()}

// {hide()}
////
{hide()}
////
{show()} *{show()}* `{show()}` https://example.org[{show()}]

== {show()}

.{show()}
|===
|{show()} |{show()}

|{show()} |{show()}
|===

NOTE: {show()}

[source,python]
----
{show()} = 1
----
* {show()}
** {show()}
{show()}:: {show()}

[quote, {show()}]
____
{show(2)}
____
""".encode()


def make_html(words: Words) -> bytes:
    show, hide = words.show, words.hide
    words.shown.append("café 3 €")
    return f"""<html><head><meta charset="windows-1252"><title>{show()}</title><script>{hide()}</script></head><body>
<!-- {hide()} --><p hidden>{hide()}</p><h1>{show()}</h1><p>{show()}<br>{show()} &lsquo;caf\u00e9 3 \u20ac&rsquo;</p>
<ul><li>{show()}<ul><li>{show()}</ul></ul><table><tr><th>{show()}<td>{show()}</table>
<pre>{show()}</pre><details><summary>{show()}</summary>{show()}</details><img alt="{show()}"><footer>{show()}</footer>
""".encode("cp1252")


def make_json(words: Words) -> bytes:
    show = words.show
    rows = [{show(): show(), "list": [show(), show()]} for _ in range(2)]
    value = {show(): {"inner": show()}, "rows": rows, "text": f"{show()}\n{show()}"}
    return json.dumps(value, indent=1).encode()


def make_jsonl(words: Words) -> bytes:
    return "\n".join(json.dumps({"name": words.show(), "of": {"kind": words.show()}}) for _ in range(3)).encode()


def make_yaml(words: Words) -> bytes:
    import yaml

    show = words.show
    value = {"server": {show(): show()}, "list": [{"name": show(), "role": show()}], "text": f"{show()}\n{show()}\n"}
    return f"# {show(2)}\n{yaml.safe_dump(value)}".encode()


def make_toml(words: Words) -> bytes:
    show = words.show
    return f'# {show()}\ntitle = "{show(2)}"\n[{show()}]\nport = 1 # {show()}\nhosts = [\n"{show()}",\n]\n'.encode()


def make_python(words: Words) -> bytes:
    show = words.show
    body = f'class {show()}:\n    """{show()}"""\n\n    def {show()}(self):  # {show()}\n'
    return f'"""{show(2)}"""\n# {show()}\n\n{body}'.encode()


def make_go(words: Words) -> bytes:
    show = words.show
    return f"// {show(2)}\npackage a\n\n/* {show()}\n   {show()} */\nfunc {show()}() {{ // {show()}\n}}\n".encode()


def make_notebook(words: Words) -> bytes:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": [f"# {words.show()}\n", words.show()]},
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": f"# {words.show()}", "execution_count": None},
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def make_meta(words: Words) -> bytes:
    """A chat of Messenger or Instagram, whose UTF-8 is escaped byte by byte."""
    zoe, text = f"Zoë {words.show()}", f"café {words.show(2)}"
    message: dict[str, Any] = {"sender_name": zoe, "timestamp_ms": 1772359500000, "content": text}
    message["share"] = {"link": f"https://example.org/{words.show()}", "share_text": words.show(2)}
    value = {"participants": [{"name": zoe}], "messages": [message], "title": zoe, "thread_path": "inbox/a"}
    words.shown += ["Zoë", "café"]
    return _escape_bytes(json.dumps(value, ensure_ascii=False))


def _escape_bytes(text: str) -> bytes:
    return "".join(chr(byte) if byte < 128 else f"\\u{byte:04x}" for byte in text.encode()).encode()


def make_telegram(words: Words) -> bytes:
    text = ["", {"type": "bold", "text": words.show()}, f" {words.show(2)}"]
    message = {"id": 1, "type": "message", "date": "2026-03-04T10:05:00", "from": words.show(2), "text": text}
    poll = {"question": words.show(2), "answers": [{"text": words.show(), "voters": 1}]}
    asked = {"id": 3, "type": "message", "date": "2026-03-04T10:07:00", "from": words.show(), "text": "", "poll": poll}
    service = {"id": 2, "type": "service", "action": words.hide(), "date": "2026-03-04T10:06:00", "text": ""}
    return json.dumps(
        {"name": words.show(), "type": "personal_chat", "id": 9, "messages": [message, asked, service]}
    ).encode()


def make_discord(words: Words) -> bytes:
    author = {"name": words.hide(), "nickname": words.show()}
    page = {"title": words.show(2), "description": words.show(2), "url": "https://example.org"}
    message = {"id": "7", "type": "Default", "timestamp": "2026-03-04T10:05:00+00:00", "content": words.show(2)}
    joined = message | {"type": "GuildMemberJoin", "content": words.hide(), "author": author}
    names = {"guild": {"id": "1", "name": words.show()}, "channel": {"id": "2", "name": words.show()}}
    return json.dumps(names | {"messages": [message | {"author": author, "embeds": [page]}, joined]}).encode()


def make_slack(words: Words) -> bytes:
    attached = [{"text": words.show(2), "fallback": words.hide()}]
    profile = {"real_name": words.show(2)}
    message = {
        "type": "message",
        "ts": "1772614800.000100",
        "user": "U1",
        "text": words.show(2),
        "user_profile": profile,
    }
    joined = message | {"ts": "1772614900.000100", "subtype": "channel_join", "text": words.hide()}
    return json.dumps([message | {"attachments": attached}, joined]).encode()


def make_whatsapp(words: Words) -> bytes:
    lines = [f"04/03/2026, 10:0{n} - {words.show()}: {words.show(3)}\n{words.show()}" for n in range(3)]
    lines.append("04/03/2026, 10:09 - Ana: <Media omitted>")
    return "\n".join(lines).encode()


def make_subtitles(words: Words) -> bytes:
    show = words.show
    first = f"1\n00:00:01,000 --> 00:00:04,000\n<i>{show(2)}</i>\n{show()}.\n\n"
    return f"{first}2\n00:00:05,000 --> 00:00:06,000\n{show()}\n".encode()


def make_rtf(words: Words) -> bytes:
    """An edge, a footnote, a comment, a box and a row; deleted and hidden text."""
    show, hide = words.show, words.hide
    words.shown.append("café")
    head = rf"{{\rtf1\ansi {{\fonttbl{{\f0 {hide()};}}}}{{\header {show()}\par}}{{\*\generator {hide()};}}"
    unseen = rf"{{\b\deleted\revauthdel1 {hide()}}}{{\v {hide()}}}{{\v0 {show()}}}"
    box = rf"{{\shp{{\*\shpinst{{\sp{{\sn {hide()}}}{{\sv 1}}}}{{\shptxt {show()}\par}}}}}}"
    notes = rf"{{\footnote {show()}}}{{\*\annotation {show()}}}\trowd\cellx9 {show()}\cell {show()}\cell\row"
    return rf"{head}{{\b {show(2)}}}\par {show()} caf\'e9 {unseen}{notes}{box}{{\footer {show()}}}\par}}".encode()


def make_bibtex(words: Words) -> bytes:
    show = words.show
    return (
        f"@book{{key, title={{{show(2)}}}, author={{{show()}, {show()}}}, year=2020, note={{{show(2)}}},"
        f" abstract={{{show(2)}}}, keywords={{{show()}, {show()}}}}}"
    ).encode()


def make_ris(words: Words) -> bytes:
    show = words.show
    return f"TY  - BOOK\nTI  - {show(2)}\nAU  - {show()}, {show()}\nKW  - {show()}\nN1  - {show(2)}\nER  - \n".encode()


FORMATS: dict[str, tuple[str, Callable[[Words], bytes]]] = {
    "Word": ("a.docx", make_docx),
    "Word, strict": ("a.docx", lambda words: make_strict(make_docx(words))),
    "PowerPoint": ("a.pptx", make_pptx),
    "PowerPoint, strict": ("a.pptx", lambda words: make_strict(make_pptx(words))),
    "Excel": ("a.xlsx", make_xlsx),
    "Excel, strict": ("a.xlsx", lambda words: make_strict(make_xlsx(words))),
    "LibreOffice": ("a.odt", make_odt),
    "PDF": ("a.pdf", make_pdf),
    "RTF": ("a.rtf", make_rtf),
    "mail": ("a.eml", make_mail),
    "mail without a suffix": ("17", make_mail),
    "mailbox": ("a.mbox", lambda words: make_mail(words, is_mbox=True)),
    "calendar": ("a.ics", make_ics),
    "contacts": ("a.vcf", make_vcf),
    "CSV": ("a.csv", make_csv),
    "CSV with semicolons": ("a.csv", lambda words: make_csv(words, ";")),
    "Org": ("a.org", make_org),
    "Logseq": ("pages/a.md", make_logseq),
    "Markdown": ("a.md", make_markdown),
    "reStructuredText": ("a.rst", make_rst),
    "AsciiDoc": ("a.adoc", make_asciidoc),
    "HTML": ("a.html", make_html),
    "JSON": ("a.json", make_json),
    "JSON lines": ("a.jsonl", make_jsonl),
    "YAML": ("a.yaml", make_yaml),
    "TOML": ("a.toml", make_toml),
    "Python": ("a.py", make_python),
    "Go": ("a.go", make_go),
    "notebook": ("a.ipynb", make_notebook),
    "Messenger": ("message_1.json", make_meta),
    "Telegram": ("result.json", make_telegram),
    "Discord": ("general.json", make_discord),
    "Slack": ("general/2026-03-04.json", make_slack),
    "WhatsApp": ("a.txt", make_whatsapp),
    "subtitles": ("a.srt", make_subtitles),
    "BibTeX": ("a.bib", make_bibtex),
    "RIS": ("a.ris", make_ris),
}
"""{format: (name of a file, function that makes it)}."""


def measure(name: str, plugins: manager.Plugins) -> dict[str, Any]:
    """What comes back of a document of that format: counts of words, and the lost and leaked words."""
    file, make = FORMATS[name]
    words = Words()
    data = make(words)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        read = documents(plugins.reader_for(path, len(data)), path, data, path.stat())
    text = "\n".join(map(_show, read)).casefold()
    return {
        "format": name,
        "visible": len(words.shown),
        "lost": [word for word in words.shown if word.casefold() not in text],
        "hidden": len(words.hidden),
        "leaked": [word for word in words.hidden if word.casefold() in text],
    }


def _show(document: Any) -> str:
    """All that can be found of a document."""
    turns = (f"{turn.speaker}: {turn.text}" for turn in document.turns)
    return "\n".join(map(str, (document.title, document.text, *turns, *document.tags, *document.properties.values())))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.formats", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object per format, one a line")
    as_json = parser.parse_args().json
    plugins = manager.load()
    rows = [measure(name, plugins) for name in FORMATS]
    for row in rows:
        if as_json:
            print(json.dumps(row))
        else:
            back = row["visible"] - len(row["lost"])
            print(f"{row['format']:22} {back:4} of {row['visible']:4}  {' '.join((*row['lost'], *row['leaked']))}")
    if not as_json:
        visible, lost = sum(row["visible"] for row in rows), sum(len(row["lost"]) for row in rows)
        print(f"{'all':22} {visible - lost:4} of {visible:4}  {100 * (1 - lost / visible):.1f} %")


if __name__ == "__main__":
    main()
