"""Sign-ins, devices and codes of a real site have pages of their own; strangers share their address's."""

from datetime import UTC, datetime, timedelta
from random import Random
from urllib.parse import urlencode

import pytest

import asgi
from service.desk import Desk, a_desk
from service.devices.device_steps import a_link, codes
from silverball.kit.edge.front import FrontDoor
from silverball.service.accounts.writes import sessions
from silverball.store.database.engine import Store
from test_app import running_app
from web.page_forms import forms_on

PAGES = 6


def a_sign_in(store: Store, user_id: int, seed: int = 1) -> str:
    with store.write() as transaction:
        new = sessions.start_session(
            transaction.connection,
            user_id,
            now=datetime.now(UTC),
            lifetime=timedelta(days=1),
            dice=Random(seed),
        )
    return f"silverball_session={new.secret}"


def statuses(door: FrontDoor, path: str, cookie: str = "", times: int = PAGES + 1) -> list[int]:
    headers = {"cookie": f"theme=dark; {cookie}; seen=site:0-0"} if cookie else {}
    return [asgi.get(door, path, headers=headers).status for _ in range(times)]


def use_up(door: FrontDoor) -> None:
    assert statuses(door, "/nowhere") == [404] * PAGES + [429]


@pytest.fixture
def desk(store: Store) -> Desk:
    return a_desk(store, suggestions="restricted")


@pytest.mark.both_databases
def test_a_phone_in_the_room_cannot_use_up_the_directors_pages(store: Store, desk: Desk) -> None:
    cookies = [a_sign_in(store, desk.night.organizer_id, seed) for seed in (1, 2)]
    console = f"/t/{desk.night.tournament_id}/run"
    with running_app(store, pages_per_minute=PAGES) as door:
        use_up(door)
        assert statuses(door, console, cookies[0]) == [200] * PAGES + [429]
        # Both of their browsers share what the account has.
        assert statuses(door, "/home", cookies[1], 1) == [429]
        # An ended sign-in, and one that never was, are strangers.
        assert statuses(door, "/home", "silverball_session=made-up", 1) == [429]
        assert statuses(door, "/home", f"other{cookies[0]}", 1) == [429]


def test_each_device_has_its_own_pages(store: Store, desk: Desk) -> None:
    tournament = desk.night.tournament_id
    first, second = (f"silverball_device_{tournament}={a_link(desk, seed=seed)}" for seed in (11, 12))
    with running_app(store, pages_per_minute=PAGES) as door:
        use_up(door)
        for cookie in (first, second):
            assert statuses(door, f"/t/{tournament}/run", cookie) == [200] * PAGES + [429]
        # In another tournament it is a stranger.
        assert statuses(door, f"/t/{tournament + 1}/run", first, 1) == [429]


def test_a_player_with_a_code_reports_though_the_address_has_nothing_left(store: Store, desk: Desk) -> None:
    game = desk.open_round()[0]
    made = codes(desk)
    path = f"/t/{desk.night.tournament_id}/players/{game['playerIds'][0]}"
    code = urlencode({"code": made.player_code(game["playerIds"][0])})
    with running_app(store, pages_per_minute=PAGES) as door:
        use_up(door)
        page = asgi.get(door, f"{path}?{code}")
        assert page.status == 200
        form = forms_on(page.body.decode())[f"report-{game['gameId']}"]
        body = urlencode(form.filled(first=game["playerIds"][0])).encode()
        headers = {"content-type": "application/x-www-form-urlencoded", "cookie": page.headers["set-cookie"]}
        assert asgi.get(door, form.action, method="POST", headers=headers, body=body).status == 303
        statuses_ = statuses(door, f"{path}?{code}", times=30)
        assert (statuses_.count(200), statuses_.count(429)) == (28, 2)
        # A wrong code is a stranger's.
        assert asgi.get(door, f"{path}?{code}x").status == 429


@pytest.mark.parametrize("acts", ["the director", "a device"])
def test_a_result_on_the_console_gives_the_room_four_times_as_much(
    store: Store, desk: Desk, acts: str
) -> None:
    game = desk.open_round()[0]
    tournament = desk.night.tournament_id
    cookie = (
        a_sign_in(store, desk.night.organizer_id)
        if acts == "the director"
        else f"silverball_device_{tournament}={a_link(desk)}"
    )
    with running_app(store, pages_per_minute=PAGES) as door:
        send_result(door, tournament, cookie, game["playerIds"])
        assert statuses(door, "/nowhere", times=4 * PAGES + 1) == [404] * 4 * PAGES + [429]


def send_result(door: FrontDoor, tournament: int, cookie: str, players: list[int]) -> None:
    page = asgi.get(door, f"/t/{tournament}/run", headers={"cookie": cookie})
    forms = forms_on(page.body.decode())
    form = next(form for name, form in forms.items() if name.startswith("result"))
    body = urlencode(form.filled(first=players[0])).encode()
    headers = {"content-type": "application/x-www-form-urlencoded", "cookie": cookie}
    answer = asgi.get(door, form.action, method="POST", headers=headers, body=body)
    assert answer.status == 303
