"""Who may replace a result that is there: the organizer. Others are told whose it is."""

from collections.abc import Sequence
from typing import Any

from silverball.kit.errors import Conflict
from silverball.rules.mechanics import results
from silverball.rules.model.changes import Change
from silverball.rules.model.tournament import Game, Tournament
from silverball.service import access
from silverball.service.calls import Write
from silverball.service.devices import reads as devices
from silverball.service.users import reads as users
from silverball.store import journal


def refuse_overwrite(
    call: Write[Any], tournament: Tournament, game_id: int, changes: Sequence[Change]
) -> None:
    """Raises Conflict that names who entered what and when, unless nothing is replaced."""
    game = results.find_game(tournament, game_id)
    if game.status != "completed" or not changes or access.may_manage(call.caller, tournament):
        return
    entered = journal.newest_result(call.db, tournament.tournament_id, game_id)
    action_id, user_id, at = entered or (0, game.scorekeeper_id, game.completed_at)
    name = _author_name(call, tournament.tournament_id, action_id, user_id)
    when = "" if at is None else f" at {at:%Y-%m-%d %H:%M:%SZ}"
    raise Conflict(
        f"Game {game_id} has a result: {name} entered {_result_text(game)}{when}. Only the organizer can change it."  # noqa: E501
    )


def _author_name(call: Write[Any], tournament_id: int, action_id: int, user_id: int | None) -> str:
    """Who did an action: an account, a device, or nobody who is known."""
    if user_id is not None:
        return users.find_user(call.db, user_id, call.caller).name
    return devices.actor_names(call.db, tournament_id, [action_id]).get(action_id, "Somebody")


def _result_text(game: Game) -> str:
    order = game.finishing_order or game.result_positions
    if None not in order:
        return "the order " + ", ".join(str(player_id) for player_id in order)
    points = zip(game.result_points, game.player_ids, strict=True)
    return ", ".join(f"{worth} for player {player_id}" for worth, player_id in points)
