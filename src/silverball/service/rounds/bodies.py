"""What is sent about rounds."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from silverball.kit.errors import Invalid
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Id
from silverball.rules.model.outcome import SCORE_MAX


class NewRound(Body, frozen=True, kw_only=True):
    """How the next round is drawn."""

    # Show the draw and keep nothing of it.
    dry_run: bool = False
    # With other dice than those that this round was drawn with before.
    redraw: bool = False


class RoundPatch(Body, frozen=True, kw_only=True):
    """The arena of a hole or a race, and its target."""

    arena_id: Id | UnsetType | None = UNSET
    score: Annotated[int, Meta(ge=0, le=SCORE_MAX)] | UnsetType | None = UNSET

    def __post_init__(self) -> None:
        if self.arena_id is UNSET and self.score is UNSET:
            raise Invalid({"arenaId": ["Say what is to change: arenaId or score."]})
