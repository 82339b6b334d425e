"""Pages of a tournament that another service runs: where that is, and of when they are while it is silent."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from silverball.service.moving import writes as moving_writes
from silverball.store.database.engine import Store
from stories.hall import Hall
from web.director import Director
from web.public_visitor import PublicVisitor

HOST = "results.example"
LOST_AT = datetime(2026, 3, 5, 22, 41, tzinfo=UTC)
NAMES = "Ann Bea Cid Dot"
RUN_AT = f"Run at <bdi>{HOST}</bdi>"
AS_OF = '<time datetime="2026-03-05T22:41:00Z">22:41</time>'


@pytest.fixture
def passer(store: Store) -> Iterator[PublicVisitor]:
    opened = PublicVisitor(store)
    yield opened
    opened.close()


def make_mirror(store: Store, tournament_id: int) -> None:
    with store.write(tournament_id) as transaction:
        moving_writes.begin_mirror(transaction, tournament_id, HOST, 4711)


def lose(store: Store, tournament_id: int, at: datetime | None) -> None:
    with store.write(tournament_id) as transaction:
        moving_writes.note_loss(transaction, tournament_id, at)


@pytest.mark.parametrize("page", ["", "/wall", "/embed"])
def test_a_page_says_where_it_is_run_and_since_when_lost(
    store: Store, passer: PublicVisitor, page: str
) -> None:
    hall = Hall(store, "matchplay", NAMES, duration=3)
    hall.start()
    path = f"/t/{hall.tournament_id}{page}"
    assert "Run at" not in passer.page(path)
    make_mirror(store, hall.tournament_id)
    answered = passer.get(path)
    assert RUN_AT in answered.body.decode()
    assert "as of <time" not in answered.body.decode()
    lose(store, hall.tournament_id, LOST_AT)
    lost = passer.get(path, if_none_match=answered.headers["etag"])
    assert (lost.status, AS_OF in lost.body.decode()) == (200, True)
    head = passer.get(f"{path}?part=head").body.decode()
    assert RUN_AT in head
    assert AS_OF in head
    lose(store, hall.tournament_id, None)
    assert "as of <time" not in passer.page(path)
    with store.write(hall.tournament_id) as transaction:
        moving_writes.note_standings(transaction, hall.tournament_id, 2)
    assert "Standings there differ for 2 players" in passer.page(path)


def test_the_overlay_says_only_of_when_it_is(store: Store, passer: PublicVisitor) -> None:
    hall = Hall(store, "matchplay", NAMES, duration=3)
    hall.start()
    path = f"/t/{hall.tournament_id}/overlay"
    make_mirror(store, hall.tournament_id)
    assert RUN_AT not in passer.page(path)
    lose(store, hall.tournament_id, LOST_AT)
    assert AS_OF in passer.page(path)


def test_the_console_says_where_it_is_run_and_of_when_it_is(store: Store, director: Director) -> None:
    director.play("matchplay")
    tournament_id = director.tournament_id
    assert "Run at" not in director.page()
    make_mirror(store, tournament_id)
    assert RUN_AT in director.page()
    lose(store, tournament_id, LOST_AT)
    assert AS_OF in director.page()


def test_the_moment_is_said_in_the_time_of_the_hall(store: Store, passer: PublicVisitor) -> None:
    hall = Hall(store, "matchplay", NAMES, duration=3)
    hall.patch("", {"timezone": "Europe/Stockholm", "startLocal": "2026-03-05 18:00:00"})
    hall.start()
    make_mirror(store, hall.tournament_id)
    lose(store, hall.tournament_id, LOST_AT)
    assert ">23:41</time>" in passer.page(f"/t/{hall.tournament_id}")
