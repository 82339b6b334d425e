"""A machine that joins a night which has begun."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import select

import build
from silverball.store import tables
from silverball.store.database.engine import Store
from web.phone import night_of, organizer_of, started
from web.visitor import Visitor


@pytest.mark.both_databases
def test_a_new_machine_joins_a_night_that_has_begun_and_is_in_the_book_once(store: Store) -> None:
    started(store, "matchplay", 4, 2)
    visitor = Visitor(store)
    assert visitor.sign_in().status_code == 303
    sent = {"csrf": visitor.csrf("/t/1/run/arenas"), "names": "Zoe's Machine", "page": "/arenas"}
    assert visitor.post("/t/1/run/do/machine", data=sent).status_code == 303
    assert len(night_of(store).lineup) == 3
    with store.read() as db:
        named = db.execute(select(tables.arena.c.arena_id).where(tables.arena.c.name == "Zoe's Machine"))
        assert named.scalars().all() == [night_of(store).lineup[-1].arena_id]


@pytest.mark.both_databases
def test_a_list_of_people_and_of_machines_joins_a_night_that_has_begun(store: Store) -> None:
    started(store, "matchplay", 4, 2)
    for kind, text in (("players", "Ada Quill\nBo Larkin"), ("arenas", "Meteor Shower\nNight Ferry")):
        body = {"tournamentId": 1, "text": text}
        by, now = organizer_of(store), datetime.now(UTC)
        status, shown, _ = build.do(store, "POST", f"/api/{kind}/import", body, by=by, now=now)
        assert status == 200, shown
        kept = ("line", "name", "decision")
        rows = [{name: row[name] for name in kept} for row in shown["data"]["rows"]]
        decided = {"tournamentId": 1, "rows": rows, "plan": shown["data"]["plan"]}
        status, answer, _ = build.do(store, "POST", f"/api/{kind}/import", decided, by=by, now=now)
        assert (status, answer.get("data", {}).get("stored")) == (200, True), answer
    assert (len(night_of(store).entrants), len(night_of(store).lineup)) == (6, 4)
