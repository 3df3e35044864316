"""Small PDFs, written by hand: a file that a test makes needs no library."""

from __future__ import annotations

from collections.abc import Sequence


def make_pdf(pages: Sequence[Sequence[str]], outline: Sequence[tuple[str, int]] = (), info: str = "") -> bytes:
    """A PDF with these lines on its pages. `outline`: (title, page from 1); `info`: entries like "/Title (Rent)"."""
    objects: dict[int, bytes] = {
        3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    }
    leaves = [4 + 2 * index for index in range(len(pages))]
    for number, lines in zip(leaves, pages, strict=True):
        shown = "".join(f"({_escape(line)}) Tj T*\n" for line in lines)
        content = f"BT /F1 12 Tf 14 TL 72 740 Td\n{shown}ET".encode("cp1252")
        objects[number] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {number + 1} 0 R"
            " /Resources << /Font << /F1 3 0 R >> >> >>"
        ).encode()
        objects[number + 1] = b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content)
    kids = " ".join(f"{number} 0 R" for number in leaves)
    objects[2] = f"<< /Type /Pages /Count {len(pages)} /Kids [{kids}] >>".encode()
    root = 4 + 2 * len(pages)
    first = root + 1
    last = first + len(outline) - 1
    objects[root] = f"<< /Type /Outlines /First {first} 0 R /Last {last} 0 R >>".encode()
    for number, (title, page) in enumerate(outline, first):
        after = f" /Next {number + 1} 0 R" if number < last else ""
        target = f"/Dest [{leaves[page - 1]} 0 R /Fit]{after}"
        objects[number] = f"<< /Title ({_escape(title)}) /Parent {root} 0 R {target} >>".encode()
    objects[1] = f"<< /Type /Catalog /Pages 2 0 R{f' /Outlines {root} 0 R' if outline else ''} >>".encode()
    told = last + 1
    objects[told] = f"<< {info} >>".encode()
    return _join(objects, f"/Root 1 0 R /Info {told} 0 R")


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def _join(objects: dict[int, bytes], trailer: str) -> bytes:
    written = b"%PDF-1.4\n"
    places = []
    for number in sorted(objects):
        places.append(f"{len(written):010} 00000 n \n")
        written += b"%d 0 obj\n%s\nendobj\n" % (number, objects[number])
    count = len(objects) + 1
    table = f"xref\n0 {count}\n0000000000 65535 f \n{''.join(places)}trailer\n<< /Size {count} {trailer} >>\n"
    return written + f"{table}startxref\n{len(written)}\n%%EOF\n".encode()
