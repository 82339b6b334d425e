"""Files encrypted with a passphrase, written and read as streams, in the format age-encryption.org/v1.

The libraries of age encrypt with a passphrase in memory only, and with a cost that depends on how busy the
machine is; here it is fixed. What version 0.2.0 and those before have sealed is read too:

    bytes 0 to 19    "silverball sealed 1\\n"
    byte 20          n, the logarithm of scrypt's cost to the base of 2 (r = 8, p = 1)
    bytes 21 to 36   salt
    then             pieces, as in age, but of 1 MiB, and with the 37 bytes of the head as associated data

In both, a piece is encrypted with ChaCha20-Poly1305 (RFC 8439); its nonce is its number (11 bytes, from 0)
and a byte that is 1 for the last piece. So pieces cannot be changed, exchanged or cut off.
"""

import hmac
import os
import re
from base64 import b64decode, b64encode
from typing import IO

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

AGE_LINE = b"age-encryption.org/v1\n"
SEALED_LINE = b"silverball sealed 1\n"
# How a file begins that is for a passphrase, rather than for a key.
BEGINNINGS = (AGE_LINE + b"-> scrypt ", SEALED_LINE)
LINE_BYTES_MAX = 200
AGE_HEAD = re.compile(
    rb"(age-encryption\.org/v1\n-> scrypt ([\w+/]{22}) ([1-9][0-9]?)\n([\w+/]{43})\n---) ([\w+/]{43})\n",
    re.ASCII,
)
SCRYPT_LABEL = b"age-encryption.org/v1/scrypt"
KEY_BYTES = SALT_BYTES = 16
# 128 MB and about half a second for each guess.
COST = 17
COST_MAX = 20
AGE_PIECE_BYTES = 1 << 16
SEALED_PIECE_BYTES = 1 << 20
TAG_BYTES = 16


class SealBroken(ValueError):
    """The passphrase is wrong, or the file was changed or cut off."""

    def __init__(self) -> None:
        super().__init__("the passphrase is wrong, or the file was changed or cut off")


class SealingWriter:
    """Encrypts what is written to it; `close` writes the last piece and leaves the file open."""

    def __init__(self, file: IO[bytes], passphrase: str, *, cost: int = COST) -> None:
        self._file = file
        file_key, salt, nonce = os.urandom(KEY_BYTES), os.urandom(SALT_BYTES), os.urandom(SALT_BYTES)
        wrapping = _cipher_of_passphrase(passphrase, SCRYPT_LABEL + salt, cost)
        wrapped = wrapping.encrypt(bytes(12), file_key, None)
        head = b"%b-> scrypt %b %d\n%b\n---" % (AGE_LINE, _encode(salt), cost, _encode(wrapped))
        file.write(b"%b %b\n%b" % (head, _encode(_authenticate(file_key, head)), nonce))
        self._cipher = ChaCha20Poly1305(_derive_key(file_key, nonce, b"payload"))
        self._number = 0
        self._waiting = bytearray()

    def write(self, content: bytes) -> int:
        """Encrypt all pieces that cannot be the last one."""
        self._waiting += content
        start = 0
        while len(self._waiting) - start > AGE_PIECE_BYTES:
            self._write_piece(bytes(self._waiting[start : start + AGE_PIECE_BYTES]), is_last=False)
            start += AGE_PIECE_BYTES
        del self._waiting[:start]
        return len(content)

    def close(self) -> None:
        """Write the last piece."""
        self._write_piece(bytes(self._waiting), is_last=True)

    def _write_piece(self, piece: bytes, *, is_last: bool) -> None:
        self._file.write(self._cipher.encrypt(_nonce(self._number, is_last=is_last), piece, None))
        self._number += 1


class SealedReader:
    """Reads what a `SealingWriter`, age or an earlier version wrote. Raises SealBroken for anything else."""

    def __init__(self, file: IO[bytes], passphrase: str) -> None:
        self._file = file
        self._associated: bytes | None = None
        line = file.readline(LINE_BYTES_MAX)
        if line == SEALED_LINE:
            self._associated = line + file.read(1 + SALT_BYTES)
            self._piece_bytes = SEALED_PIECE_BYTES + TAG_BYTES
            cost, salt = self._associated[len(line) : len(line) + 1], self._associated[len(line) + 1 :]
            self._cipher = _cipher_of_passphrase(passphrase, salt, ord(cost or b"\0"))
        else:
            head = line + b"".join(file.readline(LINE_BYTES_MAX) for _ in range(3))
            self._piece_bytes = AGE_PIECE_BYTES + TAG_BYTES
            self._cipher = _open_age(head, file.read(SALT_BYTES), passphrase)
        self._number = 0
        self._next = file.read(self._piece_bytes)
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
        piece, self._next = self._next, self._file.read(self._piece_bytes)
        self._is_finished = not self._next
        nonce = _nonce(self._number, is_last=self._is_finished)
        try:
            self._open = self._cipher.decrypt(nonce, piece, self._associated)
        except InvalidTag as error:
            raise SealBroken from error
        self._number += 1
        return bool(self._open)


def is_sealed(beginning: bytes) -> bool:
    """Whether a file that begins so was encrypted with a passphrase."""
    return beginning.startswith(BEGINNINGS)


def _open_age(head: bytes, nonce: bytes, passphrase: str) -> ChaCha20Poly1305:
    """The cipher of the pieces behind this head."""
    match = AGE_HEAD.fullmatch(head)
    if match is None or len(nonce) < SALT_BYTES:
        raise SealBroken
    authenticated, salt, cost, wrapped, authentication = match.groups()
    wrapping = _cipher_of_passphrase(passphrase, SCRYPT_LABEL + _decode(salt), int(cost))
    try:
        file_key = wrapping.decrypt(bytes(12), _decode(wrapped), None)
    except InvalidTag as error:
        raise SealBroken from error
    if not hmac.compare_digest(_authenticate(file_key, authenticated), _decode(authentication)):
        raise SealBroken
    return ChaCha20Poly1305(_derive_key(file_key, nonce, b"payload"))


def _cipher_of_passphrase(passphrase: str, salt: bytes, cost: int) -> ChaCha20Poly1305:
    if not 1 <= cost <= COST_MAX:
        raise SealBroken
    return ChaCha20Poly1305(Scrypt(salt=salt, length=32, n=1 << cost, r=8, p=1).derive(passphrase.encode()))


def _derive_key(file_key: bytes, salt: bytes | None, purpose: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=32, salt=salt, info=purpose).derive(file_key)


def _authenticate(file_key: bytes, head: bytes) -> bytes:
    return hmac.digest(_derive_key(file_key, None, b"header"), head, "sha256")


def _encode(content: bytes) -> bytes:
    return b64encode(content).rstrip(b"=")


def _decode(text: bytes) -> bytes:
    return b64decode(text + b"=" * (-len(text) % 4))


def _nonce(number: int, *, is_last: bool) -> bytes:
    return number.to_bytes(11, "big") + bytes([is_last])
