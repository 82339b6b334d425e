"""Bodies of requests about rounds, notes on games, rulings, and the time of a night."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from silverball.kit.errors import Invalid
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Id
from silverball.rules.model.outcome import SCORE_MAX, GameOutcome
from silverball.service.games.bodies import Players, Score
from silverball_wire.rounds import NoteKind


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


NOTE_LETTERS_MAX = 500
WAIT, RESUME, START_OVER, SETTLE = "wait", "resume", "startOver", "settle"
ZERO, DISQUALIFIED = "zero", "disqualified"


class NewNote(Body, frozen=True, kw_only=True):
    """A note on a game."""

    kind: NoteKind
    """Kind of ruling, or `other`."""
    text: Annotated[str, Meta(min_length=1, max_length=NOTE_LETTERS_MAX)]
    """The note in words."""
    player_id: Id | UnsetType = UNSET
    """Id of the player of the game whom it is about; leave it out for the whole game. With `zero` they are
    last in the game, if it is open."""
    leaves: Literal["game", "tournament"] | UnsetType = UNSET
    """With `disqualified`, what the player leaves: this game with the last place, or the tournament with the
    last place in each open game, which is the organizer's. Without it, the note is all."""

    def __post_init__(self) -> None:
        if self.leaves is not UNSET and self.kind != DISQUALIFIED:
            raise Invalid({"leaves": ["Only who is disqualified leaves by a note."]})
        if self.player_id is UNSET and (self.kind == ZERO or self.leaves is not UNSET):
            raise Invalid({"playerId": ["Say who it is."]})


class Ruling(Body, frozen=True, kw_only=True):
    """A ruling on an open game whose machine is out of order."""

    ruling: Literal["wait", "resume", "startOver", "settle"]
    """`wait` stops the clock of the game until its machine is back, `resume` lets it go on; `startOver` moves
    the game to another machine, where it begins again; `settle` ends it in the order that it has now."""
    arena_id: Id | UnsetType = UNSET
    """With `startOver`, the id of the other arena; without it, one is drawn."""
    result_positions: Annotated[Players, Meta(min_length=1)] | UnsetType = UNSET
    """With `settle`, the ids of the players in the order of now, best first."""
    result_scores: Annotated[dict[Id, Score], Meta(min_length=1, max_length=8)] | UnsetType = UNSET
    """With `settle`, the scores of now, by player id; the order follows from them."""

    def __post_init__(self) -> None:
        if self.arena_id is not UNSET and self.ruling != START_OVER:
            raise Invalid({"arenaId": ["Only a game that starts over gets another machine."]})
        given = [value for value in (self.result_positions, self.result_scores) if value is not UNSET]
        if given and self.ruling != SETTLE:
            raise Invalid({"resultPositions": ["Only a game that is settled gets its result."]})
        if not given and self.ruling == SETTLE:
            raise Invalid({"resultPositions": ["Give the order of now, or the scores of now."]})

    def outcome(self, game_id: int, by: int | None) -> GameOutcome:
        """The order of now in the form that the rules take."""
        return GameOutcome(
            game_id=game_id,
            finishing_order=() if isinstance(self.result_positions, UnsetType) else self.result_positions,
            scores={} if isinstance(self.result_scores, UnsetType) else self.result_scores,
            recorded_by=by,
        )


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
