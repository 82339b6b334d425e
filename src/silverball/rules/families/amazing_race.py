"""The amazing race: all players play one arena, the lowest score is out, until one player is left.

`ranking/race.py` interprets the results; here the race follows them: safe players advance at once, the tied
lowest replay, and a correction removes what no longer follows. `update_race` compares the stored race with
the one that should be and returns the difference. Source: formats, section 14.21.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from random import Random

from msgspec import Struct, field

from silverball.kit.values import replace
from silverball.rules.mechanics import attempts, lineups, queues, rounds
from silverball.rules.model import settings_protocols
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import (
    Change,
    QueueLeft,
    RoundChanged,
    RoundDeleted,
    RoundOpened,
    RoundReopened,
    SinglePlayerGameChanged,
    SinglePlayerGameDeleted,
    changes_between,
)
from silverball.rules.model.tournament import Round, SinglePlayerGame, Tournament
from silverball.rules.ranking import solo
from silverball.rules.ranking.solo import RaceRoundResult

# The organizer chooses every arena.
MANUAL_ASSIGNMENTS = frozenset({"manual", "manual_banks"})
# The temporary id of the game of who leaves while they wait; an update counts down from -1.
LEAVER_ID = -1_000_000


class _RaceUpdate(Struct):
    """A race being brought up to date: the tournament with the changes so far."""

    tournament: Tournament
    now: datetime | None
    # None where nothing needs to be drawn.
    dice: Random | None
    changes: list[Change] = field(default_factory=list)
    new_id: int = 0

    def apply(self, changes: Iterable[Change]) -> None:
        """Apply these changes now."""
        stated = list(changes)
        self.changes += stated
        self.tournament = apply_changes(self.tournament, stated)

    def next_id(self) -> int:
        self.new_id -= 1
        return self.new_id


def update_race(
    tournament: Tournament, changes: Sequence[Change], *, now: datetime | None, dice: Random | None
) -> list[Change]:
    """These changes and all their consequences in the race."""
    run = _RaceUpdate(tournament, now, dice)
    run.apply(changes)
    members = solo.racers(run.tournament)
    begun = run.tournament.rounds_in_order
    size = (begun[0].size if begun else None) or len(members)
    waited: frozenset[int] = frozenset()
    index = 0
    while size > 1 and _is_due(run.tournament, index, members, waited):
        round_ = _find_or_open_round(run, index, size)
        members, out_ids = _settle_round(run, round_, members)
        waited = solo.bye_ids(run.tournament, index, size)
        size -= max(1, len(out_ids))
        index += 1
    _delete_rounds_from(run, index)
    return run.changes


def _is_due(tournament: Tournament, index: int, members: Sequence[int], waited: frozenset[int]) -> bool:
    """Whether a round has begun, or somebody came to it who did not only wait in the round before."""
    if set(members) - waited:
        return True
    there = tournament.rounds_in_order[index : index + 1]
    return any(
        game.player_id in members and game.status != "pending"
        for round_ in there
        for game in attempts.attempts_in_round(tournament, round_.round_id)
    )


def leave_while_waiting(tournament: Tournament, player_id: int, now: datetime) -> list[Change]:
    """A void game for a player who leaves during a bye: they are out in the round that is played."""
    open_rounds = [each for each in tournament.rounds_in_order if each.status != "completed"]
    if not open_rounds:
        return []
    attempt = attempts.pending_attempt(
        LEAVER_ID,
        player_id,
        now=now,
        round_id=open_rounds[0].round_id,
        game_index=0,
        arena_id=open_rounds[0].arena_id,
    )
    return attempts.open_attempts([replace(attempt, status="completed", is_voided=True)])


def _find_or_open_round(run: _RaceUpdate, index: int, size: int) -> Round:
    """The round with this index, opened now if it does not exist yet, for so many players."""
    rounds = run.tournament.rounds_in_order
    if index < len(rounds):
        there = rounds[index]
        if there.size is not None:
            # Several who leave in the same round make the next ones smaller.
            run.apply(changes_between(RoundChanged, there, replace(there, size=size)))
        return run.tournament.round_by_id[there.round_id]
    round_ = Round(
        round_id=run.next_id(),
        round_index=index,
        status="started",
        arena_id=next_arena(run.tournament, index, run.dice),
        name=f"Round {index + 1}",
        size=size,
        created_at=run.now,
    )
    run.apply([RoundOpened(round_)])
    return round_


def next_arena(tournament: Tournament, index: int, dice: Random | None) -> int | None:
    """The arena of a new round; None when the organizer chooses it or there is none.

    Prepared arenas (`amazingRaceSeed`) come in their order and then repeat; otherwise the least played one
    that no open round has. Source: formats, 14.21 and 7.
    """
    assignment = settings_protocols.arena_assignment(tournament.settings, default="balanced")
    active = {arena.arena_id for arena in lineups.available_arenas(tournament)}
    prepared = sorted(
        (lineup_arena.amazing_race_seed, lineup_arena.place, lineup_arena.arena_id)
        for lineup_arena in tournament.lineup
        if lineup_arena.amazing_race_seed is not None and lineup_arena.arena_id in active
    )
    if assignment == "disabled":
        return None
    if prepared:
        return prepared[index % len(prepared)][-1]
    if assignment in MANUAL_ASSIGNMENTS or not active:
        return None
    choice = lineups.available_arenas(tournament)
    drawn = dice.sample(choice, len(choice)) if dice is not None else choice
    open_now = {round_.arena_id for round_ in tournament.rounds if round_.status != "completed"}
    played = [round_.arena_id for round_ in tournament.rounds]
    if assignment == "random":
        return min(drawn, key=lambda arena: arena.arena_id in open_now).arena_id
    return min(
        drawn,
        key=lambda arena: (arena.arena_id in open_now, played.count(arena.arena_id), not arena.is_preferred),
    ).arena_id


def _settle_round(
    run: _RaceUpdate, round_: Round, members: Sequence[int]
) -> tuple[list[int], tuple[int, ...]]:
    """Bring a round up to date; returns the safe players as they advance, and those who are out."""
    found = _verdict_with_games(run, round_, members)
    leaving = _players_leaving(run.tournament, round_, found, members)
    if leaving:
        _void_games(run, round_, found, leaving)
        found = solo.round_result(run.tournament, round_, members)
    _advance_others(run, round_, found)
    _update_queue(run, round_)
    _update_status(run, round_, found, members)
    return _in_order_of_arrival(run.tournament, round_, found, members), found.out_ids


def _verdict_with_games(run: _RaceUpdate, round_: Round, members: Sequence[int]) -> RaceRoundResult:
    """The verdict of a round in which each member has exactly the games to play."""
    found = solo.round_result(run.tournament, round_, members)
    _delete_stray_games(run, round_, found)
    _open_missing_games(run, round_, found)
    return found


def _delete_stray_games(run: _RaceUpdate, round_: Round, found: RaceRoundResult) -> None:
    """Delete games of players who are not in this round or not in a replay."""
    wanted = {(player_id, level) for level, group in enumerate(found.groups) for player_id in group}
    run.apply(
        SinglePlayerGameDeleted(game)
        for game in attempts.attempts_in_round(run.tournament, round_.round_id)
        if (game.player_id, game.game_index) not in wanted
    )


def _open_missing_games(run: _RaceUpdate, round_: Round, found: RaceRoundResult) -> None:
    """Open a pending game for each player who is due to play and has none."""
    there = {
        (game.player_id, game.game_index)
        for game in attempts.attempts_in_round(run.tournament, round_.round_id)
    }
    new = [
        attempts.pending_attempt(
            run.next_id(),
            player_id,
            now=run.now,
            round_id=round_.round_id,
            game_index=level,
            arena_id=round_.arena_id,
        )
        for level, group in enumerate(found.groups)
        for player_id in group
        if (player_id, level) not in there
    ]
    run.apply(attempts.open_attempts(new))


def _players_leaving(
    tournament: Tournament, round_: Round, found: RaceRoundResult, members: Sequence[int]
) -> list[int]:
    """Ids of the inactive players who are out in this round: of an undecided one, the worst seed of several.

    Who leaves next, and had not played the round that others left, is out with them.
    """
    entrants = tournament.entrant_by_id
    gone = [player_id for player_id in members if not entrants[player_id].is_active]
    if found.is_left:
        idle = _idle_ids(tournament, round_, found)
        return [player_id for player_id in gone if player_id in idle]
    if found.out_ids:
        return []
    unsafe = [player_id for player_id in gone if player_id not in found.safe_ids]
    return sorted(unsafe, key=lambda each: (entrants[each].seed_rank or 0, entrants[each].place))[-1:]


def _idle_ids(tournament: Tournament, round_: Round, found: RaceRoundResult) -> set[int]:
    """The players who were advanced because others left, while nothing is played in the next round."""
    after = tournament.rounds_in_order[round_.round_index + 1 :]
    if after and any(
        game.status == "completed" for game in attempts.attempts_in_round(tournament, after[0].round_id)
    ):
        return set()
    level = len(found.groups) - 1
    return {
        game.player_id
        for game in attempts.attempts_in_round(tournament, round_.round_id)
        # A scorekeeper is known for whom they advanced.
        if game.game_index == level and game.is_advanced and game.scorekeeper_id is None
    }


def _void_games(run: _RaceUpdate, round_: Round, found: RaceRoundResult, player_ids: Sequence[int]) -> None:
    """Void the games of these players in this round, which then count below every score."""
    level = len(found.groups) - 1
    for game in attempts.attempts_in_round(run.tournament, round_.round_id):
        if game.player_id in player_ids and game.game_index == level:
            after = replace(game, status="completed", is_voided=True, is_advanced=False, updated_at=run.now)
            run.apply([SinglePlayerGameChanged(game, after)])


def _advance_others(run: _RaceUpdate, round_: Round, found: RaceRoundResult) -> None:
    """Advance all other players once somebody left, whether they have played or not."""
    if not found.is_left:
        return
    for game in attempts.attempts_in_round(run.tournament, round_.round_id):
        if game.status != "completed" and game.player_id not in found.out_ids:
            after = replace(game, status="completed", is_advanced=True, updated_at=run.now)
            run.apply([SinglePlayerGameChanged(game, after)])


def _update_queue(run: _RaceUpdate, round_: Round) -> None:
    """Queue the players with pending games for the round, and only those."""
    games = attempts.attempts_in_round(run.tournament, round_.round_id)
    pending = [game.player_id for game in games if game.status == "pending"]
    present = {game.player_id for game in games}
    for queue_id in [
        spot.queue_id for spot in queues.waiting_spots(run.tournament, round_id=round_.round_id)
    ]:
        # Changes to earlier spots may have moved it forward.
        spot = queues.find_spot(run.tournament, queue_id)
        if spot.player_id not in present:
            run.apply(queues.leave_queue(run.tournament, spot))
        elif spot.player_id not in pending:
            run.apply(queues.complete_spot(run.tournament, spot, run.now))
    waiting = {spot.player_id for spot in queues.waiting_spots(run.tournament, round_id=round_.round_id)}
    for player_id in pending:
        if player_id not in waiting:
            new_id = run.next_id()
            run.apply(
                queues.join_queue(
                    run.tournament, [player_id], now=run.now, round_id=round_.round_id, first_id=new_id
                )
            )


def _update_status(run: _RaceUpdate, round_: Round, found: RaceRoundResult, members: Sequence[int]) -> None:
    """Set the bar, and complete the round once all members have played and one is out."""
    current = run.tournament.round_by_id[round_.round_id]
    games = attempts.attempts_in_round(run.tournament, round_.round_id)
    is_over = (
        bool(found.out_ids)
        and len(members) == current.size
        and all(game.status == "completed" for game in games)
    )
    run.apply(changes_between(RoundChanged, current, replace(current, score=found.bar)))
    current = run.tournament.round_by_id[round_.round_id]
    if is_over and current.status != "completed":
        run.apply([rounds.completion(current, run.now)])
    elif not is_over and current.status == "completed":
        run.apply([RoundReopened(current, replace(current, status="started", completed_at=None))])


def _in_order_of_arrival(
    tournament: Tournament, round_: Round, found: RaceRoundResult, members: Sequence[int]
) -> list[int]:
    """The safe players: those in the next round already, then the new ones, best seed first."""
    rounds = tournament.rounds_in_order
    after = rounds[round_.round_index + 1 :]
    arrived = (
        [game.player_id for game in attempts.attempts_in_round(tournament, after[0].round_id)]
        if after
        else []
    )
    there = [player_id for player_id in dict.fromkeys(arrived) if player_id in found.safe_ids]
    entrants = tournament.entrant_by_id
    new = [player_id for player_id in members if player_id in found.safe_ids and player_id not in there]
    return there + sorted(new, key=lambda player_id: entrants[player_id].seed_rank or 0)


def _delete_rounds_from(run: _RaceUpdate, index: int) -> None:
    """Delete rounds that no player reaches any more, the last one first."""
    for round_ in reversed(run.tournament.rounds_in_order[index:]):
        run.apply(QueueLeft(spot) for spot in run.tournament.queue if spot.round_id == round_.round_id)
        run.apply(
            SinglePlayerGameDeleted(game)
            for game in attempts.attempts_in_round(run.tournament, round_.round_id)
        )
        run.apply([RoundDeleted(run.tournament.round_by_id[round_.round_id])])


def find_open_attempt(tournament: Tournament, player_id: int) -> SinglePlayerGame | None:
    """The only open single player game of a player, if any."""
    for attempt in tournament.single_player_games:
        if attempt.player_id == player_id and attempt.status != "completed":
            return attempt
    return None
