"""Signing after Standard Webhooks: whoever has the secret knows that a message is from here, and not old.

Source: standardwebhooks.com, Verifying webhook authenticity (symmetric, v1).
"""

import base64
from datetime import datetime
from random import Random

from standardwebhooks import Webhook

PREFIX = "whsec_"
# The source wants 24 to 64.
SECRET_BYTES = 32
ID_BYTES = 18
JSON = "application/json"


def new_secret(dice: Random) -> str:
    """`whsec_` and random bytes. Outside tests `dice` is a `secrets.SystemRandom`."""
    return PREFIX + base64.b64encode(dice.randbytes(SECRET_BYTES)).decode()


def new_message_id(dice: Random) -> str:
    """`msg_` and random letters, with no dot: it is signed between dots."""
    return "msg_" + base64.urlsafe_b64encode(dice.randbytes(ID_BYTES)).decode()


def signed_headers(secret: str, message_id: str, body: bytes, at: datetime) -> dict[str, str]:
    """What a message is sent with at this moment."""
    return {
        "Content-Type": JSON,
        "Webhook-Id": message_id,
        "Webhook-Timestamp": str(int(at.timestamp())),
        "Webhook-Signature": Webhook(secret).sign(message_id, at, body.decode()),
    }
