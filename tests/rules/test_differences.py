"""The changes between two states of a tournament: each by its own name, and applied they lead there."""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules import properties, single_player_night
from rules.night import NOON, Night, a_night, random_order
from silverball.kit.errors import Refusal
from silverball.kit.values import replace
from silverball.rules.model.apply import apply_changes, changes_between_states
from silverball.rules.model.changes import opposite_changes
from silverball.rules.model.tournament import Card, Entrant, QueueSpot, Tournament

LATER = datetime(2026, 3, 5, 23, tzinfo=UTC)


def names(before: Tournament, after: Tournament) -> list[str]:
    return [type(change).__name__ for change in changes_between_states(before, after)]


def with_round(night: Night) -> Night:
    night.start()
    night.open_round()
    return night


def first_game(tournament: Tournament, **values: Any) -> Tournament:
    game, *others = tournament.games
    return replace(tournament, games=(replace(game, **values), *others))


def first_round(tournament: Tournament, **values: Any) -> Tournament:
    (round_,) = tournament.rounds
    return replace(tournament, rounds=(replace(round_, **values),))


SPOT = QueueSpot(queue_id=9, player_id=1, queue_index=0)
CARD = Card(card_id=7, player_id=1, status="started")
MOVED, VOIDED = replace(SPOT, queue_index=3), replace(CARD, is_voided=True)
DONE: dict[str, Any] = {"status": "completed", "result_positions": (1, 2)}

# Each by hand, from the names of the changes: before, after, and what leads there.
CASES: list[tuple[Callable[[Tournament], Tournament], Callable[[Tournament], Tournament], list[str]]] = [
    (lambda t: t, lambda t: t, []),
    (lambda t: t, lambda t: replace(t, details={"name": "Other"}), ["TournamentEdited"]),
    (
        lambda t: t,
        lambda t: replace(t, entrants=(*t.entrants, Entrant(player_id=99, place=9))),
        ["EntrantAdded"],
    ),
    (lambda t: t, lambda t: replace(t, lineup=t.lineup[1:]), ["ArenaRemoved"]),
    (lambda t: t, lambda t: first_game(t, arena_id=502), ["GameChanged"]),
    (lambda t: t, lambda t: first_game(t, **DONE), ["GameCompleted"]),
    (lambda t: first_game(t, **DONE), lambda t: t, ["GameCleared"]),
    (
        lambda t: first_game(t, **DONE),
        lambda t: first_game(t, **DONE | {"result_positions": (2, 1)}),
        ["GameCorrected"],
    ),
    (lambda t: t, lambda t: replace(t, games=t.games[1:]), ["GameDeleted"]),
    (lambda t: t, lambda t: first_round(t, status="completed"), ["RoundCompleted"]),
    (lambda t: first_round(t, status="completed"), lambda t: t, ["RoundReopened"]),
    (lambda t: t, lambda t: first_round(t, name="Finals"), ["RoundChanged"]),
    # Inner things go before outer ones, and come after them.
    (lambda t: t, lambda t: replace(t, rounds=(), games=()), ["GameDeleted", "GameDeleted", "RoundDeleted"]),
    (lambda t: replace(t, rounds=(), games=()), lambda t: t, ["RoundOpened", "GameOpened", "GameOpened"]),
    (lambda t: t, lambda t: replace(t, queue=(SPOT,)), ["QueueJoined"]),
    (lambda t: replace(t, queue=(SPOT,)), lambda t: replace(t, queue=(MOVED,)), ["QueueMoved"]),
    (lambda t: replace(t, cards=(CARD,)), lambda t: replace(t, cards=(VOIDED,)), ["CardChanged"]),
    # The completion comes last, a new start first.
    (
        lambda t: t,
        lambda t: replace(first_game(t, **DONE), status="completed", completed_at=LATER),
        ["GameCompleted", "TournamentCompleted"],
    ),
    (
        lambda t: replace(first_game(t, **DONE), status="completed", completed_at=LATER),
        lambda t: t,
        ["TournamentReopened", "GameCleared"],
    ),
    (
        lambda t: replace(t, status="completed", completed_at=LATER),
        lambda t: replace(t, status="completed", completed_at=NOON),
        ["TournamentEdited"],
    ),
    (lambda t: replace(t, status="planned"), lambda t: t, ["TournamentStarted"]),
    (lambda t: t, lambda t: replace(t, status="planned"), ["TournamentUnstarted"]),
    (
        lambda t: replace(t, status="planned"),
        lambda t: replace(t, status="completed", completed_at=LATER),
        ["TournamentStarted", "TournamentCompleted"],
    ),
    (
        lambda t: replace(t, status="completed", completed_at=LATER),
        lambda t: replace(t, status="planned"),
        ["TournamentReopened", "TournamentUnstarted"],
    ),
]


@pytest.mark.parametrize(("earlier", "later", "expected"), CASES)
def test_each_difference_is_its_own_change(
    earlier: Callable[[Tournament], Tournament],
    later: Callable[[Tournament], Tournament],
    expected: list[str],
) -> None:
    tournament = with_round(a_night("matchplay", players=4)).tournament
    before, after = earlier(tournament), later(tournament)
    assert names(before, after) == expected
    assert apply_changes(before, changes_between_states(before, after)) == after


def states(kind: str, seed: int) -> list[Tournament]:
    """The states of a random night, in their order."""
    dice = Random(seed)
    night = a_night(kind, players=dice.randint(3, 7), arenas=4)
    seen = [night.tournament]
    for _ in range(25):
        # An assertion of the night: it has no round, no game, or is over.
        with suppress(Refusal, IndexError, AssertionError):
            random_action(night, dice)
        night.tick()
        seen.append(night.tournament)
    return seen


def random_action(night: Night, dice: Random) -> None:
    tournament = night.tournament
    if tournament.status == "planned":
        night.start()
        return
    player_id = dice.choice(tournament.entrants).player_id
    actions: list[Callable[[], object]] = [
        night.open_round,
        night.complete_round,
        night.complete,
        night.undo,
        lambda: night.adjust(player_id, dice.randint(-3, 3)),
        lambda: night.leave(player_id),
        lambda: night.come_back(player_id),
        lambda: night.join(100 + dice.randint(0, 9)),
        lambda: night.clear(dice.choice(tournament.games)),
        lambda: single_player_night.play_score(
            night, player_id, dice.randint(501, 504), dice.randint(0, 9_999)
        ),
    ]
    results = [
        lambda game=game: night.record_order(game, *random_order(game, dice)) for game in tournament.games
    ]
    dice.choice([*actions, *dice.sample(results, min(len(results), 6))])()


@pytest.mark.parametrize("kind", ["matchplay", "knockout", "best_game", "card_best_game"])
@properties.quick
@given(seed=st.integers(0, 9_999), picks=st.tuples(st.integers(0, 25), st.integers(0, 25)))
def test_applied_to_one_state_they_give_the_other(kind: str, seed: int, picks: tuple[int, int]) -> None:
    seen = states(kind, seed)
    before, after = (seen[pick] for pick in picks)
    # Nobody publishes it, and a mirror has its own.
    after = replace(after, state=before.state)
    changes = changes_between_states(before, after)
    assert apply_changes(before, changes) == after
    # An undo leads back.
    assert apply_changes(after, opposite_changes(changes)) == before
    assert changes_between_states(after, after) == []


def test_they_fit_no_state_but_the_one_they_were_made_for() -> None:
    night = with_round(a_night("matchplay", players=4))
    before = night.tournament
    changes = changes_between_states(before, first_game(before, **DONE))
    with pytest.raises(ValueError, match="game_id"):
        apply_changes(replace(before, games=()), changes)
    with pytest.raises(ValueError, match="game_id"):
        apply_changes(first_game(before, arena_id=None), changes)
