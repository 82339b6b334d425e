"""Which names may be one person's."""

import pytest

from silverball.store.people import near_names


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Ada Quill", "ada  QUILL"),
        ("Quill, Ada", "Ada Quill"),
        ("A. Quill", "Ada Quill"),
        ("Ada", "Ada Quill"),
        ("Alex Stone", "Alexander Stone"),
        ("J\u00f6rg Weiss", "Jorg Wei\u00df"),
        ("Patrick O'Neil", "Patrick ONeil"),
        ("Katherine Miller", "Catherine Miler"),
        ("Ada M. Quill", "Ada Quill"),
        ("Ada Qulil", "Ada Quill"),
    ],
)
def test_two_spellings_are_near(name: str, other: str) -> None:
    assert near_names.are_near(name, other)
    assert near_names.are_near(other, name)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Ada Quill", "Ida Quill"),
        ("Ada Quill", "Bo Quill"),
        ("Ada Quill", "Ada Larkin"),
        ("Ada Quill", ""),
        ("Player 1", "Player 12"),
        ("Ada Ada", "Ada Quill"),
        ("\u674e", "\u738b"),
    ],
)
def test_two_people_are_not(name: str, other: str) -> None:
    assert not near_names.are_near(name, other)
    assert not near_names.are_near(other, name)
