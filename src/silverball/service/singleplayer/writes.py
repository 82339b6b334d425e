"""Recording, voiding and deleting single player games. Rules: rules/commands/single_player.py."""

from typing import Annotated, Any

from msgspec import Meta

from silverball.kit.errors import Conflict, Invalid
from silverball.kit.http.body import Body
from silverball.kit.http.fields import ID_MAX, Id
from silverball.rules.commands import single_player as single_player_commands
from silverball.rules.families import amazing_race
from silverball.rules.families import best_game as best_game_family
from silverball.rules.model.outcome import AttemptOutcome, NewAttempt
from silverball.rules.model.tournament import Tournament
from silverball.service import access
from silverball.service.calls import Write
from silverball.service.core import commands
from silverball.service.core.commands import Decision

Score = Annotated[int, Meta(ge=0, le=ID_MAX)]
Strokes = Annotated[int, Meta(ge=1, le=1000)]
Rolls = Annotated[tuple[Annotated[int, Meta(ge=0, le=10)], ...], Meta(max_length=3)]
SINGLE_PLAYER_GAME = "single_player_game_id"


class AttemptResult(Body, frozen=True, kw_only=True):
    """What somebody scored: one of the three."""

    score: Score | None = None
    strokes: Strokes | None = None
    rolls: Rolls = ()

    def __post_init__(self) -> None:
        if self.result_count() != 1:
            raise Invalid({"score": ["Give the score, the strokes or the rolls: one of them."]})

    def result_count(self) -> int:
        """How many of the three are given."""
        return (self.score is not None) + (self.strokes is not None) + bool(self.rolls)


class NewSinglePlayerGame(AttemptResult, frozen=True, kw_only=True):
    """A game that a player has played, or begins to play when there is no result yet.

    Where the games are there already, the player's open one is meant; `arenaId` and `roundId` tell
    several apart.
    """

    player_id: Id
    arena_id: Id | None = None
    round_id: Id | None = None

    def __post_init__(self) -> None:
        if self.result_count() > 1:
            raise Invalid({"score": ["Give the score, the strokes or the rolls: only one of them."]})


def add_single_player_game(call: Write[NewSinglePlayerGame]) -> int:
    """The game that the body says: begun, or recorded; returns its id."""
    meant: list[int] = []

    def rule(tournament: Tournament) -> Decision:
        one = single_player_commands.find_open_attempt(
            tournament, call.body.player_id, arena_id=call.body.arena_id, round_id=call.body.round_id
        )
        if one is None:
            return _open_decision(call, tournament, meant)
        meant.append(one.single_player_game_id)
        if call.body.result_count():
            return _record_decision(call, tournament, one.single_player_game_id)
        return Decision(single_player_commands.start_attempt(tournament, one.single_player_game_id, call.now))

    after = commands.run_command(call, rule, is_allowed=access.may_score)
    # What is new has the highest id.
    return meant[0] if meant else after.single_player_games[-1].single_player_game_id


def _open_decision(call: Write[NewSinglePlayerGame], tournament: Tournament, meant: list[int]) -> Decision:
    body = call.body
    if body.strokes is not None or body.rolls:
        raise Invalid({"score": ["Enter the score: nothing else counts in this tournament."]})
    if body.arena_id is None:
        raise Invalid({"arenaId": ["The arena id field is required."]})
    said = NewAttempt(
        player_id=body.player_id, arena_id=body.arena_id, score=body.score, recorded_by=call.actor_id
    )
    playing = best_game_family.running_attempt(tournament, body.player_id, body.arena_id)
    if playing is not None:
        if body.score is None:
            raise Conflict(f"Player {body.player_id} is playing this game already. Record its score.")
        meant.append(playing.single_player_game_id)
    return Decision(single_player_commands.open_attempt(tournament, said, call.now))


def record_single_player_game(call: Write[AttemptResult]) -> int:
    """A result, new or corrected; returns the game's id."""
    game_id = call.ids[SINGLE_PLAYER_GAME]
    commands.run_command(call, lambda one: _record_decision(call, one, game_id), is_allowed=access.may_score)
    return game_id


def _record_decision(call: Write[Any], tournament: Tournament, game_id: int) -> Decision:
    body: AttemptResult = call.body
    said = AttemptOutcome(
        single_player_game_id=game_id,
        score=body.score,
        strokes=body.strokes,
        rolls=body.rolls,
        recorded_by=call.actor_id,
    )
    draw = f"single player game {game_id}"
    return commands.decide_by_draw(
        tournament, draw, lambda dice: single_player_commands.record_attempt(tournament, said, dice, call.now)
    )


def void_single_player_game(call: Write[Body]) -> int:
    """A game struck out of the results; returns its id."""
    game_id = call.ids[SINGLE_PLAYER_GAME]
    commands.run_command(
        call,
        lambda one: single_player_commands.void_attempt(one, game_id, call.now),
        is_allowed=access.may_score,
    )
    return game_id


def unvoid_single_player_game(call: Write[Body]) -> int:
    """A voided game back among the results; returns its id."""
    game_id = call.ids[SINGLE_PLAYER_GAME]
    commands.run_command(call, lambda one: single_player_commands.unvoid_attempt(one, game_id, call.now))
    return game_id


def delete_single_player_game(call: Write[Body]) -> bool:
    """A game gone, or its result where the format made the game. Returns whether the game is still there."""
    game_id = call.ids[SINGLE_PLAYER_GAME]
    after = commands.run_command(
        call, lambda one: single_player_commands.delete_attempt(one, game_id, call.now)
    )
    return any(one.single_player_game_id == game_id for one in after.single_player_games)


def advance_player(call: Write[Body]) -> int:
    """A player of an amazing race who is above the bar goes on; returns the id of his game."""
    player_id = call.ids["player_id"]
    found: list[int] = []

    def rule(tournament: Tournament) -> Decision:
        draw = f"advance of player {player_id}"
        one = amazing_race.find_open_attempt(tournament, player_id)
        found.extend([] if one is None else [one.single_player_game_id])
        return commands.decide_by_draw(
            tournament,
            draw,
            lambda dice: single_player_commands.advance_player(
                tournament, player_id, recorded_by=call.actor_id, dice=dice, now=call.now
            ),
        )

    commands.run_command(call, rule, is_allowed=access.may_score)
    return found[0]
