"""The ladder: the bottom of the table plays, the last is out, the next seed joins. Source: formats, 14.13."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from random import Random

from msgspec import Struct

from silverball.kit.errors import Conflict
from silverball.kit.values import replace
from silverball.rules.drawing import groups
from silverball.rules.drawing.groups import Draw, LadderGame
from silverball.rules.families.brackets import bracket_standing
from silverball.rules.format import (
    DemoNight,
    Format,
    FormatGroup,
    Rounds,
    no_tied_groups,
    refuse_to_complete_round,
    refuse_to_join,
)
from silverball.rules.mechanics import call_ups, results, rounds, seeding
from silverball.rules.model import settings
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change
from silverball.rules.model.outcome import GameOutcome, Outcome
from silverball.rules.model.refusals import DrawnElsewhere
from silverball.rules.model.tournament import Game, Round, Tournament
from silverball.rules.planning import nights, planned, played
from silverball.rules.planning.nights import CertainBy, NightPlanning, NightShape, values_of
from silverball.rules.ranking import standing
from silverball.rules.ranking.standing import Standing
from silverball.rules.scoring.point_maps import one_point_per_win
from silverball.rules.verify import brackets as bracket_checks
from silverball.rules.verify.checks import FormatChecks


class LadderGameIsOpen(Conflict):
    sentence = "The next game of a ladder comes up by itself when the open one has its result."


class LadderSettings(settings.ForecastSettings, frozen=True, kw_only=True):
    """Settings of a ladder. Source: formats, sections 14.13 and 24."""

    seeding: settings.BracketSeeding = "manual"
    ladder_type: settings.LadderType = "regular"
    player_order: settings.PlayerOrder = "seed"
    arena_assignment: settings.ArenaAssignment = "balanced"
    suggestions: settings.Suggestions = "disabled"


class LadderState(Struct, frozen=True):
    """The state of a ladder: players alive, players out, and the game to come."""

    # Best seed first.
    alive: tuple[int, ...]
    # Player id -> place; the winner too once it is over.
    places: dict[int, int]
    # The step to be played, None when it is over.
    step: LadderGame | None
    # The rounds whose games stand; later ones were played because of an older result.
    standing_rounds: int
    # Whether the game of the step is there, without a result.
    is_open: bool = False


def read_ladder(tournament: Tournament) -> LadderState:
    """The ladder from the bottom up: games count as long as their players follow from the results."""
    chosen = tournament.settings
    assert isinstance(chosen, LadderSettings)
    alive = tuple(seeding.ids_by_seed(tournament))
    places: dict[int, int] = {}
    played = [_game_in_round(tournament, round_) for round_ in tournament.rounds_in_order]
    at = -1
    while len(alive) > 1:
        at += 1
        step = groups.ladder_games(len(alive), is_fast=chosen.ladder_type == "fast")[0]
        game = played[at] if at < len(played) else None
        if game is None or set(game.player_ids) != set(groups.next_group(alive, step)):
            return LadderState(alive, places, step, at)
        if game.status != "completed":
            return LadderState(alive, places, step, at + 1, is_open=True)
        out = _places_of_those_out(game, step, len(alive))
        places.update(out)
        alive = tuple(player_id for player_id in alive if player_id not in out)
    return LadderState(alive, {**places, **dict.fromkeys(alive, 1)}, None, at + 1)


def _places_of_those_out(game: Game, step: LadderGame, alive: int) -> dict[int, int]:
    """Player id -> place: who gave up is out and shares the last places; then the last of the others."""
    gone = game.gave_up_ids
    places = dict.fromkeys(gone, alive - len(gone) + 1)
    others = [player_id for player_id in game.result_positions if player_id not in {None, *gone}]
    for player_id in reversed(others):
        if player_id is not None and len(places) < step.eliminated_count:
            places[player_id] = alive - len(places)
    return places


def _game_in_round(tournament: Tournament, round_: Round) -> Game | None:
    games = tournament.games_by_round.get(round_.round_id, ())
    return next((game for game in games if not game.is_tiebreak), None)


def open_next_game(tournament: Tournament, dice: Random, now: datetime) -> list[Change]:
    """Open the next game in a round of its own; no change when one is open or the ladder is over."""
    now_at = read_ladder(tournament)
    if now_at.step is None or now_at.is_open:
        return []
    group = groups.next_group(now_at.alive, now_at.step)
    return rounds.open_round(
        tournament,
        Draw((group,)),
        games=1,
        positions={},
        bye_points=Decimal(0),
        has_advantage=False,
        dice=dice,
        now=now,
    )


def open_round(tournament: Tournament, dice: Random, now: datetime) -> list[Change]:
    """Open a missing game, for example after an import. Raises Conflict when none is missing."""
    changes = open_next_game(tournament, dice, now)
    if not changes:
        raise LadderGameIsOpen
    return changes


def settle(tournament: Tournament, outcome: Outcome, dice: Random, now: datetime) -> list[Change]:
    """Record or correct a result; games that followed from the old one go, the next comes up."""
    assert isinstance(outcome, GameOutcome)
    require_own_schedule(tournament)
    changes = results.complete_game(tournament, outcome, results.score_by_points_map(tournament), now)
    changes += delete_stale_rounds(apply_changes(tournament, changes))
    after = apply_changes(tournament, changes)
    changes += rounds.settle_rounds(after, rounds.is_round_played, now)
    return [*changes, *open_next_game(apply_changes(tournament, changes), dice, now)]


def delete_stale_rounds(tournament: Tournament) -> list[Change]:
    """Delete rounds that no longer follow from the results, and reopen rounds with open games."""
    changes: list[Change] = []
    stale: Sequence[Round] = tournament.rounds_in_order[read_ladder(tournament).standing_rounds :]
    for round_ in reversed(stale):
        changes += rounds.delete_round(apply_changes(tournament, changes), round_)
    return [*changes, *rounds.settle_rounds(apply_changes(tournament, changes), rounds.is_round_played, None)]


def require_own_schedule(tournament: Tournament) -> None:
    """Refuse an imported ladder with another schedule, whose games would go. Raises Conflict."""
    if read_ladder(tournament).standing_rounds < len(tournament.rounds):
        raise DrawnElsewhere


def result_cleared(tournament: Tournament, game: Game) -> list[Change]:
    """Delete the rounds that followed from a cleared result; takes the game as it was."""
    require_own_schedule(call_ups.with_game_restored(tournament, game))
    return delete_stale_rounds(tournament)


def at_reopen(tournament: Tournament) -> list[Change]:
    """Bring back the game that closing discarded."""
    require_own_schedule(tournament)
    changes = delete_stale_rounds(tournament)
    if tournament.completed_at is not None:
        after, dice = apply_changes(tournament, changes), call_ups.dice_at_reopen(tournament)
        changes += open_next_game(after, dice, tournament.completed_at)
    return changes


def rank(tournament: Tournament) -> list[Standing]:
    """Players who are out, and the winner in the end; points are the players left behind.

    Source: formats, 14.13.
    """
    if tournament.status == "planned":
        return []
    places = read_ladder(tournament).places
    players = len(seeding.ids_by_seed(tournament))
    playing = standing.active_game_ids(tournament.games)
    rows = [
        replace(bracket_standing(player_id, place, players - place), active_games=playing.get(player_id, ()))
        for player_id, place in places.items()
    ]
    return sorted(rows, key=lambda row: (row.position, row.player_id))


def playing_ids(tournament: Tournament) -> tuple[int, ...]:
    """Ids of the active players who are not out, best seed first."""
    return read_ladder(tournament).alive


def is_over(tournament: Tournament) -> bool:
    """Whether the last game is played."""
    return tournament.status != "planned" and read_ladder(tournament).step is None


def night_shape(chosen: settings.TournamentSettings, players: int) -> NightShape:
    """The games of the ladder, one after the other."""
    assert isinstance(chosen, LadderSettings)
    return nights.ladder_steps(players, is_fast=chosen.ladder_type == "fast")


FORMAT = Format(
    type="ladder",
    title="Ladder",
    group=FormatGroup.KNOCKOUT,
    summary="The bottom of the table plays, the last is out, the next seed joins.",
    form_settings=("ladderType", "seeding", "arenaAssignment", "playerOrder"),
    settings=LadderSettings,
    demo=DemoNight(name="Ladder", players=10),
    planning=NightPlanning(
        certain_by=CertainBy.ELIMINATION,
        shape=night_shape,
        choices=values_of("ladderType", "fast", "regular"),
        unit="ladder",
    ),
    players_per_game=4,
    rated=True,
    is_ranked_by_points=False,
    points_map=one_point_per_win,
    rounds=Rounds.FOLLOWING,
    rank=rank,
    is_over=is_over,
    meaningful_games=planned.ladder,
    meaningful_games_played=played.by_plan(planned.ladder),
    verify=FormatChecks(standings=bracket_checks.ladder_table),
    start=open_next_game,
    open_round=open_round,
    settle=settle,
    roster_changed=refuse_to_join,
    result_cleared=result_cleared,
    complete_round=refuse_to_complete_round,
    playing_ids=playing_ids,
    tied_groups=no_tied_groups,
    at_reopen=at_reopen,
    late_entry="never",
    can_leave=False,
    can_adjust=False,
    can_correct_any_round=True,
)
