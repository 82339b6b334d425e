"""The rows of a bracket's games: matches, single games, tiebreaks."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from silverball.exchange.bundle.checks import tuple_or_empty
from silverball.exchange.bundle.faults import BrokenBundle
from silverball.kit.errors import Invalid
from silverball.rules.pairing.bracket_nodes import BracketNode
from silverball_wire import times
from silverball_wire.bundle import Bundle
from silverball_wire.games import Leg

PartRows = dict[str, list[dict[str, Any]]]
# Columns of a match that the published shape of a game does not have.
MATCH_COLUMNS = ("finishing_order", "forfeited_by", "legs")
UNMERGED = (
    "They are of a version before 0.2.0, in which each single game of a match was a game. Import the file"
    " with 0.2.0, and export the tournament again."
)


def complete_matches(bundle: Bundle, parts: PartRows, nodes: Callable[[int], Sequence[BracketNode]]) -> None:
    """Complete the rows of a bracket's games; `nodes` are those of a bracket of a size.

    Single games become legs of their matches, and a match that was counted gets its winner. Raises
    BrokenBundle for a file of a version that had a game for each single game.
    """
    _refuse_unmerged_matches(parts, nodes)
    seats: dict[int, list[dict[str, Any]]] = {}
    for seat in parts["seats"]:
        seats.setdefault(seat["game_id"], []).append(seat)
    legs = _legs_by_game(bundle)
    for game in parts["games"]:
        game.update({**dict.fromkeys(MATCH_COLUMNS), "legs": legs.get(game["game_id"])})
    for game in parts["games"]:
        own = seats[game["game_id"]]
        points = {seat["points"] for seat in own}
        is_counted = all(seat["result_position"] is None for seat in own) and None not in points
        if game["status"] == "completed" and is_counted and len(points) == len(own) > 1:
            game["finishing_order"] = _finishing_order(own)


def mark_tiebreaks(parts: PartRows) -> None:
    """Mark the tiebreak games of a group bracket, which no published shape tells from others.

    The groups of a round have no player in common, so a game of some of a group's players is a tiebreak.
    """
    players: dict[int, set[int]] = {}
    for seat in parts["seats"]:
        players.setdefault(seat["game_id"], set()).add(seat["player_id"])
    groups: dict[int | None, list[set[int]]] = {}
    for game in parts["games"]:
        groups.setdefault(game["round_id"], []).append(players.get(game["game_id"], set()))
    for game in parts["games"]:
        own = players.get(game["game_id"], set())
        game["is_tiebreak"] = any(own < group for group in groups[game["round_id"]]) or None


def _legs_by_game(bundle: Bundle) -> dict[int, list[dict[str, Any]]]:
    """Game id -> its single games as they are stored."""
    legs: dict[int, list[dict[str, Any]]] = {}
    for leg in sorted(tuple_or_empty(bundle.legs), key=lambda leg: (leg.game_id, leg.leg)):
        legs.setdefault(leg.game_id, []).append(_leg_fields(leg))
    return legs


def _leg_fields(leg: Leg) -> dict[str, Any]:
    recorded_at = None if leg.recorded_at is None else times.parse_moment(leg.recorded_at)
    return {
        "finishing_order": list(leg.result_positions),
        "arena_id": leg.arena_id,
        "recorded_at": msgspec.to_builtins(recorded_at),
    }


def _finishing_order(seats: Sequence[dict[str, Any]]) -> list[int]:
    """The players of a match that was counted, the winner first."""
    return [seat["player_id"] for seat in sorted(seats, key=lambda seat: -seat["points"])]


def _refuse_unmerged_matches(parts: PartRows, nodes: Callable[[int], Sequence[BracketNode]]) -> None:
    """Raise BrokenBundle where games are numbered inside their matches, and not by their places.

    Then the first game of each match has number 0, which the game for third place alone has since. That
    game is made once both semifinals, which are numbers 2 and 3, have been played.
    """
    try:
        nodes(parts["tournament"][0]["settings"]["bracketSize"])
    except Invalid:
        # There is no bracket of this size, so its games are numbered as they like.
        return
    rounds = {round_["round_id"] for round_ in parts["rounds"]}
    played = [
        ((game["round_id"], game["set_number"]), game["game_index"])
        for game in parts["games"]
        if game["round_id"] in rounds and not game["bye"] and not game.get("is_tiebreak")
    ]
    first_games = {match for match, number in played if number == 0}
    others = {number for match, number in played if match not in first_games}
    if len(first_games) > 1 or (len(first_games) == 1 and not others >= {2, 3}):
        raise BrokenBundle("$.games", UNMERGED)
