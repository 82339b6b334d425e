"""Keys in a file outside the database, and what is encrypted with them.

The file has one key on each line, the newest first. Encrypted text names its key by fingerprint, so that
several keys can be in use while they are replaced: `fernet:0a1b2c3d4e5f6071:gAAAAAB...`.
"""

import base64
import binascii
import contextlib
import hashlib
import os
import secrets
from pathlib import Path

from silverball.kit import files
from silverball.kit.errors import Conflict, ServiceUnavailable
from silverball.kit.values import WithSecret

# Execution option of every connection: the key file of the process.
KEYS = "silverball_keys"
SCHEME = "fernet:"
KEY_BYTES = 32
FINGERPRINT_LETTERS = 16


class NoEncryptionKey(ServiceUnavailable):
    sentence = (
        "This server has no key to encrypt secrets with. Whoever runs it sets SILVERBALL_SECRET_FILE and"
        " makes the file with `silverball secret`."
    )


class EncryptionKeyUnknown(ServiceUnavailable):
    sentence = (
        "The database has secrets that are encrypted with the key {fingerprint}, which is not in this"
        " server's key file. Its operator puts the key back, or gives it up with `silverball secret forget`."
    )


class KeyFileUnusable(ServiceUnavailable):
    sentence = "The key file {file} cannot be used: {reason}."


class KeyFileExists(Conflict):
    sentence = "There is a key file at {file} already. `silverball secret add` adds a new key to it."


class EncryptionKey(WithSecret, frozen=True):
    """A key of 256 random bits, as text."""

    text: str

    @property
    def fingerprint(self) -> str:
        """Letters that tell this key from others and reveal nothing about it."""
        return hashlib.sha256(b"silverball key " + self.text.encode()).hexdigest()[:FINGERPRINT_LETTERS]

    def encrypt(self, plain: str) -> str:
        """Encrypt text; each time the result is another."""
        from cryptography.fernet import Fernet

        return encrypted_prefix(self.fingerprint) + Fernet(self.text).encrypt(plain.encode()).decode()

    def decrypt(self, stored: str) -> str:
        """Decrypt what this key encrypted. Raises EncryptionKeyUnknown when it was changed since."""
        from cryptography.fernet import Fernet, InvalidToken

        token = stored.removeprefix(encrypted_prefix(self.fingerprint))
        try:
            return Fernet(self.text).decrypt(token).decode()
        except InvalidToken as error:
            raise EncryptionKeyUnknown(fingerprint=self.fingerprint) from error


def encrypted_prefix(fingerprint: str) -> str:
    """How everything begins that is encrypted with the key of this fingerprint."""
    return f"{SCHEME}{fingerprint}:"


def fingerprint_of(stored: str) -> str | None:
    """The fingerprint of the key that text is encrypted with; None for text that is not encrypted."""
    return stored.removeprefix(SCHEME).partition(":")[0] if stored.startswith(SCHEME) else None


class KeyFile:
    """The file of keys. It is read again when it has changed, so running servers learn new keys."""

    def __init__(self, path: Path | None, *, may_make: bool = False) -> None:
        self.path = path
        # Whether the first secret may make the file; several nodes would each make another one.
        self.may_make = may_make
        # The state of the file when it was read, and its keys.
        self._read: tuple[object, tuple[EncryptionKey, ...]] = (None, ())

    def keys(self) -> tuple[EncryptionKey, ...]:
        """The keys, newest first; none without a file. Raises KeyFileUnusable."""
        if self.path is None:
            return ()
        try:
            status = self.path.stat()
            state = (status.st_ino, status.st_mtime_ns, status.st_size)
            if self._read[0] != state:
                self._read = (state, self._parse(self.path.read_text("ascii", "replace")))
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise KeyFileUnusable(file=self.path, reason=error.strerror) from error
        return self._read[1]

    def fingerprints(self) -> tuple[str, ...]:
        """The fingerprints of the keys; none of a file that cannot be used."""
        try:
            return tuple(key.fingerprint for key in self.keys())
        except KeyFileUnusable:
            return ()

    def key(self, fingerprint: str) -> EncryptionKey:
        """The key with this fingerprint. Raises EncryptionKeyUnknown."""
        for key in self.keys():
            if key.fingerprint == fingerprint:
                return key
        raise EncryptionKeyUnknown(fingerprint=fingerprint)

    def newest(self) -> EncryptionKey:
        """The newest key, which is made where it may be. Raises NoEncryptionKey without any."""
        keys = self.keys()
        if not keys and self.may_make:
            # Another process can be faster.
            with contextlib.suppress(KeyFileExists):
                self.make()
            keys = self.keys()
        if not keys:
            raise NoEncryptionKey
        return keys[0]

    def make(self) -> EncryptionKey:
        """Make the file with a first key. Raises KeyFileExists and NoEncryptionKey without a path."""
        key = _new_key()
        self._write([key], replaces=False)
        return key

    def add(self) -> EncryptionKey:
        """Add a new key before the others."""
        key = _new_key()
        self._write([key, *self.keys()], replaces=True)
        return key

    def keep_only(self, fingerprint: str) -> int:
        """Remove all keys but this, and return their number. Raises EncryptionKeyUnknown."""
        removed = len(self.keys()) - 1
        self._write([self.key(fingerprint)], replaces=True)
        return removed

    def _parse(self, text: str) -> tuple[EncryptionKey, ...]:
        keys = tuple(EncryptionKey(line) for line in text.split())
        if not keys or not all(_is_key(key.text) for key in keys):
            raise KeyFileUnusable(file=self.path, reason="it has something else than keys in it")
        return keys

    def _write(self, keys: list[EncryptionKey], *, replaces: bool) -> None:
        """Write the file, all of it or nothing; it is on the disk before a value is encrypted with it."""
        if self.path is None:
            raise NoEncryptionKey
        part = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}.part")
        try:
            opened = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, files.PRIVATE_MODE)
            with os.fdopen(opened, "w") as stream:
                stream.write("".join(f"{key.text}\n" for key in keys))
                stream.flush()
                os.fsync(stream.fileno())
            if replaces:
                part.replace(self.path)
            else:
                self.path.hardlink_to(part)
            files.sync_folder(self.path.parent)
        except FileExistsError as error:
            raise KeyFileExists(file=self.path) from error
        except OSError as error:
            raise KeyFileUnusable(file=self.path, reason=error.strerror) from error
        finally:
            with contextlib.suppress(OSError):
                part.unlink()


def _new_key() -> EncryptionKey:
    return EncryptionKey(base64.urlsafe_b64encode(secrets.token_bytes(KEY_BYTES)).decode())


def _is_key(text: str) -> bool:
    try:
        return len(base64.b64decode(text, altchars=b"-_", validate=True)) == KEY_BYTES
    except (binascii.Error, ValueError):
        return False
