"""Tables of golf and bowling. Source: formats, sections 14.16, 14.20, 16 and 17."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from silverball.rules.tournament import Entrant, Tournament
from silverball.rules.verify import results, rows
from silverball.rules.verify.rows import ZERO, Row, text


def listed(tournament: Tournament) -> list[Entrant]:
    """Who is active or has completed a game alone."""
    done = {one.player_id for one in tournament.single_player_games if one.status == "completed"}
    return [one for one in tournament.entrants if one.is_active or one.player_id in done]


def alone_rows(
    tournament: Tournament,
    points: Mapping[int, Decimal],
    keys: Mapping[int, tuple[Any, ...]],
    more: Mapping[int, Row],
    *,
    is_less_better: bool = False,
) -> list[Row]:
    """Rows by these keys, more is better; `more` holds what the format adds, its tiebreakers too."""
    placed = rows.places({one: (*key, *rows.by_hand(tournament, one)) for one, key in keys.items()})
    added = rows.tiebreaks(tournament)
    found = []
    for one, own in points.items():
        extra = added.get(one, ZERO)
        row = {
            "playerId": one,
            "position": placed[one],
            "points": text(own),
            "pointsWithTiebreaker": text(own - extra if is_less_better else own + extra)
            if one in added
            else None,
            "strikeCount": 0,
            "adjustment": rows.given(tournament.entrant_by_id[one]),
            "activeGames": rows.open_games(tournament, one),
            **more.get(one, {}),
        }
        row["tiebreakers"] = [text(own), *row.get("tiebreakers", [])]
        found.append(row)
    return found


def golf_table(tournament: Tournament) -> list[Row]:
    """Fewest strokes; then more holes with one, two, three strokes."""
    chosen: Any = tournament.settings
    played = results.frames_of(tournament)
    points, keys, more = {}, {}, {}
    for entrant in listed(tournament):
        own = played.get(entrant.player_id, {})
        done = [int(one.points or 0) for at, one in own.items() if at < chosen.golf_duration]
        total = _strokes(done, chosen, is_closed=tournament.status == "completed") + rows.given(entrant)
        few = [done.count(strokes) for strokes in (1, 2, 3)] if chosen.tiebreaker == "standard" else []
        points[entrant.player_id] = total
        keys[entrant.player_id] = (-total, *few)
        more[entrant.player_id] = {"tiebreakers": few, "gamesPlayed": len(own)}
    return alone_rows(tournament, points, keys, more, is_less_better=True)


def _strokes(done: Sequence[int], chosen: Any, *, is_closed: bool) -> Decimal:
    """The best holes that count; those not played count most once it is closed."""
    missing = [chosen.golf_stroke_limit or 10] * (chosen.golf_duration - len(done)) if is_closed else []
    best_first = sorted([*done, *missing])
    return Decimal(sum(best_first[: chosen.golf_holes_counted or None]))


def bowling_table(tournament: Tournament) -> list[Row]:
    """Most pins; then more strikes, more spares."""
    chosen: Any = tournament.settings
    played = results.frames_of(tournament)
    points, keys, more = {}, {}, {}
    for entrant in listed(tournament):
        own = played.get(entrant.player_id, {})
        frames = [own[at].rolls if at in own else () for at in range(chosen.golf_duration)]
        total = Decimal(sum(value or 0 for value in results.frame_values(frames))) + rows.given(entrant)
        counted = list(_strikes_and_spares(frames)) if chosen.tiebreaker == "standard" else []
        points[entrant.player_id] = total
        keys[entrant.player_id] = (total, *counted)
        more[entrant.player_id] = {"tiebreakers": counted, "gamesPlayed": len(own)}
    return alone_rows(tournament, points, keys, more)


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
