"""The stored games of a bracket with one game for each match, from rows with one for each single game.

Until schema 0010 a best of three was up to three games, numbered from 0 in their match. Since 0011 a match
is one game, numbered by its place in the bracket (formats, 14.10). Migration 0011 goes this way, and so do
bundles that were exported before: rows come in and go out as mappings of columns.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeAlias

import msgspec

from silverball.rules.pairing.bracket_nodes import BracketNode, NodeKey, SeedSource, WinnerSource

Row: TypeAlias = dict[str, Any]
EMPTY_SEAT = 0
PAIR_SIZE = 2


@dataclass(frozen=True, kw_only=True)
class StoredBracket:
    """A bracket as it is stored; the rows of its games are changed in place."""

    nodes: Sequence[BracketNode]
    # Single games that decide a match at most.
    best_of: int
    # The points of one single game, in the unit of the rows.
    point: Any
    # Round id -> its index.
    rounds: Mapping[int, int]
    # Active players, best seed first.
    seeds: Sequence[int]
    # By id.
    games: Sequence[Row]
    # Game id -> its seats in playing order.
    seats: Mapping[int, Sequence[Row]]

    def place_of(self, game: Row) -> NodeKey:
        """The round and the place in it, as they were stored."""
        return self.rounds[game["round_id"]], game["set_number"]


@dataclass(frozen=True)
class MergedGames:
    """Games that are no more -> the match that they are single games of now."""

    match_by_dropped: dict[int, int] = field(default_factory=dict)


def is_numbered_by_match(bracket: StoredBracket) -> bool:
    """Whether the games are numbered inside their matches, as they were until schema 0010.

    Then the first game of each match has number 0, which the game for third place alone has since. That
    game is made once both semifinals, which are numbers 2 and 3, have been played.
    """
    played = _games_in_rounds(bracket)
    first_games = {bracket.place_of(game) for game in played if game["game_index"] == 0}
    others = {game["game_index"] for game in played if bracket.place_of(game) not in first_games}
    return len(first_games) > 1 or (len(first_games) == 1 and not others >= {2, 3})


def merge_matches(bracket: StoredBracket) -> MergedGames:
    """Make one game of each match and number the games by their places in the bracket.

    The match keeps the id, the arena and the start of its first game.
    """
    nodes = {node.key: node for node in bracket.nodes}
    merged = MergedGames()
    by_place: dict[NodeKey, list[Row]] = {}
    for game in _games_in_rounds(bracket):
        by_place.setdefault(bracket.place_of(game), []).append(game)
    orders: dict[NodeKey, tuple[int, ...]] = {}
    for place, games in by_place.items():
        node = nodes.get(place)
        if node is None:
            # It was drawn by another plan than ours.
            continue
        match, *more = sorted(games, key=lambda game: (game["game_index"] or 0, game["game_id"]))
        if bracket.best_of > 1 and len(bracket.seats[match["game_id"]]) == PAIR_SIZE:
            _merge_games(bracket, match, more)
            merged.match_by_dropped.update({game["game_id"]: match["game_id"] for game in more})
        match["game_index"], match["set_number"] = node.number, node.set_number
        orders[place] = finishing_order(match, bracket.seats[match["game_id"]])
    _number_byes(bracket, orders)
    return merged


def finishing_order(game: Row, seats: Sequence[Row]) -> tuple[int, ...]:
    """The players of a completed game from first to last, by points where the order is not stored."""
    if game["status"] != "completed":
        return ()
    order = game.get("finishing_order") or [
        seat["result_position"] for seat in seats if seat["result_position"] is not None
    ]
    if len(order) == len(seats):
        return tuple(order)
    if any(seat["points"] is None for seat in seats):
        return ()
    return tuple(seat["player_id"] for seat in sorted(seats, key=lambda seat: -seat["points"]))


def _games_in_rounds(bracket: StoredBracket) -> list[Row]:
    return [
        game
        for game in bracket.games
        if game["round_id"] in bracket.rounds and not game["bye"] and not game.get("is_tiebreak")
    ]


def _merge_games(bracket: StoredBracket, match: Row, more: Sequence[Row]) -> None:
    """Let the first game be the match, with the others' results."""
    played = [game for game in (match, *more) if game["status"] == "completed"]
    seats = bracket.seats[match["game_id"]]
    orders = [finishing_order(game, bracket.seats[game["game_id"]]) for game in played]
    wins = Counter(order[0] for order in orders)
    is_decided = max(wins.values(), default=0) > bracket.best_of // 2
    last = dict(played[-1]) if played else {}
    # Who did not show up lost all further games; those that were played stay.
    is_forfeit = is_decided and last.get("forfeited_by") is not None
    legs = [
        _leg(game, order)
        for game, order in zip(played, orders, strict=True)
        if not is_forfeit or game.get("forfeited_by") is None
    ]
    last_points = (
        {seat["player_id"]: seat["points"] for seat in bracket.seats[last["game_id"]]} if last else {}
    )
    match |= {
        "status": "completed" if is_decided else "started",
        "duration_seconds": _seconds_until_end(match, last) if is_decided else None,
        "scorekeeper_id": last.get("scorekeeper_id"),
        "result_count_mismatch": False,
        "finishing_order": list(orders[-1]) if is_decided and not is_forfeit else None,
        "forfeited_by": last["forfeited_by"] if is_forfeit else None,
        "legs": legs or None,
    }
    for slot, seat in enumerate(seats):
        counted = wins[seat["player_id"]] * bracket.point if played else None
        seat |= {
            "points": last_points[seat["player_id"]] if is_forfeit else counted,
            "result_position": orders[-1][slot] if is_forfeit else None,
            "score": None,
        }


def _leg(game: Row, order: tuple[int, ...]) -> Row:
    started_at, seconds = game["started_at"], game["duration_seconds"]
    is_timed = started_at is not None and seconds is not None
    recorded_at = started_at + timedelta(seconds=seconds) if is_timed else None
    return {
        "finishing_order": list(order),
        "arena_id": game["arena_id"],
        "recorded_at": msgspec.to_builtins(recorded_at),
    }


def _seconds_until_end(match: Row, last: Row) -> int | None:
    began: datetime | None = match["started_at"]
    if began is None or last["started_at"] is None or last["duration_seconds"] is None:
        return None
    return int((last["started_at"] - began).total_seconds()) + int(last["duration_seconds"])


def _number_byes(bracket: StoredBracket, orders: Mapping[NodeKey, tuple[int, ...]]) -> None:
    """Number the byes by where their players would have played."""
    byes = {
        (bracket.rounds[game["round_id"]], bracket.seats[game["game_id"]][0]["player_id"]): game
        for game in bracket.games
        if game["bye"] and game["round_id"] in bracket.rounds
    }
    ends: dict[NodeKey, tuple[int, ...] | None] = {}
    for node in bracket.nodes:
        seats = [_seat(source, bracket.seeds, ends) for source in node.sources]
        present = tuple(player_id for player_id in seats if player_id)
        if None in seats:
            ends[node.key] = None
        elif len(present) > 1:
            ends[node.key] = orders.get(node.key) or None
        else:
            ends[node.key] = present
            if present and (node.key[0], present[0]) in byes:
                byes[node.key[0], present[0]]["game_index"] = node.number


def _seat(source: Any, seeds: Sequence[int], ends: Mapping[NodeKey, tuple[int, ...] | None]) -> int | None:
    """The player of a seat, EMPTY_SEAT, or None while it is not known."""
    if isinstance(source, SeedSource):
        return seeds[source.seed - 1] if source.seed <= len(seeds) else EMPTY_SEAT
    order = ends[source.node]
    if order is None:
        return None
    at = 0 if isinstance(source, WinnerSource) else 1
    return order[at] if at < len(order) else EMPTY_SEAT


def ids_by_seed(entrants: Iterable[Mapping[str, Any]]) -> list[int]:
    """Ids of the active players, best seed first. Takes rows of entrants."""
    active = [entrant for entrant in entrants if entrant["status"] == "active"]
    ordered = sorted(
        active,
        key=lambda entrant: (entrant["seed_rank"] is None, entrant["seed_rank"] or 0, entrant["place"]),
    )
    return [entrant["player_id"] for entrant in ordered]
