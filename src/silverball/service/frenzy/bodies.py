"""Bodies of requests about a frenzy."""

from typing import Annotated

from msgspec import Meta

from silverball.kit.http.body import Body
from silverball.kit.http.fields import Id

SECONDS_MAX = 24 * 60 * 60


class ClockAdjustment(Body, frozen=True, kw_only=True):
    """Seconds to add to the clock; negative ones are taken off."""

    seconds: Annotated[int, Meta(ge=-SECONDS_MAX, le=SECONDS_MAX)]
    """Seconds to add to the clock; below 0 they are taken off."""


class NewFrenzySpot(Body, frozen=True, kw_only=True):
    """A player who joins the queue."""

    player_id: Id
    """Id of the player who joins the queue."""
