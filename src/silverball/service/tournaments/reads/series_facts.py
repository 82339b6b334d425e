"""Facts from outside a tournament that its draws and seeds use: series, federation ranks and ratings.

They are handed over in the tournament's state and never stored.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Select, select

from silverball.kit.values import replace
from silverball.rules.mechanics import lineups, seeding
from silverball.rules.model import settings_protocols
from silverball.rules.model.settings import TournamentSettings
from silverball.rules.model.settings_protocols import HasArenaAssignment, HasPairing, has
from silverball.rules.model.tournament import Tournament
from silverball.service.outlook.reads import federation
from silverball.service.ratings import reads as ratings_reads
from silverball.service.series import reads as series_reads
from silverball.store import tables
from silverball.store.database.conditions import is_among

BALANCED_SERIES = "balanced_series"
SERIES_SEED = "series_seed"
_T, _G, _SEAT = tables.tournament.c, tables.game.c, tables.game_player.c


def with_series_facts(db: Connection, tournament: Tournament) -> Tournament:
    """The tournament with the groups and plays of its series, when its draws balance over the series."""
    series_id = tournament.details["series_id"]
    if series_id is None or not _is_balanced_over_series(tournament.settings):
        return tournament
    seats = db.execute(_other_seats(series_id, tournament.tournament_id)).all()
    state = replace(tournament.state, series_groups=_groups_played(seats), series_plays=_arena_plays(seats))
    return replace(tournament, state=state)


def with_facts_of(informed: Tournament, tournament: Tournament) -> Tournament:
    """The tournament with the facts of its series and its room that an earlier state of it has."""
    facts = informed.state
    state = replace(
        tournament.state,
        series_groups=facts.series_groups,
        series_plays=facts.series_plays,
        arena_limits=facts.arena_limits,
        players_elsewhere=facts.players_elsewhere,
        arenas_elsewhere=facts.arenas_elsewhere,
    )
    return replace(tournament, state=state)


def _is_balanced_over_series(settings: TournamentSettings) -> bool:
    """Whether opponents or arenas are drawn with an eye on the other tournaments of the series."""
    pairing = settings.pairing if has(settings, HasPairing) else None
    assignment = settings.arena_assignment if has(settings, HasArenaAssignment) else None
    return BALANCED_SERIES in (pairing, assignment)


def with_seed_facts(db: Connection, tournament: Tournament) -> Tournament:
    """The tournament with the facts that its seeding needs: series places, federation ranks or ratings."""
    facts = _seed_facts(db, tournament, settings_protocols.seeding(tournament.settings))
    return replace(tournament, state=replace(tournament.state, seed_facts=facts)) if facts else tournament


def _seed_facts(db: Connection, tournament: Tournament, seeding_rule: str) -> dict[int, float]:
    """Player id -> the number to seed by, lower is better."""
    series_id = tournament.details["series_id"]
    if seeding_rule == SERIES_SEED and series_id is not None:
        standings = series_reads.series_details(db, series_id, None).standings
        return {standing.player_id: float(standing.position) for standing in standings}
    if seeding_rule in seeding.RATING_SEEDS:
        by_bound = seeding_rule == seeding.BY_LOWER_BOUND
        return dict(ratings_reads.seed_numbers(db, tournament.tournament_id, by_bound=by_bound))
    if seeding_rule in federation.SEEDING_RANKS:
        player_ids = [entrant.player_id for entrant in tournament.entrants]
        ranks = federation.player_ranks(db, player_ids, seeding_rule)
        return {player_id: float(rank) for player_id, rank in ranks.items()}
    return {}


def _other_seats(series_id: int, excluded_id: int) -> Select[Any]:
    """Seats in games of the other tournaments of the series, without byes."""
    others = select(_T.tournament_id).where(_T.series_id == series_id, _T.tournament_id != excluded_id)
    return (
        select(_G.round_id, _G.set_number, _G.game_id, _G.arena_id, _G.is_tiebreak, _SEAT.player_id)
        .join(tables.game_player, _SEAT.game_id == _G.game_id)
        # Both named, as PostgreSQL would rather read all seats there are than look up those of so many games.
        .where(is_among(_G.tournament_id, others), is_among(_SEAT.tournament_id, others), ~_G.bye)
        .order_by(_G.game_id, _SEAT.slot)
    )


def _groups_played(seats: Sequence[Any]) -> tuple[tuple[int, ...], ...]:
    """Each group of a round once, however many games it played; outside rounds each game is a group."""
    games: dict[int, tuple[tuple[int | None, int], list[int]]] = {}
    for seat in seats:
        if not seat.is_tiebreak:
            key = (seat.round_id, seat.game_id if seat.round_id is None else seat.set_number)
            games.setdefault(seat.game_id, (key, []))[1].append(seat.player_id)
    return tuple(lineups.joined_groups(games.values()))


def _arena_plays(seats: Sequence[Any]) -> dict[int, dict[int, int]]:
    """Player id -> arena id -> games played on it."""
    plays: dict[int, dict[int, int]] = {}
    for seat in seats:
        if seat.arena_id is not None:
            counts = plays.setdefault(seat.player_id, {})
            counts[seat.arena_id] = counts.get(seat.arena_id, 0) + 1
    return plays
