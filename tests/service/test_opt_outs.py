"""Opt-outs hide a user's data from all but the user and an admin (interface.md 2, row 20)."""

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

import build
from canaries import IFPA_CANARY, PROFILE
from silverball.service.core.access import AuthenticatedCaller
from silverball.store import tables
from silverball.store.database.engine import Store


@dataclass(frozen=True)
class HidingUser:
    """A user with opt-outs who organizes, keeps score, plays and has claimed a player."""

    store: Store
    user_id: int
    player_id: int
    paths: list[str]


def a_hiding_user(store: Store, **opt_outs: bool) -> HidingUser:
    user_id = build.a_user(store, name="Zoe Nadir", role="organizer", **PROFILE, **opt_outs)
    series_id = build.row(store, tables.series, organizer_id=user_id)
    night = build.a_tournament(store, organizer_id=user_id, series_id=series_id, status="completed")
    claimed = build.a_player(store, user_id, name="Zoe N", claimed_by=user_id, ifpa_id=IFPA_CANARY)
    build.row(
        store, tables.entrant, tournament_id=night.tournament_id, player_id=claimed, place=9, status="active"
    )
    build.row(store, tables.scorekeeper, tournament_id=night.tournament_id, user_id=user_id)
    for position, player_id in enumerate([claimed, *night.player_ids], start=1):
        build.row(
            store,
            tables.standing,
            tournament_id=night.tournament_id,
            player_id=player_id,
            position=position,
            points=Decimal(9 - position),
            row={},
        )
    build.a_game(store, night.tournament_id, [claimed, night.player_ids[0]], status="completed")
    occasion_id = build.row(store, tables.occasion, organizer_id=user_id)
    listed = {"user_id": user_id, "tournament_id": night.tournament_id}
    build.row(store, tables.occasion_tournament, occasion_id=occasion_id, **listed)
    tournament = f"/api/tournaments/{night.tournament_id}"
    flags = "&".join(
        f"include{part}=1" for part in ("Players", "Scorekeepers", "Series", "Event", "LinkedTournaments")
    )
    paths = [
        f"/api/users/{user_id}?includeIfpa=1&includeCounts=1",
        f"/api/users/resolve-unknown?users={user_id}",
        f"/api/players/resolve-unknown?players={claimed}",
        f"{tournament}/players/resolve-unknown?players={claimed}",
        "/api/tournaments",
        f"{tournament}?{flags}",
        "/api/search?type=users&query=zoe",
        "/api/search?type=tournaments&query=strikes",
        "/api/events",
        f"/api/events/{occasion_id}",
        f"/api/series/{series_id}",
        f"/api/series/{series_id}?includeDetails=1",
        f"/api/series/{series_id}/stats",
        f"/api/series/{series_id}/stats/attendance?count=1",
    ]
    return HidingUser(store, user_id, claimed, paths)


def answer_text(user: HidingUser, path: str, by: AuthenticatedCaller | None) -> str:
    status, body = build.ask(user.store, path, by=by, public_read=True)
    assert status == 200, body
    return json.dumps(body)


def all_answers(user: HidingUser, by: AuthenticatedCaller) -> str:
    return "".join(answer_text(user, path, by) for path in user.paths)


def canaries_in(text: str) -> set[str]:
    return {name for name, value in PROFILE.items() if str(value) in text}


def test_a_hidden_profile_is_in_no_answer_to_others(store: Store) -> None:
    user = a_hiding_user(store, profile_opt_out=True)
    stranger = build.caller(build.a_user(store))
    for path in user.paths:
        assert canaries_in(answer_text(user, path, stranger)) == set(), path


def test_without_a_token_a_hidden_profile_stays_hidden_on_a_public_server(store: Store) -> None:
    user = a_hiding_user(store, profile_opt_out=True)
    for path in user.paths:
        status, body = build.ask(store, path, public_read=True)
        assert status in {200, 401}
        assert canaries_in(json.dumps(body)) == set(), path


def test_an_admin_sees_hidden_profiles_with_any_token(store: Store) -> None:
    user = a_hiding_user(store, profile_opt_out=True)
    admin_id = build.a_user(store, role="admin")
    seen = [
        canaries_in(all_answers(user, build.caller(admin_id, role="admin", ability=ability)))
        for ability in ("read", "admin")
    ]
    assert seen[0] == seen[1] != set()


@pytest.mark.parametrize("role", ["user", "admin"])
def test_the_user_and_an_admin_see_all_of_it(store: Store, role: str) -> None:
    user = a_hiding_user(store, **dict.fromkeys(tables.OPT_OUTS, True))
    viewer = (
        build.caller(user.user_id, is_hidden=True)
        if role == "user"
        else build.caller(build.a_user(store, role="admin"), role="admin", ability="admin")
    )
    assert canaries_in(all_answers(user, viewer)) == set(PROFILE)
    for path in (path for path in user.paths if "players" in path or "Details" in path):
        assert str(IFPA_CANARY) in answer_text(user, path, viewer), path


def test_every_caller_sees_a_profile_that_is_not_hidden(store: Store) -> None:
    user = a_hiding_user(store)
    assert canaries_in(all_answers(user, build.caller(build.a_user(store)))) == set(PROFILE)


def test_an_unclaimed_player_keeps_the_federation_number(store: Store) -> None:
    user = a_hiding_user(store, profile_opt_out=True)
    player_id = build.a_player(store, user.user_id, ifpa_id=42)
    _, body = build.ask(store, f"/api/players/resolve-unknown?players={player_id}", by=user.user_id)
    assert body["data"][0]["ifpaId"] == 42


def test_the_organizer_of_a_book_does_not_see_the_hidden_number_of_a_player(store: Store) -> None:
    hidden = build.a_user(store, profile_opt_out=True)
    organizer = build.a_user(store, role="organizer")
    build.a_player(store, organizer, claimed_by=hidden, ifpa_id=IFPA_CANARY)
    _, body = build.ask(store, "/api/players", by=organizer)
    assert [player["ifpaId"] for player in body["data"]] == [None]


@pytest.mark.parametrize("path", ["/api/tournaments?played={}", "/api/series?played={}"])
def test_a_hidden_history_is_refused_to_others_and_shown_to_the_user(store: Store, path: str) -> None:
    user = a_hiding_user(store, history_opt_out=True)
    stranger = build.caller(build.a_user(store))
    status, body = build.ask(store, path.format(user.user_id), by=stranger)
    assert (status, "opted out" in body["message"]) == (403, True)
    own_caller = build.caller(user.user_id, is_hidden=True)
    status, body = build.ask(store, path.format(user.user_id), by=own_caller)
    assert (status, len(body["data"])) == (200, 1)


@pytest.mark.both_databases
@pytest.mark.parametrize("path", ["/api/tournaments?played={}", "/api/series?played={}"])
def test_others_see_only_the_completed_part_of_a_partly_hidden_history(store: Store, path: str) -> None:
    user = a_hiding_user(store, history_only_completed=True)
    running_series = build.row(store, tables.series, organizer_id=user.user_id)
    running = build.a_tournament(
        store, organizer_id=user.user_id, status="started", series_id=running_series, players=0
    )
    build.row(store, tables.entrant, tournament_id=running.tournament_id, player_id=user.player_id)

    def count(viewer: AuthenticatedCaller) -> int:
        _, body = build.ask(store, path.format(user.user_id), by=viewer)
        return len(body["data"])

    assert count(build.caller(build.a_user(store))) == 1
    assert count(build.caller(user.user_id, is_hidden=True)) == 2


def rows_of(body: Any, player_id: int) -> list[Any]:
    rows = [*body["opponentCounts"], *body["arenaCounts"]]
    return [row for row in rows if row["playerId"] == player_id or str(player_id) in row]


@pytest.mark.both_databases
def test_a_user_who_opted_out_of_statistics_has_no_rows_in_those_of_a_series(store: Store) -> None:
    user = a_hiding_user(store, stats_opt_out=True)
    stats, attendance = user.paths[-2:]
    stranger = build.caller(build.a_user(store))
    _, body = build.ask(store, stats, by=stranger)
    assert rows_of(body, user.player_id) == []
    _, body = build.ask(store, attendance, by=stranger)
    assert user.player_id not in {player["playerId"] for player in body["data"]}
    own_caller = build.caller(user.user_id, is_hidden=True)
    _, body = build.ask(store, stats, by=own_caller)
    assert len(rows_of(body, user.player_id)) == 2
    _, body = build.ask(store, attendance, by=own_caller)
    assert user.player_id in {player["playerId"] for player in body["data"]}
