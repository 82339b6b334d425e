"""Clocks that are set back, or differ between nodes: nothing takes less than no time, order is by number.

Each scenario is the moment at which a game begins and the one at which its result is recorded.
"""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from sqlalchemy import select

import build
from rules.night import a_night
from selection import IS_SOAK, LARGE_IN_SOAK
from service import stored_nights
from service.ratings.circuit import Circuit, moment
from silverball.jobs import rating_period
from silverball.rules.families import max_matchplay
from silverball.service.journal.reads import verification
from silverball.service.users import reads as users_reads
from silverball.service.users import writes as users_writes
from silverball.store import tables
from silverball.store.database.engine import Store
from trials.figures import Figures, kind_of

pytestmark = LARGE_IN_SOAK

EVENING = datetime(2026, 3, 5, 20, tzinfo=UTC)
HOUR, DAY, MINUTE = timedelta(hours=1), timedelta(days=1), timedelta(minutes=1)


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type,misc]


SCENARIOS = {
    "an hour back": (EVENING, EVENING - HOUR),
    "an hour ahead": (EVENING, EVENING + HOUR),
    "a day back": (EVENING, EVENING - DAY),
    "a second back": (EVENING, EVENING - timedelta(seconds=1)),
    "a node that is 90 s behind": (EVENING, EVENING + MINUTE - timedelta(seconds=90)),
    "a node that is 90 s ahead": (EVENING, EVENING + MINUTE + timedelta(seconds=90)),
    "summer time begins": (utc(2026, 3, 29, 0, 59, 30), utc(2026, 3, 29, 1, 0, 30)),
    "summer time ends": (utc(2026, 10, 25, 0, 59, 30), utc(2026, 10, 25, 1, 0, 30)),
    "into the leap day": (utc(2028, 2, 28, 23, 59, 30), utc(2028, 2, 29, 0, 0, 30)),
    "out of the leap day": (utc(2028, 2, 29, 23, 59, 30), utc(2028, 3, 1, 0, 0, 30)),
    "the end of 32 bits": (utc(2038, 1, 19, 3, 14), utc(2038, 1, 19, 3, 15)),
    "the end of the year": (utc(2026, 12, 31, 23, 59, 30), utc(2027, 1, 1, 0, 0, 30)),
}
if IS_SOAK:
    # Jumps of any size, both ways, at any moment of some years.
    dice = Random(10)
    for number in range(48):
        moment_of_jump = EVENING + timedelta(minutes=dice.randrange(4 * 366 * 24 * 60))
        jump = timedelta(seconds=dice.choice((-1, 1)) * round(10 ** dice.uniform(0, 6)))
        SCENARIOS[f"jump {number}"] = moment_of_jump, moment_of_jump + jump


@pytest.mark.sample(5)
@pytest.mark.parametrize(("begun_at", "recorded_at"), SCENARIOS.values(), ids=SCENARIOS)
def test_a_night_goes_on_whatever_the_clock_does(
    store: Store, begun_at: datetime, recorded_at: datetime
) -> None:
    plan = a_night("matchplay", players=4)
    plan.now = begun_at
    night = stored_nights.a_stored_night(store, plan)
    night.start()
    night.now = begun_at
    night.open_round()
    for game in night.open_games():
        # Recording takes five minutes of a night's time.
        night.now = recorded_at - 5 * MINUTE
        night.record_order(game, *game.player_ids)
    seconds = max(0, int((recorded_at - begun_at).total_seconds()))
    tournament_id = night.tournament.tournament_id
    _, games = build.ask(store, f"/api/tournaments/{tournament_id}/games", by=stored_nights.ORGANIZER_ID)
    assert [game["duration"] for game in games["data"]] == [seconds, seconds]
    # The order is that of the numbers, whatever the times say.
    actions = stored_nights.all_actions(store, tournament_id)
    assert [action.action_id for action in actions] == sorted(action.action_id for action in actions)
    with store.read() as db:
        faults = verification.verify_tournament(db, tournament_id).faults
    figures = Figures("T10 clocks", kind_of(store), 1, acknowledged=len(actions))
    figures.torn = len(faults)
    figures.publish()
    figures.assert_nothing_wrong()
    night.undo()


@pytest.mark.parametrize(("begun_at", "recorded_at"), SCENARIOS.values(), ids=SCENARIOS)
def test_mean_durations_are_never_negative(begun_at: datetime, recorded_at: datetime) -> None:
    night = a_night("max_matchplay", players=4)
    night.now = begun_at
    night.start()
    night.now = recorded_at
    for game in night.open_games():
        night.record_order(game, *game.player_ids)
    duration = max_matchplay.live_view(night.tournament).avg_game_duration
    assert duration is None or duration >= 0


def test_a_token_expires_at_its_moment_by_whatever_clock(store: Store) -> None:
    user_id = build.a_user(store)
    with store.write() as transaction:
        made = users_writes.create_token(
            transaction.connection,
            user_id,
            "short",
            abilities=["read"],
            now=EVENING,
            dice=Random(7),
            expires_days=1,
        )
    header = f"Bearer {made.text}".encode()
    with store.read() as db:
        for now in (EVENING - DAY, EVENING - HOUR, EVENING + DAY - timedelta(seconds=1)):
            assert users_reads.find_caller(db, header, now) is not None
        for now in (EVENING + DAY, EVENING + 2 * DAY):
            assert users_reads.find_caller(db, header, now) is None


@pytest.mark.parametrize("step", [-HOUR, -DAY, -30 * DAY, timedelta(seconds=-90), HOUR])
def test_a_day_is_rated_once_whatever_the_clock_does(store: Store, step: timedelta) -> None:
    circuit = Circuit(store)
    circuit.night(14, ["Ada", "Bo"])
    job, due = rating_period.create_job(), moment(14, 0) + timedelta(days=7)
    job.run(store, due)
    rows = circuit.stored_rows()
    for now in (due + step, due):
        job.run(store, now)
        assert circuit.stored_rows() == rows
    with store.read() as db:
        days = db.execute(select(tables.rating_period.c.period_date)).scalars().all()
    assert len(days) == len(set(days))
