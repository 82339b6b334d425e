"""Who may replace a result that is there: the organizer. Others are told whose it is."""

from collections.abc import Sequence
from typing import Any

from silverball.kit.errors import Conflict
from silverball.kit.http import Write
from silverball.rules import results
from silverball.rules.changes import Change
from silverball.rules.tournament import Game, Tournament
from silverball.service import access
from silverball.service.users import reads as users
from silverball.store import journal


def require(call: Write[Any], tournament: Tournament, game_id: int, changes: Sequence[Change]) -> None:
    """Raises Conflict that names who entered what and when, unless nothing is replaced."""
    game = results.game_of(tournament, game_id)
    if game.status != "completed" or not changes or access.manages(call.caller, tournament):
        return
    entered = journal.newest_result(call.db, tournament.tournament_id, game_id)
    user_id, at = entered if entered is not None else (game.scorekeeper_id, game.completed_at)
    name = "Somebody" if user_id is None else users.one(call.db, user_id, call.caller).name
    when = "" if at is None else f" at {at:%Y-%m-%d %H:%M:%SZ}"
    raise Conflict(
        f"Game {game_id} has a result: {name} entered {_told(game)}{when}. Only the organizer can change it."
    )


def _told(game: Game) -> str:
    order = game.finishing_order or game.result_positions
    if None not in order:
        return "the order " + ", ".join(str(player_id) for player_id in order)
    points = zip(game.result_points, game.player_ids, strict=True)
    return ", ".join(f"{worth} for player {player_id}" for worth, player_id in points)
