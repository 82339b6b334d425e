"""Passwords: argon2id, the same work for every sign-in whether or not the account exists.

The parameters are OWASP's for small machines: 19 MiB and two passes; a few run at once at most.
"""

import threading
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argon2 import PasswordHasher

LENGTH_MIN = 10
LENGTH_MAX = 200
MEMORY_KIB = 19 * 1024
PASSES = 2
CONCURRENT_MAX = 4
_hashing_slots = threading.BoundedSemaphore(CONCURRENT_MAX)


def fault(password: str) -> str | None:
    """What is wrong with a new password, as a sentence."""
    if len(password) < LENGTH_MIN:
        return f"The password field must be at least {LENGTH_MIN} characters."
    if len(password) > LENGTH_MAX:
        return f"The password field must not be greater than {LENGTH_MAX} characters."
    return None


def hash_password(password: str) -> str:
    """What is stored in place of the password; takes some 30 ms, so call it outside a transaction."""
    with _hashing_slots:
        return _hasher().hash(_encode(password))


def is_correct(password: str, stored: str | None) -> bool:
    """Whether this is the password. Without a stored one it takes just as long and says no."""
    from argon2.exceptions import InvalidHashError, VerificationError

    # Made on every path, or the first stranger of a process would have to wait for it alone.
    nobody_s = _decoy_hash()
    try:
        with _hashing_slots:
            _hasher().verify(stored or nobody_s, _encode(password[: LENGTH_MAX + 1]))
    except (VerificationError, InvalidHashError):
        return False
    return stored is not None


def is_outdated(stored: str) -> bool:
    """Whether the hash was made with other parameters than today's."""
    return _hasher().check_needs_rehash(stored)


def _encode(password: str) -> bytes:
    # Typed into a form or a terminal, a password may hold what UTF-8 cannot.
    return password.encode("utf-8", "surrogatepass")


@cache
def _hasher() -> "PasswordHasher":
    from argon2 import PasswordHasher

    return PasswordHasher(time_cost=PASSES, memory_cost=MEMORY_KIB, parallelism=1)


@cache
def _decoy_hash() -> str:
    """The hash that is compared when there is no account: of a password that nobody can send."""
    return _hasher().hash(b"\x00" * (LENGTH_MAX + 2))
