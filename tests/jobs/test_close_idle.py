"""Idle tournaments are completed by the clock. Source: formats, section 23."""

import logging
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

import build
from silverball.jobs import background
from silverball.rules.model.tournament import Tournament
from silverball.service.core import enact, loaded
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.tournament import journal

LAST = build.NOW
TWO_DAYS_LATER = LAST + timedelta(hours=49)


def a_night(store: Store, **values: Any) -> build.Night:
    return build.a_tournament(store, **{"type": "matchplay", **values})


def tournament_status(store: Store, night: build.Night) -> str:
    return load_tournament(store, night).status


def load_tournament(store: Store, night: build.Night) -> Tournament:
    with store.read() as db:
        return loaded.load_tournament(db, night.tournament_id)


@pytest.mark.parametrize("hours", [47, 49])
@pytest.mark.parametrize(
    ("ends_at", "may_close"), [(LAST, True), (LAST + timedelta(days=30), False), (None, True)]
)
def test_a_tournament_is_completed_after_two_idle_days_unless_its_end_is_to_come(
    store: Store, hours: int, ends_at: datetime | None, may_close: bool
) -> None:
    night = a_night(store, end_utc=ends_at)
    background.close_idle(store, LAST + timedelta(hours=hours))
    assert tournament_status(store, night) == ("completed" if may_close and hours == 49 else "started")


def test_it_ended_with_its_last_activity_and_the_journal_names_the_clock(store: Store) -> None:
    night = a_night(store)
    with store.write(night.tournament_id) as transaction:
        context = enact.ActionContext(actor_id=None, source="test", now=LAST + timedelta(hours=2))
        enact.enact(
            transaction,
            night.tournament_id,
            (),
            context,
            extra_entries=[(journal.ACTION_UNDONE, {"action": 0})],
        )
    background.close_idle(store, TWO_DAYS_LATER)
    assert tournament_status(store, night) == "started"
    background.close_idle(store, TWO_DAYS_LATER + timedelta(hours=2))
    assert load_tournament(store, night).completed_at == LAST + timedelta(hours=2)
    with store.read() as db:
        newest = journal.newest_actions(db, night.tournament_id)[0]
    assert (newest.actor_id, newest.source) == (None, "clock")


@pytest.mark.both_databases
def test_unfinished_games_are_deleted_and_the_others_count(store: Store) -> None:
    night = a_night(store)
    first, second = build.a_round(store, night.tournament_id), build.a_round(store, night.tournament_id, 1)
    first_player, second_player, third_player, fourth_player = night.player_ids
    played = build.a_game(
        store,
        night.tournament_id,
        [first_player, second_player],
        round_id=first,
        status="completed",
        points=["1.00", "0.00"],
        positions=[first_player, second_player],
    )
    build.a_game(store, night.tournament_id, [third_player, fourth_player], round_id=first)
    build.a_game(store, night.tournament_id, [first_player, third_player], round_id=second)
    background.close_idle(store, TWO_DAYS_LATER)
    after = load_tournament(store, night)
    assert [game.game_id for game in after.games] == [played]
    assert [(each.round_id, each.status) for each in after.rounds] == [(first, "completed")]
    with store.read() as db:
        rows = db.execute(select(tables.standing.c.player_id).order_by(tables.standing.c.position)).scalars()
        assert rows.first() == first_player


def test_planned_completed_and_unknown_tournaments_are_left_alone(store: Store) -> None:
    nights = [a_night(store, status="planned"), a_night(store, status="completed")]
    build.a_tournament(store, type="pinball_golf_of_another_house")
    background.close_idle(store, TWO_DAYS_LATER)
    assert [tournament_status(store, night) for night in nights] == ["planned", "completed"]


def test_closing_twice_closes_once(store: Store) -> None:
    night = a_night(store)
    background.close_idle(store, TWO_DAYS_LATER)
    background.close_idle(store, TWO_DAYS_LATER)
    with store.read() as db:
        assert len(journal.newest_actions(db, night.tournament_id)) == 1


def test_a_tournament_that_cannot_be_completed_does_not_stop_the_others(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    broken, other = a_night(store, settings={"duration": "many"}), a_night(store)
    with caplog.at_level(logging.ERROR, logger="silverball.jobs"):
        background.close_idle(store, TWO_DAYS_LATER)
    assert tournament_status(store, other) == "completed"
    assert f"the idle tournament {broken.tournament_id} cannot be completed" in caplog.text
