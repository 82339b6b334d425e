"""The demo's live play: tournament 1 goes on whatever happens to it, and evenings come and go."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest

import build
from silverball.demo import live as demo_live
from silverball.demo import nights as demo_nights
from silverball.demo.live import PATH, Evenings, LivePlay
from silverball.demo.robots import WallClock
from silverball.settings import Settings
from silverball.store.database.engine import Store

NO_PAUSE = (0.0, 0.0)
SECONDS_MAX = 120
CHOSEN = Settings(base_url=build.BASE_URL)


@pytest.fixture
def store(hurried_store: Store) -> Store:
    return hurried_store


@pytest.fixture
def organizer_id(store: Store) -> int:
    return build.a_user(store, name="Olga Ramp", role="organizer")


@pytest.fixture
def opened(store: Store, organizer_id: int) -> None:
    """Tournament 1 as a fresh demo has it."""
    demo_live.reserve_tournament(store, CHOSEN, organizer_id, Random(1))
    demo_live.play_first_rounds(store, CHOSEN, organizer_id, Random(1))


@contextmanager
def playing(store: Store, organizer_id: int, evening_seconds: float = 3600) -> Iterator[None]:
    live = LivePlay(store, CHOSEN, organizer_id, Random(3), pauses=NO_PAUSE, evening_seconds=evening_seconds)
    live.start()
    try:
        yield
    finally:
        live.stop()


def wait_for(is_true: Callable[[], bool]) -> None:
    started = time.monotonic()
    while not is_true():
        assert time.monotonic() - started < SECONDS_MAX
        time.sleep(0.05)


def rounds(store: Store, organizer_id: int) -> list[Any]:
    data: list[Any] = build.ask(store, f"{PATH}/rounds", by=organizer_id)[1]["data"]
    return data


def status(store: Store, organizer_id: int) -> str:
    return str(build.ask(store, PATH, by=organizer_id)[1]["data"]["status"])


def evenings(store: Store, organizer_id: int) -> list[Any]:
    """The evenings, newest first."""
    _, answer = build.ask(store, f"/api/tournaments?owner={organizer_id}&limit=100", by=organizer_id)
    named = [tournament for tournament in answer["data"] if tournament["name"] in demo_live.PLANS]
    return sorted(named, key=lambda tournament: -tournament["tournamentId"])


@pytest.mark.usefixtures("opened")
def test_tournament_1_is_live_match_play_without_an_end_and_with_results(
    store: Store, organizer_id: int
) -> None:
    tournament = build.ask(store, PATH, by=organizer_id)[1]["data"]
    assert (tournament["tournamentId"], tournament["type"], tournament["status"]) == (
        1,
        "matchplay",
        "started",
    )
    assert tournament["duration"] == 0
    assert [round_["status"] for round_ in rounds(store, organizer_id)] == [
        "started",
        "completed",
        "completed",
    ]
    games = build.ask(store, f"{PATH}/games?round=latest", by=organizer_id)[1]["data"]
    assert {game["status"] for game in games} == {"started", "completed"}
    assert len(games) == demo_live.PLAYERS // 2


@pytest.mark.usefixtures("opened")
def test_a_second_start_of_the_demo_continues_tournament_1(store: Store, organizer_id: int) -> None:
    before = rounds(store, organizer_id)
    demo_live.reserve_tournament(store, CHOSEN, organizer_id, Random(2))
    demo_live.play_first_rounds(store, CHOSEN, organizer_id, Random(2))
    assert rounds(store, organizer_id) == before
    with playing(store, organizer_id):
        wait_for(lambda: len(rounds(store, organizer_id)) > len(before))
    names = [round_["name"] for round_ in reversed(rounds(store, organizer_id))]
    assert names[:4] == ["Round 1", "Round 2", "Round 3", "Round 4"]


@pytest.mark.usefixtures("opened")
def test_a_live_tournament_always_has_a_game_in_play(store: Store, organizer_id: int) -> None:
    client = demo_nights.organizer_client(store, CHOSEN, organizer_id, WallClock())
    robot = demo_live.LiveRobot(client, demo_live.LIVE, demo_live.TOURNAMENT_ID, Random(5))
    for _ in range(2 * demo_live.PLAYERS):
        assert robot.step()
        assert build.ask(store, f"{PATH}/games?status=started", by=organizer_id)[1]["data"]


@pytest.mark.usefixtures("opened")
def test_robots_leave_a_result_alone_that_a_visitor_recorded(store: Store, organizer_id: int) -> None:
    client = demo_nights.organizer_client(store, CHOSEN, organizer_id, WallClock())
    robot = demo_live.LiveRobot(client, demo_live.LIVE, demo_live.TOURNAMENT_ID, Random(5))
    robot.step()
    recorded = {}
    for game in build.ask(store, f"{PATH}/games?status=started", by=organizer_id)[1]["data"]:
        path, body = f"{PATH}/games/{game['gameId']}", {"resultPositions": game["playerIds"]}
        assert build.do(store, "PUT", f"{path}/result", body, by=organizer_id)[0] == 200
        recorded[path] = game["playerIds"]
    for _ in range(demo_live.PLAYERS):
        robot.step()
    for path, order in recorded.items():
        assert build.ask(store, path, by=organizer_id)[1]["data"]["resultPositions"] == order


@pytest.mark.usefixtures("opened")
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/complete", {}),
        ("PATCH", "", {"duration": 1}),
        ("DELETE", "/rounds/{newest}", {}),
    ],
)
def test_tournament_1_goes_on_whatever_a_visitor_does(
    store: Store, organizer_id: int, method: str, path: str, body: dict[str, int]
) -> None:
    with playing(store, organizer_id):
        newest = rounds(store, organizer_id)[0]["roundId"]
        build.do(store, method, PATH + path.format(newest=newest), body, by=organizer_id)
        wait_for(lambda: rounds(store, organizer_id)[:1] != [] and status(store, organizer_id) == "started")
        ids = {round_["roundId"] for round_ in rounds(store, organizer_id)}
        wait_for(lambda: not {round_["roundId"] for round_ in rounds(store, organizer_id)} <= ids)


@pytest.mark.usefixtures("opened")
def test_tournament_1_starts_again_before_its_answers_grow_large(
    store: Store, organizer_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo_live, "ROUNDS_MAX", 4)
    client = demo_nights.organizer_client(store, CHOSEN, organizer_id, WallClock())
    robot = demo_live.LiveRobot(client, demo_live.LIVE, demo_live.TOURNAMENT_ID, Random(5))
    counts = []
    for _ in range(2 * demo_live.PLAYERS):
        assert robot.step()
        counts.append(len(rounds(store, organizer_id)))
    assert max(counts) == 4
    assert counts[-1] < 4


def test_evenings_of_all_formats_follow_each_other_and_the_newest_few_stay(
    store: Store, organizer_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = [demo_live.PLANS[name] for name in ("Evening Best Game", "Evening Match Play", "Evening Bracket")]
    monkeypatch.setattr(demo_live, "EVENINGS", few)
    monkeypatch.setattr(demo_live, "EVENINGS_KEPT", 1)
    client = demo_nights.organizer_client(store, CHOSEN, organizer_id, WallClock())
    series = Evenings(store, client, organizer_id, Random(2), interval=0)
    seen: list[str] = []
    while len(seen) < 4:
        series.step()
        newest = evenings(store, organizer_id)[0]["name"]
        if seen[-1:] != [newest]:
            seen.append(newest)
        listed = [evening["status"] for evening in evenings(store, organizer_id)]
        assert listed in (["started"], ["completed"], ["started", "completed"])
    assert seen == ["Evening Best Game", "Evening Match Play", "Evening Bracket", "Evening Best Game"]


def test_an_interrupted_evening_is_played_to_its_end_and_the_next_one_waits_for_its_time(
    store: Store, organizer_id: int
) -> None:
    client = demo_nights.organizer_client(store, CHOSEN, organizer_id, WallClock())
    Evenings(store, client, organizer_id, Random(2), interval=3600).step()
    (begun,) = evenings(store, organizer_id)
    continued = Evenings(store, client, organizer_id, Random(3), interval=3600)
    while evenings(store, organizer_id)[0]["status"] == "started":
        continued.step()
    assert [evening["tournamentId"] for evening in evenings(store, organizer_id)] == [begun["tournamentId"]]
    for _ in range(3):
        # The first step begins an evening, the next ones play it.
        continued.step()
    assert len(evenings(store, organizer_id)) == 2
    while evenings(store, organizer_id)[0]["status"] == "started":
        continued.step()
    for _ in range(3):
        continued.step()
    assert [evening["status"] for evening in evenings(store, organizer_id)] == ["completed", "completed"]
