"""The summary of a completed tournament: podium, best game, machines played, biggest move, length.

Nothing here names anybody; names are those that everybody may see on the live page.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import timedelta
from fractions import Fraction
from statistics import median

from msgspec import Struct

from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model.tournament import Game, SinglePlayerGame, Tournament
from silverball.web.live import movers
from silverball.web.live.movers import Mover
from silverball_wire.standings import Standing

PODIUM_PLACES = 3
# More players than this share the places of the podium only where whole groups are tied.
PODIUM_ROWS_MAX = 8
# Below this many scores a machine has no usual one.
SCORES_MIN = 3


class BestGame(Struct, frozen=True):
    """A score, and how often it has the machine's median score of this tournament."""

    player_id: int
    arena_id: int
    score: int
    times_median: Fraction

    @property
    def times_text(self) -> str:
        return f"{float(self.times_median):.1f}"


class TournamentSummary(Struct, frozen=True, kw_only=True):
    """A completed tournament in a few numbers."""

    podium: Sequence[Standing]
    best_game: BestGame | None
    # Arena id and completed games on it, the most played first.
    machines: Sequence[tuple[int, int]]
    biggest_climb: Mover | None
    game_count: int
    # From the first game or round to the last result; None without times.
    length: timedelta | None

    @property
    def winners(self) -> Sequence[Standing]:
        return [standing for standing in self.podium if standing.position == 1]

    @property
    def length_text(self) -> str:
        minutes = 0 if self.length is None else self.length // timedelta(minutes=1)
        hours, rest = divmod(minutes, 60)
        return f"{hours} h {rest} min" if hours else f"{rest} min"


def summarize(tournament: Tournament, standings: Sequence[Standing]) -> TournamentSummary:
    """The summary of a tournament with its final standings, by position."""
    played = Counter(
        game.arena_id for game in _counted_games(tournament) if game.arena_id is not None
    ) + Counter(game.arena_id for game in _counted_attempts(tournament) if game.arena_id is not None)
    podium = [standing for standing in standings if standing.position <= PODIUM_PLACES]
    return TournamentSummary(
        podium=podium[:PODIUM_ROWS_MAX],
        best_game=find_best_game(tournament),
        machines=sorted(played.items(), key=lambda item: (-item[1], item[0])),
        biggest_climb=find_biggest_climb(tournament, standings),
        game_count=len(list(_counted_games(tournament))) + len(list(_counted_attempts(tournament))),
        length=_length(tournament),
    )


def find_best_game(tournament: Tournament) -> BestGame | None:
    """The highest score relative to the median of its machine; None where no machine has enough scores."""
    scores: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for game in _counted_games(tournament):
        for player_id, score in zip(game.player_ids, game.result_scores, strict=False):
            if game.arena_id is not None and score is not None:
                scores[game.arena_id].append((score, player_id))
    for attempt in _counted_attempts(tournament):
        if attempt.arena_id is not None and attempt.score is not None:
            scores[attempt.arena_id].append((attempt.score, attempt.player_id))
    best: BestGame | None = None
    for arena_id, listed in sorted(scores.items()):
        middle = Fraction(median(Fraction(score) for score, _ in listed))
        if len(listed) < SCORES_MIN or middle <= 0:
            continue
        score, player_id = max(listed, key=lambda item: (item[0], -item[1]))
        if best is None or score / middle > best.times_median:
            best = BestGame(player_id, arena_id, score, score / middle)
    return best


def find_biggest_climb(tournament: Tournament, standings: Sequence[Standing]) -> Mover | None:
    """The longest way up from a place after any round to the final place, where points decide places."""
    format_ = tournament_commands.format_of(tournament)
    if not format_.is_ranked_by_points:
        return None
    best: Mover | None = None
    for round_ in movers.rounds_with_results(tournament)[1:]:
        before = movers.as_before_round(tournament, round_.round_index)
        positions = {standing.player_id: standing.position for standing in format_.rank(before)}
        for standing in standings:
            places = positions.get(standing.player_id, standing.position) - standing.position
            if places > (0 if best is None else best.places):
                best = Mover(standing.player_id, standing.position, places)
    return best


def _counted_games(tournament: Tournament) -> Iterator[Game]:
    return (
        game
        for game in tournament.games
        if game.status == "completed" and not game.is_bye and not game.is_tiebreak
    )


def _counted_attempts(tournament: Tournament) -> Iterator[SinglePlayerGame]:
    return (
        attempt
        for attempt in tournament.single_player_games
        if attempt.status == "completed" and not attempt.is_voided
    )


def _length(tournament: Tournament) -> timedelta | None:
    games, attempts = list(_counted_games(tournament)), list(_counted_attempts(tournament))
    starts = [game.started_at for game in games] + [round_.created_at for round_ in tournament.rounds]
    starts += [attempt.started_at or attempt.created_at for attempt in attempts]
    ends = [game.completed_at for game in games] + [attempt.updated_at for attempt in attempts]
    known_starts, known_ends = [at for at in starts if at], [at for at in ends if at]
    if not known_starts or not known_ends:
        return None
    return max(max(known_ends) - min(known_starts), timedelta(0))
