"""Passwords: hashing, checking and rules."""

from pathlib import Path

import pytest
from argon2 import PasswordHasher

from silverball.kit.security import passwords

RIGHT = "correct horse"


def test_a_password_is_stored_as_argon2id_with_a_salt_of_its_own() -> None:
    first, second = passwords.hash_password(RIGHT), passwords.hash_password(RIGHT)
    assert first.startswith("$argon2id$")
    assert first != second
    assert passwords.is_correct(RIGHT, first)
    assert passwords.is_correct(RIGHT, second)


@pytest.mark.parametrize("wrong", ["", "Correct horse", "correct horse ", RIGHT * 100, "\x00", "\ud800" * 12])
def test_any_other_password_is_wrong(wrong: str) -> None:
    assert not passwords.is_correct(wrong, passwords.hash_password(RIGHT))


@pytest.mark.parametrize("password", [RIGHT, "", "\x00" * 202])
def test_without_an_account_every_password_is_wrong(password: str) -> None:
    assert not passwords.is_correct(password, None)


def test_no_password_matches_a_damaged_hash() -> None:
    assert not passwords.is_correct(RIGHT, "$argon2id$v=19$damaged")


def test_a_hash_with_older_parameters_is_right_but_outdated() -> None:
    older = PasswordHasher(time_cost=1, memory_cost=8192, parallelism=1).hash(RIGHT)
    assert passwords.is_correct(RIGHT, older)
    assert passwords.is_outdated(older)
    assert not passwords.is_outdated(passwords.hash_password(RIGHT))


@pytest.mark.parametrize(
    ("password", "fault"),
    [
        ("x" * 9, "The password field must be at least 10 characters."),
        ("vx4 tq0 kz", None),
        ("vx4 tq0 kz" * 20, None),
        ("correct horse battery staple", None),
        ("\ud800\x00é" * 3 + "gravel lamp", None),
        ("x" * 201, "The password field must not be greater than 200 characters."),
    ],
)
def test_a_new_password_has_ten_to_two_hundred_characters(password: str, fault: str | None) -> None:
    assert passwords.fault(password) == fault
    assert fault is not None or passwords.is_correct(password, passwords.hash_password(password))


@pytest.mark.parametrize(
    "password",
    [
        "password123",
        "Password123!",
        "1234567890",
        "qwertyuiop",
        "x" * 10,
        "iloveyou123",
        "P@ssw0rd2026",
        "!!monkey2026",
        "sunshinesunshine",
        "asdfghjkl;'",
        "zyxwvutsrqp",
        "1122112211",
        "passw0rd" * 25,
    ],
)
def test_a_common_password_is_refused(password: str) -> None:
    assert passwords.fault(password) == passwords.TOO_EASY


@pytest.mark.parametrize(
    "password",
    ["silverball2026", "Pinball-Tournament", "flipper12345", "drain.example", "admin player1"],
)
def test_a_password_made_of_words_of_the_site_is_refused(password: str) -> None:
    assert passwords.fault(password, ("Ada", "", "drain.example.org")) == passwords.TOO_EASY


def test_every_word_of_the_site_is_in_the_handbook() -> None:
    page = (Path(__file__).parents[2] / "docs" / "accounts.md").read_text(encoding="utf-8")
    assert [word for word in passwords.SITE_WORDS if f"*{word}*" not in page] == []


@pytest.mark.parametrize(
    "password", ["Wilhelmina Quill", "wilhelminaquill", "w.quill@silverball.test", "w.quill1234"]
)
def test_a_password_made_of_the_owners_name_or_address_is_refused(password: str) -> None:
    owner_words = ("Wilhelmina Quill", "w.quill@silverball.test")
    assert passwords.fault(password, owner_words) == passwords.TOO_EASY
