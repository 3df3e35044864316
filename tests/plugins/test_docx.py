"""Word: every visible word comes back, and no deleted one."""

from __future__ import annotations

import re
import zipfile
from io import BytesIO

import pytest

from plugins.readers import Unreadable
from tests.plugins.conftest import Read
from tests.plugins.places import find_place

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006"
STRICT = "http://purl.oclc.org/ooxml/officeDocument"
MATHS = f"{OFFICE}/math"


def run(words: str) -> str:
    return f'<w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve">{words}</w:t></w:r>'


def paragraph(*inner: str, style: str = "") -> str:
    kind = f'<w:pPr><w:pStyle w:val="{style}"/><w:tabs><w:tab w:val="left"/></w:tabs></w:pPr>' if style else ""
    return f"<w:p>{kind}{''.join(part if part.startswith('<') else run(part) for part in inner)}</w:p>"


def control(inner: str) -> str:
    return f'<w:sdt><w:sdtPr><w:alias w:val="HIDDEN"/></w:sdtPr><w:sdtContent>{inner}</w:sdtContent></w:sdt>'


def cell(*inner: str) -> str:
    return f"<w:tc><w:tcPr/>{''.join(part if part.startswith('<') else paragraph(part) for part in inner)}</w:tc>"


def table(*rows: str) -> str:
    return f"<w:tbl><w:tblPr/>{''.join(rows)}</w:tbl>"


def row(*cells: str) -> str:
    return f"<w:tr>{''.join(part if part.startswith('<') else cell(part) for part in cells)}</w:tr>"


def formula(inner: str) -> str:
    return f"<m:oMath>{inner}</m:oMath>"


def wrap(inner: str, *names: str) -> str:
    for name in reversed(names):
        inner = f"<{name}>{inner}</{name}>"
    return inner


def symbol(words: str) -> str:
    return f"<m:r><m:t>{words}</m:t></m:r>"


def part(kind: str, inner: str) -> str:
    return f'<w:{kind} xmlns:w="{OFFICE}/main" xmlns:m="{MATHS}">{inner}</w:{kind}>'


def relation(name: str, kind: str, base: str, target: str) -> str:
    return f'<Relationship Id="{name}" Type="{base}/relationships/{kind}" Target="{target}"/>'


def make(body: str, base: str = OFFICE, **parts: str) -> bytes:
    """A document of that body with other parts, by the kind of each."""
    relations = "".join(relation(kind, kind, base, f"{kind}.xml") for kind in parts)
    start = relation("a", "officeDocument", base, "/word/a.xml")
    document = f'<w:document xmlns:w="{base}/main" xmlns:m="{MATHS}" xmlns:mc="urn:mc">{body}</w:document>'
    files = {
        "_rels/.rels": f"<Relationships>{start}</Relationships>",
        "word/_rels/a.xml.rels": f"<Relationships>{relations}</Relationships>",
        "word/a.xml": document,
        **{f"word/{kind}.xml": inner for kind, inner in parts.items()},
    }
    target = BytesIO()
    with zipfile.ZipFile(target, "w") as package:
        for name, text in files.items():
            package.writestr(name, text)
    return target.getvalue()


def words_of(xml: str) -> list[str]:
    return [word for text in re.findall(r"<[wm]:t\b[^>]*>([^<]*)<", xml) for word in text.split()]


VISIBLE = [
    control(paragraph("Moored ", control(run("by Orla")), " at dusk")),
    control(table(row("Berth", "Ship"), control(row("North", control(cell("Tern")))))),
    paragraph("Oars: ", wrap(run("seven"), "w:moveTo"), wrap(control(run(" spare")), "w:ins")),
    paragraph(f'<w:fldSimple w:instr="REF HIDDEN">{run("Chapter")}</w:fldSimple>', wrap(run(" 4"), "w:smartTag")),
    paragraph(wrap(run("below"), "w:hyperlink", "w:ins")),
    paragraph(wrap(paragraph("box"), "mc:AlternateContent", "mc:Choice", "w:r", "w:drawing", "w:txbxContent")),
    table(row("outer", cell(table(row("deep", cell(table(row("deeper", "deepest")))))), "last")),
    table(row(cell(paragraph("laid"), table(row("out", "here")), paragraph("thus")))),
    paragraph("Area ", formula(wrap(wrap(symbol("r"), "m:e") + wrap(symbol("2"), "m:sup"), "m:sSup"))),
]
INVISIBLE = [
    paragraph(wrap("HIDDEN", "w:del", "w:r", "w:delText"), wrap(run("HIDDEN"), "w:moveFrom")),
    paragraph(wrap("HIDDEN", "w:r", "w:instrText")),
    paragraph("<w:r><w:rPr><w:vanish/></w:rPr><w:t>HIDDEN</w:t></w:r>"),
    table(f"<w:tr><w:trPr><w:del/></w:trPr>{cell('HIDDEN')}</w:tr>"),
    paragraph(wrap("<mc:Choice/>" + wrap(run("HIDDEN"), "mc:Fallback"), "mc:AlternateContent")),
]


@pytest.mark.parametrize("base", [OFFICE, STRICT])
@pytest.mark.parametrize("visible", VISIBLE)
def test_every_visible_word_comes_back_once(read: Read, base: str, visible: str) -> None:
    text = read("a.docx", make(paragraph("first") + visible + "".join(INVISIBLE) + paragraph("end"), base))[0].text
    assert "HIDDEN" not in text
    assert sorted(re.findall(r"\w+", text)) == sorted(
        re.findall(r"\w+", " ".join(["first", *words_of(visible), "end"]))
    )


def test_a_tracked_change_reads_as_it_was_changed(read: Read) -> None:
    changed = paragraph(
        "Boats may ",
        "<w:ins>" + run("not ") + "</w:ins>",
        "enter ",
        "<w:del><w:r><w:delText>after dark</w:delText></w:r></w:del>",
        "<w:ins>" + run("at low tide") + "</w:ins>",
    )
    assert read("a.docx", make(changed))[0].text == "Boats may not enter at low tide"


def test_a_formula_says_in_a_line_what_it_means(read: Read) -> None:
    half = f"<m:f><m:num>{symbol('a + b')}</m:num><m:den>{symbol('2')}</m:den></m:f>"
    brackets = f"<m:d><m:e>{symbol('h + 1')}</m:e></m:d>"
    root = f"<m:rad><m:deg>{symbol('3')}</m:deg><m:e>{symbol('x')}</m:e></m:rad>"
    text = read("a.docx", make(paragraph("It is ", formula(half + brackets + root), " long")))[0].text
    assert text == "It is (a + b)/2(h + 1)3√x long"


def test_a_table_in_a_cell_belongs_to_its_row(read: Read) -> None:
    prices = table(row("small", "4 marks"), row("large", "9 marks"))
    found = read("a.docx", make(table(row("Jar", "Price"), row("Honey", cell(prices, "<w:p/>")))))
    assert found[0].text == "| Jar | Price |\n| Honey | small, 4 marks; large, 9 marks |"
    assert find_place(found, "9 marks") == "a.docx, paragraph 2"


def test_headings_items_notes_comments_and_edges(read: Read) -> None:
    styles = part(
        "styles",
        '<w:style w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style>'
        '<w:style w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="berschrift2"/></w:style>'
        '<w:style w:styleId="Punkt"><w:name w:val="List Bullet"/></w:style>',
    )
    body = (
        paragraph("The ferry", style="Mine")
        + paragraph("two decks", style="Punkt")
        + paragraph("It sails daily", '<w:r><w:footnoteReference w:id="2"/><w:commentReference w:id="2"/></w:r>')
    )
    data = make(
        body,
        styles=styles,
        footnotes=part("footnotes", '<w:footnote w:id="2">' + paragraph("not in ice") + "</w:footnote>"),
        comments=part("comments", '<w:comment w:id="2" w:author="Bo">' + paragraph("really?") + "</w:comment>"),
        header=part("hdr", paragraph("Line 7")),
    )
    assert read("a.docx", data)[0].text == (
        "## The ferry\n\n- two decks\n\nIt sails daily\n\nnot in ice\n\n> Bo: really?\n\nLine 7"
    )


def test_what_has_no_text_is_named(read: Read) -> None:
    target = BytesIO(make(paragraph("Sales")))
    with zipfile.ZipFile(target, "a") as package:
        package.writestr("word/charts/chart1.xml", "<c/>")
    assert read("a.docx", target.getvalue())[0].properties["not read"] == "charts were not read: 1"


def test_a_package_without_a_document_is_damaged(read: Read) -> None:
    with pytest.raises(Unreadable, match="damaged docx"):
        read("a.docx", make("").replace(b'officeDocument"', b'officeDocumenx"'))
