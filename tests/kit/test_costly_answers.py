"""What costs as much as a page to compute is counted like one."""

import asgi
from kit.stub_backend import STANDINGS, Clock, StubBackend, front_door
from silverball.kit.edge.front import FrontDoor
from silverball.service.tournaments import paths

PAGES = 3


def statuses(door: FrontDoor, queries: list[str], **options: str) -> list[int]:
    return [asgi.get(door, f"{STANDINGS}?{query}", token="ada", **options).status for query in queries]


def test_earlier_states_are_limited_by_account_and_known_ones_are_free() -> None:
    backend, clock = StubBackend(), Clock()
    door = front_door(backend, clock, pages_per_minute=PAGES, rate_per_minute=0)
    assert statuses(door, [f"at={number}" for number in range(5)]) == [200] * PAGES + [429] * 2
    refused = asgi.get(door, f"{STANDINGS}?at=9", token="ada")
    assert (refused.headers["retry-after"], refused.json["message"]) == ("60", "Too Many Attempts.")
    # What was computed is kept; the present and other accounts are not counted there.
    assert statuses(door, ["at=0", "at=1", "", "x=1"]) == [200] * 4
    assert statuses(door, ["at=7"], client="203.0.113.8") == [429]
    assert asgi.get(door, f"{STANDINGS}?at=7", token="bo").status == 200
    clock.now += 60
    assert statuses(door, ["at=8", "at=9"]) == [200] * 2
    door.close()


def test_the_routes_that_look_back_cost_a_page() -> None:
    for shown in ("standings", "games", "rounds"):
        assert paths.costs_a_page(f"/api/tournaments/7/{shown}", b"status=started&at=12")
        assert not paths.costs_a_page(f"/api/tournaments/7/{shown}", b"")
    assert not paths.costs_a_page("/api/tournaments/7/players", b"at=12")
    assert not paths.costs_a_page("/api/tournaments/7/games", b"status=started&bat=1")
    assert paths.costs_a_page("/api/tournaments/7/games", b"%61t=1")
