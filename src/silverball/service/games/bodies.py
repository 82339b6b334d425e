"""Bodies of requests about games."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from silverball.kit.errors import Invalid
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Id
from silverball.rules.model.outcome import SCORE_MAX, GameOutcome

Players = Annotated[tuple[Id, ...], Meta(max_length=8)]
Score = Annotated[int, Meta(ge=0, le=SCORE_MAX)]
RESULT_FIELDS = {
    "result_positions": "resultPositions",
    "result_scores": "resultScores",
    "strikes": "strikes",
    "strokes": "strokes",
    "forfeit": "forfeit",
}


class ReportedResult(Body, frozen=True, kw_only=True):
    """A finishing order, best first, or scores; where both are sent the order wins."""

    result_positions: Annotated[Players, Meta(min_length=1)] | UnsetType = UNSET
    result_scores: Annotated[dict[Id, Score], Meta(min_length=1, max_length=8)] | UnsetType = UNSET

    def __post_init__(self) -> None:
        ways = [name for name in RESULT_FIELDS if getattr(self, name, UNSET) is not UNSET]
        if len(ways) != 1 and ways != ["result_positions", "result_scores"]:
            forms = ", ".join(wire_name for name, wire_name in RESULT_FIELDS.items() if hasattr(self, name))
            raise Invalid({"resultPositions": [f"Say the result in one way: {forms}."]})

    def outcome(self, game_id: int, by: int | None) -> GameOutcome:
        """The result in the form that the rules take."""
        return GameOutcome(
            game_id=game_id,
            finishing_order=() if isinstance(self.result_positions, UnsetType) else self.result_positions,
            scores={} if isinstance(self.result_scores, UnsetType) else self.result_scores,
            recorded_by=by,
        )


class EnteredResult(ReportedResult, frozen=True, kw_only=True):
    """A result in one of five ways."""

    # The players who get a strike.
    strikes: Players | UnsetType = UNSET
    strokes: Annotated[dict[Id, Score], Meta(min_length=1, max_length=8)] | UnsetType = UNSET
    # The no-show in a game of two.
    forfeit: Id | UnsetType = UNSET

    def outcome(self, game_id: int, by: int | None) -> GameOutcome:
        """The result in the form that the rules take."""
        if not isinstance(self.strikes, UnsetType):
            return GameOutcome(game_id=game_id, strikers=self.strikes, recorded_by=by)
        if not isinstance(self.strokes, UnsetType):
            return GameOutcome(game_id=game_id, strokes=self.strokes, recorded_by=by)
        if not isinstance(self.forfeit, UnsetType):
            return GameOutcome(game_id=game_id, forfeited_by=self.forfeit, recorded_by=by)
        # `super` needs its arguments in a class that msgspec makes.
        return ReportedResult.outcome(self, game_id, by)


class PlayerSwap(Body, frozen=True, kw_only=True):
    """A player of the game and the player who takes the seat."""

    player_id: Id
    with_player_id: Id


class GamePatch(Body, frozen=True, kw_only=True):
    """Changes to an open game."""

    # The playing order, first player first.
    player_ids: Players | UnsetType = UNSET
    arena_id: Id | UnsetType | None = UNSET
    swap: PlayerSwap | UnsetType = UNSET

    @property
    def is_order_only(self) -> bool:
        return self.arena_id is UNSET and self.swap is UNSET

    def __post_init__(self) -> None:
        if self.player_ids is UNSET and self.is_order_only:
            raise Invalid({"playerIds": ["Say what is to change: playerIds, arenaId or swap."]})


class SeatedPlayer(Body, frozen=True, kw_only=True):
    """A player who joins a game."""

    player_id: Id


class NewGame(Body, frozen=True, kw_only=True):
    """A game of chosen players."""

    player_ids: Players
    arena_id: Id | UnsetType | None = UNSET
