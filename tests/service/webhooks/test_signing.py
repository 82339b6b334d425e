"""Signatures that the library of Standard Webhooks accepts, and no others."""

import base64
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from silverball.service.webhooks import message_text

BODY = '{"type":"test","name":"Åsa"}'.encode()
SECRET = message_text.new_secret(Random(7))


def test_a_secret_has_its_prefix_and_length() -> None:
    assert SECRET.startswith("whsec_")
    assert len(base64.b64decode(SECRET.removeprefix("whsec_"))) == 32
    assert message_text.new_secret(Random(8)) != SECRET


def test_a_signed_message_is_accepted() -> None:
    headers = message_text.signed_headers(SECRET, "msg_1", BODY, datetime.now(UTC))
    assert Webhook(SECRET).verify(BODY, headers) == {"type": "test", "name": "Åsa"}


def test_the_vector_of_the_source_has_its_signature() -> None:
    # Source: the test vector that libraries of Standard Webhooks share.
    at = datetime.fromtimestamp(1614265330, UTC)
    body = b'{"test": 2432232314}'
    headers = message_text.signed_headers(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", body, at
    )
    assert headers["Webhook-Signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert headers["Webhook-Timestamp"] == "1614265330"


@pytest.mark.parametrize(
    ("secret", "body", "late"),
    [
        (message_text.new_secret(Random(8)), BODY, timedelta()),
        (SECRET, BODY + b" ", timedelta()),
        (SECRET, BODY, timedelta(minutes=6)),
    ],
)
def test_forged_changed_and_old_messages_are_refused(secret: str, body: bytes, late: timedelta) -> None:
    headers = message_text.signed_headers(SECRET, "msg_1", BODY, datetime.now(UTC) - late)
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(body, headers)


def test_every_message_has_an_id_without_a_dot() -> None:
    dice = Random(7)
    made = {message_text.new_message_id(dice) for _ in range(100)}
    assert len(made) == 100
    assert all(message_id.startswith("msg_") and "." not in message_id for message_id in made)
