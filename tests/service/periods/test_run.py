"""Rating runs: their results, and no needless work. Source: ratings.md A.4, A.7, F 2."""

from dataclasses import dataclass
from datetime import date
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import event, select, update

import build
from rules.ratings import oracle
from selection import examples
from service.ratings.circuit import NOW, Circuit, delete_everything, moment
from silverball.rules.ratings import formulas
from silverball.rules.ratings.formulas import DEFAULTS, Parameters
from silverball.service.periods import rating_run
from silverball.service.periods import writes as periods_writes
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.people import rating_days


def periods(store: Store) -> dict[str, Any]:
    """Day -> the stored period."""
    with store.read() as db:
        return {row.period_date: row for row in db.execute(select(tables.rating_period))}


def statuses(store: Store) -> dict[str, str]:
    return {day: row.status for day, row in periods(store).items()}


@pytest.mark.parametrize(
    ("days", "seconds", "following"),
    [(1, 0.01, 2), (2, 0.02, 2), (2, 0.04, 1), (1, 9.0, 1), (9, 0.04, 4), (16, 0.01, 20), (20, 0.01, 20)],
)
def test_a_transaction_rates_as_many_days_as_fit_into_a_few_hundredths_of_a_second(
    days: int, seconds: float, following: int
) -> None:
    assert rating_run.next_slice_days(days, seconds) == following


def test_a_tournament_of_two_players_is_plain_glicko(store: Store) -> None:
    circuit = Circuit(store)
    circuit.night(1, ["Ada", "Bo"])
    assert circuit.rate(1) == 1
    # Source: vectors/ratings.json, h2h_equal.
    assert circuit.ratings() == {
        "Ada": pytest.approx((1515.0847811835447, 73.39900793791708), abs=1e-9),
        "Bo": pytest.approx((1484.9152188164553, 73.39900793791708), abs=1e-9),
    }


def test_days_without_games_increase_the_deviation(store: Store) -> None:
    circuit = Circuit(store)
    circuit.night(1, ["Ada", "Bo"])
    circuit.night(9, ["Bo", "Ada"])
    circuit.rate(9)
    players = {0: (1500.0, 75.0), 1: (1500.0, 75.0)}
    first = oracle.rated(players, [(2, {0: 0, 1: 1})])
    idle = {name: (rating, formulas.deviation_after(rd, 8)) for name, (rating, rd) in first.items()}
    second = oracle.rated(idle, [(2, {1: 0, 0: 1})])
    assert circuit.ratings() == {
        "Ada": pytest.approx(second[0], abs=1e-9),
        "Bo": pytest.approx(second[1], abs=1e-9),
    }


def test_every_day_has_its_period_and_its_counts(store: Store) -> None:
    circuit = Circuit(store)
    circuit.night(1, ["Ada", "Bo", "Cy"], ["Cy", "Bo"])
    circuit.night(3, ["Ada", "Bo"])
    assert circuit.rate(4) == 4
    found = periods(store)
    assert [found[day].status for day in sorted(found)] == ["processed"] * 4
    first = found["2026-03-01"]
    assert (first.tournament_count, first.result_count, first.player_count) == (1, 4, 3)
    assert (first.challenge_count, first.ext_event_count) == (0, 0)
    assert found["2026-03-02"].player_count == 0
    assert [day for day, row in found.items() if row.is_current] == ["2026-03-04"]


@pytest.mark.parametrize(
    "values",
    [
        {"type": "best_game"},
        {"test": True},
        {"status": "started"},
    ],
)
def test_unrated_tournaments_leave_no_rating(store: Store, values: dict[str, Any]) -> None:
    circuit = Circuit(store)
    circuit.night(1, ["Ada", "Bo"], **values)
    circuit.night(1, ["Cy", "Di"])
    circuit.rate(1)
    assert set(circuit.ratings()) == {"Cy", "Di"}


@pytest.mark.both_databases
def test_byes_forfeits_and_removed_players_give_no_result(store: Store) -> None:
    circuit = Circuit(store)
    night = circuit.night(1, ["Ada", "Bo"])
    ids = [circuit.player(name) for name in ("Ada", "Bo")]
    common = {"status": "completed", "positions": ids}
    build.a_game(store, night, ids, **common, forfeited_by=ids[1])
    build.a_game(store, night, ids[:1], status="completed", positions=ids[:1], bye=True)
    gone = build.a_player(store, circuit.organizer_id, name="Gone")
    build.a_game(store, night, [*ids, gone], status="completed", positions=[gone, *ids])
    circuit.rate(1)
    games = [(2, {0: 0, 1: 1}), (3, {0: 1, 1: 2})]
    expected = oracle.rated({0: (1500.0, 75.0), 1: (1500.0, 75.0)}, games)
    found = circuit.ratings()
    assert set(found) == {"Ada", "Bo"}
    assert found["Ada"] == pytest.approx(expected[0], abs=1e-9)


def test_a_second_run_has_nothing_to_do_and_changes_nothing(store: Store) -> None:
    circuit = Circuit(store)
    circuit.night(1, ["Ada", "Bo"])
    circuit.rate(5)
    before = circuit.stored_rows()
    assert circuit.rate(5) == 0
    assert circuit.stored_rows() == before


def test_a_rebuild_computes_the_same_and_keeps_every_id(store: Store) -> None:
    circuit = Circuit(store)
    circuit.night(1, ["Ada", "Bo", "Cy"])
    circuit.night(4, ["Cy", "Bo"])
    circuit.rate(6)
    before = circuit.stored_rows()
    assert circuit.rate(6, rerate_from=date.min) == 6
    assert circuit.stored_rows() == before


def test_nothing_is_rated_before_the_first_result(store: Store) -> None:
    circuit = Circuit(store)
    assert circuit.rate(5) == 0
    circuit.night(9, ["Ada", "Bo"])
    assert circuit.rate(8) == 0
    assert circuit.ratings() == {}


@dataclass(frozen=True)
class Season:
    """Day of March -> the games of that day."""

    nights: list[tuple[int, list[list[str]]]]


@st.composite
def seasons(draw: st.DrawFn) -> Season:
    dice = Random(draw(st.integers(0, 2**32)))
    names = ["Ada", "Bo", "Cy", "Di", "Eve"]
    nights = []
    for _ in range(draw(st.integers(1, 4))):
        games = [dice.sample(names, dice.randint(2, 4)) for _ in range(dice.randint(1, 3))]
        nights.append((dice.randint(1, 12), games))
    return Season(nights)


FEW = settings(
    max_examples=examples(10),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@FEW
@given(season=seasons())
def test_rating_day_by_day_all_at_once_or_again_gives_the_same(store: Store, season: Season) -> None:
    delete_everything(store)
    circuit = Circuit(store)
    for day, games in season.nights:
        circuit.night(day, *games)
    for day in (1, 2, 5, 6, 11, 15):
        circuit.rate(day)
    step_by_step, numbers = circuit.ratings(), circuit.numbers()
    circuit.rate(15, rerate_from=date.min)
    assert circuit.numbers() == pytest.approx(numbers, abs=1e-9)
    state: dict[str, tuple[float, float]] = {}
    last: dict[str, int] = {}
    for day in range(1, 16):
        games = [game for on, listed in season.nights if on == day for game in listed]
        playing = sorted({name for game in games for name in game})
        before = {
            n: (state[name][0], formulas.deviation_after(state[name][1], day - last[name]))
            if name in state
            else (1500.0, 75.0)
            for n, name in enumerate(playing)
        }
        listed = [
            (len(game), {playing.index(name): place for place, name in enumerate(game)}) for game in games
        ]
        for n, after in oracle.rated(before, listed).items():
            state[playing[n]], last[playing[n]] = after, day
    assert {name: pytest.approx(number, abs=0.05) for name, number in state.items()} == step_by_step


@pytest.mark.both_databases
def test_a_correction_marks_its_day_and_the_next_run_rates_all_later_days_again(store: Store) -> None:
    circuit = Circuit(store)
    night = circuit.night(1, ["Ada", "Bo"])
    circuit.night(3, ["Bo", "Cy"])
    circuit.rate(4)
    wrong = circuit.ratings()
    game = build.ask(store, f"/api/tournaments/{night}/games", by=circuit.organizer_id)[1]["data"][0]
    by = circuit.organizer_id
    assert build.do(store, "POST", f"/api/tournaments/{night}/reopen", by=by)[0] == 200
    assert statuses(store)["2026-03-01"] == "dirty"
    order = [circuit.player("Bo"), circuit.player("Ada")]
    path = f"/api/tournaments/{night}/games/{game['gameId']}/result"
    assert build.do(store, "PUT", path, {"resultPositions": order}, by=by)[0] == 200
    now = moment(1, 23)
    assert build.do(store, "POST", f"/api/tournaments/{night}/complete", by=by, now=now)[0] == 200
    assert circuit.rate(4) == 4
    mended = circuit.ratings()
    assert mended["Bo"][0] > wrong["Bo"][0] + 20
    fresh = Circuit(store)
    fresh.organizer_id, fresh.players = circuit.organizer_id, circuit.players
    assert fresh.rate(4, rerate_from=date.min) == 4
    assert fresh.ratings() == mended


@pytest.mark.both_databases
def test_a_player_whose_only_tournament_was_reopened_loses_the_rating(store: Store) -> None:
    circuit = Circuit(store)
    night = circuit.night(1, ["Ada", "Bo"])
    circuit.night(2, ["Bo", "Cy"])
    circuit.rate(2)
    by = circuit.organizer_id
    assert build.do(store, "POST", f"/api/tournaments/{night}/reopen", by=by)[0] == 200
    circuit.rate(2)
    assert set(circuit.ratings()) == {"Bo", "Cy"}
    with store.read() as db:
        assert db.execute(select(tables.rating_revision.c.period_date).distinct()).scalars().all() == [
            "2026-03-02"
        ]


def test_a_marked_day_without_changes_is_confirmed_without_computing(store: Store) -> None:
    circuit = Circuit(store)
    circuit.night(1, ["Ada", "Bo"])
    circuit.rate(3)
    before = circuit.stored_rows()
    with store.write() as transaction:
        rating_days.mark_days(transaction.connection, [date(2026, 3, 1)])
    assert statuses(store)["2026-03-01"] == "dirty"
    assert circuit.rate(3) == 3
    assert circuit.stored_rows() == before


def test_other_parameters_take_effect_with_a_rebuild(store: Store) -> None:
    circuit = Circuit(store)
    circuit.night(1, ["Ada", "Bo"])
    circuit.rate(2)
    other = Parameters(rating_default=1000.0)
    assert circuit.rate(2, parameters=other) == 0
    circuit.rate(2, parameters=other, rerate_from=date.min)
    assert circuit.ratings()["Ada"][0] == pytest.approx(1015.0847811835447, abs=1e-9)


def test_a_result_from_before_the_first_period_opens_earlier_days(store: Store) -> None:
    circuit = Circuit(store)
    circuit.night(5, ["Ada", "Bo"])
    circuit.rate(6)
    circuit.night(2, ["Bo", "Ada"])
    with store.write() as transaction:
        rating_days.mark_days(transaction.connection, [date(2026, 3, 2)])
    assert circuit.rate(6) == 5
    assert sorted(periods(store)) == [f"2026-03-0{n}" for n in range(2, 7)]


def test_a_claimed_player_keeps_the_rating_and_the_user_gets_it(store: Store) -> None:
    circuit = Circuit(store)
    circuit.night(1, ["Ada", "Bo"])
    circuit.rate(1)
    before = circuit.ratings()
    user_id = circuit.claim("Ada")
    with store.write() as transaction:
        rating_days.mark_players(transaction.connection, [circuit.player("Ada")])
    circuit.rate(1)
    assert circuit.ratings() == before
    body = circuit.get_json(f"/api/ratings/users/{user_id}/summary")["data"]
    assert (body["name"], body["ratingId"]) == ("Ada", 1)


@pytest.mark.both_databases
def test_two_ratings_of_one_person_are_merged_and_rated_again(store: Store) -> None:
    circuit, other = Circuit(store), Circuit(store)
    circuit.night(1, ["Ada", "Bo"])
    other.night(2, ["Ada", "Cy"])
    circuit.rate(3)
    with store.read() as db:
        assert len(db.execute(select(tables.rating)).all()) == 4
    user_id = circuit.claim("Ada")
    with store.write() as transaction:
        own = tables.player.c.player_id == other.player("Ada")
        transaction.connection.execute(update(tables.player).where(own).values(claimed_by=user_id))
        rating_days.mark_players(transaction.connection, [circuit.player("Ada"), other.player("Ada")])
    circuit.rate(3)
    found = circuit.get_json(f"/api/ratings/users/{user_id}/summary")["data"]
    assert (found["gameCount"], found["winCount"], found["ratingId"]) == (2, 2, 1)
    with store.read() as db:
        gone = db.execute(select(tables.rating).where(tables.rating.c.merged_into.is_not(None))).one()
        assert (gone.merged_into, gone.user_id, gone.last_period) == (1, None, None)
        living = tables.rating_revision.c.rating_id
        assert gone.rating_id not in set(db.execute(select(living)).scalars())
    assert set(statuses(store).values()) == {"processed"}


def test_an_older_run_stops_when_another_has_begun(store: Store) -> None:
    circuit = Circuit(store)
    circuit.night(1, ["Ada", "Bo"])
    circuit.night(28, ["Ada", "Bo"])

    def interfere(_done: int, _all: int) -> None:
        with store.write() as transaction:
            rating_days.begin_run(transaction.connection)

    with pytest.raises(periods_writes.RunSuperseded):
        rating_run.rate_days(store, date(2026, 3, 28), DEFAULTS, NOW, progress=interfere)
    assert circuit.get_json("/api/ratings")["data"] == []


def test_an_interrupted_run_is_continued(store: Store) -> None:
    circuit = Circuit(store)
    for day in (1, 10, 25, 28):
        circuit.night(day, ["Ada", "Bo"], ["Bo", "Cy"])

    class PowerCut(Exception):
        pass

    def cut(_done: int, _all: int) -> None:
        raise PowerCut

    with pytest.raises(PowerCut):
        rating_run.rate_days(store, date(2026, 3, 28), DEFAULTS, NOW, progress=cut)
    # The first transaction of a run has one day.
    assert circuit.rate(28) == 27
    resumed = circuit.numbers()
    circuit.rate(28, rerate_from=date.min)
    assert circuit.numbers() == pytest.approx(resumed, abs=1e-9)


class _PowerCut(Exception):
    pass


def rate_until_cut(store: Store, last: date, *, days: int) -> None:
    """Rate, and stop as a killed process does when so many days are stored."""

    def cut(done: int, _all: int) -> None:
        if done >= days:
            raise _PowerCut

    with pytest.raises(_PowerCut):
        rating_run.rate_days(store, last, DEFAULTS, NOW, progress=cut)


def test_a_run_that_ends_before_it_publishes_is_published_by_the_next_one(store: Store) -> None:
    circuit = Circuit(store)
    circuit.night(1, ["Ada", "Bo"])
    circuit.rate(1)
    published = circuit.ratings()
    circuit.night(2, ["Bo", "Ada"], ["Bo", "Cy"])
    rate_until_cut(store, date(2026, 3, 2), days=1)
    assert circuit.ratings() == published
    assert circuit.rate(2) == 1
    resumed = circuit.stored_rows()
    assert set(circuit.ratings()) == {"Ada", "Bo", "Cy"}
    assert circuit.rate(2) == 0
    circuit.rate(2, rerate_from=date.min)
    assert circuit.stored_rows() == resumed


def test_a_correction_whose_run_is_interrupted_reaches_all_later_days(store: Store) -> None:
    circuit = Circuit(store)
    for day in (1, 3, 5):
        circuit.night(day, ["Ada", "Bo"], ["Bo", "Cy"])
    circuit.rate(6)
    circuit.night(2, ["Cy", "Ada"])
    with store.write() as transaction:
        rating_days.mark_days(transaction.connection, [date(2026, 3, 2)])
    rate_until_cut(store, date(2026, 3, 6), days=1)
    assert statuses(store)["2026-03-06"] == "dirty"
    assert circuit.rate(6) == 4
    resumed = circuit.numbers()
    circuit.rate(6, rerate_from=date.min)
    assert circuit.numbers() == pytest.approx(resumed, abs=1e-9)


def test_a_day_that_is_corrected_while_its_ratings_are_published_is_rated_again(store: Store) -> None:
    circuit = Circuit(store)
    circuit.night(1, ["Ada", "Bo"])

    def correct(_done: int, _all: int) -> None:
        circuit.night(1, ["Bo", "Ada"])
        with store.write() as transaction:
            rating_days.mark_days(transaction.connection, [date(2026, 3, 1)])

    assert rating_run.rate_days(store, date(2026, 3, 1), DEFAULTS, NOW, progress=correct) == 1
    assert statuses(store)["2026-03-01"] == "dirty"
    assert circuit.ratings()["Ada"][0] > circuit.ratings()["Bo"][0]
    assert circuit.rate(1) == 1
    assert circuit.ratings()["Ada"][0] == circuit.ratings()["Bo"][0]
    assert set(statuses(store).values()) == {"processed"}


@pytest.mark.both_databases
def test_opting_out_while_ratings_are_published_leaves_no_rank(store: Store) -> None:
    circuit = Circuit(store)
    circuit.night(1, ["Ada", "Bo", "Cy"])
    user_id = circuit.claim("Ada")

    class OptingOut(rating_run.RatingRun):
        def _prepare_publication(self, *given: Any) -> rating_run.Publication:
            publication = super()._prepare_publication(*given)
            with store.write() as transaction:
                own = update(tables.user).where(tables.user.c.user_id == user_id)
                transaction.connection.execute(own.values(ratings_opt_out=True))
                rating_days.update_user(transaction.connection, user_id, was_hidden=False)
            return publication

    assert OptingOut(store, DEFAULTS, NOW).rate_until(date(2026, 3, 1), None, lambda _done, _all: None) == 1
    rating = tables.rating.c
    with store.read() as db:
        ranks = dict(db.execute(select(rating.name, rating.rank).order_by(rating.rank)).all())
    assert ranks == {"Bo": 1, "Cy": 2, "Ada": None}


def test_a_days_tournaments_are_found_by_an_index(store: Store) -> None:
    """Ten years hold a hundred thousand tournaments, and a run queries every few days."""
    if not store.is_sqlite:
        pytest.skip("PostgreSQL plans by how much there is, and here is little")
    circuit = Circuit(store)
    circuit.night(1, ["Ada", "Bo"])
    asked: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_more: Any) -> None:
        if statement.startswith("SELECT") and "tournament.completed_at >=" in statement:
            asked.append((statement, parameters))

    event.listen(store.engine, "before_cursor_execute", note)
    try:
        circuit.rate(2)
    finally:
        event.remove(store.engine, "before_cursor_execute", note)
    assert asked
    for statement, parameters in asked:
        with store.read() as db:
            plan = db.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all()
        assert any("completed_at>?" in step.detail for step in plan), plan
