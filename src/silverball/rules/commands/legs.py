"""Commands on the single games of a match: recorded one by one, they say how the match stands.

Each function returns changes or refuses. Source: formats, section 14.10.
"""

from collections.abc import Sequence
from datetime import datetime
from random import Random

from silverball.kit.errors import Invalid, NotFound, Sentence
from silverball.kit.values import replace
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.lineup import arenas
from silverball.rules.mechanics import match_results, results
from silverball.rules.mechanics.match_results import NotPlayedInLegs
from silverball.rules.model.changes import Change
from silverball.rules.model.outcome import GameOutcome
from silverball.rules.model.tournament import Game, Leg, Tournament


def add_leg(
    tournament: Tournament, game_id: int, leg: Leg, by: int | None, dice: Random, now: datetime
) -> list[Change]:
    """Record the next single game of a match.

    Raises Invalid for other players and strange arenas, Conflict when the match is decided, was counted
    without its single games, or is no match of several games.
    """
    game = _find_match(tournament, game_id)
    _check_leg(tournament, game, leg)
    return _record_legs(tournament, game, (*game.legs, replace(leg, recorded_at=now)), by, dice, now)


def change_leg(
    tournament: Tournament, game_id: int, number: int, leg: Leg, by: int | None, dice: Random, now: datetime
) -> list[Change]:
    """Correct a single game, counted from 1; `leg` replaces it. Raises NotFound, and as `add_leg` does."""
    game = _find_match(tournament, game_id)
    at = _index_of_leg(game, number)
    _check_leg(tournament, game, leg)
    return _record_legs(tournament, game, (*game.legs[:at], leg, *game.legs[at + 1 :]), by, dice, now)


def delete_leg(
    tournament: Tournament, game_id: int, number: int, by: int | None, dice: Random, now: datetime
) -> list[Change]:
    """Delete a single game, counted from 1; the later ones move up. Raises NotFound."""
    game = _find_match(tournament, game_id)
    at = _index_of_leg(game, number)
    return _record_legs(tournament, game, (*game.legs[:at], *game.legs[at + 1 :]), by, dice, now)


def find_leg(tournament: Tournament, game_id: int, number: int) -> Leg:
    """A single game of a match, counted from 1. Raises NotFound."""
    game = results.find_game(tournament, game_id)
    return game.legs[_index_of_leg(game, number)]


def expected_arena_id(tournament: Tournament, game: Game) -> int | None:
    """The arena of the next single game, if nobody says another one.

    The next one of the match's bank; without a bank the first game is on the match's own arena, and
    later ones are wherever the players choose.
    """
    bank = next((bank for bank in tournament.banks if bank.bank_id == game.bank_id), None)
    if bank is not None:
        drawable = arenas.DrawableBank(bank.bank_id, bank.arena_ids)
        return arenas.bank_arenas(drawable, len(game.legs) + 1)[-1]
    return None if game.legs else game.arena_id


def _find_match(tournament: Tournament, game_id: int) -> Game:
    tournament_commands.require_started(tournament)
    game = results.find_game(tournament, game_id)
    if not match_results.is_played_in_legs(tournament, game):
        raise NotPlayedInLegs(game=game_id)
    return game


def _index_of_leg(game: Game, number: int) -> int:
    if not 1 <= number <= len(game.legs):
        raise NotFound("Leg", number)
    return number - 1


def _check_leg(tournament: Tournament, game: Game, leg: Leg) -> None:
    if sorted(leg.finishing_order) != sorted(game.player_ids):
        sentence = Sentence(
            "Name both players of {game}, the winner first: {players}.",
            game=game.game_id,
            players=game.player_ids,
        )
        raise Invalid({"resultPositions": [sentence]})
    lineup_ids = {arena.arena_id for arena in tournament.lineup}
    if leg.arena_id is not None and leg.arena_id not in lineup_ids:
        sentence = Sentence("{arena} is not in this tournament. Add it first.", arena=leg.arena_id)
        raise Invalid({"arenaId": [sentence]})


def _record_legs(
    tournament: Tournament, game: Game, legs: Sequence[Leg], by: int | None, dice: Random, now: datetime
) -> list[Change]:
    outcome = GameOutcome(game_id=game.game_id, legs=tuple(legs), recorded_by=by)
    return tournament_commands.record_result(tournament, outcome, dice, now)
