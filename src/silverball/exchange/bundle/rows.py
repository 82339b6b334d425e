"""From a checked bundle to stored fields: what its tournament consists of."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec

from silverball.exchange.bundle.checks import parse_points, parse_score, tuple_or_empty
from silverball.rules.mechanics import seeding
from silverball.rules.model import settings
from silverball.rules.registry import FORMATS
from silverball.wire import times
from silverball.wire.arenas import Arena, LineupArenaPart
from silverball.wire.base import UnsetType
from silverball.wire.bundle import Bundle
from silverball.wire.cards import Card
from silverball.wire.format_settings import FormatSettings
from silverball.wire.games import Game, Suggestion
from silverball.wire.players import EntrantPart
from silverball.wire.singleplayer import SinglePlayerGame
from silverball.wire.tournaments import Tournament

Rows = list[dict[str, Any]]
SETTING_KEYS = FormatSettings.__struct_encode_fields__


def build_parts(bundle: Bundle, *, primary: Sequence[str] | None) -> dict[str, Rows]:
    """Kind of thing -> its rows. `primary` is what the file says of primaryConfigSettings, if anything."""
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
        "rounds": _round_rows(bundle),
        "cards": [_card_fields(one) for one in tuple_or_empty(bundle.cards)],
        "games": [_game_fields(one) for one in bundle.games],
        "seats": [row for game in bundle.games for row in _seat_rows(game)],
        "suggestions": [
            _suggestion_fields(one) for game in bundle.games for one in tuple_or_empty(game.suggestions)
        ],
        "single_player_games": _attempt_rows(bundle),
        "queue": _queue_rows(bundle),
    }
    if not isinstance(bundle.standings, UnsetType):
        rows["standings"] = msgspec.to_builtins(bundle.standings)
    return rows


def scorekeepers(bundle: Bundle) -> tuple[Any, ...]:
    """The scorekeepers, wherever the bundle lists them."""
    return tuple_or_empty(bundle.scorekeepers) or tuple_or_empty(bundle.tournament.scorekeepers)


def tournament_row(tournament: Tournament, primary: Sequence[str] | None) -> dict[str, Any]:
    """The tournament itself. What the file does not say of its creation follows from its start."""
    start = times.parse_moment(tournament.start_utc)
    completed_at = optional_moment(tournament.completed_at)
    created_at = optional_moment(tournament.created_at) or start
    known = FORMATS.get(tournament.type)
    if primary is None:
        primary = known.primary_settings if known is not None else ()
    return {
        "tournament_id": tournament.tournament_id,
        "name": tournament.name,
        "status": tournament.status,
        "type": tournament.type,
        "description": tournament.description,
        "start_utc": start,
        "start_local": tournament.start_local,
        "end_utc": optional_moment(tournament.end_utc),
        "end_local": tournament.end_local,
        "completed_at": completed_at,
        "created_at": created_at,
        "updated_at": optional_moment(tournament.updated_at) or completed_at or created_at,
        "timezone": tournament.timezone,
        "organizer_id": tournament.organizer_id,
        "location_id": tournament.location_id,
        "series_id": tournament.series_id,
        "test": tournament.test,
        "link": tournament.link,
        "linked_tournament_id": tournament.linked_tournament_id,
        "estimated_tgp": tournament.estimated_tgp,
        "points_map": _plain_json(tournament.points_map),
        "tiebreaker_points_map": _plain_json(tournament.tiebreaker_points_map),
        "points_map_custom": _plain_json(tournament.points_map_custom),
        "primary_config_settings": list(primary),
        "prize_pool": _plain_json(tournament.prize_pool),
        "motd_text": tournament.motd_text,
        "motd_color": tournament.motd_color,
        "motd_expiration": tournament.motd_expiration,
        "managers": _plain_json(tournament.managers),
        "settings": _settings_with_defaults(tournament),
        "rsvp_configuration": _plain_json(tournament.rsvp_configuration),
        "entry_configuration": _plain_json(tournament.entry_configuration),
    }


def _settings_with_defaults(tournament: Tournament) -> dict[str, Any]:
    """What the file says, and the defaults of what it leaves out."""
    said = msgspec.to_builtins(tournament)
    given = {key: said[key] for key in SETTING_KEYS if key in said}
    known = FORMATS.get(tournament.type)
    if known is None:
        return given
    defaults = settings.default_values(known.settings)
    return {**defaults, **given}


def _entrant_rows(tournament: Tournament) -> Rows:
    players = tuple_or_empty(tournament.players)
    ranks = _seed_ranks(tournament)
    return [
        _entrant_fields(tournament.tournament_id, place, player.player_id, player.tournament_player, ranks)
        for place, player in enumerate(players)
    ]


def _entrant_fields(
    tournament_id: int, place: int, player_id: int, part: EntrantPart, ranks: dict[int, int]
) -> dict[str, Any]:
    score_adjustment = part.score_adjustment
    return {
        "tournament_id": tournament_id,
        "player_id": player_id,
        "place": place,
        "status": part.status,
        "seed": part.seed,
        "seed_rank": ranks.get(player_id),
        "points_adjustment": _points_or_none(part.points_adjustment) or Decimal(0),
        "score_adjustment": Decimal(0)
        if isinstance(score_adjustment, UnsetType)
        else _points_or_none(score_adjustment),
        "subscription": part.subscription,
        "labels": list(part.labels),
        "label_color": part.label_color,
    }


def _seed_ranks(tournament: Tournament) -> dict[int, int]:
    """Player id -> 1 for the best seed; ratings count the other way round, 0 and null are unseeded."""
    seeded = [one for one in tuple_or_empty(tournament.players) if one.tournament_player.seed]
    best_is_high = tournament.seeding in seeding.RATING_SEEDS
    ordered = sorted(seeded, key=lambda one: one.tournament_player.seed, reverse=best_is_high)
    return {one.player_id: rank for rank, one in enumerate(ordered, start=1)}


def _lineup_rows(tournament: Tournament) -> Rows:
    rows = []
    for place, one in enumerate(tuple_or_empty(tournament.arenas)):
        part = _lineup_fields(one)
        rows.append(
            {"tournament_id": tournament.tournament_id, "arena_id": one.arena_id, "place": place} | part
        )
    return rows


def _lineup_fields(arena: Arena) -> dict[str, Any]:
    part = arena.tournament_arena
    assert isinstance(part, LineupArenaPart)
    return {**msgspec.structs.asdict(part), "labels": list(part.labels)}


def _place_rows(tournament_id: int, key: str, things: Sequence[Any]) -> Rows:
    return [
        {"tournament_id": tournament_id, key: getattr(one, key), "place": place}
        for place, one in enumerate(things)
    ]


def _link_rows(tournament: Tournament) -> Rows:
    return [
        {
            "tournament_id": tournament.tournament_id,
            "place": place,
            "linked_tournament_id": _first_given_id(one.tournament_id, one.series_id),
            "link_type": one.link_type,
            "link_index": one.link_index,
            "shown": msgspec.to_builtins(one),
        }
        for place, one in enumerate(tuple_or_empty(tournament.linked_tournaments))
    ]


def _first_given_id(*ids: int | UnsetType) -> int:
    return next((one for one in ids if not isinstance(one, UnsetType)), 0)


def _shortcut_rows(tournament: Tournament) -> Rows:
    one = tournament.shortcut
    if one is None or isinstance(one, UnsetType):
        return []
    return [{"shortcut_id": one.shortcut_id, "slug": one.slug, "tournament_id": tournament.tournament_id}]


def _round_rows(bundle: Bundle) -> Rows:
    return [
        {
            "round_id": one.round_id,
            "tournament_id": one.tournament_id,
            "arena_id": one.arena_id,
            "score": None if one.score is None else int(one.score),
            "round_index": one.index,
            "name": one.name,
            "status": one.status,
            "duration_seconds": one.duration,
            "created_at": times.parse_moment(one.created_at),
            "completed_at": optional_moment(one.completed_at),
            "size": one.size,
            "description": one.description,
        }
        for one in bundle.rounds
    ]


def _game_fields(one: Game) -> dict[str, Any]:
    return {
        "game_id": one.game_id,
        "tournament_id": one.tournament_id,
        "round_id": one.round_id or None,
        "arena_id": one.arena_id,
        "bank_id": one.bank_id,
        "challenge_id": one.challenge_id,
        "game_index": one.index,
        "set_number": one.set,
        "status": one.status,
        "started_at": optional_moment(one.started_at),
        "duration_seconds": one.duration,
        "bye": one.bye,
        "player_id_advantage": one.player_id_advantage,
        "scorekeeper_id": one.scorekeeper_id,
        "scorbit_id": one.scorbit_id,
        "scorbit_log": one.scorbit_log,
        "scorbit_verified": one.scorbit_verified,
        "result_count_mismatch": one.result_count_mismatch,
    }


def _seat_rows(one: Game) -> Rows:
    return [
        {
            "game_id": one.game_id,
            "slot": slot,
            "tournament_id": one.tournament_id,
            "player_id": player_id,
            "user_id": one.user_ids[slot],
            "result_position": one.result_positions[slot],
            "points": _points_or_none(one.result_points[slot]),
            "score": parse_score("", one.result_scores[slot]),
        }
        for slot, player_id in enumerate(one.player_ids)
    ]


def _suggestion_fields(one: Suggestion) -> dict[str, Any]:
    return {
        "suggestion_id": one.suggestion_id,
        "game_id": one.game_id,
        "tournament_id": one.tournament_id,
        "player_id": one.player_id,
        "user_id": one.user_id,
        "results": list(one.results),
        "scores": None if one.scores is None else {str(key): score for key, score in one.scores.items()},
        "arena_id": one.arena_id,
        "scorbit_data": one.scorbit_data,
        "partial": one.partial,
    }


def _card_fields(one: Card) -> dict[str, Any]:
    return {
        "card_id": one.card_id,
        "tournament_id": one.tournament_id,
        "player_id": one.player_id,
        "status": one.status,
        "best_game": one.best_game,
        "voided": one.voided,
        "created_at": times.parse_moment(one.created_at),
        "updated_at": times.parse_moment(one.updated_at),
    }


def _attempt_rows(bundle: Bundle) -> Rows:
    """The single player games, those of cards too, each once."""
    tournament_id = bundle.tournament.tournament_id
    rows: dict[int, dict[str, Any]] = {}
    for card in tuple_or_empty(bundle.cards):
        for one in card.single_player_games:
            rows[one.single_player_game_id] = _attempt_fields(one, tournament_id, card.card_id)
    for one in tuple_or_empty(bundle.single_player_games):
        on_card = rows.get(one.single_player_game_id, {}).get("card_id")
        rows[one.single_player_game_id] = _attempt_fields(one, tournament_id, on_card)
    return list(rows.values())


def _attempt_fields(one: SinglePlayerGame, tournament_id: int, card_id: int | None) -> dict[str, Any]:
    said = None if isinstance(one.card_id, UnsetType) else one.card_id
    return {
        "single_player_game_id": one.single_player_game_id,
        "tournament_id": tournament_id,
        "round_id": None if isinstance(one.round_id, UnsetType) else one.round_id or None,
        "card_id": said if card_id is None else card_id,
        "arena_id": one.arena_id,
        "player_id": one.player_id,
        "scorekeeper_id": one.scorekeeper_id,
        "status": one.status,
        "points": _points_or_none(one.points),
        "score": parse_score("", one.score),
        "best_game": one.best_game,
        "voided": one.voided,
        "game_index": one.index,
        "duration_seconds": one.duration,
        "created_at": times.parse_moment(one.created_at),
        "updated_at": times.parse_moment(one.updated_at),
        "scorbit_id": one.scorbit_id,
        "scorbit_log": one.scorbit_log,
        "scorbit_verified": one.scorbit_verified,
    }


def _queue_rows(bundle: Bundle) -> Rows:
    return [
        {
            "queue_id": one.queue_id,
            "tournament_id": one.tournament_id,
            "arena_id": one.arena_id,
            "round_id": one.round_id or None,
            "player_id": one.player_id,
            "queue_index": one.index,
            "created_at": optional_moment(one.created_at),
            "completed_at": optional_moment(one.completed_at),
        }
        for one in tuple_or_empty(bundle.queues)
    ]


def optional_moment(text: str | UnsetType | None) -> datetime | None:
    """A moment that may be absent."""
    return None if text is None or isinstance(text, UnsetType) else times.parse_moment(text)


def _points_or_none(value: str | float | None) -> Decimal | None:
    return parse_points("", value)


def _plain_json(part: Any) -> Any:
    return None if part is None or isinstance(part, UnsetType) else msgspec.to_builtins(part)
