"""Random nights of a format, as a state machine that hypothesis drives.

A `Moves` holds the particulars of a format. The machine adds and drops players, opens rounds, records,
corrects, clears, adjusts, completes, reopens and undoes in any order, and checks invariants after every
action. A refused action must leave the tournament unchanged.
Each family of formats has its machines in its own file (`test_machines_<family>.py`):

    TestMine = machine_of(Moves(kind="mine", settings={"duration": (0, 3)}))
"""

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from random import Random
from typing import Any, ClassVar

from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from rules.moves import Moves, completed_games, has_played, random_finish
from rules.night import Night, a_night
from selection import examples
from silverball.kit.errors import Refusal
from silverball.kit.values import replace
from silverball.rules.commands import corrections, roster
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.commands.corrections import PlayersAfterwards
from silverball.rules.mechanics import lineups
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change, opposite_changes
from silverball.rules.model.outcome import GameOutcome
from silverball.rules.model.tournament import Entrant, Game, Tournament
from silverball.rules.ranking.standing import Standing

RUNS = 50
STEPS = 40
LATE_IDS_FROM = 101
PLAYERS_MAX = 14
# All choices of a step depend on one number, which hypothesis can shrink.
PICKS = st.integers(0, 2**16)


class NightMachine(RuleBasedStateMachine):
    """A state machine that plays one night; `moves` holds the format."""

    moves: ClassVar[Moves]
    night: Night
    planned: Tournament

    @initialize(pick=PICKS, seed=st.integers(0, 999))
    def plan(self, pick: int, seed: int) -> None:
        """Plan a tournament with random settings; in most nights start it at once."""
        dice = Random(pick)
        chosen = {name: dice.choice(list(values)) for name, values in self.moves.settings.items()}
        players, arenas = dice.randint(*self.moves.players), dice.randint(*self.moves.arenas)
        night = a_night(self.moves.kind, players=players, arenas=arenas, **chosen)
        state = replace(night.tournament.state, dice_seed=f"seed {seed}")
        self.night = self.prepare_night(
            dataclasses.replace(night, tournament=replace(night.tournament, state=state))
        )
        self.planned = self.night.tournament
        self.applied_changes: list[Change] = []
        self.may_byes_differ = False
        if pick % 8:
            self.begin()

    def prepare_night(self, night: Night) -> Night:
        """The night to play from this plan: here the same one, in memory."""
        return night

    @precondition(lambda self: self.tournament.status == "planned")
    @rule()
    def begin(self) -> None:
        dice, _seed = tournament_commands.dice_for(self.tournament, "start")
        self.try_action(lambda: tournament_commands.start(self.tournament, dice, self.night.now))

    @precondition(lambda self: self.is_open and len(self.tournament.entrants) < PLAYERS_MAX)
    @rule(pick=PICKS)
    def join(self, pick: int) -> None:
        """Add a player, often with strikes or points."""
        given = Decimal(self.dice_for(pick).choice([0, 0, 1, 2]))
        new = Entrant(player_id=LATE_IDS_FROM + len(self.applied_changes), points_adjustment=given)
        self.try_action(
            lambda: tournament_commands.add_entrants(self.tournament, [new], self.dice, self.night.now)
        )

    @precondition(lambda self: self.is_open)
    @rule(pick=PICKS)
    def leave_or_return(self, pick: int) -> None:
        inactive = [entrant for entrant in self.tournament.entrants if not entrant.is_active]
        active = [entrant for entrant in self.tournament.entrants if entrant.is_active]
        # Most nights lose one player, and none loses all.
        is_active = bool(inactive) and (len(active) <= 2 or pick % 3 == 0)
        player_id = self.dice_for(pick).choice(inactive if is_active else active).player_id
        self.try_action(
            lambda: tournament_commands.set_active(
                self.tournament, player_id, is_active=is_active, dice=self.dice, now=self.night.now
            )
        )

    @precondition(lambda self: self.is_open and len(self.tournament.entrants) > 2)
    @rule(pick=PICKS)
    def remove_player(self, pick: int) -> None:
        player_id = self.dice_for(pick).choice(self.tournament.entrants[-3:]).player_id
        self.try_action(
            lambda: tournament_commands.remove_entrant(
                self.tournament, player_id, dice=self.dice, now=self.night.now
            )
        )

    @precondition(lambda self: self.is_open)
    @rule(pick=PICKS)
    def arena_off_or_on(self, pick: int) -> None:
        arena = self.dice_for(pick).choice(self.tournament.lineup)
        self.try_action(
            lambda: roster.change_arena(
                self.tournament, arena.arena_id, self.dice, self.night.now, is_active=not arena.is_active
            )
        )

    @precondition(lambda self: self.tournament.status == "started")
    @rule()
    def open_round(self) -> None:
        """Continue the night with a round, or with the format's equivalent."""
        before = self.tournament
        dice, _seed = tournament_commands.dice_for(before, tournament_commands.next_draw_name(before))
        if self.try_action(lambda: self.moves.go_on(self.night, dice)):
            self._check_byes(before)

    @precondition(lambda self: self.moves.can_record(self.tournament))
    @rule(pick=PICKS)
    def record(self, pick: int) -> None:
        self.try_action(lambda: self.moves.record(self.night, self.dice_for(pick)))

    @precondition(lambda self: self.moves.can_record(self.tournament))
    @rule(pick=PICKS)
    def record_all(self, pick: int) -> None:
        """Record a result for every open game."""
        self._record_all(pick, leaving=0)

    def _record_all(self, pick: int, leaving: int) -> None:
        dice = self.dice_for(pick)
        for _ in range(_open_count(self.tournament) - leaving):
            if not self.try_action(lambda: self.moves.record(self.night, dice)):
                break

    @precondition(lambda self: self.tournament.status == "started")
    @rule(pick=PICKS)
    def play_round(self, pick: int) -> None:
        """Open a round, record all results and complete it; sometimes leave the last steps out."""
        self.open_round()
        self._record_all(pick, leaving=int(pick % 3 == 0))
        if pick % 3:
            self.complete_round()

    @precondition(lambda self: self.moves.can_record(self.tournament))
    @rule(pick=PICKS)
    def tie(self, pick: int) -> None:
        move = self.moves.tie
        if move is not None:
            assert not self.try_action(lambda: move(self.night, self.dice_for(pick)))

    @precondition(lambda self: has_played(self.tournament))
    @rule(pick=PICKS)
    def correct(self, pick: int) -> None:
        self.try_action(lambda: self.moves.correct(self.night, self.dice_for(pick)), may_lower=True)

    @precondition(lambda self: bool(completed_games(self.tournament)))
    @rule(pick=PICKS)
    def correct_later(self, pick: int) -> None:
        """Correct the result of a game of any round."""
        dice = self.dice_for(pick)
        game = dice.choice(completed_games(self.tournament))
        outcome = GameOutcome(game_id=game.game_id, finishing_order=random_finish(game, dice))
        self.try_action(
            lambda: corrections.correct_result(
                self.tournament, outcome, PlayersAfterwards(), dice, self.night.now
            ),
            may_lower=True,
        )

    @precondition(lambda self: has_played(self.tournament))
    @rule(pick=PICKS)
    def clear(self, pick: int) -> None:
        self.try_action(lambda: self.moves.clear(self.night, self.dice_for(pick)), may_lower=True)

    @precondition(lambda self: self.is_open)
    @rule(pick=PICKS, points=st.integers(-2, 3))
    def adjust(self, pick: int, points: int) -> None:
        player_id = self.dice_for(pick).choice(self.tournament.entrants).player_id
        self.try_action(
            lambda: roster.adjust_entrant(self.tournament, player_id, points=Decimal(points)),
            may_lower=True,
        )

    @precondition(lambda self: self.moves.extra and self.tournament.status == "started")
    @rule(pick=PICKS)
    def something_else(self, pick: int) -> None:
        """Make a move that only some formats have, mostly while games are open."""
        if pick % 4 and not self.moves.can_record(self.tournament):
            self.open_round()
        dice = self.dice_for(pick)
        name = dice.choice(sorted(self.moves.extra))
        done = self.try_action(
            lambda: self.moves.extra[name](self.night, dice), may_lower=name in self.moves.lowering
        )
        self.may_byes_differ |= done and name in self.moves.uneven

    @precondition(lambda self: self.moves.extra and self.tournament.status == "started")
    @rule(pick=PICKS)
    def and_something_else(self, pick: int) -> None:
        self.something_else(pick)

    @precondition(lambda self: self.has_open_round)
    @rule()
    def complete_round(self) -> None:
        newest = self.tournament.newest_round
        if newest is not None and newest.status == "started":
            self.try_action(
                lambda: tournament_commands.complete_round(self.tournament, newest.round_id, self.night.now)
            )

    @precondition(lambda self: self.tournament.newest_round is not None)
    @rule()
    def delete_round(self) -> None:
        newest = self.tournament.newest_round
        if newest is not None and self.try_action(
            lambda: tournament_commands.delete_round(self.tournament, newest.round_id), may_lower=True
        ):
            # Byes credited to late players stay.
            self.may_byes_differ = True

    @precondition(lambda self: self.tournament.status == "started")
    @rule(pick=PICKS)
    def complete(self, pick: int) -> None:
        """Complete the tournament, after which nothing can be recorded; mostly reopen it."""
        if self.try_action(lambda: tournament_commands.complete(self.tournament, self.night.now)):
            assert not self.try_action(lambda: self.moves.record(self.night, self.dice))
            assert not self.try_action(lambda: self.moves.go_on(self.night, self.dice))
            if pick % 4:
                self.reopen()

    @precondition(lambda self: self.tournament.status == "completed")
    @rule()
    def reopen(self) -> None:
        self.try_action(lambda: tournament_commands.reopen(self.tournament))

    @precondition(lambda self: bool(self.night.journal))
    @rule(actions=st.integers(1, 3))
    def undo(self, actions: int) -> None:
        for _ in range(min(actions, len(self.night.journal))):
            self.applied_changes += self.night.undo()
        self._check({})

    @property
    def tournament(self) -> Tournament:
        return self.night.tournament

    @property
    def is_open(self) -> bool:
        """Whether the tournament can still change."""
        return self.tournament.status != "completed"

    @property
    def has_open_round(self) -> bool:
        newest = self.tournament.newest_round
        return newest is not None and newest.status == "started"

    @property
    def dice(self) -> Random:
        return self.dice_for(0)

    def dice_for(self, pick: int) -> Random:
        """Dice of this step: the same pick has another meaning later in the night."""
        return Random(f"{pick} {len(self.applied_changes)}")

    def try_action(self, action: Callable[[], Sequence[Change]], *, may_lower: bool = False) -> bool:
        """Try an action; True when it changed something.

        A refusal must be a sentence, and changes must be undone exactly by their opposites.
        """
        before = self.tournament
        self.night.tick(60)
        try:
            changes = self.night.apply(action())
        except Refusal as refusal:
            sentence = refusal.message
        else:
            sentence = ""
        if sentence:
            assert sentence.endswith((".", ")")), sentence
            assert self.tournament is before
            return False
        self.applied_changes += changes
        if changes:
            assert apply_changes(self.tournament, opposite_changes(changes)) == before
            self._check({} if may_lower else _strikes(tournament_commands.format_of(before).rank(before)))
        return bool(changes)

    def _check(self, strikes_before: Mapping[int, int]) -> None:
        rows = self.night.standings()
        _check_table(rows, lists_everybody=self.moves.lists_everybody)
        _check_points(rows, self.moves.points(self.tournament))
        for player_id, count in _strikes(rows).items():
            assert count >= strikes_before.get(player_id, count), f"strikes of {player_id} fell"
        _check_rounds(self.tournament, self.moves)
        tournament_commands.format_of(self.tournament).is_over(self.tournament)
        for check in self.moves.checks:
            check(self.tournament)

    def _check_byes(self, before: Tournament) -> None:
        """Check that byes of the players in the new round differ by one at most."""
        newest = self.tournament.newest_round
        if newest is None:
            return
        games = self.tournament.games_by_round.get(newest.round_id, ())
        counted = lineups.pairing_history(self.tournament)
        byes = {counted.bye_count(player_id) for game in games for player_id in game.player_ids}
        if self.moves.byes_are_even and not self.may_byes_differ and before.status == "started":
            assert max(byes, default=0) - min(byes, default=0) <= 1

    def teardown(self) -> None:
        """Check that all changes, applied to the planned tournament, give the same tournament."""
        if hasattr(self, "planned"):
            assert apply_changes(self.planned, self.applied_changes) == self.tournament


def _open_count(tournament: Tournament) -> int:
    open_games = sum(game.status == "started" for game in tournament.games)
    return open_games + sum(game.status != "completed" for game in tournament.single_player_games)


def _strikes(rows: Sequence[Standing]) -> dict[int, int]:
    return {row.player_id: row.strike_count or 0 for row in rows}


def _check_table(rows: Sequence[Standing], *, lists_everybody: bool) -> None:
    """Check that places are a ranking with ties (1, 2, 2, 4), player ids ascending within a tie."""
    shown = [(row.position, row.player_id) for row in rows]
    assert shown == sorted(shown)
    assert len({row.player_id for row in rows}) == len(rows)
    counts = Counter(row.position for row in rows)
    free = 1
    for position, count in sorted(counts.items()):
        assert position == free if lists_everybody else position >= free
        free = position + count


def _check_points(rows: Sequence[Standing], expected: Mapping[int, Decimal]) -> None:
    for row in rows:
        if row.player_id in expected:
            assert Decimal(row.points) == expected[row.player_id], f"points of {row.player_id}"


def _check_rounds(tournament: Tournament, moves: Moves) -> None:
    """Check that no player is twice in a game, in two groups of a round or in two open games."""
    playing: Counter[int] = Counter()
    for round_id, games in tournament.games_by_round.items():
        # A player whose opponent left after the first game of a round has a bye besides that game.
        groups = Counter(
            (player, len(group) > 1) for group in lineups.groups_in_games(games) for player in group
        )
        if moves.one_group_per_round and round_id is not None:
            assert max(groups.values(), default=1) == 1, f"twice in round {round_id}"
        for game in games:
            _check_game(game)
            if game.status == "started" and not game.is_tiebreak:
                playing.update(game.player_ids)
    if moves.one_game_at_once:
        assert max(playing.values(), default=1) == 1, "in two games at once"


def _check_game(game: Game) -> None:
    assert len(set(game.player_ids)) == len(game.player_ids)
    lists = (game.result_positions, game.result_points, game.result_scores)
    assert {len(values) for values in lists} == {len(game.player_ids)}
    if game.status == "started":
        # Who gave up stands at the end while the others play on.
        places = {None if player_id in game.gave_up else player_id for player_id in game.result_positions}
        assert {*game.result_points, *places, *game.result_scores} == {None}


def machine_of(moves: Moves, runs: int = RUNS) -> Any:
    """A test case that plays random nights of a format, the same ones each time."""
    name = f"{moves.kind.title().replace('_', '')}Night"
    machine = type(name, (NightMachine,), {"moves": moves})
    case: Any = machine.TestCase  # type: ignore[attr-defined]  # Hypothesis makes it on asking
    case.machine = machine
    case.settings = hypothesis_settings(
        max_examples=examples(runs),
        stateful_step_count=STEPS,
        deadline=None,
        derandomize=True,
        database=None,
        print_blob=False,
        suppress_health_check=list(HealthCheck),
    )
    return case
