"""When a tournament was played: the moment of its completion, and what was played too late to be rated.

A tournament that is completed again keeps the day of its first completion, unless something was played
since: a first result in a game that had none when it was reopened. Byes, forfeits and tiebreak games are
no play. Source: ratings, section A.3.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from msgspec import Struct

from silverball.rules.model import settings_protocols
from silverball.rules.model.tournament import (
    Game,
    Reopening,
    ResultIds,
    SinglePlayerGame,
    Tournament,
)

# From the first start to the last play, and from the first completion to a play that still counts.
SPAN_MAX = timedelta(days=7)


class PlayedResult(Struct, frozen=True):
    """A result of a game, or of a single player game, and when it was played."""

    game_id: int
    is_single: bool
    # None where it is not known.
    began_at: datetime | None
    ended_at: datetime | None
    # Not so for byes, forfeits, voided games, and what only separates tied players.
    is_play: bool

    def is_among(self, ids: ResultIds) -> bool:
        """Whether these ids name its game."""
        return self.game_id in (ids.single_player_game_ids if self.is_single else ids.game_ids)


def played_results(tournament: Tournament) -> Iterator[PlayedResult]:
    """The results of a tournament, games first, by id."""
    for game in tournament.games:
        if game.status == "completed":
            yield _result_of_game(game)
    games_per_round = settings_protocols.games_per_round(tournament.settings)
    for attempt in tournament.single_player_games:
        if attempt.status == "completed":
            yield _result_of_attempt(attempt, games_per_round)


def _result_of_game(game: Game) -> PlayedResult:
    is_play = not (game.is_bye or game.is_tiebreak or game.forfeited_by is not None)
    return PlayedResult(game.game_id, False, game.started_at, game.completed_at, is_play)


def _result_of_attempt(attempt: SinglePlayerGame, games_per_round: int) -> PlayedResult:
    began_at, ended_at = attempt.started_at, attempt.updated_at
    if began_at is not None and attempt.duration_seconds is not None:
        # A later correction moves the other moment.
        ended_at = began_at + timedelta(seconds=attempt.duration_seconds)
    # The holes that separate tied players of a group come after those of the round.
    is_tiebreak = games_per_round > 1 and (attempt.game_index or 0) >= games_per_round
    is_play = not (attempt.is_voided or attempt.is_advanced or is_tiebreak)
    return PlayedResult(attempt.single_player_game_id, True, began_at, ended_at, is_play)


def reopening_of(tournament: Tournament) -> tuple[Reopening | None, datetime | None]:
    """The facts of a completed tournament that its reopening stores, and until when plays will count.

    Both are None for an imported one of which nobody knows when it was completed.
    """
    completed_at = tournament.completed_at
    if completed_at is None:
        return None, None
    results = list(played_results(tournament))
    late = late_results(tournament)
    before = tournament.reopening
    reopening = Reopening(
        first_completed_at=completed_at if before is None else before.first_completed_at,
        completed_at=completed_at,
        played_until=play_span(tournament, completed_at)[1],
        results=_ids_of(results),
        late=_ids_of(late),
    )
    return reopening, tournament.rated_until or _end_of_play(tournament, completed_at)


def _ids_of(results: list[PlayedResult]) -> ResultIds:
    return ResultIds(
        game_ids=tuple(result.game_id for result in results if not result.is_single),
        single_player_game_ids=tuple(result.game_id for result in results if result.is_single),
    )


def _end_of_play(tournament: Tournament, completed_at: datetime) -> datetime:
    """Until when plays count that follow the first completion.

    A play that would make a rated tournament too long to be rated does not count either.
    """
    limit = completed_at + SPAN_MAX
    began_at, ended_at = play_span(tournament, completed_at)
    longest = began_at + SPAN_MAX
    return min(limit, longest) if ended_at <= longest else limit


def play_span(tournament: Tournament, completed_at: datetime) -> tuple[datetime, datetime]:
    """The start of the first game and the end of the last one that is not late, of a completed tournament.

    The published start and the completion stand in for what is not known.
    """
    late = {(result.is_single, result.game_id) for result in late_results(tournament)}
    played = [
        result
        for result in played_results(tournament)
        if result.is_play and (result.is_single, result.game_id) not in late
    ]
    starts = [result.began_at for result in played if result.began_at is not None]
    announced = tournament.details.get("start_utc")
    if not starts and announced is not None:
        starts = [datetime.fromisoformat(announced)]
    began_at = min(starts, default=completed_at)
    ends = [_end_of(result, tournament.reopening) or completed_at for result in played]
    return began_at, min(max(ends, default=completed_at), completed_at)


def _end_of(result: PlayedResult, before: Reopening | None) -> datetime | None:
    """The end of a game; of one that had a result before, when it was played, not entered again."""
    if before is None or result.ended_at is None or not result.is_among(before.results):
        return result.ended_at
    return min(result.ended_at, before.played_until)


def late_results(tournament: Tournament) -> list[PlayedResult]:
    """The results that are not rated, because they were played too long after the first completion."""
    limit, before = tournament.rated_until, tournament.reopening
    if limit is None:
        return []
    found: list[PlayedResult] = []
    for result in played_results(tournament):
        if before is not None and result.is_among(before.results):
            is_late = result.is_among(before.late)
        else:
            is_late = result.ended_at is not None and result.ended_at > limit
        if is_late:
            found.append(result)
    return found


def completion_time(tournament: Tournament, now: datetime) -> datetime:
    """The moment at which a tournament counts as completed that is completed now."""
    before, limit = tournament.reopening, tournament.rated_until
    if before is None or limit is None:
        return now
    since = [
        result.ended_at
        for result in played_results(tournament)
        if result.is_play and not result.is_among(before.results) and result.ended_at is not None
    ]
    return max([before.completed_at, *(ended_at for ended_at in since if ended_at <= limit)])
