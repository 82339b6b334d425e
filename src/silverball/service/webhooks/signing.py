"""Signatures after Standard Webhooks: they prove to holders of the secret that a message is ours and fresh.

Source: standardwebhooks.com, Verifying webhook authenticity (symmetric, v1).
"""

import base64
from datetime import datetime
from random import Random

from standardwebhooks import Webhook

PREFIX = "whsec_"
# The source requires 24 to 64.
SECRET_BYTES = 32
ID_BYTES = 18
JSON = "application/json"


def new_secret(dice: Random) -> str:
    """A secret of `whsec_` and random bytes. Outside tests `dice` is a `secrets.SystemRandom`."""
    return PREFIX + base64.b64encode(dice.randbytes(SECRET_BYTES)).decode()


def new_message_id(dice: Random) -> str:
    """An id of `msg_` and random letters; without a dot, because dots delimit it in the signed text."""
    return "msg_" + base64.urlsafe_b64encode(dice.randbytes(ID_BYTES)).decode()


def signed_headers(secret: str, message_id: str, body: bytes, at: datetime) -> dict[str, str]:
    """The headers of a message sent at this moment, with its signature."""
    return {
        "Content-Type": JSON,
        "Webhook-Id": message_id,
        "Webhook-Timestamp": str(int(at.timestamp())),
        "Webhook-Signature": Webhook(secret).sign(message_id, at, body.decode()),
    }
