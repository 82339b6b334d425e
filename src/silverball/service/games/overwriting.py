"""Overwriting a stored result, which only the organizer may do."""

from collections.abc import Sequence
from typing import Any

from silverball.kit.errors import Conflict
from silverball.rules.model.changes import Change
from silverball.rules.model.tournament import Game, Tournament
from silverball.service import access
from silverball.service.calls import Write
from silverball.service.devices import reads as devices
from silverball.service.users import reads as users
from silverball.store import journal


class ResultAlreadyEntered(Conflict):
    """The game has a result, which only the organizer may replace."""

    def __init__(self, game: Game, author: str, time: str) -> None:
        order = game.finishing_order or game.result_positions
        facts: dict[str, Any] = {"players": order}
        result = "{players}, first to last"
        if None in order:
            facts = {f"p{slot}_player": player_id for slot, player_id in enumerate(game.player_ids)}
            points = zip(game.result_points, facts, strict=True)
            result = ", ".join(f"{earned} for {{{key}}}" for earned, key in points)
        super().__init__(
            f"{{game}} has a result: {{author}} entered {result}{{time}}. Only the organizer can change it.",
            game=game.game_id,
            author=author,
            time=time,
            **facts,
        )


def refuse_overwrite(call: Write[Any], tournament: Tournament, game: Game, changes: Sequence[Change]) -> None:
    """Raise Conflict, with the author and time of the stored result, when the caller may not replace it."""
    if game.status != "completed" or not changes or access.may_manage(call.caller, tournament):
        return
    entry = journal.newest_result(call.db, tournament.tournament_id, game.game_id)
    action_id, user_id, at = entry or (0, game.scorekeeper_id, game.completed_at)
    author = _author_name(call, tournament.tournament_id, action_id, user_id)
    raise ResultAlreadyEntered(game, author, "" if at is None else f" at {at:%Y-%m-%d %H:%M:%SZ}")


def _author_name(call: Write[Any], tournament_id: int, action_id: int, user_id: int | None) -> str:
    """The name of the account or device behind an action."""
    if user_id is not None:
        return users.find_user(call.db, user_id, call.caller).name
    return devices.actor_names(call.db, tournament_id, [action_id]).get(action_id, "an unknown account")
