"""What a user may hide, each in no other answer: where one turns up, something was told."""

from typing import Any

IFPA_CANARY = 777_123_456
PROFILE: dict[str, Any] = {
    "ifpa_id": IFPA_CANARY,
    "flag": "canary-flag",
    "location": "canary-location",
    "pronouns": "canary-pronouns",
    "initials": "canary-initials",
    "avatar": "canary-avatar",
    "banner": "canary-banner",
    "tournament_avatar": "canary-picture",
}
EMAIL = "canary-mail@silverball.test"
