"""Cleaning of text typed by people."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silverball.kit import values


@pytest.mark.parametrize(
    ("typed", "cleaned"),
    [
        ("  Ada  ", "Ada"),
        ("Zoe\u0308", "Zo\u00eb"),
        ("\u202eevil\u202c", "evil"),
        ("a\u2066b\u2069\u200f\u061c", "ab"),
        ("bell\x07\x1b[31m", "bell[31m"),
        ("two\r\nlines\rmore", "two\nlines\nmore"),
        ("\ufeff\u200b", ""),
        # Joined emoji and letters of any script are unchanged.
        ("\U0001f468\u200d\U0001f469 \u5f20\u4f1f", "\U0001f468\u200d\U0001f469 \u5f20\u4f1f"),
        # A zero byte is left for the body parser to refuse.
        ("a\x00b", "a\x00b"),
    ],
)
def test_invisible_characters_are_removed(typed: str, cleaned: str) -> None:
    assert values.clean(typed) == cleaned


@given(st.text())
def test_cleaning_twice_changes_nothing(typed: str) -> None:
    cleaned = values.clean(typed)
    assert values.clean(cleaned) == cleaned
    assert unicodedata.is_normalized("NFC", cleaned)


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("Ada Öst", None),
        ("x" * 20, None),
        ("", "The name field is required."),
        ("x" * 21, "The name field must not be greater than 20 characters."),
        ("Ada\nÖst", "The name field must not have line breaks or control characters."),
        ("Ada\x07", "The name field must not have line breaks or control characters."),
    ],
)
def test_a_faulty_name_is_refused_with_a_reason(name: str, fault: str | None) -> None:
    assert values.name_fault(name, 20) == fault
