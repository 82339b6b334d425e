"""Passwords: hashing, checking and rules."""

import pytest
from argon2 import PasswordHasher

from silverball.kit import passwords

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
        ("x" * 10, None),
        ("x" * 200, None),
        ("x" * 201, "The password field must not be greater than 200 characters."),
    ],
)
def test_a_new_password_has_ten_to_two_hundred_characters(password: str, fault: str | None) -> None:
    assert passwords.fault(password) == fault
    assert fault is not None or passwords.is_correct(password, passwords.hash_password(password))
