"""Every method of the typed client, against a real server: the typed answer has all that was sent."""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from random import Random

import pytest

import build
from feed.running_program import admin_token
from servers import Servers
from silverball.demo import nights
from silverball.demo.nights import FINISHED
from silverball.demo.robots import Robot
from silverball.service.users import writes as users_writes
from silverball.store.database.engine import Store
from silverball.store.people import encryption
from silverball.store.tournament import sign_up_requests
from typed_client import tour
from typed_client.recording import OPERATIONS, ComparingClient, TypedRobotClient

STEPS = 10


@pytest.fixture
def visitor(store: Store, client: ComparingClient) -> Iterator[ComparingClient]:
    """The client of a player who organizes nothing."""
    visitor_id = build.a_user(store, name="Vic Visitor")
    with store.write() as transaction:
        now, dice = datetime.now(UTC), Random(6)
        created = users_writes.create_token(
            transaction.connection, visitor_id, "phone", abilities=["score"], now=now, dice=dice
        )
    with ComparingClient(client.base_url, created.text) as comparing:
        yield comparing


@pytest.fixture
def rated(store: Store) -> int:
    """A user with a rating, beside a federation number with one."""
    user_id = build.a_user(store, name="Rita Rated")
    build.a_rating(store, name="Rita Rated", user_id=user_id)
    build.a_federation_record(store, 1001, "Ines Calder")
    build.a_rating(store, name="Ines Calder", ifpa_id=1001)
    return user_id


def sign_up(store: Store, tournament_id: int, name: str) -> None:
    """Put somebody on the list, as the form of the public page does."""
    with store.write(tournament_id) as transaction:
        row = {"name": name, "signed_up_at": build.NOW, "is_late": False, "source": "", "browser": ""}
        sign_up_requests.add(transaction.connection, {"tournament_id": tournament_id, **row})


@pytest.fixture
def client(store: Store, rated: int, database_url: str) -> Iterator[ComparingClient]:
    nights.load_machines(store)
    token = admin_token(store)
    encryption.open_keys(store)
    server = Servers.without_limits(
        database_url,
        SILVERBALL_SECRET_FILE=str(store.key_file.path),
        SILVERBALL_SUBMISSION_HOSTS="results.example.org",
    )
    server.start()
    with ComparingClient(f"http://127.0.0.1:{server.port}", token) as comparing:
        yield comparing
    server.close()


def test_every_method_answers_what_the_service_sends(
    store: Store, client: ComparingClient, visitor: ComparingClient, rated: int
) -> None:
    other_organizer = build.a_user(store, name="Otto Tilt", role="organizer")
    players = [client.players.create(name=f"Player {n}").player_id for n in range(24)]
    arenas = [client.arenas.create(name=f"Machine {n}").arena_id for n in range(6)]
    for plan in FINISHED:
        robot = Robot.create(TypedRobotClient(client), plan, Random(plan.name))
        robot.add_members(players[: plan.players], arenas)
        robot.start()
        for _ in range(STEPS):
            if not robot.step():
                break
        tour.read_tournament(client, robot.tournament_id)
        client.tournaments.complete(robot.tournament_id)
        tour.read_summaries(client, robot.tournament_id)
    tour.book(client, visitor)
    tour.account(client, rated)
    tour.ratings(client, rated)
    tour.machines(client)
    tour.match_play(client, players, arenas, other_organizer)
    tour.door(client, players, partial(sign_up, store))
    tour.season(client, players, arenas)
    tour.finals(client, players, arenas)
    tour.scores(client, players, arenas)
    tour.frenzy(client, players, arenas)
    tour.other_formats(client, players, arenas)
    tour.suggestions(client, visitor, players, arenas)
    tour.webhooks(client)
    assert sorted(set(OPERATIONS) - client.answered - visitor.answered - tour.ANSWERED_ELSEWHERE) == []
