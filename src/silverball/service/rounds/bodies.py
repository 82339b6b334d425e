"""Bodies of requests about rounds."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from silverball.kit.errors import Invalid
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Id
from silverball.rules.model.outcome import SCORE_MAX


class NewRound(Body, frozen=True, kw_only=True):
    """Options of the draw of the next round."""

    dry_run: bool = False
    """Answer with the draw and store nothing."""
    redraw: bool = False
    """Draw with other dice than in the last draw of this round."""


class RoundPatch(Body, frozen=True, kw_only=True):
    """Changes to the arena of a hole or a race, and to its target."""

    arena_id: Id | UnsetType | None = UNSET
    score: Annotated[int, Meta(ge=0, le=SCORE_MAX)] | UnsetType | None = UNSET
    """Target of the hole or bar of the race; null for none."""

    def __post_init__(self) -> None:
        if self.arena_id is UNSET and self.score is UNSET:
            raise Invalid({"arenaId": ["Say what is to change: arenaId or score."]})
