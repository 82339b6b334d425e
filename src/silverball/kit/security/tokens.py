"""Secrets as text. API tokens are `<id>|slv_<40 letters and digits><8 hex digits of their CRC-32>`.

The prefix and the checksum let secret scanners recognise a leaked token, and a mistyped token is
refused without the database. Only the SHA-256 of the part after the bar is stored.
"""

import base64
import hashlib
import hmac
import re
import string
import zlib
from datetime import datetime
from random import Random

from msgspec import Struct

PREFIX = "slv_"
LETTERS = string.ascii_letters + string.digits
LETTERS_COUNT = 40
COOKIE_BYTES = 32
DERIVED_BYTES = 16
ID_MAX = 2**63 - 1
SHAPE = re.compile(r"(?:([1-9][0-9]{0,18})\|)?(slv_([A-Za-z0-9]{40})([0-9a-f]{8}))", re.ASCII)


class ParsedToken(Struct, frozen=True):
    """A well-formed token sent by a client, not looked up yet."""

    # None when the client sent only the part after the bar.
    token_id: int | None
    hash: str


def new_secret(dice: Random) -> str:
    """A new secret, the part after the bar. Outside tests `dice` is a `secrets.SystemRandom`."""
    letters = new_link_secret(dice)
    return f"{PREFIX}{letters}{_checksum(letters)}"


def new_link_secret(dice: Random) -> str:
    """A new secret for an address: 40 letters and digits."""
    return "".join(dice.choice(LETTERS) for _ in range(LETTERS_COUNT))


def derive_secret(secret: str, purpose: str) -> str:
    """A secret derived from another for one purpose: 22 letters, digits, `-` and `_`."""
    derived = hmac.digest(secret.encode(), purpose.encode(), "sha256")[:DERIVED_BYTES]
    return base64.urlsafe_b64encode(derived).decode().rstrip("=")


def new_cookie_secret(dice: Random) -> str:
    """A new secret that is safe in a cookie and in a form."""
    return base64.urlsafe_b64encode(dice.randbytes(COOKIE_BYTES)).decode().rstrip("=")


def full_token(token_id: int, secret: str) -> str:
    """The full token, which its owner sees once."""
    return f"{token_id}|{secret}"


def parse_token(text: str) -> ParsedToken | None:
    """The token in this text; None when it has the wrong form or checksum."""
    match = SHAPE.fullmatch(text)
    if match is None or match[4] != _checksum(match[3]):
        return None
    token_id = None if match[1] is None else int(match[1])
    if token_id is not None and token_id > ID_MAX:
        return None
    return ParsedToken(token_id, digest(match[2]))


def is_foreign(authorization: bytes) -> bool:
    """Whether the token in this header was never issued here, as it lacks our prefix."""
    return PREFIX.encode() not in authorization


def digest(secret: str) -> str:
    """The SHA-256 of a secret in hex, which is stored in its place."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _checksum(letters: str) -> str:
    return f"{zlib.crc32(letters.encode()):08x}"


# Codes that an app computes from a secret and the time (RFC 6238), and codes that replace them.


STEP_SECONDS = 30
# A clock that is one step off is accepted.
STEPS_AROUND = (0, -1, 1)
DIGITS = 6
# RFC 4226, section 4: 160 bits are recommended.
SECRET_BYTES = 20
# Digits only, so that a phone shows its number pad; argon2id makes up for their few bits.
RECOVERY_DIGITS = 20
GROUP_LETTERS = 4
# What people type is not longer, spaces included.
TYPED_MAX = 60


def new_code_secret(dice: Random) -> str:
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
