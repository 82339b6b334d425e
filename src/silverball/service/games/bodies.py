"""Bodies of requests about games."""

from decimal import Decimal
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType, field

from silverball.kit.errors import Invalid
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Id
from silverball.kit.values import replace
from silverball.rules.model.outcome import SCORE_MAX, GameOutcome

Players = Annotated[tuple[Id, ...], Meta(max_length=8)]
Forfeit = Id | Annotated[tuple[Id, ...], Meta(min_length=1, max_length=8)]
Score = Annotated[int, Meta(ge=0, le=SCORE_MAX)]
RESULT_FIELDS = {
    "result_positions": "resultPositions",
    "result_scores": "resultScores",
    "strikes": "strikes",
    "strokes": "strokes",
    "games": "games",
    "forfeit": "forfeit",
}
WINS_MAX = 9
REASON_MAX = 500


class ResultCorrection(Body, frozen=True, kw_only=True):
    """Why a result is corrected, and what becomes of players who are back in or out by it."""

    reason: Annotated[str, Meta(max_length=REASON_MAX)] | None = None
    """Reason, which the journal keeps; only a dry run needs none."""
    missed_rounds: Annotated[dict[Id, Decimal], Meta(max_length=500)] = field(default_factory=dict)
    """Strikes in knockouts, points elsewhere, for rounds that players missed who are back in, by player id;
    0 where nothing is given."""
    take_out: Annotated[tuple[Id, ...], Meta(max_length=500)] = ()
    """Ids of players who are out by the correction and leave their open games; the others finish theirs."""


def given_up_ids(forfeit: Forfeit | UnsetType) -> tuple[int, ...]:
    """The players who gave up: one, several or none."""
    if isinstance(forfeit, UnsetType):
        return ()
    return (forfeit,) if isinstance(forfeit, int) else forfeit


def require_reason(correction: ResultCorrection | UnsetType, *, dry_run: bool) -> None:
    """Refuse a correction without a reason. Raises Invalid."""
    if isinstance(correction, ResultCorrection) and not dry_run and not correction.reason:
        raise Invalid({"correction.reason": ["Give the reason of the correction: the journal keeps it."]})


class ReportedResult(Body, frozen=True, kw_only=True):
    """A finishing order, best first, or scores; where both are sent the order wins."""

    result_positions: Annotated[Players, Meta(min_length=1)] | UnsetType = UNSET
    """Ids of the players in finishing order, best first."""
    result_scores: Annotated[dict[Id, Score], Meta(min_length=1, max_length=8)] | UnsetType = UNSET
    """Score of each player, by player id; the order follows from them."""

    def __post_init__(self) -> None:
        ways = [name for name in RESULT_FIELDS if getattr(self, name, UNSET) is not UNSET]
        if len(ways) > 1 and "games" not in ways:
            # Who gave up stands beside the result of the others.
            ways = [name for name in ways if name != "forfeit"]
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
    """A result in one of six ways."""

    strikes: Players | UnsetType = UNSET
    """Ids of the players who get a strike."""
    strokes: Annotated[dict[Id, Score], Meta(min_length=1, max_length=8)] | UnsetType = UNSET
    """Strokes of each player, by player id."""
    games: Annotated[dict[Id, Annotated[int, Meta(ge=0, le=WINS_MAX)]], Meta(max_length=8)] | UnsetType = (
        UNSET
    )
    """Games won so far in a match of a bracket, by player id; who is left out has won none."""
    forfeit: Forfeit | UnsetType = UNSET
    """Id of the player who gives up the game or did not appear, or a list of ids. They have nothing from it
    and share the last place; beside it, the order or the scores of the others."""
    correction: ResultCorrection | UnsetType = UNSET
    """Reason to correct a result that is there, of any round; for the organizer."""
    dry_run: bool = False
    """Answer with the consequences of the correction and store nothing."""

    def __post_init__(self) -> None:
        # `super` needs its arguments in a class that msgspec makes.
        ReportedResult.__post_init__(self)
        require_reason(self.correction, dry_run=self.dry_run)

    def outcome(self, game_id: int, by: int | None) -> GameOutcome:
        """The result in the form that the rules take."""
        if not isinstance(self.games, UnsetType):
            return GameOutcome(game_id=game_id, games_won=self.games, recorded_by=by)
        gave_up = given_up_ids(self.forfeit)
        if not isinstance(self.strikes, UnsetType):
            return GameOutcome(game_id=game_id, strikers=self.strikes, gave_up=gave_up, recorded_by=by)
        if not isinstance(self.strokes, UnsetType):
            return GameOutcome(game_id=game_id, strokes=self.strokes, gave_up=gave_up, recorded_by=by)
        return replace(ReportedResult.outcome(self, game_id, by), gave_up=gave_up)


class NewLeg(Body, frozen=True, kw_only=True):
    """A single game of a match: the winner, then the loser, and the arena if it is known."""

    result_positions: Annotated[tuple[Id, ...], Meta(min_length=2, max_length=2)]
    """Ids of the winner and of the loser."""
    arena_id: Id | UnsetType | None = UNSET
    """Id of the arena, null for none; by default the next of the match's bank, or the match's own for its
    first single game."""


class LegPatch(Body, frozen=True, kw_only=True):
    """Changes to a single game of a match."""

    result_positions: Annotated[tuple[Id, ...], Meta(min_length=2, max_length=2)] | UnsetType = UNSET
    """Ids of the winner and of the loser."""
    arena_id: Id | UnsetType | None = UNSET
    """Id of the arena; null for none."""

    def __post_init__(self) -> None:
        if self.result_positions is UNSET and self.arena_id is UNSET:
            raise Invalid({"resultPositions": ["Say what is to change: resultPositions or arenaId."]})


class PlayerSwap(Body, frozen=True, kw_only=True):
    """A player of the game and the player who takes the seat."""

    player_id: Id
    """Id of the player who leaves the seat."""
    with_player_id: Id
    """Id of the player who takes the seat."""


class GamePatch(Body, frozen=True, kw_only=True):
    """Changes to an open game."""

    player_ids: Players | UnsetType = UNSET
    """Ids of the players in their new playing order."""
    arena_id: Id | UnsetType | None = UNSET
    """Id of the arena to move the game to; null for no arena."""
    swap: PlayerSwap | UnsetType = UNSET
    """A player of the game, and another one who takes the seat."""

    @property
    def is_order_only(self) -> bool:
        return self.arena_id is UNSET and self.swap is UNSET

    def __post_init__(self) -> None:
        if self.player_ids is UNSET and self.is_order_only:
            raise Invalid({"playerIds": ["Say what is to change: playerIds, arenaId or swap."]})


class SeatedPlayer(Body, frozen=True, kw_only=True):
    """A player who joins a game."""

    player_id: Id
    """Id of the player who joins the game."""


class NewGame(Body, frozen=True, kw_only=True):
    """A game of chosen players."""

    player_ids: Players
    """Ids of the players in playing order."""
    arena_id: Id | UnsetType | None = UNSET
    """Id of the arena; absent and null leave it to the assignment of arenas."""


SECONDS_MAX = 24 * 60 * 60


class ClockAdjustment(Body, frozen=True, kw_only=True):
    """Seconds to add to the clock; negative ones are taken off."""

    seconds: Annotated[int, Meta(ge=-SECONDS_MAX, le=SECONDS_MAX)]
    """Seconds to add to the clock; below 0 they are taken off."""


class NewFrenzySpot(Body, frozen=True, kw_only=True):
    """A player who joins the queue."""

    player_id: Id
    """Id of the player who joins the queue."""
