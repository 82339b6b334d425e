"""Commands on a tournament: each function returns changes or refuses; none changes anything itself.

`service/core/enact.py` enacts the changes. Chance and time are arguments. A draw is repeatable: `dice_for`
returns the same dice for the same draw until a redraw is requested.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from random import Random

from msgspec import UNSET, UnsetType

from silverball.kit.errors import Conflict, Invalid, NotFound
from silverball.kit.values import replace
from silverball.rules.drawing import history as past_byes
from silverball.rules.format import Format, PlayKind, ResultUnit, Rounds
from silverball.rules.mechanics import lineups, plays, queues, results, rounds, seeding
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import (
    Change,
    DrawRemembered,
    EntrantAdded,
    EntrantChanged,
    EntrantRemoved,
    GameDeleted,
    QueueLeft,
    RoundReopened,
    SinglePlayerGameDeleted,
    SuggestionDecided,
    TournamentCompleted,
    TournamentReopened,
    TournamentStarted,
    tournament_changes,
)
from silverball.rules.model.outcome import AttemptOutcome, GameOutcome, Outcome
from silverball.rules.model.refusals import TournamentIsCompleted, TournamentNotStarted
from silverball.rules.model.settings_protocols import HasStrokeLimit, has
from silverball.rules.model.tournament import EngineState, Entrant, Game, Round, SinglePlayerGame, Tournament
from silverball.rules.ranking.standing import Standing
from silverball.rules.registry import FORMATS

FORFEITS_MAX = 1000
# Strokes on a hole that is given up, where the settings have no limit.
STROKES_WITHOUT_LIMIT = 10


class TournamentAlreadyStarted(Conflict):
    sentence = "The tournament has started already."


class TooFewPlayers(Conflict):
    sentence = "{count} players are too few: add players until there are {needed}."


class RoundAlreadyCompleted(Conflict):
    sentence = "{round} is completed already."


class RoundsNotDeletable(Conflict):
    sentence = "Rounds of this tournament are not deleted by hand: correct or delete results instead."


class RoundIsOver(Conflict):
    sentence = (
        "{round} is over: {newest} exists. The organizer can correct the result with a reason, "
        "or adjust points or strikes."
    )


class TournamentNotCompleted(Conflict):
    sentence = "Only a completed tournament can be reopened."


class TooLateToJoin(Conflict):
    sentence = "Nobody can join this tournament any more: its schedule is made at the start."


class PlayerAlreadyEntered(Conflict):
    sentence = "{player} is in the tournament already."


class PlayerHasGames(Conflict):
    sentence = "{player} has games here. Set the player inactive instead."


class NobodyCanBeRemoved(Conflict):
    sentence = (
        "Nobody can be removed from this tournament: its schedule is made at the start. "
        "Set the player inactive: they give up their games."
    )


class NothingToForfeit(Conflict):
    sentence = "{player} has no open game: there is nothing to forfeit."


def format_of(tournament: Tournament) -> Format:
    """The format of this tournament."""
    return FORMATS[tournament.type]


def dice_for(tournament: Tournament, draw: str) -> tuple[Random, str]:
    """The dice of a draw ("start", "round 3", ...) and their seed, which is journalled."""
    redraws = tournament.state.redraws.get(draw, 0)
    seed = f"{tournament.state.dice_seed}/{draw}/{redraws}"
    return Random(seed), seed  # noqa: S311  # a draw, not a secret


def next_draw_name(tournament: Tournament) -> str:
    """The name of the next round's draw."""
    return f"round {max((round_.round_index for round_ in tournament.rounds), default=-1) + 1}"


def request_redraw(tournament: Tournament, draw: str) -> list[Change]:
    """Make the draw use new dice from now on."""
    redraws = {**tournament.state.redraws, draw: tournament.state.redraws.get(draw, 0) + 1}
    return tournament_changes(DrawRemembered, tournament, state=replace(tournament.state, redraws=redraws))


def require_started(tournament: Tournament) -> None:
    """Refuse a tournament that is not running. Raises Conflict."""
    if tournament.status == "planned":
        raise TournamentNotStarted
    if tournament.status == "completed":
        raise TournamentIsCompleted(action="change anything")


def start(tournament: Tournament, dice: Random, now: datetime) -> list[Change]:
    """Start the tournament: fix the seeds, and make the schedule in formats with a full one."""
    if tournament.status != "planned":
        raise TournamentAlreadyStarted
    form = format_of(tournament)
    needed = max(form.players_min, 2)
    if len(tournament.active_ids) < needed:
        raise TooFewPlayers(count=len(tournament.active_ids), needed=needed)
    changes = seeding.freeze_seeds(tournament, dice)
    changes += tournament_changes(TournamentStarted, tournament, status="started")
    return [*changes, *form.start(apply_changes(tournament, changes), dice, now)]


def open_round(tournament: Tournament, dice: Random, now: datetime) -> list[Change]:
    """Draw and open the next round; a finished open round is completed first."""
    require_started(tournament)
    changes = format_of(tournament).open_round(tournament, dice, now)
    changes += give_up_for_leavers(apply_changes(tournament, changes), dice, now)
    return [*changes, *_count_rounds_away(apply_changes(tournament, changes), dice, now)]


def _count_rounds_away(tournament: Tournament, dice: Random, now: datetime) -> list[Change]:
    """Count the round that was just drawn for those who sit it out; the next draw has who is back."""
    changes: list[Change] = []
    current = tournament
    for entrant in tournament.entrants:
        if isinstance(entrant.away_rounds, UnsetType):
            continue
        step: list[Change]
        if entrant.away_rounds > 1:
            step = [EntrantChanged(entrant, replace(entrant, away_rounds=entrant.away_rounds - 1))]
        elif entrant.away_rounds == 1:
            step = _return_after_round(current, entrant, dice, now)
        else:
            step = [EntrantChanged(entrant, replace(entrant, away_rounds=UNSET))]
        current = apply_changes(current, step)
        changes += step
    return changes


def _return_after_round(
    tournament: Tournament, entrant: Entrant, dice: Random, now: datetime
) -> list[Change]:
    """Bring a player back who sits out the round that was just drawn; nobody has to do it then."""
    byes = byes_to_credit(tournament, entrant)
    back = replace(entrant, is_active=True, away_rounds=0, byes_credited=byes)
    changes: list[Change] = [EntrantChanged(entrant, back)]
    try:
        returned = apply_changes(tournament, changes)
        return [*changes, *format_of(tournament).roster_changed(returned, back, dice, now)]
    except Conflict:
        # They are out meanwhile, and the round is drawn all the same.
        return [EntrantChanged(entrant, replace(entrant, away_rounds=UNSET))]


def complete_round(tournament: Tournament, round_id: int, now: datetime) -> list[Change]:
    """Complete a round whose games all have results."""
    require_started(tournament)
    round_ = rounds.find_round(tournament, round_id)
    if round_.status == "completed":
        raise RoundAlreadyCompleted(round=round_.name)
    return format_of(tournament).complete_round(tournament, round_, now)


def delete_round(tournament: Tournament, round_id: int) -> list[Change]:
    """Delete the newest round with everything in it; the round before it opens again."""
    require_started(tournament)
    if format_of(tournament).rounds in {Rounds.FOLLOWING, Rounds.FIXED}:
        raise RoundsNotDeletable
    changes = rounds.delete_round(tournament, rounds.find_round(tournament, round_id))
    before = apply_changes(tournament, changes).newest_round
    if before is not None and before.status == "completed":
        changes.append(RoundReopened(before, replace(before, status="started", completed_at=None)))
    return changes


def record_result(tournament: Tournament, outcome: Outcome, dice: Random, now: datetime) -> list[Change]:
    """Record or correct a result, with the consequences in the format.

    Who has left gives up each game that comes up.
    """
    require_started(tournament)
    changes = _record(tournament, outcome, dice, now)
    return [*changes, *give_up_for_leavers(apply_changes(tournament, changes), dice, now)]


def _record(tournament: Tournament, outcome: Outcome, dice: Random, now: datetime) -> list[Change]:
    settle = format_of(tournament).settle
    if isinstance(outcome, AttemptOutcome):
        return settle(tournament, outcome, dice, now)
    game = results.find_game(tournament, outcome.game_id)
    if outcome.is_only_given_up:
        others = [player_id for player_id in game.player_ids if player_id not in outcome.gave_up_ids]
        playing = [player_id for player_id in others if player_id not in game.gave_up_ids]
        if game.status != "completed" and len(playing) > 1:
            results.check_can_be_recorded(tournament, game)
            return results.note_given_up(game, outcome.gave_up_ids)
        known = game.finishing_order or game.result_positions
        if game.status == "completed" and len(others) > 1 and set(others) <= set(known):
            # The others keep the order in which they finished.
            order = tuple(player_id for player_id in known if player_id in others)
            outcome = replace(outcome, finishing_order=order)
    was_recorded = game.status == "completed" and not game.is_bye and is_past_correction(tournament, game)
    # The same result sent again after the round has ended is no fault.
    if was_recorded and not settle(tournament, outcome, dice, now):
        return []
    require_correctable(tournament, game)
    changes = settle(tournament, outcome, dice, now)
    return [*changes, *results.put_loser_first(apply_changes(tournament, changes), changes)]


def give_up_for_leavers(tournament: Tournament, dice: Random, now: datetime) -> list[Change]:
    """Give up the open games of those who left a fixed schedule, also those that come up by it."""
    changes: list[Change] = []
    current = tournament
    for _ in range(FORFEITS_MAX if tournament.state.ids_of_leavers else 0):
        step = _give_up_next_of_leavers(current, dice, now)
        if not step:
            break
        changes += step
        current = apply_changes(current, step)
    return changes


def _give_up_next_of_leavers(tournament: Tournament, dice: Random, now: datetime) -> list[Change]:
    left = tournament.state.ids_of_leavers
    for game in tournament.open_games:
        gone = tuple(each for each in game.player_ids if each in left and each not in game.gave_up_ids)
        if gone:
            return _record(tournament, GameOutcome(game_id=game.game_id, gave_up=gone), dice, now)
    for attempt in tournament.single_player_games:
        if attempt.player_id in left and attempt.status != "completed":
            return _record(tournament, _given_up_hole(tournament, attempt), dice, now)
    return []


def _given_up_hole(tournament: Tournament, attempt: SinglePlayerGame) -> AttemptOutcome:
    """The limit of strokes on a hole that somebody gives up."""
    settings = tournament.settings
    limit = settings.golf_stroke_limit if has(settings, HasStrokeLimit) else 0
    return AttemptOutcome(
        single_player_game_id=attempt.single_player_game_id, strokes=limit or STROKES_WITHOUT_LIMIT
    )


def is_past_correction(tournament: Tournament, game: Game) -> bool:
    """Whether a later round exists, in a format that corrects results of the newest round only."""
    if format_of(tournament).can_correct_any_round or game.round_id is None:
        return False
    newest = tournament.newest_round
    return newest is not None and game.round_id != newest.round_id


def require_correctable(tournament: Tournament, game: Game) -> None:
    """Refuse a game whose result can no longer be corrected. Raises Conflict."""
    newest = tournament.newest_round
    if newest is not None and game.round_id is not None and is_past_correction(tournament, game):
        name = rounds.find_round(tournament, game.round_id).name
        raise RoundIsOver(round=name, newest=newest.name)


def reopen(tournament: Tournament, new_seed: str = "") -> list[Change]:
    """Reopen a completed tournament; all draws from now on are from the new seed, if there is one."""
    if tournament.status != "completed":
        raise TournamentNotCompleted
    reopening, rated_until = plays.reopening_of(tournament)
    changes = tournament_changes(
        TournamentReopened,
        tournament,
        status="started",
        completed_at=None,
        reopening=reopening,
        rated_until=rated_until,
    )
    if new_seed:
        state = replace(tournament.state, dice_seed=new_seed)
        changes += tournament_changes(DrawRemembered, tournament, state=state)
    # What comes back was there when the tournament was completed.
    reopened = replace(apply_changes(tournament, changes), completed_at=tournament.completed_at)
    return [*changes, *format_of(tournament).at_reopen(reopened)]


def add_entrants(tournament: Tournament, new: Sequence[Entrant], dice: Random, now: datetime) -> list[Change]:
    """Add players, before the start or late. Raises Conflict where the format takes no late players."""
    if tournament.status == "completed":
        raise TournamentIsCompleted(action="add players")
    form = format_of(tournament)
    is_late = tournament.status == "started"
    if is_late and form.late_entry == "never":
        raise TooLateToJoin
    changes: list[Change] = []
    current = tournament
    for entrant in new:
        if entrant.player_id in current.entrant_by_id:
            raise PlayerAlreadyEntered(player=entrant.player_id)
        joined = _placed_entrant(current, entrant, is_late=is_late)
        step: list[Change] = [EntrantAdded(joined)]
        if is_late:
            step += form.roster_changed(apply_changes(current, step), joined, dice, now)
        current = apply_changes(current, step)
        changes += step
    return [*changes, *_fit_to_players(current)]


def _fit_to_players(tournament: Tournament) -> list[Change]:
    """The changes that follow from the number of players before the start."""
    return format_of(tournament).fit_to_players(tournament) if tournament.status == "planned" else []


def _placed_entrant(tournament: Tournament, entrant: Entrant, *, is_late: bool) -> Entrant:
    place = max((other.place for other in tournament.entrants), default=-1) + 1
    placed = replace(entrant, place=place)
    if not is_late:
        return placed
    return replace(
        placed,
        seed_rank=seeding.next_seed_rank(tournament),
        byes_credited=byes_to_credit(tournament, placed),
        # Points for a late player are given now, not before the first round.
        adjusted_after=tournament.rounds_completed if placed.points_adjustment else None,
    )


def find_entrant(tournament: Tournament, player_id: int) -> Entrant:
    """An entrant of the tournament. Raises NotFound."""
    entrant = tournament.entrant_by_id.get(player_id)
    if entrant is None:
        raise NotFound("Player", player_id)
    return entrant


def set_active(
    tournament: Tournament, player_id: int, *, is_active: bool, dice: Random, now: datetime
) -> list[Change]:
    """Deactivate or reactivate an entrant, with the consequences. Source: formats, section 20."""
    entrant = find_entrant(tournament, player_id)
    form = format_of(tournament)
    if entrant.is_active == is_active and entrant.away_rounds is UNSET:
        return []
    if tournament.status == "completed":
        raise TournamentIsCompleted(action="change its players")
    after = replace(entrant, is_active=is_active, away_rounds=UNSET)
    if tournament.status == "started" and not form.can_leave:
        has_a_place = not is_active or player_id in tournament.state.ids_of_leavers
        if has_a_place:
            return _keep_place(tournament, entrant, after, dice, now)
    if tournament.status == "started" and is_active:
        after = replace(after, byes_credited=byes_to_credit(tournament, entrant))
    changes: list[Change] = [EntrantChanged(entrant, after)]
    changed = apply_changes(tournament, changes)
    if tournament.status == "started":
        changes += form.roster_changed(changed, after, dice, now)
    return [*changes, *_fit_to_players(changed)]


def _keep_place(
    tournament: Tournament, entrant: Entrant, after: Entrant, dice: Random, now: datetime
) -> list[Change]:
    """Let a player leave a fixed schedule, or come back to it: their place in it stays."""
    left = tournament.state.ids_of_leavers
    rest = tuple(player_id for player_id in left if player_id != entrant.player_id)
    leavers = rest if after.is_active else (*rest, entrant.player_id)
    changes: list[Change] = [EntrantChanged(entrant, after)]
    changes += tournament_changes(
        DrawRemembered, tournament, state=replace(tournament.state, left_ids=leavers or UNSET)
    )
    return [*changes, *give_up_for_leavers(apply_changes(tournament, changes), dice, now)]


def byes_to_credit(tournament: Tournament, entrant: Entrant) -> int:
    """Byes to credit so that a new or returning player is not first in line for one. Source: formats, 9."""
    past = lineups.pairing_history(tournament)
    others = [
        player_id
        for player_id in format_of(tournament).playing_ids(tournament)
        if player_id != entrant.player_id
    ]
    wanted = past_byes.byes_on_entry(others, past, entrant.player_id)
    return entrant.byes_credited + max(0, wanted - past.bye_count(entrant.player_id))


def remove_entrant(tournament: Tournament, player_id: int, *, dice: Random, now: datetime) -> list[Change]:
    """Remove a player without games. Raises Conflict for any other player: set them inactive instead."""
    entrant = find_entrant(tournament, player_id)
    if tournament.status == "completed":
        raise TournamentIsCompleted(action="remove players")
    played = any(player_id in game.player_ids for game in tournament.games)
    begun = [game for game in tournament.single_player_games if game.status != "pending"]
    attempted = any(player_id == game.player_id for game in begun)
    if played or attempted:
        raise PlayerHasGames(player=player_id)
    if tournament.status == "started" and format_of(tournament).late_entry == "never":
        raise NobodyCanBeRemoved
    changes: list[Change] = []
    if tournament.status == "started" and entrant.is_active:
        # A removal has the same consequences as leaving.
        changes = set_active(tournament, player_id, is_active=False, dice=dice, now=now)
    rest = apply_changes(tournament, changes)
    changes += [*queues.leave_all_queues(rest, player_id), EntrantRemoved(find_entrant(rest, player_id))]
    return [*changes, *_fit_to_players(apply_changes(tournament, changes))]


def clear_result(tournament: Tournament, game_id: int) -> list[Change]:
    """Clear a result while its round is open."""
    require_started(tournament)
    game = results.find_game(tournament, game_id)
    require_correctable(tournament, game)
    form = format_of(tournament)
    if form.free_games is not None:
        return form.free_games.clear(tournament, game)
    changes = results.clear_game(game)
    return [*changes, *form.result_cleared(apply_changes(tournament, changes), game)]


def forfeit_open_games(tournament: Tournament, player_id: int, dice: Random, now: datetime) -> list[Change]:
    """Give up every open game of a player, also those that come up where a schedule makes them.

    Raises Conflict when nothing is open.
    """
    require_started(tournament)
    find_entrant(tournament, player_id)
    form = format_of(tournament)
    if form.play is PlayKind.RACE:
        # The lowest score is out, and so is whoever has none.
        return set_active(tournament, player_id, is_active=False, dice=dice, now=now)
    wanted = None if form.rounds in {Rounds.FIXED, Rounds.FOLLOWING} else _open_ids(tournament, player_id)
    changes: list[Change] = []
    current = tournament
    for _ in range(FORFEITS_MAX):
        step = _give_up_next(current, player_id, wanted, dice, now)
        if not step:
            break
        changes += step
        current = apply_changes(current, step)
    if not changes:
        raise NothingToForfeit(player=player_id)
    return changes


def _open_ids(tournament: Tournament, player_id: int) -> set[int]:
    """Ids of the open games of either kind with this player."""
    return {
        *(game.game_id for game in tournament.open_games if player_id in game.player_ids),
        *(attempt.single_player_game_id for attempt in _open_attempts(tournament, player_id)),
    }


def has_open_games(tournament: Tournament, player_id: int) -> bool:
    """Whether anything is open that the player could give up."""
    return bool(_open_ids(tournament, player_id))


def _open_attempts(tournament: Tournament, player_id: int) -> list[SinglePlayerGame]:
    return [
        attempt
        for attempt in tournament.single_player_games
        if attempt.player_id == player_id and attempt.status != "completed"
    ]


def _give_up_next(
    tournament: Tournament, player_id: int, wanted: set[int] | None, dice: Random, now: datetime
) -> list[Change]:
    """Give up the first open game of the player, of those that are wanted; no change without one."""
    for game in tournament.open_games:
        is_wanted = wanted is None or game.game_id in wanted
        if is_wanted and player_id in game.player_ids and player_id not in game.gave_up_ids:
            return record_result(
                tournament, GameOutcome(game_id=game.game_id, gave_up=(player_id,)), dice, now
            )
    for attempt in _open_attempts(tournament, player_id):
        if wanted is None or attempt.single_player_game_id in wanted:
            return give_up_attempt(tournament, attempt, dice, now)
    return []


def give_up_attempt(
    tournament: Tournament, attempt: SinglePlayerGame, dice: Random, now: datetime
) -> list[Change]:
    """Give up a single player game: the limit of strokes, pins of zero, a void attempt, or out of a race."""
    require_started(tournament)
    form = format_of(tournament)
    if form.play is PlayKind.RACE:
        return set_active(tournament, attempt.player_id, is_active=False, dice=dice, now=now)
    if form.result_unit is ResultUnit.STROKES:
        return record_result(tournament, _given_up_hole(tournament, attempt), dice, now)
    if form.result_unit is ResultUnit.ROLLS:
        outcome = AttemptOutcome(single_player_game_id=attempt.single_player_game_id, rolls=(0, 0))
        return record_result(tournament, outcome, dice, now)
    assert form.attempts is not None
    return (form.attempts.give_up or form.attempts.void)(tournament, attempt, now)


# Closing a tournament, with or without an open round. Source: formats, sections 2 and 23.


def complete(tournament: Tournament, now: datetime, *, drops_open_round: bool = False) -> list[Change]:
    """Complete the tournament; of a round that is open, keep what is finished, or drop all of it.

    Raises Invalid when a round is to be dropped that comes from a schedule. Source: formats, sections 2
    and 23.
    """
    require_started(tournament)
    form = format_of(tournament)
    if drops_open_round and form.rounds is not Rounds.OPENED:
        sentence = "Rounds of this tournament are made by its format: none of them can be dropped."
        raise Invalid({"openRound": [sentence]})
    changes = _remove_unfinished(tournament)
    rest = apply_changes(tournament, changes)
    newest = rest.newest_round
    if newest is not None and newest.status != "completed" and form.rounds is not Rounds.FIXED:
        if drops_open_round or not _has_results(rest, newest):
            changes += rounds.delete_round(rest, newest)
        rest = apply_changes(tournament, changes)
    for round_ in rest.rounds_in_order:
        changes += rounds.complete_round(rest, round_, now)
    changes += form.at_close(apply_changes(tournament, changes), now)
    completed_at = plays.completion_time(apply_changes(tournament, changes), now)
    state = _state_at_close(tournament, rest)
    completed = {"status": "completed", "completed_at": completed_at, "state": state}
    return [*changes, *tournament_changes(TournamentCompleted, tournament, **completed)]


def _has_results(tournament: Tournament, round_: Round) -> bool:
    """Whether anything but byes is left of the round."""
    games = tournament.games_by_round.get(round_.round_id, ())
    attempts = tournament.attempts_by_round.get(round_.round_id, ())
    return bool(attempts) or not all(game.is_bye for game in games)


def _state_at_close(tournament: Tournament, rest: Tournament) -> EngineState:
    """The state with the players of the open round whose game is not among the rest."""
    newest, form = tournament.newest_round, format_of(tournament)
    if newest is None or newest.status == "completed" or form.rounds is not Rounds.OPENED:
        return tournament.state
    kept = {game.game_id for game in rest.games}
    unfinished = {
        player_id
        for game in tournament.games_by_round.get(newest.round_id, ())
        if not game.is_tiebreak and game.game_id not in kept
        for player_id in game.player_ids
    }
    if not unfinished:
        return tournament.state
    unfinished_ids = tuple(sorted(unfinished))
    return replace(tournament.state, unfinished_round=newest.round_index, unfinished_ids=unfinished_ids)


def _remove_unfinished(tournament: Tournament) -> list[Change]:
    unfinished = {game.game_id for game in tournament.open_games}
    return [
        *(
            SuggestionDecided(suggestion)
            for suggestion in tournament.suggestions
            if suggestion.game_id in unfinished
        ),
        *(QueueLeft(spot) for spot in tournament.queue if not spot.is_done),
        *(GameDeleted(game) for game in tournament.games if game.game_id in unfinished),
        *(
            SinglePlayerGameDeleted(attempt)
            for attempt in tournament.single_player_games
            if attempt.status != "completed"
        ),
    ]


# The players of a playoff, by the standings of its qualifier. Source: formats, sections 4 and 13.3.


def eligible_rows(standings: Sequence[Standing], active_ids: Collection[int]) -> list[Standing]:
    """The rows of the players who are still active, in the same order."""
    there = set(active_ids)
    return [row for row in standings if row.player_id in there]


def players_tied_across(rows: Sequence[Standing], line: int) -> list[int]:
    """Ids of the players who share a place across the line, some before it and some behind.

    Takes rows by position and the number of rows before the line.
    """
    if not 0 < line < len(rows) or rows[line - 1].position != rows[line].position:
        return []
    return [row.player_id for row in rows if row.position == rows[line].position]


def seed_players(rows: Sequence[Standing], dice: Random) -> list[int]:
    """Ids of these players, best seed first: by position, ties drawn."""
    drawn = dice.sample(list(rows), len(rows))
    return [row.player_id for row in sorted(drawn, key=lambda row: row.position)]
