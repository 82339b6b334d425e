"""The rows of a checked bundle's tournament and its parts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import partial
from operator import itemgetter
from typing import Any

import msgspec

from silverball.exchange.bundle import engine_rows
from silverball.exchange.bundle.checks import BrokenBundle, parse_points, parse_score, tuple_or_empty
from silverball.kit.errors import Invalid
from silverball.kit.values import compile_builder
from silverball.rules.drawing.bracket_nodes import BracketNode
from silverball.rules.mechanics import seeding
from silverball.rules.model import fields, settings
from silverball.rules.model.fields import PartField
from silverball.rules.registry import FORMATS
from silverball_wire import base
from silverball_wire.arenas import Arena, LineupArenaPart
from silverball_wire.base import UNSET, UnsetType
from silverball_wire.bundle import Bundle
from silverball_wire.games import Game, Leg, Suggestion
from silverball_wire.generated.format_settings import FormatSettings
from silverball_wire.players import EntrantPart
from silverball_wire.singleplayer import SinglePlayerGame
from silverball_wire.tournaments import Tournament

PartRows = dict[str, list[dict[str, Any]]]
# Columns of a match that the published shape of a game does not have.
MATCH_COLUMNS = ("finishing_order", "forfeited_by", "gave_up", "legs")
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
    """Mark the tiebreak games of a group bracket of a service whose games do not say so.

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
        if not game["is_tiebreak"]:
            game["is_tiebreak"] = any(own < group for group in groups[game["round_id"]]) or None


def _legs_by_game(bundle: Bundle) -> dict[int, list[dict[str, Any]]]:
    """Game id -> its single games as they are stored."""
    legs: dict[int, list[dict[str, Any]]] = {}
    for leg in sorted(tuple_or_empty(bundle.legs), key=lambda leg: (leg.game_id, leg.leg)):
        legs.setdefault(leg.game_id, []).append(_leg_fields(leg))
    return legs


def _leg_fields(leg: Leg) -> dict[str, Any]:
    recorded_at = None if leg.recorded_at is None else base.parse_moment(leg.recorded_at)
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


Rows = list[dict[str, Any]]
SETTING_KEYS = FormatSettings.__struct_encode_fields__


def _builder(
    part_fields: Iterable[PartField], converters: Mapping[str, Callable[[Any], Any]] | None = None
) -> Callable[[Any], dict[str, Any]]:
    """The function from the published shape of a part to the columns that a bundle carries."""
    shared: dict[str, Callable[[Any], Any]] = {"moment": optional_moment, "json": _plain_json}
    return compile_builder(dict, fields.carried_sources(part_fields, {**shared, **(converters or {})}))


def build_parts(bundle: Bundle, *, primary: Sequence[str] | None) -> dict[str, Rows]:
    """Part -> its rows. `primary` holds the file's primaryConfigSettings, if it has them."""
    tournament_id = bundle.tournament.tournament_id
    rows = {
        "tournament": [tournament_row(bundle.tournament, primary)],
        "entrants": _entrant_rows(bundle.tournament),
        "lineup": _lineup_rows(bundle.tournament),
        "banks": _place_rows(
            tournament_id, "bank_id", tuple_or_empty(bundle.banks) or tuple_or_empty(bundle.tournament.banks)
        ),
        "scorekeepers": _place_rows(tournament_id, "user_id", scorekeepers(bundle)),
        "links": _link_rows(bundle.tournament),
        "shortcuts": _shortcut_rows(bundle.tournament),
        "rounds": [_round_columns(round_) for round_ in bundle.rounds],
        "cards": [_card_columns(card) for card in tuple_or_empty(bundle.cards)],
        "games": [_game_columns(game) for game in bundle.games],
        "seats": [row for game in bundle.games for row in _seat_rows(game)],
        "suggestions": [
            _suggestion_fields(suggestion)
            for game in bundle.games
            for suggestion in tuple_or_empty(game.suggestions)
        ],
        "single_player_games": _attempt_rows(bundle),
        "queue": [_queue_columns(spot) for spot in tuple_or_empty(bundle.queues)],
    }
    if not isinstance(bundle.standings, UnsetType):
        rows["standings"] = msgspec.to_builtins(bundle.standings)
    known = FORMATS.get(bundle.tournament.type)
    if known is not None and known.bracket is not None:
        complete_matches(bundle, rows, known.bracket.nodes)
    if known is not None and known.group_stages is not None and isinstance(bundle.engine, UnsetType):
        mark_tiebreaks(rows)
    engine_rows.complete_rows(bundle, rows)
    return rows


def scorekeepers(bundle: Bundle) -> tuple[Any, ...]:
    """The scorekeepers, from either place where a bundle may list them."""
    return tuple_or_empty(bundle.scorekeepers) or tuple_or_empty(bundle.tournament.scorekeepers)


def tournament_row(tournament: Tournament, primary: Sequence[str] | None) -> dict[str, Any]:
    """The row of the tournament. A missing time of creation is taken from its start."""
    row: dict[str, Any] = _tournament_columns(tournament)
    created_at = row["created_at"] or row["start_utc"]
    known = FORMATS.get(tournament.type)
    if primary is None:
        primary = known.primary_settings if known is not None else ()
    return {
        **row,
        "created_at": created_at,
        "updated_at": row["updated_at"] or row["completed_at"] or created_at,
        "primary_config_settings": list(primary),
        "settings": _settings_with_defaults(tournament),
    }


def _settings_with_defaults(tournament: Tournament) -> dict[str, Any]:
    """The settings of the file, and the defaults of those that it leaves out."""
    raw = msgspec.to_builtins(tournament)
    chosen = {key: raw[key] for key in SETTING_KEYS if key in raw}
    known = FORMATS.get(tournament.type)
    if known is None:
        return chosen
    defaults = settings.default_values(known.settings)
    return {**defaults, **chosen}


def _entrant_rows(tournament: Tournament) -> Rows:
    players = tuple_or_empty(tournament.players)
    seeds = _seeds_from_one(tournament)
    ranks = _seed_ranks(tournament, seeds)
    return [
        {
            **_entrant_fields(tournament.tournament_id, place, player.player_id, player.tournament_player),
            "seed": seeds[player.player_id],
            "seed_rank": ranks.get(player.player_id),
        }
        for place, player in enumerate(players)
    ]


def _entrant_fields(tournament_id: int, place: int, player_id: int, part: EntrantPart) -> dict[str, Any]:
    return {
        **_entrant_columns(part),
        "tournament_id": tournament_id,
        "player_id": player_id,
        "place": place,
    }


def _seeds_from_one(tournament: Tournament) -> dict[int, int | None]:
    """Player id -> seed. In files made from another service's answers manual seeds count from 0."""
    players = tuple_or_empty(tournament.players)
    seeds: dict[int, int | None] = {player.player_id: player.tournament_player.seed for player in players}
    numbers = [seed for seed in seeds.values() if seed is not None]
    # Of several players with a 0, or where everybody has it, none is the first seed: they are unseeded.
    is_from_zero = tournament.seeding == seeding.MANUAL and numbers.count(0) == 1 and any(numbers)
    if not is_from_zero:
        return seeds
    return {player_id: seeding.stored_seed(seed) for player_id, seed in seeds.items()}


def _seed_ranks(tournament: Tournament, seeds: dict[int, int | None]) -> dict[int, int]:
    """Player id -> seed rank, 1 for the best; high ratings are best, 0 and null are unseeded."""
    best_is_high = tournament.seeding in seeding.RATING_SEEDS
    seeded = [(seed, player_id) for player_id, seed in seeds.items() if seed]
    ordered = sorted(seeded, key=itemgetter(0), reverse=best_is_high)
    return {player_id: rank for rank, (_, player_id) in enumerate(ordered, start=1)}


def _lineup_rows(tournament: Tournament) -> Rows:
    rows = []
    for place, arena in enumerate(tuple_or_empty(tournament.arenas)):
        part = _lineup_fields(arena)
        rows.append(
            {"tournament_id": tournament.tournament_id, "arena_id": arena.arena_id, "place": place} | part
        )
    return rows


def _lineup_fields(arena: Arena) -> dict[str, Any]:
    part = arena.tournament_arena
    assert isinstance(part, LineupArenaPart)
    return {**msgspec.structs.asdict(part), "labels": list(part.labels)}


def _place_rows(tournament_id: int, key: str, items: Sequence[Any]) -> Rows:
    return [
        {"tournament_id": tournament_id, key: getattr(item, key), "place": place}
        for place, item in enumerate(items)
    ]


def _link_rows(tournament: Tournament) -> Rows:
    return [
        {
            "tournament_id": tournament.tournament_id,
            "place": place,
            "linked_tournament_id": _first_given_id(link.tournament_id, link.series_id),
            "link_type": link.link_type,
            "link_index": link.link_index,
            "shown": msgspec.to_builtins(link),
        }
        for place, link in enumerate(tuple_or_empty(tournament.linked_tournaments))
    ]


def _first_given_id(*ids: int | UnsetType) -> int:
    return next((given_id for given_id in ids if not isinstance(given_id, UnsetType)), 0)


def _shortcut_rows(tournament: Tournament) -> Rows:
    shortcut = tournament.shortcut
    if shortcut is None or isinstance(shortcut, UnsetType):
        return []
    return [
        {
            "shortcut_id": shortcut.shortcut_id,
            "slug": shortcut.slug,
            "tournament_id": tournament.tournament_id,
        }
    ]


def _seat_rows(game: Game) -> Rows:
    return [
        {
            "game_id": game.game_id,
            "slot": slot,
            "tournament_id": game.tournament_id,
            "player_id": player_id,
            "result_position": game.result_positions[slot],
            "points": _points_or_none(game.result_points[slot]),
            "score": parse_score("", game.result_scores[slot]),
        }
        for slot, player_id in enumerate(game.player_ids)
    ]


def _suggestion_fields(suggestion: Suggestion) -> dict[str, Any]:
    return {
        "suggestion_id": suggestion.suggestion_id,
        "game_id": suggestion.game_id,
        "tournament_id": suggestion.tournament_id,
        "player_id": suggestion.player_id,
        "user_id": suggestion.user_id,
        "results": list(suggestion.results),
        "scores": None
        if suggestion.scores is None
        else {str(key): score for key, score in suggestion.scores.items()},
        "arena_id": suggestion.arena_id,
        "scorbit_data": suggestion.scorbit_data,
        "partial": suggestion.partial,
    }


def _attempt_rows(bundle: Bundle) -> Rows:
    """The rows of the single player games, those on cards too, each once."""
    tournament_id = bundle.tournament.tournament_id
    rows: dict[int, dict[str, Any]] = {}
    for card in tuple_or_empty(bundle.cards):
        for attempt in card.single_player_games:
            rows[attempt.single_player_game_id] = _attempt_fields(attempt, tournament_id, card.card_id)
    for attempt in tuple_or_empty(bundle.single_player_games):
        on_card = rows.get(attempt.single_player_game_id, {}).get("card_id")
        rows[attempt.single_player_game_id] = _attempt_fields(attempt, tournament_id, on_card)
    return list(rows.values())


def _attempt_fields(attempt: SinglePlayerGame, tournament_id: int, card_id: int | None) -> dict[str, Any]:
    own_card_id = None if isinstance(attempt.card_id, UnsetType) else attempt.card_id
    return {
        **_attempt_columns(attempt),
        "tournament_id": tournament_id,
        "card_id": own_card_id if card_id is None else card_id,
    }


def optional_moment(text: str | UnsetType | None) -> datetime | None:
    """A time that may be absent."""
    return None if text is None or isinstance(text, UnsetType) else base.parse_moment(text)


def _points_or_none(value: str | float | None) -> Decimal | None:
    return parse_points("", value)


def _plain_json(part: Any) -> Any:
    return None if part is None or isinstance(part, UnsetType) else msgspec.to_builtins(part)


def _id_or_none(value: int | UnsetType | None) -> int | None:
    """The id of a round: other services write 0 for none."""
    return None if value is UNSET else value or None


def _points_or_zero(value: Any) -> Decimal:
    return _points_or_none(value) or Decimal(0)


def _score_adjustment(value: Any) -> Decimal | None:
    return Decimal(0) if value is UNSET else _points_or_none(value)


def _target_score(value: float | None) -> int | None:
    return None if value is None else int(value)


_tournament_columns = _builder(fields.TOURNAMENT)
_entrant_columns = _builder(
    fields.ENTRANT, {"json": list, "points": _points_or_zero, "score_adjustment": _score_adjustment}
)
_round_columns = _builder(fields.ROUND, {"score": _target_score})
_game_columns = _builder(fields.GAME, {"round_id": _id_or_none})
_attempt_columns = _builder(
    fields.SINGLE_PLAYER_GAME,
    {"round_id": _id_or_none, "points": _points_or_none, "score": partial(parse_score, "")},
)
_card_columns = _builder(fields.CARD)
_queue_columns = _builder(fields.QUEUE_PLACE, {"round_id": _id_or_none})
