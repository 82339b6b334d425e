"""Two hundred people sign up at once, some of them twice: the cap holds, and the others wait in one order."""

from collections import Counter
from contextlib import ExitStack

import pytest

import build
from door_crowd import SentForm, sign_up_at_once
from servers import Servers
from silverball.rules.model.tournament import Tournament
from silverball.service.journal.reads import verification
from silverball.service.money import reads as money_reads
from silverball.store.database.engine import Store
from silverball.store.tournament import snapshot

LIMIT = 90
PEOPLE = 180
# Names of many scripts, and what was meant to break something; each is sent as it is.
HOSTILE = (
    "Zoë Ångström",
    "Владимир Ёлкин",
    "李小龍",
    "محمد علي",
    "शिव कुमार",
    "김민준",
    "Νίκος Ωμέγα",
    "יעל כהן",
    "ไพลิน",
    "🎱 Pin 👩‍🚀",
    "O'Neil <b>",
    "=SUM(A1)",
)
TWICE = 8


def a_door(store: Store) -> tuple[int, str]:
    """A planned tournament that anybody may sign up for, and the path of its link."""
    owner = build.a_user(store, name="Olga Ramp", role="organizer")
    night = build.a_tournament(
        store,
        organizer_id=owner,
        status="planned",
        players=0,
        engine={"dice_seed": "a crowd"},
    )
    registration = {"status": "active", "playerLimit": LIMIT, "hasWaitlist": True}
    caller = build.caller(owner, role="organizer", ability="manage")
    address = f"/api/tournaments/{night.tournament_id}"
    status, answer, _ = build.do(store, "PATCH", address, {"rsvpConfiguration": registration}, by=caller)
    assert status == 200, answer
    with store.read() as db:
        code = money_reads.sign_up_code(db, snapshot.load(db, night.tournament_id))
    return night.tournament_id, f"/t/{night.tournament_id}/sign-up?code={code}"


def loaded(store: Store, tournament_id: int) -> Tournament:
    with store.read() as db:
        return snapshot.load(db, tournament_id)


def crowd_names() -> list[str]:
    """Two hundred forms: most names once, some twice."""
    names = [*HOSTILE, *(f"Flipper {number}" for number in range(PEOPLE - len(HOSTILE)))]
    twice = [*names[:TWICE], *names[:TWICE], *(f" flipper  {number}" for number in range(4))]
    return [*names, *twice]


def check_list(store: Store, tournament_id: int, answers: list[SentForm]) -> None:
    """Check that everybody is on the list once, in one order, and was told what is so."""
    names = crowd_names()
    statuses = Counter(answer.status for answer in answers)
    assert statuses == {200: PEOPLE, 409: len(names) - PEOPLE}
    tournament = loaded(store, tournament_id)
    assert tournament.active_ids == ()
    with store.read() as db:
        untaken = money_reads.untaken(db, tournament)
    assert [position for _, position in untaken] == [*[None] * LIMIT, *range(1, PEOPLE - LIMIT + 1)]
    assert {request.name for request, _ in untaken} <= set(names) | {f"flipper {n}" for n in range(4)}
    assert len({request.name.casefold() for request, _ in untaken}) == PEOPLE
    pages = [answer.page for answer in answers if answer.status == 200]
    assert sum("You are in." in page for page in pages) == LIMIT
    for position in range(1, PEOPLE - LIMIT + 1):
        sentence = f"You are {money_reads.ordinal(position)} on the waiting list."
        assert sum(sentence in page for page in pages) == 1, sentence
    with store.read() as db:
        assert not verification.verify_tournament(db, tournament_id).faults


@pytest.mark.parametrize("nodes", [1, 2])
def test_two_hundred_at_once_fill_the_places_and_wait_in_one_order(
    store: Store, database_url: str, nodes: int
) -> None:
    tournament_id, path = a_door(store)
    with ExitStack() as stack:
        servers = [Servers.without_limits(database_url) for _ in range(nodes)]
        for server in servers:
            stack.callback(server.close)
            server.start()
        answers = sign_up_at_once([server.port for server in servers], path, crowd_names())
    check_list(store, tournament_id, answers)
