"""A gate that opens once a minute for each key."""

import threading
from datetime import datetime

# More different keys in a minute do not pass.
KEYS_MAX = 1_000


class OncePerMinute:
    """Lets each key pass once a minute, so that being refused for nothing writes next to nothing."""

    def __init__(self) -> None:
        self._minute = 0
        self._keys: set[str] = set()
        # Pages are answered in threads.
        self._lock = threading.Lock()

    def passes(self, key: str, now: datetime) -> bool:
        """Return whether this is the key's first time in the minute; never above the limit of keys."""
        minute = int(now.timestamp()) // 60
        with self._lock:
            if minute != self._minute:
                self._minute = minute
                self._keys.clear()
            if key in self._keys or len(self._keys) >= KEYS_MAX:
                return False
            self._keys.add(key)
            return True
