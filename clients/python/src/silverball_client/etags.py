"""Answers with their ETags, so that an unchanged answer is neither sent nor counted again."""

import threading
from collections import OrderedDict
from dataclasses import dataclass


@dataclass(frozen=True)
class StoredAnswer:
    """The body of an answer and its ETag."""

    etag: str
    body: bytes


class StoredAnswers:
    """The answers that were used last, within a number of bytes. Several threads may use it."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._bytes = 0
        self._answers: OrderedDict[str, StoredAnswer] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, target: str) -> StoredAnswer | None:
        """Return the stored answer to this request, if there is one."""
        with self._lock:
            stored = self._answers.get(target)
            if stored is not None:
                self._answers.move_to_end(target)
            return stored

    def store(self, target: str, etag: str, body: bytes) -> None:
        """Store an answer in place of an older one, and drop what was not used for the longest time."""
        with self._lock:
            self._drop(target)
            if len(body) > self._bytes_max:
                return
            self._answers[target] = StoredAnswer(etag, body)
            self._bytes += len(body)
            while self._bytes > self._bytes_max:
                self._drop(next(iter(self._answers)))

    def _drop(self, target: str) -> None:
        dropped = self._answers.pop(target, None)
        if dropped is not None:
            self._bytes -= len(dropped.body)
