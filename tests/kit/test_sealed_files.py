"""Files that are encrypted with a passphrase. Source: issue 14, item 8."""

import io
import os
from base64 import b64decode
from random import Random

import pytest
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from pyrage import passphrase as age

from silverball.kit.security import sealed_files
from silverball.kit.security.sealed_files import (
    AGE_PIECE_BYTES,
    SEALED_PIECE_BYTES,
    SealBroken,
    SealedReader,
    SealingWriter,
)

PASSPHRASE = "seven brass bumpers"
CHEAP = 10
# "a night", as another program of age has encrypted it.
BY_ANOTHER = b64decode(
    "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IHNjcnlwdCAxOFF6eXlvUzQ0MXlUUzFRSjQ0TndnIDE1ClpYWlQvN1kxRW9LNGNLQ1ZRZFVU"
    "K09HM2hYWWRBcGhhN0Q1eUVOdUFNa0kKLS0tIGpKUXEzOXFuRlJKVko3Z3JEd3orOE9rMjJOcEQyVjMwRE5rUnlyaU9aZU0KUwSSora9"
    "G+/xxA9z5zNWTDW9GlS+CP0f/6jROJrxzf3byw/vuRBR"
)


def seal(content: bytes, *, at_once: int = 100_000) -> bytes:
    file = io.BytesIO()
    writer = SealingWriter(file, PASSPHRASE, cost=CHEAP)
    for start in range(0, len(content), at_once):
        writer.write(content[start : start + at_once])
    writer.close()
    return file.getvalue()


def unseal(sealed: bytes, passphrase: str = PASSPHRASE, *, at_once: int = 70_000) -> bytes:
    reader = SealedReader(io.BytesIO(sealed), passphrase)
    parts = []
    while part := reader.read(at_once):
        parts.append(part)
    return b"".join(parts)


def seal_as_before(content: bytes) -> bytes:
    """The content as version 0.2.0 sealed it."""
    head = sealed_files.SEALED_LINE + bytes([CHEAP]) + os.urandom(16)
    cipher = ChaCha20Poly1305(Scrypt(head[21:], 32, 1 << CHEAP, 8, 1).derive(PASSPHRASE.encode()))
    starts = range(0, max(1, len(content)), SEALED_PIECE_BYTES)
    sealed = head
    for number, start in enumerate(starts):
        nonce = number.to_bytes(11, "big") + bytes([start == starts[-1]])
        sealed += cipher.encrypt(nonce, content[start : start + SEALED_PIECE_BYTES], head)
    return sealed


def sizes_around(piece: int) -> list[int]:
    return [0, 1, piece - 1, piece, piece + 1, 3 * piece]


@pytest.mark.parametrize("size", sizes_around(AGE_PIECE_BYTES))
def test_what_was_sealed_is_read_with_the_passphrase_here_and_by_age(size: int) -> None:
    content = Random(size).randbytes(size)
    sealed = seal(content)
    assert unseal(sealed) == SealedReader(io.BytesIO(sealed), PASSPHRASE).read() == content
    assert age.decrypt(sealed, PASSPHRASE) == content
    assert sealed_files.is_sealed(sealed)


def test_what_age_has_encrypted_is_read() -> None:
    assert unseal(BY_ANOTHER) == b"a night"


@pytest.mark.parametrize("size", sizes_around(SEALED_PIECE_BYTES))
def test_what_an_earlier_version_sealed_is_read(size: int) -> None:
    content = Random(size).randbytes(size)
    sealed = seal_as_before(content)
    assert unseal(sealed) == content
    assert sealed_files.is_sealed(sealed)


def test_the_same_content_is_sealed_otherwise_each_time() -> None:
    assert seal(b"a night") != seal(b"a night")


def broken_files() -> dict[str, bytes]:
    """Files of both formats, changed in all the ways that matter."""
    broken = {"empty": b""}
    for kind, sealed, piece in (
        ("age", seal(Random(1).randbytes(2 * AGE_PIECE_BYTES + 5)), AGE_PIECE_BYTES),
        ("sealed", seal_as_before(Random(1).randbytes(2 * SEALED_PIECE_BYTES + 5)), SEALED_PIECE_BYTES),
    ):
        whole = piece + 16
        head = len(sealed) - 2 * whole - 5 - 16
        first, second = sealed[head : head + whole], sealed[head + whole : head + 2 * whole]
        cost = sealed.index(b"10\n") if kind == "age" else 20
        faults = {
            "changed": flip(sealed, head + 3),
            "other salt": flip(sealed, 34),
            "cut off": sealed[:-1],
            "cut off between pieces": sealed[: head + whole],
            "cut off before the last piece": sealed[: head + 2 * whole],
            "pieces exchanged": sealed[:head] + second + first + sealed[head + 2 * whole :],
            "longer": sealed + b"x",
            "head only": sealed[:head],
            "half a head": sealed[: head - 10],
            "first line only": sealed[:22],
            "dear": sealed[:cost]
            + (b"99" if kind == "age" else b"\x63")
            + sealed[cost + 2 - (kind != "age") :],
        }
        broken |= {f"{kind} {name}": content for name, content in faults.items()}
    own, other = seal(b"a night"), seal(b"a night")
    broken["age other authentication"] = own[:-83] + other[-83:-40] + own[-40:]
    return broken


def flip(content: bytes, place: int) -> bytes:
    changed = bytearray(content)
    changed[place] ^= 1
    return bytes(changed)


@pytest.mark.parametrize("fault", broken_files())
def test_a_file_that_was_changed_or_cut_off_is_refused(fault: str) -> None:
    with pytest.raises(SealBroken):
        unseal(broken_files()[fault])


def test_another_passphrase_is_refused() -> None:
    with pytest.raises(SealBroken, match="the passphrase is wrong"):
        unseal(seal(b"a night"), "seven brass bumper")
