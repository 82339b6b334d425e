"""Who has moved most: the standings now against those before the newest results."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model.tournament import Game, SinglePlayerGame, Tournament
from silverball.wire.standings import Standing

# Without rounds that are opened one by one, the newest results are those of so long before the last one.
NEWEST_WINDOW = timedelta(minutes=30)
# Here a place follows from where somebody stands in the bracket or the race, and not from points.
NOT_BY_POINTS = frozenset(
    {"bracket", "double_bracket", "group_bracket", "golf_bracket", "ladder", "amazingrace"}
)


@dataclass(frozen=True)
class Mover:
    """A player who was elsewhere before; `places` is above 0 for the way up."""

    player_id: int
    position: int
    places: int


def find_movers(tournament: Tournament, standings: Sequence[Standing]) -> list[Mover]:
    """Everybody who moved, the longest way first, then by position."""
    if tournament.type in NOT_BY_POINTS or tournament.status == "planned":
        return []
    before = _before_newest_results(tournament)
    if before is None:
        return []
    then = {one.player_id: one.position for one in tournament_commands.format_of(before).rank(before)}
    moved = [
        Mover(one.player_id, one.position, then[one.player_id] - one.position)
        for one in standings
        if then.get(one.player_id, one.position) != one.position
    ]
    return sorted(moved, key=lambda one: (-abs(one.places), one.position, one.player_id))


def _before_newest_results(tournament: Tournament) -> Tournament | None:
    """The tournament without its newest results; None when there were none before them."""
    if tournament_commands.format_of(tournament).can_open_rounds and tournament.rounds:
        return _without_newest_round(tournament)
    moments = [at for one in tournament.games if (at := _completed_at(one))]
    moments += [at for one in tournament.single_player_games if (at := _played_at(one))]
    if not moments or min(moments) > max(moments) - NEWEST_WINDOW:
        return None
    since = max(moments) - NEWEST_WINDOW
    games = tuple(one for one in tournament.games if (_completed_at(one) or since) <= since)
    attempts = tuple(one for one in tournament.single_player_games if (_played_at(one) or since) <= since)
    return replace(tournament, status="started", games=games, single_player_games=attempts)


def _without_newest_round(tournament: Tournament) -> Tournament | None:
    """Without the newest round that has a result, and what came after it."""
    with_results = {one.round_id for one in tournament.games if _completed_at(one)}
    with_results |= {one.round_id for one in tournament.single_player_games if _played_at(one)}
    played = [one for one in tournament.rounds_in_order if one.round_id in with_results]
    if len(played) < 2:
        return None
    rounds = tuple(one for one in tournament.rounds if one.round_index < played[-1].round_index)
    kept = {one.round_id for one in rounds} | {None}
    return replace(
        tournament,
        status="started",
        rounds=rounds,
        games=tuple(one for one in tournament.games if one.round_id in kept),
        single_player_games=tuple(one for one in tournament.single_player_games if one.round_id in kept),
    )


def _completed_at(game: Game) -> datetime | None:
    return game.completed_at if game.status == "completed" and not game.is_bye else None


def _played_at(attempt: SinglePlayerGame) -> datetime | None:
    return attempt.updated_at if attempt.status == "completed" else None
