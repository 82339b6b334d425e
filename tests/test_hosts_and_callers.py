"""Links that follow the request on a local network, and callers who see their own changes at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest
from starlette.testclient import TestClient

import asgi
import build
from silverball import app
from silverball.kit.edge.front import FrontDoor
from silverball.settings import Settings
from silverball.store.database.engine import Store
from test_app import a_token, running_app
from web.visitor import Visitor, an_account, tokens_on

VENUE = {"host": "192.168.1.5:8000"}
LIST = "/api/tournaments"


@contextmanager
def app_that_follows_hosts(store: Store) -> Iterator[FrontDoor]:
    front_door = app.build(store, Settings(base_url=build.BASE_URL), follows_host=True)
    with TestClient(front_door):
        yield front_door


def first_link(front_door: FrontDoor, token: str, headers: dict[str, str]) -> str:
    link: str = asgi.get(front_door, LIST, token=token, headers=headers).json["links"]["first"]
    return link


def test_links_follow_the_host_of_each_request_where_the_server_says_so(store: Store) -> None:
    token = a_token(store, build.a_user(store))
    with app_that_follows_hosts(store) as front_door:
        for host in ("192.168.1.5:8000", "pinball.local", "[fe80::1]:8000", "192.168.1.5:8000"):
            expected = f"http://{host}{LIST}?page=1"
            # The second answer comes from the cache.
            assert [first_link(front_door, token, {"host": host}) for _ in range(2)] == [expected] * 2


@pytest.mark.parametrize("host", ["evil.example/x", "a b", "x@y", "", "a" * 300, "host:port", "<script>"])
def test_a_malformed_host_is_not_followed(store: Store, host: str) -> None:
    token = a_token(store, build.a_user(store))
    with app_that_follows_hosts(store) as front_door:
        assert first_link(front_door, token, {"host": host}).startswith(build.BASE_URL)


def test_forwarded_hosts_are_never_followed(store: Store) -> None:
    token = a_token(store, build.a_user(store))
    claims = {**VENUE, "x-forwarded-host": "evil.example", "forwarded": "host=evil.example"}
    with app_that_follows_hosts(store) as front_door:
        assert first_link(front_door, token, claims).startswith("http://192.168.1.5:8000/")


def test_pages_follow_the_host_too(store: Store) -> None:
    tournament_id = build.a_tournament(store).tournament_id
    with app_that_follows_hosts(store) as front_door:
        for host in ("192.168.1.5:8000", "pinball.local"):
            page = asgi.get(front_door, f"/t/{tournament_id}", headers={"host": host})
            assert f"http://{host}/t/{tournament_id}/embed" in page.body.decode()
            assert f"ws://{host} " in page.headers["content-security-policy"]
        description = asgi.get(front_door, "/openapi.json", headers=VENUE).json
        assert description["servers"] == [{"url": "/"}]
        assert asgi.get(front_door, "/docs", headers=VENUE).status == 200


def test_a_revoked_token_is_refused_at_once(store: Store) -> None:
    user_id = build.a_user(store)
    strong, other = (a_token(store, user_id, seed=seed, ability="score") for seed in (1, 2))
    with running_app(store) as front_door:
        assert asgi.get(front_door, LIST, token=other).status == 200
        path = f"/api/tokens/{other.partition('|')[0]}"
        assert asgi.get(front_door, path, method="DELETE", token=strong).status == 200
        assert asgi.get(front_door, LIST, token=other).status == 401
        assert asgi.get(front_door, LIST, token=strong).status == 200


def test_a_token_that_rotates_itself_is_refused_at_once_under_its_old_secret(store: Store) -> None:
    old = a_token(store, build.a_user(store))
    with running_app(store) as front_door:
        assert asgi.get(front_door, LIST, token=old).status == 200
        path = f"/api/tokens/{old.partition('|')[0]}/rotate"
        rotated = asgi.get(front_door, path, method="POST", token=old)
        assert rotated.status == 200
        assert asgi.get(front_door, LIST, token=old).status == 401
        assert asgi.get(front_door, path, method="POST", token=old).status == 401
        assert asgi.get(front_door, LIST, token=rotated.json["data"]["token"]).status == 200


def test_a_token_that_a_page_rotates_or_revokes_is_refused_at_once(store: Store) -> None:
    an_account(store)
    with running_app(store) as front_door, Visitor(store) as visitor:
        visitor.now = datetime.now(UTC)
        visitor.sign_in()
        (old,) = tokens_on(visitor.create_token().text)
        assert asgi.get(front_door, LIST, token=old).status == 200
        token_id = old.partition("|")[0]
        rotated = visitor.post(f"/account/tokens/{token_id}/rotate", data={"csrf": visitor.csrf()})
        (new,) = tokens_on(rotated.text)
        assert asgi.get(front_door, LIST, token=old).status == 401
        assert asgi.get(front_door, LIST, token=new).status == 200
        visitor.revoke(token_id)
        assert asgi.get(front_door, LIST, token=new).status == 401


def test_an_account_sees_what_it_hides_from_others_as_soon_as_it_hides_it(store: Store) -> None:
    user_id = build.a_user(store, pronouns="they/them")
    token = a_token(store, user_id, ability="score")
    path = f"/api/users/{user_id}"
    with running_app(store) as front_door:
        assert asgi.get(front_door, path, token=token).json["user"]["pronouns"] == "they/them"
        body = b'{"profileOptOut":true}'
        headers = {"content-length": str(len(body))}
        changed = asgi.get(
            front_door, "/api/users/profile", method="PATCH", token=token, body=body, headers=headers
        )
        assert changed.status == 200
        assert asgi.get(front_door, path, token=token).json["user"]["pronouns"] == "they/them"


def test_an_admin_sees_everything_with_any_token(store: Store) -> None:
    admin_id = build.a_user(store, role="admin")
    shy = build.a_user(store, pronouns="they/them", profile_opt_out=True)
    tournament_id = build.a_tournament(store).tournament_id
    token = a_token(store, admin_id, ability="read")
    with running_app(store) as front_door:
        assert asgi.get(front_door, f"/api/users/{shy}", token=token).json["user"]["pronouns"] == "they/them"
        assert asgi.get(front_door, f"{LIST}/{tournament_id}/journal", token=token).status == 200
        assert asgi.get(front_door, f"{LIST}/{tournament_id}", token=token, method="DELETE").status == 403
