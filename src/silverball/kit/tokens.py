"""Secrets as text. API tokens are `<id>|slv_<40 letters and digits><8 hex digits of their CRC-32>`.

The prefix and the checksum let secret scanners recognise a leaked token, and let a mistyped one be
refused without a database. What is stored is the SHA-256 of the part after the bar.
"""

import base64
import hashlib
import hmac
import re
import string
import zlib
from dataclasses import dataclass
from random import Random

PREFIX = "slv_"
LETTERS = string.ascii_letters + string.digits
LETTERS_COUNT = 40
COOKIE_BYTES = 32
DERIVED_BYTES = 16
ID_MAX = 2**63 - 1
SHAPE = re.compile(r"(?:([1-9][0-9]{0,18})\|)?(slv_([A-Za-z0-9]{40})([0-9a-f]{8}))", re.ASCII)


@dataclass(frozen=True)
class ParsedToken:
    """A well-formed token as somebody showed it; whether it is known is another question."""

    # None when only the part after the bar was sent.
    token_id: int | None
    hash: str


def new_secret(dice: Random) -> str:
    """A new part after the bar. Outside tests `dice` is a `secrets.SystemRandom`."""
    letters = new_link_secret(dice)
    return f"{PREFIX}{letters}{_checksum(letters)}"


def new_link_secret(dice: Random) -> str:
    """A new secret for an address: 40 letters and digits."""
    return "".join(dice.choice(LETTERS) for _ in range(LETTERS_COUNT))


def derive_secret(secret: str, about: str) -> str:
    """The secret of one thing among those that share a secret: 22 letters, digits, `-` and `_`."""
    made = hmac.digest(secret.encode(), about.encode(), "sha256")[:DERIVED_BYTES]
    return base64.urlsafe_b64encode(made).decode().rstrip("=")


def new_cookie_secret(dice: Random) -> str:
    """A new secret for a cookie or a form, safe in both."""
    return base64.urlsafe_b64encode(dice.randbytes(COOKIE_BYTES)).decode().rstrip("=")


def full_token(token_id: int, secret: str) -> str:
    """The whole token, as its owner gets to see it once."""
    return f"{token_id}|{secret}"


def parse_token(text: str) -> ParsedToken | None:
    """The token in this text; None when no token can look like that or its checksum is wrong."""
    found = SHAPE.fullmatch(text)
    if found is None or found[4] != _checksum(found[3]):
        return None
    token_id = None if found[1] is None else int(found[1])
    if token_id is not None and token_id > ID_MAX:
        return None
    return ParsedToken(token_id, digest(found[2]))


def digest(secret: str) -> str:
    """What is stored in place of a secret: its SHA-256 in hex."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _checksum(letters: str) -> str:
    return f"{zlib.crc32(letters.encode()):08x}"
