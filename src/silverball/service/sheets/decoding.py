"""The text in the bytes of a file: its encoding follows from a rule, and nobody guesses.

A byte order mark says it; NUL bytes in even or in odd places alone are UTF-16; what is valid UTF-8 is UTF-8;
all else is Windows-1252. People who see wrong letters choose one of the others.
"""

import codecs
import re

from msgspec import Struct

from silverball.kit.errors import Invalid

UTF_8, UTF_16_LE, UTF_16_BE = "utf-8", "utf-16-le", "utf-16-be"
WINDOWS_1252, WINDOWS_1250, MAC_ROMAN = "windows-1252", "windows-1250", "mac-roman"
ENCODINGS = (UTF_8, UTF_16_LE, UTF_16_BE, WINDOWS_1252, WINDOWS_1250, MAC_ROMAN)
OFFERED = (UTF_8, WINDOWS_1250, MAC_ROMAN)
MARKS = ((codecs.BOM_UTF8, UTF_8), (codecs.BOM_UTF16_LE, UTF_16_LE), (codecs.BOM_UTF16_BE, UTF_16_BE))
# What the code pages of Windows leave open stands for itself, so that nothing is lost on the way back.
CODE_PAGES = {WINDOWS_1252: "cp1252", WINDOWS_1250: "cp1250"}
# PNG, JPEG, GIF, PDF, gzip, the spreadsheets of before 2007, and sound or film.
BINARY_BEGINNINGS = (
    *(b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"%PDF", b"\x1f\x8b", b"\xd0\xcf\x11\xe0", b"RIFF"),
    *(b"Rar!", b"7z\xbc\xaf", b"BM"),
)
# Texts have none of these; a stray one is shown in its row.
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")
CONTROLS_MAX_PERCENT = 1
NO_TEXT = "This file is neither a text nor a spreadsheet: send .csv, .txt, .xlsx or .ods."


class DecodedText(Struct, frozen=True):
    """A text and the encoding that its bytes were read in."""

    text: str
    encoding: str


def decode(content: bytes, encoding: str | None = None) -> DecodedText:
    """The text of these bytes, in this encoding or in the one that the rule finds. Raises Invalid."""
    if content.startswith(BINARY_BEGINNINGS) and b"\x00" in content:
        raise Invalid({"file": [NO_TEXT]})
    marked = next(((mark, name) for mark, name in MARKS if content.startswith(mark)), None)
    if encoding is None:
        encoding = marked[1] if marked else _encoding_by_rule(content)
    if marked and marked[1] == encoding:
        content = content[len(marked[0]) :]
    text = _decoded(content, encoding)
    if len(CONTROL.findall(text)) * 100 > len(text) * CONTROLS_MAX_PERCENT:
        raise Invalid({"file": [NO_TEXT]})
    return DecodedText(text, encoding)


def encoded(decoded: DecodedText) -> bytes:
    """The bytes that the text was read from."""
    if decoded.encoding not in CODE_PAGES:
        return decoded.text.encode(decoded.encoding, "replace")
    bytes_of = {letter: byte for byte, letter in enumerate(_letters_of(CODE_PAGES[decoded.encoding]))}
    return bytes(bytes_of.get(letter, ord("?")) for letter in decoded.text)


def _encoding_by_rule(content: bytes) -> str:
    if b"\x00" in content:
        even, odd = content[::2].count(0), content[1::2].count(0)
        if even and odd:
            raise Invalid({"file": [NO_TEXT]})
        return UTF_16_BE if even else UTF_16_LE
    try:
        content.decode()
    except UnicodeDecodeError:
        return WINDOWS_1252
    return UTF_8


def _decoded(content: bytes, encoding: str) -> str:
    if encoding not in CODE_PAGES:
        return content.decode(encoding, "replace")
    letters = _letters_of(CODE_PAGES[encoding])
    return "".join([letters[byte] for byte in content])


def _letters_of(code_page: str) -> list[str]:
    """The letter of each byte."""
    letters = []
    for byte in range(256):
        letter = bytes([byte]).decode(code_page, "replace")
        letters.append(chr(byte) if letter == "\ufffd" else letter)
    return letters
