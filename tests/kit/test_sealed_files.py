"""Files that are encrypted with a passphrase. Source: issue 14, item 8."""

import io
from random import Random

import pytest

from silverball.kit import sealed_files
from silverball.kit.sealed_files import PIECE_BYTES, SealBroken, SealedReader, SealingWriter

PASSPHRASE = "seven brass bumpers"
CHEAP = 10


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


@pytest.mark.parametrize("size", [0, 1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES])
def test_what_was_sealed_is_read_with_the_passphrase(size: int) -> None:
    content = Random(size).randbytes(size)
    sealed = seal(content)
    assert unseal(sealed) == SealedReader(io.BytesIO(sealed), PASSPHRASE).read() == content
    assert len(sealed) == sealed_files.HEAD_BYTES + size + 16 * max(1, -(-size // PIECE_BYTES))
    assert sealed_files.is_sealed(sealed)


def test_the_same_content_is_sealed_otherwise_each_time() -> None:
    assert seal(b"a night") != seal(b"a night")


def broken_files() -> dict[str, bytes]:
    sealed = seal(Random(1).randbytes(2 * PIECE_BYTES + 5))
    head, whole = sealed_files.HEAD_BYTES, PIECE_BYTES + 16
    first, second = sealed[head : head + whole], sealed[head + whole : head + 2 * whole]
    changed = bytearray(sealed)
    changed[head + 3] ^= 1
    other_salt = bytearray(sealed)
    other_salt[head - 1] ^= 1
    return {
        "changed": bytes(changed),
        "other salt": bytes(other_salt),
        "cut off": sealed[:-1],
        "cut off between pieces": sealed[: head + whole],
        "cut off before the last piece": sealed[: head + 2 * whole],
        "pieces exchanged": sealed[:head] + second + first + sealed[head + 2 * whole :],
        "longer": sealed + b"x",
        "head only": sealed[:head],
        "half a head": sealed[:10],
        "empty": b"",
        "dear": sealed[:20] + b"\x63" + sealed[21:],
    }


@pytest.mark.parametrize("fault", broken_files())
def test_a_file_that_was_changed_or_cut_off_is_refused(fault: str) -> None:
    with pytest.raises(SealBroken):
        unseal(broken_files()[fault])


def test_another_passphrase_is_refused() -> None:
    with pytest.raises(SealBroken, match="the passphrase is wrong"):
        unseal(seal(b"a night"), "seven brass bumper")
