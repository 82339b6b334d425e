"""Series and their results. Source: formats, section 21; interface.md 1 and 2, row 27."""

from decimal import Decimal
from typing import Any

import pytest

import build
from silverball.store import tables
from silverball.store.database.engine import Store


@pytest.fixture
def organizer(store: Store) -> int:
    return build.a_user(store, name="Olga Ramp", role="organizer")


def a_night(
    store: Store, organizer: int, series_id: int, results: list[tuple[int, int, str]], **values: Any
) -> int:
    """A tournament of the series with standings: player, position, points."""
    values = {"status": "completed", "type": "matchplay", **values}
    tournament_id = build.row(store, tables.tournament, organizer_id=organizer, series_id=series_id, **values)
    for place, (player_id, position, points) in enumerate(results):
        common = {"tournament_id": tournament_id, "player_id": player_id}
        if values["status"] == "completed":
            build.row(store, tables.entrant, **common, place=place)
            build.row(store, tables.standing, **common, position=position, points=Decimal(points), row={})
        else:
            # It is ranked when somebody asks.
            build.row(store, tables.entrant, **common, place=place, points_adjustment=Decimal(points))
    return tournament_id


def details(store: Store, series_id: int, by: int) -> dict[str, Any]:
    status, body = build.ask(store, f"/api/series/{series_id}?includeDetails=true", by=by)
    assert status == 200, body
    data: dict[str, Any] = body["data"]
    return data


def test_the_newest_come_first_with_the_ids_of_their_tournaments(store: Store, organizer: int) -> None:
    made = [build.row(store, tables.series, organizer_id=organizer) for _ in range(3)]
    nights = [a_night(store, organizer, made[1], []) for _ in range(2)]
    _, body = build.ask(store, "/api/series", by=organizer)
    assert [series["seriesId"] for series in body["data"]] == made[::-1]
    assert [series["tournamentIds"] for series in body["data"]] == [[], nights, []]
    assert body["meta"]["per_page"] == 25


@pytest.mark.both_databases
def test_each_filter_narrows(store: Store, organizer: int) -> None:
    other = build.a_user(store)
    mine = build.row(store, tables.series, organizer_id=organizer)
    done = build.row(store, tables.series, organizer_id=other, status="completed")
    player_id = build.a_player(store, other, claimed_by=organizer)
    for _ in range(2):
        a_night(store, other, done, [(player_id, 1, "1")])

    def listed_ids(query: str) -> list[int]:
        _, body = build.ask(store, f"/api/series?{query}", by=other)
        return [series["seriesId"] for series in body["data"]]

    assert listed_ids(f"owner={organizer}") == [mine]
    assert listed_ids("status=completed") == [done]
    assert listed_ids("status=inactive") == []
    assert listed_ids(f"played={organizer}") == [done]
    assert listed_ids(f"played={other}") == []
    assert listed_ids(f"played={organizer}&status=active") == []


def test_without_details_there_is_the_series_and_its_organizer(store: Store, organizer: int) -> None:
    series_id = build.row(store, tables.series, organizer_id=organizer, removed_results=1)
    for query in ("", "?includeDetails=false"):
        _, body = build.ask(store, f"/api/series/{series_id}{query}", by=organizer)
        assert body["data"]["organizer"]["userId"] == organizer
        assert body["data"]["rsvpConfiguration"] is None
        assert not {"players", "standings", "tournamentPoints"} & set(body["data"])


def test_a_series_without_results_has_empty_lists_for_maps(store: Store, organizer: int) -> None:
    series_id = build.row(store, tables.series, organizer_id=organizer)
    found = details(store, series_id, organizer)
    names = ("tournamentIds", "players", "playerLabels", "standings", "tournamentPoints")
    assert [found[name] for name in names] == [[], [], [], [], []]


def test_points_of_the_nights_are_summed_as_they_are(store: Store, organizer: int) -> None:
    series_id = build.row(store, tables.series, organizer_id=organizer, scoring="points")
    ann, bob = (
        build.a_player(store, organizer, name=name, labels=labels)
        for name, labels in (("A", ["x"]), ("B", []))
    )
    first = a_night(store, organizer, series_id, [(ann, 1, "35"), (bob, 2, "12.5")])
    second = a_night(store, organizer, series_id, [(bob, 1, "30")], status="started")
    planned = a_night(store, organizer, series_id, [(ann, 1, "0")], status="planned")
    found = details(store, series_id, organizer)
    assert found["tournamentIds"] == [first, second, planned]
    assert found["tournamentPoints"] == {
        str(first): {str(ann): "35.00", str(bob): "12.50"},
        str(second): {str(bob): "30.00"},
    }
    assert found["standings"] == [
        {
            "playerId": player_id,
            "position": position,
            "points": points,
            "pointsAdjusted": [],
            "onCutoffBubble": None,
            "cutoffBubbleColor": None,
            "onCutoffBubble2": None,
            "manualTiebreakerGroup": None,
        }
        for player_id, position, points in ((bob, 1, 42.5), (ann, 2, 35))
    ]
    assert [player["playerId"] for player in found["players"]] == [ann, bob]
    assert found["playerLabels"] == {str(ann): ["x"]}


def test_nights_count_when_they_are_completed_or_have_a_result(store: Store, organizer: int) -> None:
    series_id = build.row(
        store, tables.series, organizer_id=organizer, scoring="bg_linear", removed_results=1
    )
    ann, bea = (build.row(store, tables.player, organizer_id=organizer) for _ in range(2))
    listed = [(ann, 1, "0"), (bea, 1, "0")]
    completed = a_night(store, organizer, series_id, [(ann, 1, "7"), (bea, 2, "5")])
    a_night(store, organizer, series_id, listed, status="planned")
    running = a_night(store, organizer, series_id, listed, status="started")

    def details() -> Any:
        return build.ask(store, f"/api/series/{series_id}?includeDetails=1", by=organizer)[1]["data"]

    def adjusted() -> list[Any]:
        return [(row["playerId"], row["pointsAdjusted"]) for row in details()["standings"]]

    # Nothing is played in the running one, so nobody has points for it; one night of one counts.
    assert details()["tournamentPoints"] == {str(completed): {str(ann): 100, str(bea): 99}}
    assert adjusted() == [(ann, 100), (bea, 99)]
    build.row(store, tables.game, tournament_id=running, status="completed", bye=True)
    assert len(details()["tournamentPoints"]) == 1
    build.row(store, tables.game, tournament_id=running, status="completed", bye=False)
    assert details()["tournamentPoints"][str(running)] == {str(ann): 100, str(bea): 100}
    # One of two is dropped; an empty completed night counts as a third, and two of three count.
    assert adjusted() == [(ann, 100), (bea, 100)]
    empty = a_night(store, organizer, series_id, [])
    assert details()["tournamentPoints"][str(empty)] == []
    assert adjusted() == [(ann, 200), (bea, 199)]


@pytest.mark.both_databases
def test_a_curve_gives_whole_numbers_and_equals_share_the_mean(store: Store, organizer: int) -> None:
    series_id = build.row(
        store, tables.series, organizer_id=organizer, scoring="bg_linear", removed_results=-1
    )
    people = [build.a_player(store, organizer) for _ in range(3)]
    ann, bob, cat = people
    first = a_night(store, organizer, series_id, [(ann, 1, "9"), (bob, 2, "5"), (cat, 2, "5")])
    second = a_night(store, organizer, series_id, [(bob, 1, "9"), (ann, 2, "3")])
    found = details(store, series_id, organizer)
    assert found["tournamentPoints"] == {
        str(first): {str(ann): 100, str(bob): 99, str(cat): 99},
        str(second): {str(bob): 100, str(ann): 99},
    }
    rows = [
        (standing["playerId"], standing["position"], standing["points"], standing["pointsAdjusted"])
        for standing in found["standings"]
    ]
    assert rows == [(ann, 1, 199, 100), (bob, 1, 199, 100), (cat, 3, 99, 99)]


@pytest.mark.both_databases
def test_an_organizers_own_curve_is_used(store: Store, organizer: int) -> None:
    table = {"1": 10, "3": 4, "note": "x"}
    series_id = build.row(
        store, tables.series, organizer_id=organizer, scoring="custom", scoring_custom=table
    )
    people = [build.a_player(store, organizer) for _ in range(4)]
    night = a_night(
        store, organizer, series_id, [(player, place, "1") for place, player in enumerate(people, 1)]
    )
    points = details(store, series_id, organizer)["tournamentPoints"][str(night)]
    assert [points[str(player)] for player in people] == [10, 0, 4, 0]


@pytest.mark.parametrize(
    ("scoring", "status", "winner"),
    [("bg_linear", "completed", 1), ("bg_linear", "started", 0), ("points", "completed", 0)],
)
def test_completed_finals_decide_the_night_only_under_a_curve(
    store: Store, organizer: int, scoring: str, status: str, winner: int
) -> None:
    series_id = build.row(store, tables.series, organizer_id=organizer, scoring=scoring)
    people = [build.a_player(store, organizer) for _ in range(3)]
    night = a_night(
        store,
        organizer,
        series_id,
        [(player, place, str(9 - place)) for place, player in enumerate(people, 1)],
    )
    finals = build.a_tournament(store, organizer_id=organizer, players=0, status=status).tournament_id
    for position, player_id in enumerate((people[1], people[0]), start=1):
        build.row(
            store,
            tables.standing,
            tournament_id=finals,
            player_id=player_id,
            position=position,
            points=Decimal(1),
            row={},
        )
    build.row(
        store,
        tables.tournament_link,
        tournament_id=night,
        place=0,
        linked_tournament_id=finals,
        link_type="playoff",
        shown={},
    )
    standings = details(store, series_id, organizer)["standings"]
    assert standings[0]["playerId"] == people[winner]


def test_an_unknown_scoring_counts_points(store: Store, organizer: int) -> None:
    for scoring in (None, "from_the_future"):
        series_id = build.row(store, tables.series, organizer_id=organizer, scoring=scoring)
        player_id = build.a_player(store, organizer)
        a_night(store, organizer, series_id, [(player_id, 1, "7")])
        assert details(store, series_id, organizer)["standings"][0]["points"] == 7


def test_players_tied_across_a_border_are_on_its_bubble(store: Store, organizer: int) -> None:
    band = {"index": 0, "value": 1, "cumulative": 1, "text": "FINALS", "color": "red"}
    series_id = build.row(
        store, tables.series, organizer_id=organizer, scoring="points", playoffs_cutoffs=[band]
    )
    ann, bob = (build.a_player(store, organizer) for _ in range(2))
    a_night(store, organizer, series_id, [(ann, 1, "5"), (bob, 1, "5")])
    rows = details(store, series_id, organizer)["standings"]
    assert [
        (standing["position"], standing["onCutoffBubble"], standing["cutoffBubbleColor"]) for standing in rows
    ] == [
        (1, True, "red"),
        (1, True, "red"),
    ]
