"""Texts that people type, as they are kept."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silverball.kit import texts


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("  Ada  ", "Ada"),
        ("Zoe\u0308", "Zo\u00eb"),
        ("\u202eevil\u202c", "evil"),
        ("a\u2066b\u2069\u200f\u061c", "ab"),
        ("bell\x07\x1b[31m", "bell[31m"),
        ("two\r\nlines\rmore", "two\nlines\nmore"),
        ("\ufeff\u200b", ""),
        # Joined emoji and letters of any script stay whole.
        ("\U0001f468\u200d\U0001f469 \u5f20\u4f1f", "\U0001f468\u200d\U0001f469 \u5f20\u4f1f"),
        # That it cannot be stored is told, not hidden.
        ("a\x00b", "a\x00b"),
    ],
)
def test_what_cannot_be_seen_is_left_out(typed: str, kept: str) -> None:
    assert texts.clean(typed) == kept


@given(st.text())
def test_a_text_that_was_cleaned_is_clean(typed: str) -> None:
    once = texts.clean(typed)
    assert texts.clean(once) == once
    assert unicodedata.is_normalized("NFC", once)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Ada Öst", None),
        ("x" * 20, None),
        ("", "The name field is required."),
        ("x" * 21, "The name field must not be greater than 20 characters."),
        ("Ada\nÖst", "The name field must not have line breaks or control characters."),
        ("Ada\x07", "The name field must not have line breaks or control characters."),
    ],
)
def test_what_is_wrong_with_a_name_is_told(name: str, told: str | None) -> None:
    assert texts.name_fault(name, 20) == told
