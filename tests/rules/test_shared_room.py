"""One room for two tournaments: who waits, who is called, and that nobody starves. Source: pages, 2."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from rules.night import NOON
from silverball.kit.errors import Conflict
from silverball.kit.values import replace
from silverball.rules.formats.group_matchplay import FORMAT
from silverball.rules.mechanics import lineups, queues, rounds, shared_room
from silverball.rules.mechanics.shared_room import ArenaBusyElsewhere, PlayerBusyElsewhere
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import GameChanged, GameOpened, PlayersCalled
from silverball.rules.model.tournament import Entrant, Game, LineupArena, SinglePlayerGame, Tournament

MINUTE = timedelta(minutes=1)


def a_tournament(
    tournament_id: int, players: range, machines: range, *games: Game, users: dict[int, int] | None = None
) -> Tournament:
    return Tournament(
        tournament_id=tournament_id,
        type=FORMAT.type,
        status="started",
        settings=FORMAT.settings(),
        entrants=tuple(
            Entrant(player_id=each, place=at, user_id=(users or {}).get(each))
            for at, each in enumerate(players)
        ),
        lineup=tuple(LineupArena(arena_id=each, place=at) for at, each in enumerate(machines)),
        games=games,
    )


def a_game(game_id: int, *player_ids: int, on: int | None = None, waits: int | None = None) -> Game:
    """An open game; `waits` is the number of minutes after noon since when it waits."""
    game = rounds.new_game(game_id, player_ids, now=NOON, arena_id=on)
    return game if waits is None else replace(game, waiting_since=NOON + waits * MINUTE)


def settled(own: Tournament, other: Tournament, *, before: Tournament | None = None) -> Tournament:
    now = NOON + 30 * MINUTE
    return apply_changes(own, shared_room.settle_room(before, own, shared_room.busy_elsewhere([other]), now))


def waiting_ids(tournament: Tournament) -> set[int]:
    return {game.game_id for game in tournament.open_games if game.waiting_since is not UNSET}


# The new game of tournament 1, the games of tournament 2, and whether the new one waits.
MEETINGS = [
    (a_game(1, 1, 2, on=91), [a_game(21, 3, 4, on=92)], False),
    (a_game(1, 1, 2, on=91), [a_game(21, 2, 4, on=92)], True),
    (a_game(1, 1, 2, on=91), [a_game(21, 3, 4, on=91)], True),
    (a_game(1, 1, 2), [a_game(21, 3, 4)], False),
    (a_game(1, 1, 2, on=91), [a_game(21, 1, 4, on=92, waits=5)], True),
    (a_game(1, 1, 2, on=91), [a_game(21, 3, 4, on=91, waits=5)], True),
    # Of two games of a player the second one needs nobody yet.
    (a_game(1, 1, 2, on=91), [a_game(21, 3, 4, on=92), a_game(22, 3, 1, on=93)], False),
]


@pytest.mark.parametrize(("new", "others", "waits"), MEETINGS)
def test_a_new_game_waits_for_players_and_machines_that_are_busy_or_promised_elsewhere(
    new: Game, others: list[Game], waits: bool
) -> None:
    before = a_tournament(1, range(1, 5), range(91, 95))
    after = apply_changes(before, [GameOpened(new)])
    other = a_tournament(2, range(1, 9), range(91, 95), *others)
    assert (waiting_ids(settled(after, other, before=before)) == {1}) is waits


def test_a_person_is_known_by_their_account_in_another_book_entry() -> None:
    before = a_tournament(1, range(1, 5), range(91, 95), users={1: 700})
    after = apply_changes(before, [GameOpened(a_game(1, 1, 2, on=91))])
    other = a_tournament(2, range(11, 15), range(91, 95), a_game(21, 11, 12, on=92), users={11: 700})
    assert waiting_ids(settled(after, other, before=before)) == {1}
    stranger = a_tournament(2, range(11, 15), range(91, 95), a_game(21, 11, 12, on=92), users={11: 701})
    assert waiting_ids(settled(after, stranger, before=before)) == set()


def test_what_was_in_play_before_goes_on() -> None:
    own = a_tournament(1, range(1, 5), range(91, 95), a_game(1, 1, 2, on=91))
    other = a_tournament(2, range(1, 5), range(91, 95), a_game(21, 1, 3, on=92))
    assert settled(own, other, before=own) == own
    assert settled(own, other) == own


def test_the_longest_wait_comes_first_in_all_tournaments() -> None:
    later = a_tournament(1, range(1, 5), range(91, 95), a_game(1, 1, 2, on=91, waits=6))
    earlier = a_tournament(2, range(1, 5), range(91, 95), a_game(21, 1, 3, on=92, waits=5))
    assert waiting_ids(settled(later, earlier)) == {1}
    assert waiting_ids(settled(earlier, later)) == set()
    # At the same moment, the tournament with the lower number.
    same = a_tournament(2, range(1, 5), range(91, 95), a_game(21, 1, 3, on=92, waits=6))
    assert waiting_ids(settled(later, same)) == set()
    assert waiting_ids(settled(same, later)) == {21}


def test_a_call_moves_the_clock_and_is_announced() -> None:
    own = a_tournament(1, range(1, 5), range(91, 95), a_game(1, 1, 2, on=91, waits=10))
    now = NOON + 30 * MINUTE
    changes = shared_room.settle_room(None, own, shared_room.busy_elsewhere([]), now)
    assert [type(change) for change in changes] == [GameChanged, PlayersCalled]
    called = apply_changes(own, changes)
    assert called.state.calls == {1: now}
    assert called.games[0].started_at == NOON + 20 * MINUTE


def test_a_game_on_a_machine_out_of_order_is_not_called_and_holds_up_nobody() -> None:
    own = a_tournament(1, range(1, 5), range(91, 95), a_game(1, 1, 2, on=91, waits=10))
    broken = replace(own, lineup=(replace(own.lineup[0], is_active=False), *own.lineup[1:]))
    other = a_tournament(2, range(1, 5), range(91, 95), a_game(21, 1, 3, on=92, waits=20))
    assert waiting_ids(settled(broken, other)) == {1}
    assert waiting_ids(settled(other, broken)) == set()


def test_a_single_player_game_takes_its_player_and_machine() -> None:
    attempt = SinglePlayerGame(single_player_game_id=5, player_id=1, status="started", arena_id=91)
    other = replace(a_tournament(2, range(1, 5), range(91, 95)), single_player_games=(attempt,))
    informed = shared_room.with_busy_elsewhere(
        a_tournament(1, range(1, 5), range(91, 95)), shared_room.busy_elsewhere([other])
    )
    assert informed.state.busy_player_ids == (1,)
    assert informed.state.busy_arena_ids == (91,)


@pytest.mark.parametrize(
    ("player_id", "arena_id", "refusal"),
    [(1, 92, PlayerBusyElsewhere), (3, 91, ArenaBusyElsewhere), (3, 92, None)],
)
def test_a_single_player_game_does_not_begin_while_its_player_or_machine_is_busy(
    player_id: int, arena_id: int, refusal: type[Conflict] | None
) -> None:
    attempt = SinglePlayerGame(
        single_player_game_id=5, player_id=player_id, status="started", arena_id=arena_id
    )
    before = a_tournament(1, range(1, 5), range(91, 95))
    after = replace(before, single_player_games=(attempt,))
    other = a_tournament(2, range(1, 5), range(91, 95), a_game(21, 1, 2, on=91))
    if refusal is None:
        assert settled(after, other, before=before) == after
    else:
        with pytest.raises(refusal):
            settled(after, other, before=before)
    # It goes on where it was begun before.
    assert settled(after, other, before=after) == after


@pytest.mark.parametrize(("busy", "up"), [((), 1), ((1,), 2), ((1, 2), 3), ((2,), 1), ((1, 2, 3), None)])
def test_the_first_in_a_queue_who_is_free_in_the_room_is_up(busy: tuple[int, ...], up: int | None) -> None:
    own = a_tournament(1, range(1, 5), range(91, 95))
    waiting = apply_changes(own, queues.join_queue(own, [1, 2, 3], now=NOON, arena_id=91))
    informed = replace(waiting, state=replace(waiting.state, players_elsewhere=busy or UNSET))
    spot = queues.spot_that_is_up(informed, arena_id=91)
    assert (None if spot is None else spot.player_id) == up


@pytest.mark.parametrize(
    ("busy", "groups", "expected"),
    [
        ((91, 92), 2, {93, 94}),
        ((91, 92, 93), 2, {91, 94}),
        ((), 4, {91, 92, 93, 94}),
        ((91, 92, 93, 94), 1, {91}),
    ],
)
def test_busy_machines_are_passed_over_while_there_are_others(
    busy: tuple[int, ...], groups: int, expected: set[int]
) -> None:
    tournament = a_tournament(1, range(1, 17), range(91, 95))
    informed = replace(tournament, state=replace(tournament.state, arenas_elsewhere=busy or UNSET))
    pairs = [(4 * at + 1, 4 * at + 2, 4 * at + 3, 4 * at + 4) for at in range(groups)]
    seats = lineups.assign_groups(informed, pairs, games=1, positions={}, dice=Random(7))
    assert {seat.arena_ids[0] for seat in seats} == expected


def test_another_machine_is_one_that_is_free_in_the_room_if_there_is_one() -> None:
    tournament = a_tournament(1, range(1, 5), range(91, 94), a_game(1, 1, 2, on=91))
    for busy, expected in (((92,), {93}), ((93,), {92}), ((92, 93), {92, 93})):
        informed = replace(tournament, state=replace(tournament.state, arenas_elsewhere=busy))
        found = {lineups.draw_other_arena(informed, tournament.games[0], Random(seed)) for seed in range(20)}
        assert found == expected


@dataclass
class Evening:
    """Two tournaments in groups of four that share players and machines, one minute after the other."""

    dice: Random
    halls: list[Tournament]
    minutes: int = 12
    now: datetime = NOON
    next_id: int = 1
    waits: list[timedelta] = field(default_factory=list)
    # Game -> when it is over, of those that are played.
    ends: dict[int, datetime] = field(default_factory=dict)

    def change(self, at: int, changes: list[GameOpened] | list[GameChanged]) -> None:
        before = self.halls[at]
        self.halls[at] = apply_changes(before, changes)
        self.settle(at, before)
        for other in range(len(self.halls)):
            if other != at:
                self.settle(other, None)

    def settle(self, at: int, before: Tournament | None) -> None:
        elsewhere = shared_room.busy_elsewhere([hall for hall in self.halls if hall is not self.halls[at]])
        changes = shared_room.settle_room(before, self.halls[at], elsewhere, self.now)
        waited = {game.game_id: game.waiting_since for game in self.halls[at].games}
        for change in changes:
            if isinstance(change, GameChanged) and change.after.waiting_since is UNSET:
                since = waited[change.after.game_id]
                assert isinstance(since, datetime)
                self.waits.append(self.now - since)
        self.halls[at] = apply_changes(self.halls[at], changes)

    def open_round(self, at: int) -> None:
        elsewhere = shared_room.busy_elsewhere([hall for hall in self.halls if hall is not self.halls[at]])
        informed = shared_room.with_busy_elsewhere(self.halls[at], elsewhere)
        order = self.dice.sample(informed.active_ids, len(informed.active_ids))
        groups = [tuple(order[first : first + 4]) for first in range(0, len(order), 4)]
        seats = lineups.assign_groups(informed, groups, games=1, positions={}, dice=self.dice)
        opened = []
        for group, seat in zip(groups, seats, strict=True):
            game = rounds.new_game(self.next_id, group, now=self.now, arena_id=seat.arena_ids[0])
            opened.append(GameOpened(game))
            self.next_id += 1
        self.change(at, opened)

    def pass_minute(self) -> None:
        self.now += MINUTE
        for at in range(len(self.halls)):
            if not self.halls[at].open_games:
                self.open_round(at)
        self.require_nobody_twice()
        for at in range(len(self.halls)):
            for game in self.halls[at].open_games:
                if game.waiting_since is not UNSET:
                    continue
                end = self.ends.setdefault(
                    game.game_id, self.now + self.dice.randint(self.minutes // 2, self.minutes) * MINUTE
                )
                if end <= self.now:
                    done = replace(game, status="completed", completed_at=self.now)
                    self.change(at, [GameChanged(game, done)])

    def require_nobody_twice(self) -> None:
        playing = [game for hall in self.halls for game in hall.open_games if game.waiting_since is UNSET]
        seats = [player_id for game in playing for player_id in game.player_ids]
        machines = [game.arena_id for game in playing]
        assert len(seats) == len(set(seats))
        assert len(machines) == len(set(machines))


def an_evening(seed: int, players: int, others: int, shared: int, machines: int) -> Evening:
    arenas = range(1001, 1001 + machines)
    return Evening(
        Random(seed),
        [
            a_tournament(1, range(1, players + 1), arenas),
            a_tournament(2, range(players - shared + 1, players - shared + others + 1), arenas),
        ],
    )


def test_sixty_players_with_twenty_in_both_on_twenty_machines_wait_for_a_bounded_time() -> None:
    for seed in range(3):
        evening = an_evening(seed, 48, 32, 20, 20)
        for _ in range(240):
            evening.pass_minute()
        assert evening.waits
        # Nobody waits longer than for three games that are played one after the other.
        assert max(evening.waits) <= 3 * evening.minutes * MINUTE
        now_waiting = [
            evening.now - game.waiting_since
            for hall in evening.halls
            for game in hall.open_games
            if isinstance(game.waiting_since, datetime)
        ]
        assert max(now_waiting, default=timedelta()) <= 3 * evening.minutes * MINUTE


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    groups=st.integers(1, 5),
    other_groups=st.integers(1, 5),
    share=st.integers(0, 20),
    spare=st.integers(0, 4),
)
def test_every_game_that_waits_is_called(
    seed: int, groups: int, other_groups: int, share: int, spare: int
) -> None:
    players, others = 4 * groups, 4 * other_groups
    shared, machines = min(share, players, others), max(groups, other_groups) + spare
    evening = an_evening(seed, players, others, shared, machines)
    for _ in range(60):
        evening.pass_minute()
    # In the worst case the games of both rounds are played one after the other.
    bound = (groups + other_groups) * evening.minutes * MINUTE
    assert max(evening.waits, default=timedelta()) <= bound
    waiting = [
        evening.now - game.waiting_since
        for hall in evening.halls
        for game in hall.open_games
        if isinstance(game.waiting_since, datetime)
    ]
    assert max(waiting, default=timedelta()) <= bound
