"""A duplicate of a request in progress waits for the first one, or is refused."""

import threading
import time

import pytest

from silverball.kit.edge.idempotency import IdempotencyKey, KeysInProgress, RequestInProgress

KEY = IdempotencyKey(user_id=1, key="once", fingerprint="same")


def test_a_duplicate_waits_until_the_first_request_is_answered() -> None:
    keys, answered = KeysInProgress(), []

    def duplicate() -> None:
        with keys.hold(KEY, wait_seconds=10):
            answered.append("duplicate")

    thread = threading.Thread(target=duplicate)
    with keys.hold(KEY):
        thread.start()
        time.sleep(0.05)
        answered.append("first")
    thread.join(60)
    assert answered == ["first", "duplicate"]


@pytest.mark.parametrize("wait_seconds", [0, 0.05])
def test_a_duplicate_is_refused_when_the_first_request_takes_longer(wait_seconds: float) -> None:
    keys = KeysInProgress()
    with keys.hold(KEY), pytest.raises(RequestInProgress), keys.hold(KEY, wait_seconds=wait_seconds):
        pass


def test_another_key_does_not_wait() -> None:
    keys = KeysInProgress()
    with keys.hold(KEY), keys.hold(IdempotencyKey(user_id=2, key="once", fingerprint="same")):
        pass
