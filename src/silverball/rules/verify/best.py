"""Expected standings of best games and cards, computed naively. Source: formats, 14.18, 14.19 and 15."""

from decimal import Decimal

from silverball.rules.model.settings_protocols import HasBestGames, HasBestGameScoring, HasCardScoring, has
from silverball.rules.model.tournament import Card, SinglePlayerGame, Tournament
from silverball.rules.scoring import curves
from silverball.rules.verify import alone, rows
from silverball.rules.verify.rows import ZERO, Row, points_text


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
    for entrant in alone.listed_entrants(tournament):
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
        total = sum(values, rows.adjustment_total(entrant))
        points[entrant.player_id], keys[entrant.player_id] = total, (total,)
        format_columns[entrant.player_id] = {
            "pointsList": [points_text(value) for value in values],
            "gamesPlayed": sum(not game.is_voided for game in games),
            "entriesPlayed": len(games),
            "entriesAvailable": _entries_available(tournament, entrant.entries_bought, len(games)),
        }
    return alone.single_player_rows(tournament, points, keys, format_columns)


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
    for entrant in alone.listed_entrants(tournament):
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
        total = sum((value[0] for value in best), rows.adjustment_total(entrant))
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
    return alone.single_player_rows(tournament, points, keys, format_columns)


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
