"""Codes that an app computes from a secret and the time (RFC 6238), and codes that replace them."""

import base64
import hmac
from datetime import datetime
from random import Random

STEP_SECONDS = 30
# A clock that is one step off is accepted.
STEPS_AROUND = (0, -1, 1)
DIGITS = 6
# RFC 4226, section 4: 160 bits are recommended.
SECRET_BYTES = 20
# Digits only, so that a phone shows its number pad; hashes of so many are not worth guessing.
RECOVERY_DIGITS = 20
GROUP_LETTERS = 4
# What people type is not longer, spaces included.
TYPED_MAX = 60


def new_secret(dice: Random) -> str:
    """A new secret in base 32. Outside tests `dice` is a `secrets.SystemRandom`."""
    return base64.b32encode(dice.randbytes(SECRET_BYTES)).decode()


def grouped(text: str) -> str:
    """The text in groups of four, which are easier to type."""
    return " ".join(text[start : start + GROUP_LETTERS] for start in range(0, len(text), GROUP_LETTERS))


def otpauth_uri(secret: str, account: str, issuer: str) -> str:
    """The secret as an address that apps read from a QR code."""
    from pyotp import TOTP

    return TOTP(secret).provisioning_uri(name=account, issuer_name=issuer)


def matching_step(secret: str, code: str, now: datetime) -> int | None:
    """The number of the half minute that this code belongs to; None when it belongs to none around now."""
    from pyotp import TOTP

    if len(code) != DIGITS:
        return None
    codes, current = TOTP(secret), int(now.timestamp()) // STEP_SECONDS
    for step in (current + offset for offset in STEPS_AROUND):
        if hmac.compare_digest(codes.generate_otp(step), code):
            return step
    return None


def new_recovery_code(dice: Random) -> str:
    """A new code of 20 digits: `1234-5678-9012-3456-7890`."""
    digits = f"{dice.randrange(10**RECOVERY_DIGITS):0{RECOVERY_DIGITS}}"
    return grouped(digits).replace(" ", "-")


def typed_digits(typed: str) -> str:
    """A code without the spaces and dashes between its digits; empty when it is no code."""
    digits = "".join(typed[:TYPED_MAX].replace("-", "").split())
    return digits if digits.isascii() and digits.isdigit() else ""
