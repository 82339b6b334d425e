"""Codes of RFC 6238, appendix B (SHA-1), with the last six of their eight digits."""

import base64
from datetime import UTC, datetime
from random import Random

import pytest

from silverball.kit.security import tokens

SECRET = base64.b32encode(b"12345678901234567890").decode()


@pytest.mark.parametrize(
    ("seconds", "code"),
    [
        (1111111109, "081804"),
        (1111111111, "050471"),
        (1234567890, "005924"),
        (2000000000, "279037"),
        (20000000000, "353130"),
    ],
)
def test_the_codes_of_the_standard_are_accepted_one_step_early_and_late(seconds: int, code: str) -> None:
    for offset, step in (
        (-60, None),
        (-30, seconds // 30),
        (0, seconds // 30),
        (30, seconds // 30),
        (60, None),
    ):
        now = datetime.fromtimestamp(seconds + offset, UTC)
        assert tokens.matching_step(SECRET, code, now) == step


@pytest.mark.parametrize(
    "typed", ["", "28708", "2870822", "28708a", "٢٨٧٠٨٢", "-1", "28 70 82 1", "x" * 10_000]
)
def test_what_is_no_code_matches_nothing(typed: str) -> None:
    digits = tokens.typed_digits(typed)
    assert tokens.matching_step(SECRET, digits, datetime.fromtimestamp(59, UTC)) is None


def test_secrets_and_recovery_codes_are_long_and_of_plain_letters() -> None:
    dice = Random(7)
    secret, code = tokens.new_code_secret(dice), tokens.new_recovery_code(dice)
    assert len(base64.b32decode(secret)) == 20
    assert len(tokens.typed_digits(f" {code} ")) == tokens.RECOVERY_DIGITS
    assert tokens.typed_digits(code.replace("-", " ")) == tokens.typed_digits(code)
