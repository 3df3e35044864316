"""Documents of office programs, by their own libraries."""

from __future__ import annotations

import re
import zipfile
from datetime import date, timedelta
from io import BytesIO
from typing import Any

from benchmarks.samples.words import Words

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
M = "http://schemas.openxmlformats.org/officeDocument/2006/math"
MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"
USUAL = re.compile(rb"http://schemas\.openxmlformats\.org/(\w+ml|officeDocument)/2006/")


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
    entry_of = '<w:listEntry w:val="{}"/>'.format
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
        f"<w:p><w:r><w:fldChar w:fldCharType='begin'><w:ffData><w:ddList><w:result w:val='1'/>{entry_of(words.hide())}"
        f"{entry_of(show())}</w:ddList></w:ffData></w:fldChar></w:r></w:p>",
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
    book.active.append([timedelta(days=1, hours=3, minutes=5)])
    words.shown += ["2026-03-04", "27:05:00"]
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


def make_rtf(words: Words) -> bytes:
    """An edge, a footnote, a comment, a box and a row; deleted and hidden text."""
    show, hide = words.show, words.hide
    words.shown.append("café")
    head = rf"{{\rtf1\ansi {{\fonttbl{{\f0 {hide()};}}}}{{\header {show()}\par}}{{\*\generator {hide()};}}"
    unseen = rf"{{\b\deleted\revauthdel1 {hide()}}}{{\v {hide()}}}{{\v0 {show()}}}"
    box = rf"{{\shp{{\*\shpinst{{\sp{{\sn {hide()}}}{{\sv 1}}}}{{\shptxt {show()}\par}}}}}}"
    notes = rf"{{\footnote {show()}}}{{\*\annotation {show()}}}\trowd\cellx9 {show()}\cell {show()}\cell\row"
    return rf"{head}{{\b {show(2)}}}\par {show()} caf\'e9 {unseen}{notes}{box}{{\footer {show()}}}\par}}".encode()
