"""The amazing race: all play one arena, the lowest score is out, again and again. Source: formats, 14.21."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from random import Random
from typing import Self

import msgspec
from msgspec import UNSET, UnsetType

from silverball.kit.errors import Conflict, Invalid
from silverball.kit.values import replace
from silverball.rules.families import amazing_race
from silverball.rules.format import (
    DemoNight,
    Format,
    FormatGroup,
    PlayKind,
    ResultUnit,
    Rounds,
    no_tied_groups,
    no_wins_or_losses,
    refuse_to_complete_round,
)
from silverball.rules.mechanics import attempts, rounds
from silverball.rules.mechanics.attempts import AttemptRules
from silverball.rules.model import settings, settings_protocols
from silverball.rules.model.changes import Change, RoundChanged, SinglePlayerGameChanged, changes_between
from silverball.rules.model.outcome import AttemptOutcome, Outcome
from silverball.rules.model.refusals import RoundWithoutArena
from silverball.rules.model.tournament import Entrant, Round, SinglePlayerGame, Tournament
from silverball.rules.planning import nights, open_play, played
from silverball.rules.planning.nights import CertainBy, NightPlanning
from silverball.rules.ranking import solo
from silverball.rules.ranking.solo import PlayerTally, RaceProgress
from silverball.rules.ranking.standing import Standing
from silverball.rules.scoring.point_maps import no_points
from silverball.rules.verify import best
from silverball.rules.verify.checks import FormatChecks, no_wins


class PlayerLeftRace(Conflict):
    sentence = "{player} left the race in {round}. Undo that to record a score."


class NoBarYet(Conflict):
    sentence = "Nobody else has a score in {round} yet: there is no bar to be above."


class BarFollowsFromScores(Conflict):
    sentence = "The bar follows from the scores of the round: record or correct those."


class RaceRoundIsOver(Conflict):
    sentence = "{round} is over. Only the arena of an open round can change."


class PlayerOutOfRace(Conflict):
    sentence = "{player} is out of the race and cannot come back. Undo the departure."


class AmazingRaceSettings(settings.ForecastSettings, frozen=True, kw_only=True):
    """Settings of an amazing race. Source: formats, sections 14.21 and 24."""

    seeding: settings.Seeding = "random"
    arena_assignment: settings.ArenaAssignment = "balanced"
    # Absent while nobody waits, so that a race without byes has the keys that it always had.
    amazing_race_byes: settings.AmazingRaceByes | UnsetType = UNSET
    amazing_race_bye_rounds: settings.AmazingRaceByeRounds | UnsetType = UNSET

    def with_derived(self) -> Self:
        """These settings with one round of byes where no number was entered, and without byes for nobody."""
        chosen = super().with_derived()
        if 0 in {self.amazing_race_byes, self.amazing_race_bye_rounds}:
            return msgspec.structs.replace(chosen, amazing_race_byes=UNSET, amazing_race_bye_rounds=UNSET)
        if self.amazing_race_byes and not self.amazing_race_bye_rounds:
            return msgspec.structs.replace(chosen, amazing_race_bye_rounds=1)
        return chosen


def setting_faults(chosen: settings.TournamentSettings) -> Mapping[str, str]:
    """Rounds with byes need a number of players who wait."""
    assert isinstance(chosen, AmazingRaceSettings)
    if not chosen.amazing_race_bye_rounds or chosen.amazing_race_byes:
        return {}
    return {
        "amazingRaceByeRounds": "Say how many of the best seeds wait in these rounds (`amazingRaceByes`)."
    }


def bye_lines(chosen: settings.TournamentSettings, players: int) -> tuple[int, ...]:
    """The worst seed that waits: one line where anybody does."""
    assert isinstance(chosen, AmazingRaceSettings)
    waiting = chosen.amazing_race_byes or 0
    return (waiting,) if 0 < waiting <= players - solo.RACERS_MIN else ()


def start(tournament: Tournament, dice: Random, now: datetime) -> list[Change]:
    """Open the first round, with all players in its queue in seed order."""
    return amazing_race.update_race(tournament, [], now=now, dice=dice)


def settle(tournament: Tournament, outcome: Outcome, dice: Random, now: datetime) -> list[Change]:
    """Record or correct a score, or advance a player, with all consequences."""
    assert isinstance(outcome, AttemptOutcome)
    attempt = attempts.find_attempt(tournament, outcome.single_player_game_id)
    _require_recordable(tournament, attempt, outcome)
    made = attempts.record_attempt(attempt, outcome, points=None, now=now)
    return amazing_race.update_race(tournament, made, now=now, dice=dice)


def _require_recordable(tournament: Tournament, attempt: SinglePlayerGame, outcome: AttemptOutcome) -> None:
    here = _find_round(tournament, attempt)
    if attempt.is_voided:
        raise PlayerLeftRace(player=attempt.player_id, round=here.name)
    assignment = settings_protocols.arena_assignment(tournament.settings, default="balanced")
    if here.arena_id is None and assignment != "disabled":
        raise RoundWithoutArena(round=here.name)
    if outcome.strokes is not None or outcome.rolls or (outcome.score is None) != outcome.is_advanced:
        raise Invalid({"score": ["Enter the score, or advance the player without one."]})
    if outcome.is_advanced and not _has_lower_score(tournament, attempt):
        raise NoBarYet(round=here.name)


def _find_round(tournament: Tournament, attempt: SinglePlayerGame) -> Round:
    assert attempt.round_id is not None
    return rounds.find_round(tournament, attempt.round_id)


def _has_lower_score(tournament: Tournament, attempt: SinglePlayerGame) -> bool:
    return any(
        other.player_id != attempt.player_id and other.game_index == attempt.game_index and _has_score(other)
        for other in attempts.attempts_in_round(tournament, attempt.round_id or 0)
    )


def _has_score(attempt: SinglePlayerGame) -> bool:
    return attempt.status == "completed" and attempt.score is not None and not attempt.is_advanced


def start_attempt(tournament: Tournament, attempt: SinglePlayerGame, now: datetime) -> list[Change]:
    """Start a player's game; the next player is up."""
    return amazing_race.update_race(tournament, attempts.start_attempt(attempt, now), now=now, dice=None)


def delete_result(tournament: Tournament, attempt: SinglePlayerGame, now: datetime) -> list[Change]:
    """Clear a score: the player plays again, and others may no longer be safe."""
    if attempt.is_voided:
        here = _find_round(tournament, attempt).name
        raise PlayerLeftRace(player=attempt.player_id, round=here)
    return amazing_race.update_race(tournament, attempts.clear_attempt(attempt, now), now=now, dice=None)


def set_round(
    tournament: Tournament, round_: Round, arena_id: int | None, score: int | None, now: datetime
) -> list[Change]:
    """Change the arena of a round after a malfunction: safe players stay safe, the others play there.

    Raises Conflict for a round that is over, and for a bar by hand. Source: formats, 14.21 (skip rule).
    """
    if score is not None and score != round_.score:
        raise BarFollowsFromScores
    if arena_id == round_.arena_id:
        return []
    if round_.status == "completed":
        raise RaceRoundIsOver(round=round_.name)
    games = attempts.attempts_in_round(tournament, round_.round_id)
    members = tuple(dict.fromkeys(game.player_id for game in games))
    safe = solo.round_result(tournament, round_, members).safe_ids
    made: list[Change] = list(changes_between(RoundChanged, round_, replace(round_, arena_id=arena_id)))
    for game in games:
        after = _move_to_arena(game, arena_id, game.player_id in safe)
        if after != game:
            made.append(SinglePlayerGameChanged(game, replace(after, updated_at=now)))
    return amazing_race.update_race(tournament, made, now=now, dice=None)


def _move_to_arena(game: SinglePlayerGame, arena_id: int | None, is_safe: bool) -> SinglePlayerGame:
    if is_safe and game.status == "completed":
        # The score stays visible, but no longer counts as a bar.
        return replace(game, is_advanced=True)
    if game.is_voided:
        return game
    return replace(
        game,
        status="pending",
        arena_id=arena_id,
        score=None,
        scorekeeper_id=None,
        started_at=None,
        duration_seconds=None,
    )


def roster_changed(tournament: Tournament, entrant: Entrant, dice: Random, now: datetime) -> list[Change]:
    """Eliminate a leaving player in the current round. Raises Conflict for a returning or late player."""
    games = tournament.attempts_by_player.get(entrant.player_id, ())
    if not entrant.is_active:
        made = [] if games else amazing_race.leave_while_waiting(tournament, entrant.player_id, now)
        return amazing_race.update_race(tournament, made, now=now, dice=dice)
    if not games or any(game.is_voided for game in games):
        raise PlayerOutOfRace(player=entrant.player_id)
    return []


def rank(tournament: Tournament) -> list[Standing]:
    """The standings: players in the race by rounds survived, then those who are out, the last one first."""
    progress = solo.race_progress(tournament)
    played: dict[int, int] = {}
    for attempt in tournament.single_player_games:
        if attempt.status == "completed" and not attempt.is_voided:
            played[attempt.player_id] = played.get(attempt.player_id, 0) + 1
    tallies = {}
    for entrant in solo.listed_entrants(tournament):
        reached = progress.get(entrant.player_id, RaceProgress())
        survived = Decimal(reached.rounds_survived)
        tallies[entrant.player_id] = PlayerTally(
            points=survived + solo.adjustment_total(entrant),
            key=(Decimal(not reached.is_out), survived),
            games_played=played.get(entrant.player_id, 0),
        )
    return solo.rank(tournament, tallies)


def racing_ids(tournament: Tournament) -> tuple[int, ...]:
    """Ids of the active players who are not out."""
    progress = solo.race_progress(tournament)
    return tuple(
        player_id for player_id in tournament.active_ids if not progress.get(player_id, RaceProgress()).is_out
    )


def is_over(tournament: Tournament) -> bool:
    """Whether at most one player is left."""
    newest = tournament.newest_round
    if newest is None or newest.status != "completed" or newest.size is None:
        return False
    games = attempts.attempts_in_round(tournament, newest.round_id)
    result = solo.round_result(tournament, newest, tuple(dict.fromkeys(game.player_id for game in games)))
    return newest.size - len(result.out_ids) <= 1


FORMAT = Format(
    type="amazingrace",
    title="Amazing race",
    group=FormatGroup.KNOCKOUT,
    summary="Everybody plays one machine, the lowest score is out, until one player is left.",
    form_settings=("seeding", "arenaAssignment", "amazingRaceByes", "amazingRaceByeRounds"),
    settings=AmazingRaceSettings,
    setting_faults=setting_faults,
    demo=DemoNight(name="Amazing Race"),
    planning=NightPlanning(certain_by=CertainBy.ELIMINATION, shape=nights.race_of_one_machine),
    play=PlayKind.RACE,
    players_per_game=1,
    result_unit=ResultUnit.SCORE,
    rated=False,
    is_ranked_by_points=False,
    points_map=no_points,
    bye_lines=bye_lines,
    win_loss_rule=no_wins_or_losses,
    rounds=Rounds.FOLLOWING,
    rank=rank,
    is_over=is_over,
    meaningful_games=open_play.race_rule,
    meaningful_games_played=played.by_plan(open_play.race_rule),
    verify=FormatChecks(standings=best.race_table, wins_by=no_wins),
    start=start,
    settle=settle,
    roster_changed=roster_changed,
    at_reopen=lambda tournament: amazing_race.update_race(
        tournament, [], now=tournament.completed_at, dice=None
    ),
    attempts=AttemptRules(start=start_attempt, delete=delete_result, set_round=set_round),
    complete_round=refuse_to_complete_round,
    playing_ids=racing_ids,
    tied_groups=no_tied_groups,
    late_entry="never",
    can_correct_any_round=True,
)
