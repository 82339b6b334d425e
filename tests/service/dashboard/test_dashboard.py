"""The dashboard. Source: interface 2.6; interface.md 2, row 27."""

import build
from silverball.store import tables
from silverball.store.database.engine import Store


def test_the_dashboard_lists_only_active_items_of_the_caller(store: Store) -> None:
    user_id, other = build.a_user(store), build.a_user(store)
    mine = [
        build.row(store, tables.tournament, organizer_id=user_id, status=status)
        for status in ("planned", "started", "completed")
    ]
    theirs = [
        build.row(store, tables.tournament, organizer_id=other, status=status)
        for status in ("planned", "started", "completed")
    ]
    for tournament_id in theirs:
        for _ in range(2):
            player_id = build.a_player(store, other, claimed_by=user_id)
            build.row(store, tables.entrant, tournament_id=tournament_id, player_id=player_id)
    series = [
        build.row(store, tables.series, organizer_id=organizer, status=status)
        for organizer, status in ((user_id, "active"), (user_id, "completed"), (other, "active"))
    ]
    status, body = build.ask(store, "/api/dashboard", by=user_id)
    assert status == 200
    assert [tournament["tournamentId"] for tournament in body["tournamentsOrganizing"]] == mine[1::-1]
    assert [tournament["tournamentId"] for tournament in body["tournamentsPlaying"]] == theirs[1::-1]
    assert [series_["seriesId"] for series_ in body["seriesOrganizing"]] == series[:1]
    assert body["seriesOrganizing"][0]["tournamentIds"] == []
    assert body["tournamentsPlaying"][0]["organizer"]["userId"] == other


def test_an_inactive_user_has_three_empty_lists(store: Store) -> None:
    _, body = build.ask(store, "/api/dashboard", by=build.a_user(store))
    assert body == {"tournamentsPlaying": [], "seriesOrganizing": [], "tournamentsOrganizing": []}
