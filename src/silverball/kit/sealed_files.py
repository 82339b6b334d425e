"""Files encrypted with a passphrase, written and read as streams.

The format, all numbers big-endian:

    bytes 0 to 19    "silverball sealed 1\\n"
    byte 20          n, the logarithm of scrypt's cost to the base of 2 (r = 8, p = 1)
    bytes 21 to 36   salt
    then             pieces of 1 MiB, the last one shorter or as long, each followed by 16 bytes

The key is scrypt(passphrase in UTF-8, salt), 32 bytes. Each piece is encrypted with ChaCha20-Poly1305 (RFC
8439); its nonce is the number of the piece (11 bytes, from 0) and a byte that is 1 for the last piece, and
the 37 bytes of the head are its associated data. So pieces cannot be changed, exchanged or cut off.
"""

import os
from typing import IO

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

MAGIC = b"silverball sealed 1\n"
SALT_BYTES = 16
HEAD_BYTES = len(MAGIC) + 1 + SALT_BYTES
# 128 MB and about half a second for each guess.
COST = 17
COST_MAX = 20
PIECE_BYTES = 1 << 20
TAG_BYTES = 16


class SealBroken(ValueError):
    """The passphrase is wrong, or the file was changed or cut off."""

    def __init__(self) -> None:
        super().__init__("the passphrase is wrong, or the file was changed or cut off")


class SealingWriter:
    """Encrypts what is written to it; `close` writes the last piece and leaves the file open."""

    def __init__(self, file: IO[bytes], passphrase: str, *, cost: int = COST) -> None:
        self._file = file
        self._head = MAGIC + bytes([cost]) + os.urandom(SALT_BYTES)
        self._cipher = _cipher(self._head, passphrase)
        self._number = 0
        self._waiting = bytearray()
        file.write(self._head)

    def write(self, content: bytes) -> int:
        """Encrypt all pieces that cannot be the last one."""
        self._waiting += content
        while len(self._waiting) > PIECE_BYTES:
            self._write_piece(bytes(self._waiting[:PIECE_BYTES]), is_last=False)
            del self._waiting[:PIECE_BYTES]
        return len(content)

    def close(self) -> None:
        """Write the last piece."""
        self._write_piece(bytes(self._waiting), is_last=True)

    def _write_piece(self, piece: bytes, *, is_last: bool) -> None:
        nonce = _nonce(self._number, is_last=is_last)
        self._file.write(self._cipher.encrypt(nonce, piece, self._head))
        self._number += 1


class SealedReader:
    """Reads what a `SealingWriter` wrote. Raises SealBroken for whatever else."""

    def __init__(self, file: IO[bytes], passphrase: str) -> None:
        self._file = file
        self._head = file.read(HEAD_BYTES)
        if len(self._head) < HEAD_BYTES or not is_sealed(self._head) or self._head[len(MAGIC)] > COST_MAX:
            raise SealBroken
        self._cipher = _cipher(self._head, passphrase)
        self._number = 0
        self._next = file.read(PIECE_BYTES + TAG_BYTES)
        self._open = b""
        self._is_finished = False

    def read(self, size: int = -1) -> bytes:
        """Return so many bytes, fewer only at the end; all that are left without a size."""
        parts, missing = [], size
        while missing != 0 and (self._open or self._open_piece()):
            part = self._open if missing < 0 else self._open[:missing]
            self._open = self._open[len(part) :]
            parts.append(part)
            missing -= len(part) if missing > 0 else 0
        return b"".join(parts)

    def _open_piece(self) -> bool:
        if self._is_finished:
            return False
        piece, self._next = self._next, self._file.read(PIECE_BYTES + TAG_BYTES)
        self._is_finished = not self._next
        nonce = _nonce(self._number, is_last=self._is_finished)
        try:
            self._open = self._cipher.decrypt(nonce, piece, self._head)
        except InvalidTag as error:
            raise SealBroken from error
        self._number += 1
        return bool(self._open)


def is_sealed(beginning: bytes) -> bool:
    """Whether a file that begins so was sealed."""
    return beginning.startswith(MAGIC)


def _cipher(head: bytes, passphrase: str) -> ChaCha20Poly1305:
    cost, salt = head[len(MAGIC)], head[len(MAGIC) + 1 :]
    if not 1 <= cost <= COST_MAX:
        raise SealBroken
    return ChaCha20Poly1305(Scrypt(salt=salt, length=32, n=1 << cost, r=8, p=1).derive(passphrase.encode()))


def _nonce(number: int, *, is_last: bool) -> bytes:
    return number.to_bytes(11, "big") + bytes([is_last])
