"""Biggest movers: the standings now, compared with those before the newest results."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from silverball.kit.values import replace
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model.tournament import Game, Round, SinglePlayerGame, Tournament
from silverball_wire.standings import Standing

# The newest results, in formats without rounds that the organizer opens.
NEWEST_WINDOW = timedelta(minutes=30)


class Mover(Struct, frozen=True):
    """A player whose position changed; `places` is positive for the way up."""

    player_id: int
    position: int
    places: int


def find_movers(tournament: Tournament, standings: Sequence[Standing]) -> list[Mover]:
    """The players who moved, the longest way first, then by position."""
    format_ = tournament_commands.format_of(tournament)
    if not format_.is_ranked_by_points or tournament.status == "planned":
        return []
    before = _before_newest_results(tournament)
    if before is None:
        return []
    positions = {standing.player_id: standing.position for standing in format_.rank(before)}
    movers = [
        Mover(standing.player_id, standing.position, positions[standing.player_id] - standing.position)
        for standing in standings
        if positions.get(standing.player_id, standing.position) != standing.position
    ]
    return sorted(movers, key=lambda mover: (-abs(mover.places), mover.position, mover.player_id))


def _before_newest_results(tournament: Tournament) -> Tournament | None:
    """The tournament without its newest results; None when there were none before them."""
    if tournament_commands.format_of(tournament).can_open_rounds and tournament.rounds:
        return _without_newest_round(tournament)
    times = [at for game in tournament.games if (at := _completed_at(game))]
    times += [at for game in tournament.single_player_games if (at := _played_at(game))]
    if not times or min(times) > max(times) - NEWEST_WINDOW:
        return None
    since = max(times) - NEWEST_WINDOW
    games = tuple(game for game in tournament.games if (_completed_at(game) or since) <= since)
    single_player_games = tuple(
        game for game in tournament.single_player_games if (_played_at(game) or since) <= since
    )
    return replace(tournament, status="started", games=games, single_player_games=single_player_games)


def _without_newest_round(tournament: Tournament) -> Tournament | None:
    """The tournament before the newest round that has a result."""
    played = rounds_with_results(tournament)
    return as_before_round(tournament, played[-1].round_index) if len(played) > 1 else None


def rounds_with_results(tournament: Tournament) -> list[Round]:
    """The rounds in which something has a result, in order."""
    ids_with_results = {game.round_id for game in tournament.games if _completed_at(game)}
    ids_with_results |= {game.round_id for game in tournament.single_player_games if _played_at(game)}
    return [round_ for round_ in tournament.rounds_in_order if round_.round_id in ids_with_results]


def as_before_round(tournament: Tournament, round_index: int) -> Tournament:
    """The tournament without this round and those after it."""
    rounds = tuple(round_ for round_ in tournament.rounds if round_.round_index < round_index)
    round_ids = {round_.round_id for round_ in rounds} | {None}
    single_player_games = tournament.single_player_games
    return replace(
        tournament,
        status="started",
        rounds=rounds,
        games=tuple(game for game in tournament.games if game.round_id in round_ids),
        single_player_games=tuple(game for game in single_player_games if game.round_id in round_ids),
    )


def _completed_at(game: Game) -> datetime | None:
    return game.completed_at if game.status == "completed" and not game.is_bye else None


def _played_at(game: SinglePlayerGame) -> datetime | None:
    return game.updated_at if game.status == "completed" else None
