"""Recording, voiding and deleting single player games. Rules: rules/singleplay.py."""

from typing import Annotated, Any

from msgspec import Meta

from silverball.kit.body import Body
from silverball.kit.errors import Conflict, Invalid
from silverball.kit.fields import Id
from silverball.kit.http import ID_MAX, Write
from silverball.rules import bestplay, race, singleplay
from silverball.rules.outcome import AttemptOutcome, NewAttempt
from silverball.rules.tournament import Tournament
from silverball.service import access, acting
from silverball.service.acting import Made

Score = Annotated[int, Meta(ge=0, le=ID_MAX)]
Strokes = Annotated[int, Meta(ge=1, le=1000)]
Rolls = Annotated[tuple[Annotated[int, Meta(ge=0, le=10)], ...], Meta(max_length=3)]
ATTEMPT = "single_player_game_id"


class Result(Body, frozen=True, kw_only=True):
    """What somebody scored: one of the three."""

    score: Score | None = None
    strokes: Strokes | None = None
    rolls: Rolls = ()

    def __post_init__(self) -> None:
        if self.ways() != 1:
            raise Invalid({"score": ["Give the score, the strokes or the rolls: one of them."]})

    def ways(self) -> int:
        """How many of the three are given."""
        return (self.score is not None) + (self.strokes is not None) + bool(self.rolls)


class NewGame(Result, frozen=True, kw_only=True):
    """A game that a player has played, or begins to play when there is no result yet.

    Where the games are there already, the player's open one is meant; `arenaId` and `roundId` tell
    several apart.
    """

    player_id: Id
    arena_id: Id | None = None
    round_id: Id | None = None

    def __post_init__(self) -> None:
        if self.ways() > 1:
            raise Invalid({"score": ["Give the score, the strokes or the rolls: only one of them."]})


def add(call: Write[NewGame]) -> int:
    """The game that the body says: begun, or recorded; returns its id."""
    meant: list[int] = []

    def rule(tournament: Tournament) -> Made:
        one = singleplay.waiting_attempt(
            tournament, call.body.player_id, arena_id=call.body.arena_id, round_id=call.body.round_id
        )
        if one is None:
            return _opened(call, tournament, meant)
        meant.append(one.single_player_game_id)
        if call.body.ways():
            return _recorded(call, tournament, one.single_player_game_id)
        return Made(singleplay.start_attempt(tournament, one.single_player_game_id, call.now))

    after = acting.act(call, rule, may=access.may_score)
    # What is new has the highest id.
    return meant[0] if meant else after.single_player_games[-1].single_player_game_id


def _opened(call: Write[NewGame], tournament: Tournament, meant: list[int]) -> Made:
    body = call.body
    if body.strokes is not None or body.rolls:
        raise Invalid({"score": ["Enter the score: nothing else counts in this tournament."]})
    if body.arena_id is None:
        raise Invalid({"arenaId": ["The arena id field is required."]})
    said = NewAttempt(player_id=body.player_id, arena_id=body.arena_id, score=body.score, by=call.actor_id)
    playing = bestplay.being_played(tournament, body.player_id, body.arena_id)
    if playing is not None:
        if body.score is None:
            raise Conflict(f"Player {body.player_id} is playing this game already. Record its score.")
        meant.append(playing.single_player_game_id)
    return Made(singleplay.open_attempt(tournament, said, call.now))


def record(call: Write[Result]) -> int:
    """A result, new or corrected; returns the game's id."""
    game_id = call.ids[ATTEMPT]
    acting.act(call, lambda one: _recorded(call, one, game_id), may=access.may_score)
    return game_id


def _recorded(call: Write[Any], tournament: Tournament, game_id: int) -> Made:
    body: Result = call.body
    said = AttemptOutcome(
        single_player_game_id=game_id,
        score=body.score,
        strokes=body.strokes,
        rolls=body.rolls,
        by=call.actor_id,
    )
    draw = f"single player game {game_id}"
    return acting.drawn(tournament, draw, lambda dice: singleplay.record(tournament, said, dice, call.now))


def void(call: Write[Body]) -> int:
    """A game struck out of the results; returns its id."""
    game_id = call.ids[ATTEMPT]
    acting.act(call, lambda one: singleplay.void_attempt(one, game_id, call.now), may=access.may_score)
    return game_id


def unvoid(call: Write[Body]) -> int:
    """A voided game back among the results; returns its id."""
    game_id = call.ids[ATTEMPT]
    acting.act(call, lambda one: singleplay.unvoid_attempt(one, game_id, call.now))
    return game_id


def remove(call: Write[Body]) -> bool:
    """A game gone, or its result where the format made the game. Returns whether the game is still there."""
    game_id = call.ids[ATTEMPT]
    after = acting.act(call, lambda one: singleplay.delete_attempt(one, game_id, call.now))
    return any(one.single_player_game_id == game_id for one in after.single_player_games)


def advance(call: Write[Body]) -> int:
    """A player of an amazing race who is above the bar goes on; returns the id of his game."""
    player_id = call.ids["player_id"]
    found: list[int] = []

    def rule(tournament: Tournament) -> Made:
        draw = f"advance of player {player_id}"
        one = race.open_attempt_of(tournament, player_id)
        found.extend([] if one is None else [one.single_player_game_id])
        return acting.drawn(
            tournament,
            draw,
            lambda dice: singleplay.advance(tournament, player_id, by=call.actor_id, dice=dice, now=call.now),
        )

    acting.act(call, rule, may=access.may_score)
    return found[0]
