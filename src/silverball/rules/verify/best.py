"""Expected standings of pingolf and bowling. Source: formats, sections 14.16, 14.20, 16 and 17."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from silverball.rules.model.settings_protocols import (
    HasBestGames,
    HasBestGameScoring,
    HasCardScoring,
    HasCountedHoles,
    HasHoles,
    HasRaceByes,
    has,
    tiebreaker_of,
)
from silverball.rules.model.tournament import Card, Entrant, Round, SinglePlayerGame, Tournament
from silverball.rules.scoring import curves
from silverball.rules.verify import checks, results
from silverball.rules.verify.checks import ZERO, Row, points_text


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
    placed = checks.places_by_player(
        {
            player_id: (*key, *checks.manual_order_key(tournament, player_id))
            for player_id, key in keys.items()
        }
    )
    added = checks.tiebreak_points(tournament)
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
            "adjustment": checks.adjustment_total(tournament.entrant_by_id[player_id]),
            "activeGames": checks.open_game_ids(tournament, player_id),
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
        total = counted + checks.adjustment_total(entrant)
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
    """Rows by most pins, then by most strikes and spares where the rolls of all frames are known.

    A frame of another service has no rolls, and is worth what was published.
    """
    settings = tournament.settings
    assert has(settings, HasHoles)
    played = results.frames_by_player(tournament)
    are_known = all(game.rolls for games in played.values() for game in games.values())
    has_tiebreak = are_known and tiebreaker_of(settings) == "standard"
    points, keys, format_columns = {}, {}, {}
    for entrant in listed_entrants(tournament):
        own = played.get(entrant.player_id, {})
        frames = [own[at].rolls if at in own else () for at in range(settings.golf_duration)]
        total = checks.adjustment_total(entrant)
        total += sum(value or 0 for value in results.frame_values(frames))
        total += sum((game.points or ZERO for game in own.values() if not game.rolls), ZERO)
        counted = list(_strikes_and_spares(frames)) if has_tiebreak else []
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


# Expected standings of best games and cards, computed naively. Source: formats, 14.18, 14.19 and 15.


def _is_counted(game: SinglePlayerGame) -> bool:
    is_scored = game.score is not None and game.arena_id is not None
    return game.status == "completed" and not game.is_voided and is_scored


def _score_points(tournament: Tournament, game: SinglePlayerGame, field: list[SinglePlayerGame]) -> Decimal:
    """The points of a score among these games; ties share the better rank."""
    rank = 1 + sum(
        other.arena_id == game.arena_id and (other.score or 0) > (game.score or 0) for other in field
    )
    custom = [int(str(points)) for points in tournament.points_map[0]] if tournament.points_map else []
    assert has(tournament.settings, HasBestGameScoring)
    return Decimal(curves.points_of_rank(tournament.settings.best_game_scoring, rank, custom))


def ranked_games(tournament: Tournament) -> list[SinglePlayerGame]:
    """The games that hold a rank: each player's best few on each arena; of equal scores the earlier."""
    assert has(tournament.settings, HasBestGames)
    most = tournament.settings.best_game_number_of_best_games
    scored = [game for game in tournament.single_player_games if _is_counted(game)]
    return [
        game
        for game in scored
        if sum(
            other.player_id == game.player_id and other.arena_id == game.arena_id and _is_before(other, game)
            for other in scored
        )
        < max(1, most)
    ]


def _is_before(game: SinglePlayerGame, other: SinglePlayerGame) -> bool:
    """Whether a game has a better score than another, or an equal score earlier."""
    own, its = (game.score or 0), (other.score or 0)
    return own > its or (own == its and game.single_player_game_id < other.single_player_game_id)


def best_game_table(tournament: Tournament) -> list[Row]:
    """Rows by each player's best arenas; an arena is worth the points of the player's ranks on it."""
    assert has(tournament.settings, HasBestGames)
    most = tournament.settings.best_game_arenas_counted or None
    field = ranked_games(tournament)
    points, keys, format_columns = {}, {}, {}
    for entrant in listed_entrants(tournament):
        by_arena: dict[int | None, list[Decimal]] = {}
        for game in field:
            if game.player_id == entrant.player_id:
                by_arena.setdefault(game.arena_id, []).append(_score_points(tournament, game, field))
        best = sorted(by_arena.values(), key=sum, reverse=True)[:most]
        values = sorted((value for arena in best for value in arena), reverse=True)
        games = [
            game
            for game in tournament.single_player_games
            if game.player_id == entrant.player_id and game.status == "completed"
        ]
        total = sum(values, checks.adjustment_total(entrant))
        points[entrant.player_id], keys[entrant.player_id] = total, (total,)
        format_columns[entrant.player_id] = {
            "pointsList": [points_text(value) for value in values],
            "gamesPlayed": sum(not game.is_voided for game in games),
            "entriesPlayed": len(games),
            "entriesAvailable": _entries_available(tournament, entrant.entries_bought, len(games)),
        }
    return single_player_rows(tournament, points, keys, format_columns)


def _entries_available(tournament: Tournament, bought: int, played: int) -> int:
    return bought - played if tournament.has_entry_limits else 0


def ranked_cards(tournament: Tournament) -> list[Card]:
    """The ranked cards: completed and not voided, all or each player's newest."""
    cards = [card for card in tournament.cards if card.status == "completed" and not card.is_voided]
    assert has(tournament.settings, HasCardScoring)
    if tournament.settings.card_best_game_scoring != 1:
        return cards
    return [
        card
        for card in cards
        if not any(other.player_id == card.player_id and other.card_id > card.card_id for other in cards)
    ]


def card_table(tournament: Tournament) -> list[Row]:
    """Rows by each player's best cards."""
    settings = tournament.settings
    assert has(settings, HasCardScoring)
    cards = ranked_cards(tournament)
    ids = {card.card_id for card in cards}
    field = [game for game in tournament.single_player_games if _is_counted(game) and game.card_id in ids]
    points, keys, format_columns = {}, {}, {}
    for entrant in listed_entrants(tournament):
        values = []
        for card in cards:
            if card.player_id == entrant.player_id:
                worths = sorted(
                    (
                        _score_points(tournament, game, field)
                        for game in field
                        if game.card_id == card.card_id
                    ),
                    reverse=True,
                )
                counted = worths[: settings.card_best_game_games_counted or None]
                values.append((sum(counted, ZERO), -card.card_id, len(worths)))
        best = sorted(values, reverse=True)[: max(1, settings.card_best_game_cards_counted)]
        total = sum((value[0] for value in best), checks.adjustment_total(entrant))
        used = [card for card in tournament.cards if card.player_id == entrant.player_id]
        played = sum(card.status == "completed" or card.is_voided for card in used)
        points[entrant.player_id], keys[entrant.player_id] = total, (total,)
        format_columns[entrant.player_id] = {
            "pointsList": [points_text(value[0]) for value in best],
            "cardsCounted": [
                {"cardId": -negative_id, "points": worth, "count": count}
                for worth, negative_id, count in best
            ],
            "gamesPlayed": sum(
                game.player_id == entrant.player_id and game.status == "completed" and not game.is_voided
                for game in tournament.single_player_games
            ),
            "entriesPlayed": played,
            "entriesAvailable": _entries_available(tournament, entrant.entries_bought, played),
        }
    return single_player_rows(tournament, points, keys, format_columns)


def stored_points_faults(tournament: Tournament) -> list[str]:
    """Games of a completed tournament whose stored points differ from those of their ranks."""
    if tournament.status != "completed":
        return []
    field = ranked_games(tournament)
    ids = {game.single_player_game_id for game in field}
    faults = []
    for game in tournament.single_player_games:
        wanted = _score_points(tournament, game, field) if game.single_player_game_id in ids else ZERO
        if game.status == "completed" and (
            (game.points or ZERO) != wanted or game.is_best != (game.single_player_game_id in ids)
        ):
            faults.append(
                f"Single player game {game.single_player_game_id} is stored with {game.points} points, "
                f"its rank gives {wanted}."
            )
    return faults


# Expected standings of an amazing race. Source: formats, section 14.21.


def race_table(tournament: Tournament) -> list[Row]:
    """Rows by still in before out, then by most rounds survived."""
    survived: dict[int, int] = {}
    out: set[int] = set()
    for round_ in tournament.rounds_in_order:
        safe, out_here = _round_outcome(tournament, round_)
        for player_id in safe:
            survived[player_id] = survived.get(player_id, 0) + 1
        # Players who went out earlier have no game in later rounds, so a safe player is not out.
        out = (out - safe) | out_here
    points, keys, format_columns = {}, {}, {}
    for entrant in listed_entrants(tournament):
        player_id = entrant.player_id
        count = Decimal(survived.get(player_id, 0))
        points[player_id] = count + checks.adjustment_total(entrant)
        keys[player_id] = (int(player_id not in out), count)
        format_columns[player_id] = {
            "gamesPlayed": sum(
                game.player_id == player_id and game.status == "completed" and not game.is_voided
                for game in tournament.single_player_games
            )
        }
    return single_player_rows(tournament, points, keys, format_columns)


def _round_outcome(tournament: Tournament, round_: Round) -> tuple[set[int], set[int]]:
    """The players safe in a round, and those out; those tied for lowest replay."""
    games = [game for game in tournament.single_player_games if game.round_id == round_.round_id]
    member_ids = {game.player_id for game in games}
    waiting = _waiting_in_round(tournament, round_, len(member_ids))
    group, safe = member_ids - waiting, set(waiting)
    expected = (round_.size or len(member_ids)) - len(waiting)
    for level in range(len(games) + 1):
        games_by_player: dict[int, SinglePlayerGame] = {
            game.player_id: game
            for game in games
            if (game.game_index or 0) == level and game.player_id in group
        }
        given_up = {player_id for player_id, game in games_by_player.items() if game.is_voided}
        if given_up:
            return safe | (group - given_up), given_up
        completed_games = {
            player_id: game for player_id, game in games_by_player.items() if game.status == "completed"
        }
        scores: dict[int, Any] = {
            player_id: game.score
            for player_id, game in completed_games.items()
            if not game.is_advanced and game.score is not None
        }
        safe |= {player_id for player_id, game in completed_games.items() if game.is_advanced}
        safe |= {
            player_id
            for player_id, score in scores.items()
            if any(other < score for other in scores.values())
        }
        lowest = {player_id for player_id, score in scores.items() if score == min(scores.values())}
        if len(completed_games) < expected or not lowest:
            break
        if len(lowest) == 1:
            return safe, lowest
        group, expected = lowest, len(lowest)
    return safe, set()


def _waiting_in_round(tournament: Tournament, round_: Round, players: int) -> set[int]:
    """The best seeds, where byes hold in this round: those who have not left, while two others play."""
    settings = tournament.settings
    assert has(settings, HasRaceByes)
    if (settings.amazing_race_bye_rounds or 0) <= round_.round_index:
        return set()
    seen = [game.player_id for game in tournament.single_player_games]
    seeds = sorted(
        (entrant.seed_rank or 0, entrant.place, entrant.player_id)
        for entrant in tournament.entrants
        if entrant.is_active or entrant.player_id in seen
    )
    indexes = {each.round_id: each.round_index for each in tournament.rounds}
    left = {
        game.player_id
        for game in tournament.single_player_games
        if game.is_voided and indexes.get(game.round_id or 0, 0) <= round_.round_index
    }
    waiting = {player_id for _, _, player_id in seeds[: settings.amazing_race_byes or 0]} - left
    return waiting if (round_.size or players) >= len(waiting) + 2 else set()
