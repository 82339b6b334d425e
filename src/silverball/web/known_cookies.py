"""Cookies that belonged to a sign-in or a device when they were last checked."""

import threading

from silverball.kit import tokens

COOKIES_MAX = 10_000


class KnownCookies:
    """Tells, without the database, people who were here lately from those who make up a cookie.

    It decides only whom an overloaded server refuses first, so a cookie that has ended since does no harm.
    """

    def __init__(self) -> None:
        # Digests of the secrets, the one that was added last at the end.
        self._digests: dict[str, None] = {}
        # Pages are answered in threads.
        self._lock = threading.Lock()

    def add(self, secret: str) -> None:
        """Remember a valid cookie, in place of the oldest one when there are too many."""
        digest = tokens.digest(secret)
        with self._lock:
            self._digests.pop(digest, None)
            while len(self._digests) >= COOKIES_MAX:
                del self._digests[next(iter(self._digests))]
            self._digests[digest] = None

    def __contains__(self, secret: str) -> bool:
        return tokens.digest(secret) in self._digests
