"""Password hashing with argon2id; a sign-in takes equally long whether or not the account exists.

The parameters are OWASP's for small machines: 19 MiB and two passes. Few hashes run at the same time.
New passwords that are common, or made of the owner's name, are refused; common_passwords.txt lists them.
"""

import re
import string
import threading
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argon2 import PasswordHasher

LENGTH_MIN = 10
LENGTH_MAX = 200
MEMORY_KIB = 19 * 1024
PASSES = 2
CONCURRENT_MAX = 4
# A password has at least this many different letters.
DISTINCT_MIN = 5
# So many letters and digits are left without the owner's words and a common password.
LETTERS_LEFT_MIN = 6
# Shorter words of a name or an address are in too many good passwords.
OWNER_WORD_MIN = 3
# What people think of first on such a site; docs/accounts.md lists them.
SITE_WORDS = (
    *("silverball", "pinball", "flipper", "tournament"),
    *("organizer", "director", "scorekeeper", "player", "admin"),
)
# What fingers type in a row, forward or back.
RUNS = (
    "asdfghjkl;'",
    "abcdefghijklmnopqrstuvwxyz",
    "01234567890",
    "qwertyuiop[]",
    "qwertzuiopü",
    "azertyuiop",
    "asdfghjkl;'",
)
# What is added before and after a word.
ADDED = string.digits + string.punctuation
# Digits and signs that stand for a letter.
DISGUISES = str.maketrans("@43!10$57", "aaeiiosst")
TOO_EASY = (
    "This password is too easy to guess: it is a common one, or made of a name or an e-mail address."
    " Several words that have nothing to do with each other are a good one."
)
# What stands between the words of a name, an address or a host.
OWNER_WORDS = re.compile(r"[\s.@]+")
_hashing_slots = threading.BoundedSemaphore(CONCURRENT_MAX)


def fault(password: str, owner_words: Iterable[str] = ()) -> str | None:
    """The reason why a new password is refused, as a sentence; None when it is accepted.

    `owner_words` are the owner's name and e-mail address and the site's host, which are guessed first.
    """
    if len(password) < LENGTH_MIN:
        return f"The password field must be at least {LENGTH_MIN} characters."
    if len(password) > LENGTH_MAX:
        return f"The password field must not be greater than {LENGTH_MAX} characters."
    return TOO_EASY if _is_easy_to_guess(password, owner_words) else None


def _is_easy_to_guess(password: str, owner_words: Iterable[str]) -> bool:
    plain = password.casefold()
    if len(set(plain)) < DISTINCT_MIN or any(plain in run or plain in run[::-1] for run in RUNS):
        return True
    repeated = plain[: (plain + plain).find(plain, 1)]
    return _letters_left(repeated, owner_words) < LETTERS_LEFT_MIN


def _letters_left(text: str, owner_words: Iterable[str]) -> int:
    """How many letters and digits are left of a text without the owner's words and a common password."""
    given = [words for words in owner_words if words]
    parts = {part for words in given for part in (words, words.partition("@")[0], *OWNER_WORDS.split(words))}
    parts.update(SITE_WORDS)
    for part in sorted((part.casefold() for part in parts), key=len, reverse=True):
        if len(part) >= OWNER_WORD_MIN:
            text = text.replace(part, "")
    for start in (len(text) - len(text.lstrip(ADDED)), 0):
        for end in (len(text.rstrip(ADDED)), len(text)):
            word = text[start:end]
            if word in _common_passwords() or word.translate(DISGUISES) in _common_passwords():
                return sum(map(str.isalnum, text[:start] + text[end:]))
    return sum(map(str.isalnum, text))


@cache
def _common_passwords() -> frozenset[str]:
    path = Path(__file__).with_name("common_passwords.txt")
    return frozenset(path.read_text(encoding="utf-8").splitlines())


def hash_password(password: str) -> str:
    """Hash a password for storage. Takes about 30 ms, so call it outside a transaction."""
    with _hashing_slots:
        return _hasher().hash(_encode(password))


def digest_with_salt(secret: str, salt: bytes) -> str:
    """The argon2id digest of a short secret in hex; as slow as `hash_password`."""
    from argon2.low_level import Type, hash_secret_raw

    with _hashing_slots:
        return hash_secret_raw(
            _encode(secret), salt, PASSES, MEMORY_KIB, parallelism=1, hash_len=32, type=Type.ID
        ).hex()


def is_correct(password: str, stored: str | None) -> bool:
    """Whether this is the password. Without a stored hash the answer is no and takes just as long."""
    from argon2.exceptions import InvalidHashError, VerificationError

    # Made on every call, so that the first sign-in without an account does not take longer.
    decoy_hash = _decoy_hash()
    try:
        with _hashing_slots:
            _hasher().verify(stored or decoy_hash, _encode(password[: LENGTH_MAX + 1]))
    except (VerificationError, InvalidHashError):
        return False
    return stored is not None


def is_outdated(stored: str) -> bool:
    """Whether the hash was made with parameters other than the current ones."""
    return _hasher().check_needs_rehash(stored)


def _encode(password: str) -> bytes:
    # A password typed into a form or terminal can contain lone surrogates.
    return password.encode("utf-8", "surrogatepass")


@cache
def _hasher() -> "PasswordHasher":
    from argon2 import PasswordHasher

    return PasswordHasher(time_cost=PASSES, memory_cost=MEMORY_KIB, parallelism=1)


@cache
def _decoy_hash() -> str:
    """A hash to compare with when there is no account; no accepted password matches it."""
    return _hasher().hash(b"\x00" * (LENGTH_MAX + 2))
