"""A roster as it is: what texts and files say, and what is left out of them, by rule."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.sheets.spreadsheets import a_zip, an_ods, an_xlsx
from silverball.kit.errors import Invalid
from silverball.service.sheets import decoding, people, sources, tables, workbooks
from silverball.service.sheets.sources import ListSource, ReadList

Found = tuple[str, int | None]


def read(text: str = "", **chosen: Any) -> ReadList:
    return sources.read_list(ListSource(text=text, **chosen))


def found_in(text: str, **chosen: Any) -> list[Found]:
    return [(person.name, person.ifpa_id) for person in read(text, **chosen).found.people]


def kinds_of(text: str) -> list[str]:
    return [column.kind for column in read(text).found.columns]


def fault_of(source: ListSource) -> str:
    with pytest.raises(Invalid) as refused:
        sources.read_list(source)
    return refused.value.message


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "First\tLast\tIFPA\nBo\tLarkin\t12\nAda\tQuill\t345\nAda\tMarsh\t7",
            [("Bo Larkin", 12), ("Ada Quill", 345), ("Ada Marsh", 7)],
        ),
        (
            "Name,IFPA,City\nAda Quill,12345,Salt Lake City\nBo Larkin,,New York",
            [("Ada Quill", 12345), ("Bo Larkin", None)],
        ),
        ("Vorname;Name;IFPA-Nr.;Wohnort\nJörg;Müller;123;Köln", [("Jörg Müller", 123)]),
        ("Nr;Nom;Prénom\n1;Quill;Ada\n2;Larkin;Bo", [("Ada Quill", None), ("Bo Larkin", None)]),
        ("Förnamn\tEfternamn\tOrt\nÅsa\tÖst\tMalmö", [("Åsa Öst", None)]),
        ("Voornaam;Tussenvoegsel;Achternaam\nSaar;van der;Meer", [("Saar van der Meer", None)]),
        ("Nombre,Apellidos,Número\nLola,Sol,77", [("Lola Sol", 77)]),
        ("Name\nAda Quill\nBo", [("Ada Quill", None), ("Bo", None)]),
        ("Name;Zusage\nAda Quill;ja", [("Ada Quill", None)]),
        # A town that is a name is no header.
        ("Ada\tLand\nBo\tLarkin", [("Ada Land", None), ("Bo Larkin", None)]),
        # Without a header, numbers stand beside names.
        (
            "Ada Quill\t12345\tSalt Lake City\nBo Larkin\t\tNew York",
            [("Ada Quill", 12345), ("Bo Larkin", None)],
        ),
        ("1\tAda Quill\tada@pins.example\t12345\n2\tBo\t\t", [("Ada Quill", 12345), ("Bo", None)]),
        # Two headers, and the same one again further down.
        (
            "\tWho\t\nFirst\tLast\tIFPA\nAda\tQuill\t1\nFirst\tLast\tIFPA\nBo\tLarkin\t2",
            [("Ada Quill", 1), ("Bo Larkin", 2)],
        ),
        ("Thursday\n\nName\tIFPA\nAda\t1", [("Ada", 1)]),
        # Lines of several people, and names as lists have them.
        (
            "Ada Quill, Bo Larkin; Cleo Marsh",
            [("Ada Quill", None), ("Bo Larkin", None), ("Cleo Marsh", None)],
        ),
        ("1. Ada\n2) Bo\n- Cleo", [("Ada", None), ("Bo", None), ("Cleo", None)]),
        ("Ada Quill\n1st\n,,,,\n12345", [("Ada Quill", None), ("", 12345)]),
        ('"Stern, Jr."\t7\nAda\t8', [("Stern, Jr.", 7), ("Ada", 8)]),
        # Places and scores are no numbers.
        ("Pos\tSpelare\tPoäng\n1\tAda Quill\t1 234 567\nTotal\t41\t", [("Ada Quill", None)]),
        (
            "1\tAda Quill\n2\tBo Larkin\n2\tCleo\n4\tDov",
            [(name, None) for name in ("Ada Quill", "Bo Larkin", "Cleo", "Dov")],
        ),
    ],
)
def test_a_list_is_read_as_a_person_reads_it(text: str, wanted: list[Found]) -> None:
    assert found_in(text) == wanted


def test_what_is_left_out_is_named_with_the_reason() -> None:
    list_ = read("Rank,Name,IFPA,City\n1,Ada Quill,12,Rome\n,,,\n2,1st,,\nTotal,2,,")
    assert [(row.line, row.reason) for row in list_.found.left_out] == [
        (1, "It is the header."),
        (4, "It is a place or the number of a row."),
        (5, "It is a total."),
    ]
    assert list_.notes == ("Rank: places; left out.", "City: a town; left out.")


def test_a_column_is_of_numbers_where_most_cells_are_and_another_is_of_names() -> None:
    four_of_five = "\n".join(
        f"Player {name}\t{number}"
        for name, number in zip("ABCDE", ["71", "802", "x y", "99", "4"], strict=True)
    )
    assert kinds_of(four_of_five) == ["name", "number"]
    three_of_five = four_of_five.replace("\t99", "\tz w")
    assert kinds_of(three_of_five) == ["name", "other"]
    # Alone they are who is meant.
    assert found_in("12345\n678") == [("", 12345), ("", 678)]


def test_last_name_first_is_asked_with_both_readings() -> None:
    for text in (
        "Quill, Ada\nLarkin, Bo",
        '"Quill, Ada"\t12\n"Larkin, Bo"\t',
        "Name;IFPA\nQuill, Ada;12\nLarkin, Bo;",
    ):
        readings = read(text).found.readings
        assert [each.names for each in readings] == [("Ada Quill", "Bo Larkin"), ("Quill Ada", "Larkin Bo")]
        assert [name for name, _ in found_in(text, name_order="lastFirst")] == ["Ada Quill", "Bo Larkin"]


def test_a_column_is_what_people_say_it_is() -> None:
    text = "Ada Quill\tBo Larkin\nCleo Marsh\tDov Levi"
    assert found_in(text) == [("Ada Quill", None), ("Cleo Marsh", None)]
    assert [name for name, _ in found_in(text, columns=("name", "name"))] == [
        *("Ada Quill", "Bo Larkin", "Cleo Marsh", "Dov Levi")
    ]
    assert "has 2, and 1 were named" in fault_of(ListSource(text=text, columns=("name",)))


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        ("Jörg Škoda".encode("utf-8-sig"), "utf-8"),
        ("Jörg Škoda".encode(), "utf-8"),
        ("Jörg Škoda".encode("utf-16"), "utf-16-le"),
        ("Jörg".encode("utf-16-le"), "utf-16-le"),
        ("Jörg".encode("utf-16-be"), "utf-16-be"),
        ("Jörg".encode("cp1252"), "windows-1252"),
    ],
)
def test_the_encoding_follows_from_a_rule(content: bytes, encoding: str) -> None:
    decoded = decoding.decode(content)
    assert decoded.encoding == encoding
    assert decoded.text.startswith("Jörg")


@pytest.mark.parametrize(("encoding", "codec"), [("windows-1250", "cp1250"), ("mac-roman", "mac-roman")])
def test_other_encodings_are_offered_and_lose_nothing(encoding: str, codec: str) -> None:
    content = "Zoë\nJosé".encode(codec, "replace") if codec == "mac-roman" else "Škoda\nŘehoř".encode(codec)
    by_rule = decoding.decode(content)
    assert by_rule.encoding == "windows-1252"
    again = decoding.decode(decoding.encoded(by_rule), encoding)
    assert again.text == content.decode(codec)


def test_letters_that_cannot_be_read_are_faults_of_their_rows() -> None:
    wrong = read(file="Jörg\nAda".encode("cp1252"), encoding="utf-8")
    assert [people.name_fault(person.name) != "" for person in wrong.found.people] == [True, False]
    assert people.name_fault("A\x81da")
    assert not people.name_fault("Åsa Öst")


ROWS: list[list[Any]] = [
    ["First", "Last", "IFPA"],
    ["Ada", "Quill", 12345],
    ["Bo", "Larkin", 7.0],
    ["Cleo", "Marsh", ""],
]
WANTED = [("Ada Quill", 12345), ("Bo Larkin", 7), ("Cleo Marsh", None)]


@pytest.mark.parametrize("make", [an_xlsx, an_ods])
def test_a_spreadsheet_is_read_like_a_text(make: Any) -> None:
    assert found_in("", file=make({"Players": ROWS})) == WANTED


def test_formulas_count_by_their_stored_value() -> None:
    rows: list[list[Any]] = [["Name", "IFPA"], ["Ada Quill", ("A1+1", "345")]]
    assert found_in("", file=an_xlsx({"Players": rows})) == [("Ada Quill", 345)]


def test_what_is_hidden_is_said_and_several_filled_sheets_are_asked() -> None:
    hidden = read(
        file=an_xlsx({"Players": ROWS, "Old": ROWS, "Empty": []}, hidden_sheets=["Old"], hidden_rows=[3])
    )
    assert hidden.sheet == "Players"
    assert len(hidden.found.people) == 3
    assert hidden.notes == (
        "Sheet Old is hidden.",
        "1 row is hidden in sheet Players, and read like the others.",
    )
    three = an_xlsx({"A": ROWS, "B": ROWS[:2], "C": ROWS})
    asked = read(file=three)
    assert (asked.sheet, [sheet.name for sheet in asked.sheets], asked.found.people) == (
        None,
        ["A", "B", "C"],
        (),
    )
    assert found_in("", file=three, sheet="B") == WANTED[:1]
    assert "no filled sheet" in fault_of(ListSource(file=three, sheet="D"))


BOMB = a_zip({"xl/workbook.xml": b"0" * 21_000_000})
REFUSED = {
    "an image": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x01", "neither a text nor a spreadsheet"),
    "a picture without a name": (bytes(range(255)) * 9, "neither a text nor a spreadsheet"),
    "10 MB": (b"Ada\n" * 2_500_000, "larger than 1 MB"),
    "5,001 rows": (b"Ada\n" * 5_001, "more than 5,000 rows"),
    "51 columns": (b"Ada" + b"\tx" * 50, "51 columns"),
    "1,001 people": ("\n".join(f"Ada {number}x" for number in range(1_001)).encode(), "1,001 people"),
    "nothing": (b" \n\n", "nothing in it"),
    "a zip bomb": (BOMB, "more than 20 MB"),
    "101 parts": (a_zip({f"xl/{number}": "x" for number in range(101)}), "101 parts"),
    "another zip": (a_zip({"photo.jpg": "x"}), "no spreadsheet"),
    "half a zip": (an_xlsx({"Players": ROWS})[:700], "broken"),
    "a far cell": (an_xlsx({"A": [["Ada"] + [""] * 60 + ["far"]]}), "beyond column 50"),
    "repeated rows": (
        an_ods(
            {"A": ROWS},
            repeated='<table:table-row table:number-rows-repeated="1000000">'
            '<table:table-cell office:value-type="string" table:number-columns-repeated="900">'
            "<text:p>x</text:p></table:table-cell></table:table-row>",
        ),
        "beyond row 5,000",
    ),
    "three tables": (
        b"Name\tIFPA\nAda\t1\n\nMachine\tName\nComet\tBo\n\nTown\tName\nRome\tCleo",
        "another table",
    ),
    "an entity": (
        a_zip({"content.xml": '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>', "mimetype": "x"}),
        "document type",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused_with_a_sentence(name: str) -> None:
    content, wanted = REFUSED[name]
    assert wanted in fault_of(ListSource(file=content))


def test_a_sheet_with_an_empty_far_cell_is_read() -> None:
    rows: list[list[Any]] = [["Name"] + [""] * 80, ["Ada Quill"] + [""] * 80]
    assert found_in("", file=an_xlsx({"A": rows})) == [("Ada Quill", None)]


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_any_bytes_are_read_or_refused_with_a_sentence(content: bytes) -> None:
    try:
        list_ = sources.read_list(ListSource(file=content or b"\n"))
    except Invalid:
        return
    assert all(person.name or person.ifpa_id for person in list_.found.people)


WORDS = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8)
CELLS = st.lists(st.lists(WORDS, min_size=2, max_size=4), min_size=1, max_size=12)


@given(CELLS)
def test_a_table_survives_being_written_as_a_text(cells: list[list[str]]) -> None:
    rows = [tables.TableRow(line, tuple(row)) for line, row in enumerate(cells, start=1)]
    again = tables.read_text(tables.to_text(rows)).rows
    assert [row.cells for row in again] == [row.cells for row in rows]


NAMES = st.lists(
    st.tuples(st.sampled_from(["Ada", "Bo", "Cleo", "Zoë"]), st.sampled_from(["Quill", "Öst", "Marsh"])),
    min_size=1,
    max_size=20,
)


@given(NAMES, st.sampled_from(["\t", ";", ","]))
def test_nobody_is_lost_below_a_header(names: list[tuple[str, str]], mark: str) -> None:
    text = "\n".join(mark.join(cells) for cells in [("First", "Last"), *names])
    assert [name for name, _ in found_in(text)] == [" ".join(name) for name in names]


def test_the_sizes_of_a_workbook_are_the_ones_of_the_rule() -> None:
    assert (workbooks.UNPACKED_BYTES_MAX, workbooks.ENTRIES_MAX) == (20_000_000, 100)
    assert (tables.ROWS_MAX, tables.COLUMNS_MAX, people.PEOPLE_MAX) == (5_000, 50, 1_000)
