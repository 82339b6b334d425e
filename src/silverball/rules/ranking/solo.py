"""Standings of single player formats: pingolf, bowling, best games. Source: formats, section 13.1."""

from collections.abc import Mapping
from decimal import Decimal

from msgspec import Struct

from silverball.rules.model.settings_protocols import playoff_bands_of
from silverball.rules.model.tournament import Entrant, Tournament
from silverball.rules.ranking import cutoffs, standing, ties
from silverball.rules.ranking import points as ranking
from silverball.rules.ranking.standing import CountedCard, DisplayedPoints, Standing

ZERO = Decimal(0)


class PlayerTally(Struct, frozen=True, kw_only=True):
    """A player's totals; `key` is the sort key, highest first."""

    # Adjustments included.
    points: Decimal
    key: tuple[Decimal, ...]
    # The tiebreakers after the points.
    tiebreakers: tuple[DisplayedPoints, ...] = ()
    games_played: int = 0
    entries_played: int = 0
    points_list: tuple[DisplayedPoints, ...] | None = None
    cards_counted: tuple[CountedCard, ...] | None = None


def adjustment_total(entrant: Entrant) -> Decimal:
    """Both adjustments together: points, or strokes in pingolf. Source: formats, section 13.5."""
    return entrant.points_adjustment + entrant.score_adjustment


def rank(
    tournament: Tournament, tallies: Mapping[int, PlayerTally], *, lower_is_better: bool = False
) -> list[Standing]:
    """The standings of these players (player id -> tally); equals share a place.

    Tiebreak games and manual orders come after the keys. With `lower_is_better`, tiebreak points are
    subtracted from the points with tiebreaker. Source: formats, sections 13.2 to 13.4.
    """
    added = ranking.tiebreak_game_points(tournament)
    keys = {
        player_id: (
            tally.key,
            added.get(player_id, ZERO),
            -(tournament.entrant_by_id[player_id].tie_place or 0),
        )
        for player_id, tally in tallies.items()
    }
    placed = ties.positions(keys)
    bubbles = cutoffs.bubbles(placed, playoff_bands_of(tournament.settings))
    playing = active_game_ids(tournament)
    rows = []
    for player_id, position in placed.items():
        tally, entrant = tallies[player_id], tournament.entrant_by_id[player_id]
        extra = added.get(player_id)
        rows.append(
            Standing(
                player_id=player_id,
                position=position,
                points=standing.points_text(tally.points),
                tiebreakers=(standing.points_text(tally.points), *tally.tiebreakers),
                points_with_tiebreaker=_points_with_tiebreaker(tally.points, extra, lower_is_better),
                games_played=tally.games_played,
                entries_played=tally.entries_played,
                entries_available=entries_available(tournament, entrant, tally.entries_played),
                cards_counted=tally.cards_counted,
                adjustment=adjustment_total(entrant),
                points_list=tally.points_list,
                active_games=playing.get(player_id, ()),
                bubble=bubbles[player_id],
                manual_tiebreaker_group=entrant.tie_group,
            )
        )
    return rows


def _points_with_tiebreaker(points: Decimal, extra: Decimal | None, lower_is_better: bool) -> str | None:
    if extra is None:
        return None
    return standing.points_text(points - extra if lower_is_better else points + extra)


def entries_available(tournament: Tournament, entrant: Entrant, played: int) -> int:
    """Entries bought and not played yet; 0 where entries are unlimited. Source: formats, section 19."""
    return entrant.entries_bought - played if tournament.has_entry_limits else 0


def active_game_ids(tournament: Tournament) -> dict[int, tuple[int, ...]]:
    """Player id -> ids of the player's started games, tiebreak games included, ascending."""
    ids_by_player = standing.active_game_ids(tournament.games)
    for game in tournament.single_player_games:
        if game.status == "started":
            game_ids = (*ids_by_player.get(game.player_id, ()), game.single_player_game_id)
            ids_by_player[game.player_id] = tuple(sorted(game_ids))
    return ids_by_player


def listed_entrants(tournament: Tournament) -> list[Entrant]:
    """The entrants with a row: active ones and those who have played. Source: formats, section 13.2."""
    played = {game.player_id for game in tournament.single_player_games if game.status == "completed"}
    return [entrant for entrant in tournament.entrants if entrant.is_active or entrant.player_id in played]
