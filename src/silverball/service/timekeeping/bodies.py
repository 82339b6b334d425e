"""Bodies of the requests that keep a night on time."""

from typing import Annotated

from msgspec import Meta

from silverball.kit.http.body import Body

MINUTES_MAX = 240


class RoundMinutes(Body, frozen=True, kw_only=True):
    """The minutes of every round; 0 switches the timer off."""

    minutes: Annotated[int, Meta(ge=0, le=MINUTES_MAX)]
    """Minutes that a round may take; 0 for no timer."""


class ExtraTime(Body, frozen=True, kw_only=True):
    """Minutes to add to one game."""

    minutes: Annotated[int, Meta(ge=1, le=MINUTES_MAX)]
    """Minutes more for this game alone."""


class MoreTime(Body, frozen=True, kw_only=True):
    """Minutes to add to the open round; negative ones are taken off."""

    minutes: Annotated[int, Meta(ge=-MINUTES_MAX, le=MINUTES_MAX)]
    """Minutes more, or less below 0."""
