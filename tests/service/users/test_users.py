"""Published users. Source: interface 2.1, 2.2, 2.5; interface.md 2, rows 1, 2, 25."""

from datetime import UTC, datetime

import pytest

import build
from silverball.store import tables
from silverball.store.database.engine import Store

PROFILE = {
    "userId",
    "name",
    "ifpaId",
    "role",
    "flag",
    "location",
    "pronouns",
    "initials",
    "createdAt",
}


def test_the_own_profile_is_bare_and_under_data(store: Store) -> None:
    user_id = build.a_user(store, name="Ada Quill", email="ada@example.com", password_hash="secret")
    status, body = build.ask(store, "/api/users/profile", by=user_id)
    data = body.pop("data")
    assert (status, body) == (200, data)
    assert set(data) >= PROFILE
    assert data["userId"] == user_id


def test_neither_address_nor_password_is_ever_shown(store: Store) -> None:
    user_id = build.a_user(store, email="ada@example.com", password_hash="secret")
    for path in ("/api/users/profile", f"/api/users/{user_id}"):
        _, body = build.ask(store, path, by=user_id)
        assert "ada@example.com" not in str(body)
        assert "secret" not in str(body)


@pytest.mark.parametrize(
    ("stored", "shown"), [("player", "player"), ("organizer", "organizer"), ("admin", "organizer")]
)
def test_an_admin_is_shown_as_organizer(store: Store, stored: str, shown: str) -> None:
    user_id = build.a_user(store, role=stored)
    _, body = build.ask(store, f"/api/users/{user_id}", by=user_id)
    assert body["user"]["role"] == shown


def test_created_at_has_microseconds(store: Store) -> None:
    user_id = build.a_user(store, created_at=datetime(2020, 1, 2, 3, 4, 5, 6, tzinfo=UTC))
    _, body = build.ask(store, f"/api/users/{user_id}", by=user_id)
    assert body["user"]["createdAt"] == "2020-01-02T03:04:05.000006Z"


def test_a_user_without_anything_has_nulls_but_no_rating_member(store: Store) -> None:
    user_id = build.a_user(store)
    _, body = build.ask(store, f"/api/users/{user_id}?includeIfpa=true", by=user_id)
    assert set(body) == {"user", "ifpa", "shortcut", "plan", "club", "planFeatures"}
    assert {value for key, value in body.items() if key != "user"} == {None}


def test_shortcut_and_club_are_shown(store: Store) -> None:
    founder = build.a_user(store)
    club_id = build.row(store, tables.club, user_id=founder, name="The Tilters")
    user_id = build.a_user(store, club_id=club_id)
    shortcut_id = build.row(store, tables.shortcut, slug="ada", user_id=user_id)
    _, body = build.ask(store, f"/api/users/{user_id}", by=founder)
    assert body["shortcut"] == {"shortcutId": shortcut_id, "slug": "ada"}
    assert (body["club"]["clubId"], body["user"]["clubId"]) == (club_id, club_id)


@pytest.mark.parametrize(("flag", "shown"), [("true", True), ("1", True), ("false", False), ("False", False)])
def test_counts_come_with_their_flag(store: Store, flag: str, shown: bool) -> None:
    user_id = build.a_user(store)
    _, body = build.ask(store, f"/api/users/{user_id}?includeCounts={flag}", by=user_id)
    assert ("userCounts" in body) is shown


def test_counts_count_what_was_organized_and_each_played_tournament_once(store: Store) -> None:
    user_id = build.a_user(store)
    build.row(store, tables.series, organizer_id=user_id)
    build.a_tournament(store, organizer_id=user_id)
    played = [build.a_tournament(store, players=0).tournament_id for _ in range(3)]
    for tournament_id in played[:2]:
        for _ in range(2):
            player_id = build.a_player(store, user_id, claimed_by=user_id)
            build.row(store, tables.entrant, tournament_id=tournament_id, player_id=player_id)
    _, body = build.ask(store, f"/api/users/{user_id}?includeCounts=1", by=user_id)
    assert body["userCounts"] == {
        "tournamentOrganizedCount": 1,
        "seriesOrganizedCount": 1,
        "tournamentPlayCount": 2,
        "ratingPeriodCount": 0,
    }


def test_users_are_resolved_by_id_placeholders_too(store: Store) -> None:
    ids = [build.a_user(store, name=name, placeholder=name == "B") for name in "ABC"]
    asked = f"{ids[2]},99999999,{ids[1]},{ids[1]}"
    _, body = build.ask(store, f"/api/users/resolve-unknown?users={asked}", by=ids[0])
    assert [user["userId"] for user in body["data"]] == ids[1:]


@pytest.mark.parametrize("public_read", [True, False])
def test_on_a_public_server_a_user_is_open_but_not_the_list_of_users(store: Store, public_read: bool) -> None:
    user_id = build.a_user(store)
    opened = 200 if public_read else 401
    assert build.ask(store, f"/api/users/{user_id}", public_read=public_read)[0] == opened
    unknown = f"/api/users/resolve-unknown?users={user_id}"
    assert build.ask(store, unknown, public_read=public_read)[0] == 401
