"""A final from the table of a series. Source: formats, sections 21 and 26."""

from typing import Any

import pytest

import build
from silverball.store import tables
from silverball.store.database.engine import Store


def a_league(store: Store, nights: list[list[int]]) -> tuple[int, int, list[int]]:
    """A series of completed nights: organizer, series and the five players; each night names its order."""
    organizer = build.a_user(store, role="organizer")
    players = [build.a_player(store, organizer, name=f"Player {number}") for number in range(1, 6)]
    series = build.row(store, tables.series, organizer_id=organizer, name="League", scoring="bg_linear")
    for order in nights:
        play_night(store, organizer, players, series, [players[number - 1] for number in order])
    return organizer, series, players


def play_night(store: Store, organizer: int, players: list[int], series: int, order: list[int]) -> int:
    """Play a night of one game with these players, first to last; returns its id."""
    body = {"name": "Night", "type": "group_matchplay", "seriesId": series}
    night = do(store, organizer, "POST", "/tournaments", body)
    path = f"/tournaments/{night['tournamentId']}"
    for place, player in enumerate(order):
        do(store, organizer, "POST", path + "/players", {"playerId": player, "pointsAdjustment": 10 - place})
    do(store, organizer, "POST", path + "/start", {})
    do(store, organizer, "POST", path + "/complete", {})
    return int(night["tournamentId"])


def do(store: Store, organizer: int, method: str, path: str, body: Any) -> Any:
    status, answer, _ = build.do(store, method, f"/api{path}", body, by=organizer)
    assert status < 300, answer
    return answer["data"]


def players_of(store: Store, organizer: int, final: int) -> list[int]:
    _, answer = build.ask(store, f"/api/tournaments/{final}?includePlayers=1", by=organizer)
    ordered = sorted(answer["data"]["players"], key=lambda each: each["tournamentPlayer"]["seed"])
    return [each["playerId"] for each in ordered]


@pytest.mark.both_databases
def test_a_final_has_the_best_of_the_series_and_follows_its_table(store: Store) -> None:
    organizer, series, players = a_league(store, [[1, 2, 3, 4, 5], [1, 2, 3, 4, 5]])
    first, two, three, four, five = players
    body = {"type": "group_bracket", "players": 4}
    final = do(store, organizer, "POST", f"/series/{series}/playoffs", body)
    assert (final["name"], final["bracketSize"]) == ("League: final", 4)
    path = f"/tournaments/{final['tournamentId']}"
    assert players_of(store, organizer, final["tournamentId"]) == [first, two, three, four]
    # One more night: 5 comes before 4, and 2 before 1.
    for _ in range(3):
        play_night(store, organizer, players, series, [two, first, three, five, four])
    _, answer = build.ask(store, f"/api{path}/finals", by=organizer)
    found = answer["data"]["difference"]
    assert (answer["data"]["seriesId"], found["entering"], found["leaving"]) == (series, [five], [four])
    do(store, organizer, "POST", path + "/finals/follow", {})
    assert players_of(store, organizer, final["tournamentId"]) == [two, first, three, five]
    do(store, organizer, "POST", path + "/start", {})


def test_only_those_who_were_there_often_enough_go_on(store: Store) -> None:
    # 5 won a night and came no more; of the four others the best two go on.
    organizer, series, players = a_league(store, [[5, 1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4]])
    body = {"type": "bracket", "half": True, "nightsMin": 2}
    final = do(store, organizer, "POST", f"/series/{series}/playoffs", body)
    assert players_of(store, organizer, final["tournamentId"]) == players[:2]


def test_a_tie_at_the_cut_is_named_and_naming_the_players_settles_it(store: Store) -> None:
    organizer, series, players = a_league(store, [[1, 2, 3, 4], [1, 3, 2, 4]])
    body: dict[str, Any] = {"type": "bracket", "players": 2}
    status, answer, _ = build.do(store, "POST", f"/api/series/{series}/playoffs", body, by=organizer)
    assert (status, answer["code"]) == (409, "tied-at-cutoff")
    body["players"] = [players[0], players[2]]
    final = do(store, organizer, "POST", f"/series/{series}/playoffs", body)
    assert players_of(store, organizer, final["tournamentId"]) == [players[0], players[2]]
    # What was named stays; the table asks for nothing else.
    _, shown = build.ask(store, f"/api/tournaments/{final['tournamentId']}/finals", by=organizer)
    assert shown["data"]["difference"] is None


def test_a_stranger_makes_no_final_of_it(store: Store) -> None:
    _, series, _ = a_league(store, [[1, 2]])
    stranger = build.a_user(store, role="organizer")
    body = {"type": "bracket", "players": 2}
    assert build.do(store, "POST", f"/api/series/{series}/playoffs", body, by=stranger)[0] in {403, 404}
