"""Open qualifying: best scores are ranked arena by arena. Source: formats, 14.18."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from random import Random
from typing import Annotated

from silverball.rules.families import best_game as best_game_family
from silverball.rules.format import (
    DemoNight,
    Format,
    FormatGroup,
    PlayKind,
    ResultUnit,
    Rounds,
    never_over,
    no_wins_or_losses,
)
from silverball.rules.mechanics import attempts
from silverball.rules.mechanics.attempts import AttemptRules
from silverball.rules.model import settings
from silverball.rules.model.changes import Change
from silverball.rules.model.outcome import GameOutcome, NewAttempt, Outcome
from silverball.rules.model.tournament import Entrant, SinglePlayerGame, Tournament
from silverball.rules.planning import nights, open_play, played
from silverball.rules.planning.nights import NightPlanning, NightShape, OpenEnd, values_of
from silverball.rules.ranking import bestgame, solo
from silverball.rules.ranking.solo import PlayerTally
from silverball.rules.ranking.standing import Standing, points_text
from silverball.rules.scoring.point_maps import curve_of_best_game
from silverball.rules.verify import best
from silverball.rules.verify.checks import FormatChecks, no_wins

ArenasCounted = Annotated[
    int,
    settings.setting(
        "Machines counted",
        "A player's best so many count; 0 counts all.",
        "Number of arenas whose results count; 0 for all.",
        ge=0,
        le=1000,
    ),
]
AttemptsOnArena = Annotated[
    int,
    settings.setting(
        "Entries per machine",
        "Games of a player on one machine; 0 is no limit.",
        "Greatest number of attempts on an arena; 0 for no limit.",
        ge=0,
        le=1000,
    ),
]
NumberOfBestGames = Annotated[
    int,
    settings.setting(
        "Scores counted per machine",
        "Best scores of a player that count on one machine.",
        "Number of games of a player that are ranked on each arena.",
        ge=0,
        le=1000,
    ),
]


class BestGameSettings(settings.TournamentSettings, frozen=True, kw_only=True):
    """Settings of a best game. Source: formats, sections 14.18 and 24."""

    scorekeeping: settings.Scorekeeping = "user"
    best_game_scoring: settings.BestGameScoring = "bg_linear"
    best_game_overall_attempts: settings.BestGameOverallAttempts = 0
    best_game_attempts_on_arena: AttemptsOnArena = 0
    best_game_arenas_counted: ArenasCounted = 0
    best_game_number_of_best_games: NumberOfBestGames = 1
    use_queues: settings.UseQueues = False
    suggestions: settings.Suggestions = "restricted"
    playoffs_cutoffs: settings.PlayoffsCutoffs = ()


def settings_of(tournament: Tournament) -> BestGameSettings:
    """The settings of a best game."""
    chosen = tournament.settings
    assert isinstance(chosen, BestGameSettings)
    return chosen


def open_attempt(tournament: Tournament, new_attempt: NewAttempt, now: datetime) -> list[Change]:
    """Record a score for a player and an arena, or start a game. Raises Conflict when nothing is left."""
    attempts.check_score(new_attempt.score)
    entrant = attempts.require_player(tournament, new_attempt.player_id)
    known = best_game_family.outcome_of_running_attempt(tournament, new_attempt)
    if known is not None:
        return best_game_family.record_score(tournament, known, now)
    attempts.require_arena(tournament, new_attempt.arena_id)
    require_attempts_left(tournament, entrant, new_attempt.arena_id)
    if new_attempt.score is None:
        best_game_family.require_player_and_arena_free(
            tournament, new_attempt.player_id, new_attempt.arena_id
        )
    on_arena = [
        attempt.game_index or 0
        for attempt in attempts.attempts_of_player(tournament, new_attempt.player_id)
        if attempt.arena_id == new_attempt.arena_id
    ]
    index = max(on_arena, default=-1) + 1
    return best_game_family.create_attempt(tournament, new_attempt, now, card_id=None, game_index=index)


def require_attempts_left(tournament: Tournament, entrant: Entrant, arena_id: int) -> None:
    """Refuse a player who may not play this arena again. Source: formats, 14.18 and 19."""
    chosen = settings_of(tournament)
    used = len(attempts.attempts_of_player(tournament, entrant.player_id))
    attempts.require_entries_left(
        tournament, entrant, used, limit=chosen.best_game_overall_attempts, unit="games"
    )
    attempts.require_attempts_left_on_arena(
        tournament, entrant, arena_id, limit=chosen.best_game_attempts_on_arena
    )


def settle(tournament: Tournament, outcome: Outcome, _dice: Random, now: datetime) -> list[Change]:
    """Record or correct a score."""
    if isinstance(outcome, GameOutcome):
        return attempts.record_tiebreak_game(tournament, outcome, now)
    return best_game_family.record_score(tournament, outcome, now)


def void_attempt(_tournament: Tournament, attempt: SinglePlayerGame, now: datetime) -> list[Change]:
    """Void a game; the attempt stays used up."""
    return attempts.void_attempt(attempt, now)


def unvoid_attempt(tournament: Tournament, attempt: SinglePlayerGame, now: datetime) -> list[Change]:
    """Count a voided game again. Raises Conflict when it would resume while player or arena are taken."""
    changes = attempts.unvoid_attempt(attempt, now)
    if attempt.score is None and attempt.arena_id is not None:
        best_game_family.require_player_and_arena_free(tournament, attempt.player_id, attempt.arena_id)
    return changes


def delete_attempt(_tournament: Tournament, attempt: SinglePlayerGame, _now: datetime) -> list[Change]:
    """Delete a game; the attempt is free again."""
    return attempts.delete_attempt(attempt)


def rank(tournament: Tournament) -> list[Standing]:
    """The standings: the points of each player's counted arenas. Source: formats, 14.18."""
    marks = bestgame.game_marks(tournament)
    played: dict[int, list[SinglePlayerGame]] = {}
    for attempt in tournament.single_player_games:
        if attempt.status == "completed":
            played.setdefault(attempt.player_id, []).append(attempt)
    counted = settings_of(tournament).best_game_arenas_counted
    tallies = {}
    for entrant in solo.listed_entrants(tournament):
        games = played.get(entrant.player_id, [])
        best = [game for game in games if marks[game.single_player_game_id].is_best]
        values = counted_points(best, marks, counted)
        total = sum(values, solo.adjustment_total(entrant))
        tallies[entrant.player_id] = PlayerTally(
            points=total,
            key=(total,),
            games_played=sum(not game.is_voided for game in games),
            entries_played=len(games),
            points_list=tuple(points_text(value) for value in values),
        )
    return solo.rank(tournament, tallies)


def counted_points(
    best: Sequence[SinglePlayerGame], marks: Mapping[int, bestgame.GameMark], arenas_counted: int
) -> list[Decimal]:
    """Points of a player's ranked games on the arenas that count, highest first.

    An arena is worth the sum of the ranks a player holds there. Source: formats, 14.18.
    """
    by_arena: dict[int | None, list[Decimal]] = {}
    for attempt in best:
        by_arena.setdefault(attempt.arena_id, []).append(marks[attempt.single_player_game_id].points)
    arenas = sorted(by_arena.values(), key=sum, reverse=True)[: arenas_counted or None]
    return sorted((points for arena in arenas for points in arena), reverse=True)


def night_shape(chosen: settings.TournamentSettings, _players: int) -> NightShape:
    """The games that each player may play; no end without a limit."""
    assert isinstance(chosen, BestGameSettings)
    if not chosen.best_game_overall_attempts:
        return OpenEnd("Nothing limits the games of a player: it ends when you close it.")
    return nights.turns(chosen.best_game_overall_attempts)


FORMAT = Format(
    type="best_game",
    title="Best game",
    group=FormatGroup.SCORES,
    summary="Open qualifying: the best scores on each machine earn points.",
    form_settings=(
        "bestGameScoring",
        "bestGameOverallAttempts",
        "bestGameAttemptsOnArena",
        "bestGameArenasCounted",
        "useQueues",
        "suggestions",
    ),
    settings=BestGameSettings,
    demo=DemoNight(name="Best Game", players=12),
    planning=NightPlanning(
        shape=night_shape, choices=values_of("bestGameOverallAttempts", 5, 10, 15), unit="games each"
    ),
    play=PlayKind.SCORES,
    players_per_game=1,
    result_unit=ResultUnit.SCORE,
    rated=False,
    points_map=curve_of_best_game,
    win_loss_rule=no_wins_or_losses,
    rounds=Rounds.NONE,
    rank=rank,
    is_over=never_over,
    meaningful_games=open_play.best_game_rule,
    meaningful_games_played=played.by_plan(open_play.best_game_rule),
    verify=FormatChecks(
        standings=best.best_game_table,
        has_one_open_game=True,
        wins_by=no_wins,
        final_points_faults=best.stored_points_faults,
    ),
    setting_faults=best_game_family.setting_faults,
    defaults_beside=best_game_family.defaults_beside,
    start=best_game_family.start,
    settle=settle,
    roster_changed=best_game_family.leave_queues_when_inactive,
    at_close=lambda tournament, _now: best_game_family.store_final_marks(tournament),
    at_reopen=best_game_family.clear_marks,
    attempts=AttemptRules(
        open=open_attempt,
        start=attempts.start_pending_attempt,
        delete=delete_attempt,
        void=void_attempt,
        unvoid=unvoid_attempt,
        check_entries_left=require_attempts_left,
    ),
    late_entry="at_once",
)
