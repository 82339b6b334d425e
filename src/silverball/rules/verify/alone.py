"""Expected standings of pingolf and bowling. Source: formats, sections 14.16, 14.20, 16 and 17."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from silverball.rules.model.settings_protocols import HasCountedHoles, HasHoles, has, tiebreaker_of
from silverball.rules.model.tournament import Entrant, Tournament
from silverball.rules.verify import results, rows
from silverball.rules.verify.rows import ZERO, Row, points_text


def listed_entrants(tournament: Tournament) -> list[Entrant]:
    """Entrants who are active or have completed a single player game."""
    played_ids = {game.player_id for game in tournament.single_player_games if game.status == "completed"}
    return [
        entrant for entrant in tournament.entrants if entrant.is_active or entrant.player_id in played_ids
    ]


def single_player_rows(
    tournament: Tournament,
    points: Mapping[int, Decimal],
    keys: Mapping[int, tuple[Any, ...]],
    format_columns: Mapping[int, Row],
    *,
    is_less_better: bool = False,
) -> list[Row]:
    """Rows ranked by these keys, higher is better; `format_columns` adds or replaces columns."""
    placed = rows.places_by_player(
        {player_id: (*key, *rows.manual_order_key(tournament, player_id)) for player_id, key in keys.items()}
    )
    added = rows.tiebreak_points(tournament)
    listed_rows = []
    for player_id, own in points.items():
        extra = added.get(player_id, ZERO)
        standing = {
            "playerId": player_id,
            "position": placed[player_id],
            "points": points_text(own),
            "pointsWithTiebreaker": points_text(own - extra if is_less_better else own + extra)
            if player_id in added
            else None,
            "strikeCount": 0,
            "adjustment": rows.adjustment_total(tournament.entrant_by_id[player_id]),
            "activeGames": rows.open_game_ids(tournament, player_id),
            **format_columns.get(player_id, {}),
        }
        standing["tiebreakers"] = [points_text(own), *standing.get("tiebreakers", [])]
        listed_rows.append(standing)
    return listed_rows


def golf_table(tournament: Tournament) -> list[Row]:
    """Rows by fewest strokes, then by most holes in one, two and three; until the end, no hole is last."""
    settings = tournament.settings
    assert has(settings, HasCountedHoles)
    played = results.frames_by_player(tournament)
    is_closed = tournament.status == "completed"
    points, keys, format_columns = {}, {}, {}
    for entrant in listed_entrants(tournament):
        own = played.get(entrant.player_id, {})
        strokes_by_hole = [int(game.points or 0) for at, game in own.items() if at < settings.golf_duration]
        counted = _counted_strokes(strokes_by_hole, settings, is_closed=is_closed)
        total = counted + rows.adjustment_total(entrant)
        few = (
            [strokes_by_hole.count(strokes) for strokes in (1, 2, 3)]
            if tiebreaker_of(settings) == "standard"
            else []
        )
        points[entrant.player_id] = total
        keys[entrant.player_id] = (is_closed or bool(own), -total, *few)
        format_columns[entrant.player_id] = {"tiebreakers": few, "gamesPlayed": len(own)}
    return single_player_rows(tournament, points, keys, format_columns, is_less_better=True)


def _counted_strokes(strokes: Sequence[int], settings: HasCountedHoles, *, is_closed: bool) -> Decimal:
    """Sum of the best holes; once the tournament is completed, missing holes count the maximum."""
    missing = (
        [settings.golf_stroke_limit or 10] * (settings.golf_duration - len(strokes)) if is_closed else []
    )
    best_first = sorted([*strokes, *missing])
    return Decimal(sum(best_first[: settings.golf_holes_counted or None]))


def bowling_table(tournament: Tournament) -> list[Row]:
    """Rows by most pins, then by most strikes and spares."""
    settings = tournament.settings
    assert has(settings, HasHoles)
    played = results.frames_by_player(tournament)
    points, keys, format_columns = {}, {}, {}
    for entrant in listed_entrants(tournament):
        own = played.get(entrant.player_id, {})
        frames = [own[at].rolls if at in own else () for at in range(settings.golf_duration)]
        total = Decimal(sum(value or 0 for value in results.frame_values(frames))) + rows.adjustment_total(
            entrant
        )
        counted = list(_strikes_and_spares(frames)) if tiebreaker_of(settings) == "standard" else []
        points[entrant.player_id] = total
        keys[entrant.player_id] = (total, *counted)
        format_columns[entrant.player_id] = {"tiebreakers": counted, "gamesPlayed": len(own)}
    return single_player_rows(tournament, points, keys, format_columns)


def _strikes_and_spares(frames: Sequence[Sequence[int]]) -> tuple[int, int]:
    strikes = spares = 0
    for rolls in frames:
        left, is_first = 10, True
        for pins in rolls:
            if pins == left:
                strikes, spares = strikes + is_first, spares + (not is_first)
                left, is_first = 10, True
            else:
                left, is_first = left - pins, False
    return strikes, spares
