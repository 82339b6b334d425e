"""Names out of lists as people paste them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silverball.service.sheets.names import parse_names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Ada Quill\n\n  Bo   Larkin \r\n", ["Ada Quill", "Bo Larkin"]),
        ("1. Ada Quill\n2) Bo Larkin\n10: Cleo", ["Ada Quill", "Bo Larkin", "Cleo"]),
        ("1 Ada Quill\n2 Bo Larkin", ["Ada Quill", "Bo Larkin"]),
        ("#1 Ada\n#2 Bo", ["Ada", "Bo"]),
        ("- Ada Quill\n* Bo\n• Cleo\n\u2013 Dov", ["Ada Quill", "Bo", "Cleo", "Dov"]),
        ("- [x] Ada\n[ ] 2. Bo", ["Ada", "Bo"]),
        ('Ada Quill <ada@pins.example>\n"Bo Larkin" <bo@pins.example>', ["Ada Quill", "Bo Larkin"]),
        ("Ada Quill ada@pins.example\nBo Larkin (bo@pins.example)", ["Ada Quill", "Bo Larkin"]),
        ("1\tAda Quill\tada@pins.example\t12345\n2\tBo Larkin\t\t", ["Ada Quill", "Bo Larkin"]),
        ("Ada Quill, Bo Larkin; Cleo Marsh", ["Ada Quill", "Bo Larkin", "Cleo Marsh"]),
        ("Ada Quill,\nBo Larkin,", ["Ada Quill", "Bo Larkin"]),
        ("Ada Quill,12345,ada@pins.example", ["Ada Quill"]),
        ("Ada Quill\nada  quill\nÁda Quill\nBo", ["Ada Quill", "Bo"]),
        ("\ufeffAda\u200b Quill\u00a0", ["Ada Quill"]),
        ("", []),
    ],
)
def test_a_pasted_list_is_cleaned(text: str, names: list[str]) -> None:
    assert parse_names(text) == names


@pytest.mark.parametrize(
    "name",
    [
        "8 Ball Bob",
        "Player 12",
        "3Some",
        "1st Timer",
        "Quill, Ada",
        "Jay Stern, Jr.",
        "O'Neil",
        "Anne-Marie",
        "Dora Åkesson",
        "李小龍",
        "J. P.",
        "C-3PO",
    ],
)
def test_a_name_that_looks_odd_stays_as_it_is(name: str) -> None:
    assert parse_names(name) == [name]


def test_a_line_without_letters_is_left_for_the_refusal() -> None:
    assert parse_names("Ada\n404") == ["Ada", "404"]


@given(st.text(max_size=200))
def test_whatever_is_pasted_gives_names_once_each_on_one_line(text: str) -> None:
    names = parse_names(text)
    assert len(names) == len(set(names))
    assert all(name and "\n" not in name and "\t" not in name for name in names)
