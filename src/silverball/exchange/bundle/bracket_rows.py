"""The rows of a bracket's games: matches, single games, tiebreaks, and bundles of earlier versions."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import msgspec

from silverball.exchange.bundle.checks import tuple_or_empty
from silverball.kit.errors import Invalid
from silverball.rules.pairing.bracket_nodes import BracketNode
from silverball.store.migrations import merge_matches
from silverball.store.migrations.merge_matches import StoredBracket
from silverball_wire import times
from silverball_wire.bundle import Bundle
from silverball_wire.games import Leg

PartRows = dict[str, list[dict[str, Any]]]
# Columns of a match that the published shape of a game does not have.
MATCH_COLUMNS = ("finishing_order", "forfeited_by", "legs")


def complete_matches(bundle: Bundle, parts: PartRows, nodes: Callable[[int], Sequence[BracketNode]]) -> None:
    """Complete the rows of a bracket's games; `nodes` are those of a bracket of a size.

    Single games become legs of their matches, and a match that was counted gets its winner. A bundle of
    a version that had a game for each single game is brought to one game for each match.
    """
    seats: dict[int, list[dict[str, Any]]] = {}
    for seat in parts["seats"]:
        seats.setdefault(seat["game_id"], []).append(seat)
    legs = _legs_by_game(bundle)
    for game in parts["games"]:
        game.update({**dict.fromkeys(MATCH_COLUMNS), "legs": legs.get(game["game_id"])})
    _merge_older_matches(parts, seats, nodes)
    for game in parts["games"]:
        own = seats[game["game_id"]]
        points = {seat["points"] for seat in own}
        is_counted = all(seat["result_position"] is None for seat in own) and None not in points
        if game["status"] == "completed" and is_counted and len(points) == len(own) > 1:
            game["finishing_order"] = list(merge_matches.finishing_order(game, own))


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


def _merge_older_matches(
    parts: PartRows, seats: dict[int, list[dict[str, Any]]], nodes: Callable[[int], Sequence[BracketNode]]
) -> None:
    settings = parts["tournament"][0]["settings"]
    try:
        bracket_nodes = nodes(settings["bracketSize"])
    except Invalid:
        # There is no bracket of this size, so its games stay as they are.
        return
    bracket = StoredBracket(
        nodes=bracket_nodes,
        best_of=settings["gamesPerRound"] or 1,
        point=Decimal("1.00"),
        rounds={round_["round_id"]: round_["round_index"] for round_ in parts["rounds"]},
        seeds=merge_matches.ids_by_seed(parts["entrants"]),
        games=parts["games"],
        seats=seats,
    )
    if not merge_matches.is_numbered_by_match(bracket):
        return
    dropped = merge_matches.merge_matches(bracket).match_by_dropped
    for name in ("games", "seats"):
        parts[name] = [part for part in parts[name] if part["game_id"] not in dropped]
    merged = {*dropped, *dropped.values()}
    parts["suggestions"] = [part for part in parts["suggestions"] if part["game_id"] not in merged]
    for standing in parts.get("standings", ()):
        standing["activeGames"] = [dropped.get(game_id, game_id) for game_id in standing["activeGames"]]
