"""Published ratings. Source: ratings.md A.6, A.7, D; interface 4.7."""

from datetime import date, timedelta
from typing import Any
from xml.etree import ElementTree

import pytest

import build
from service.ratings.circuit import NOW, Circuit, days
from silverball.rules.ratings import formulas
from silverball.rules.ratings.formulas import DEFAULTS
from silverball.service.ratings import reads as ratings_reads
from silverball.store import tables
from silverball.store.database.engine import Store


def rating_of(circuit: Circuit, name: str) -> Any:
    found = circuit.get_json(f"/api/ratings/search?query={name}")["data"]
    assert len(found) == 1
    return found[0]


def test_a_rating_is_shown_in_whole_numbers_as_of_the_latest_period(circuit: Circuit) -> None:
    rating, rd = circuit.ratings()["Ada"]
    now_rd = formulas.deviation_after(rd, 5)
    assert rating_of(circuit, "Ada") == {
        "ratingId": 1,
        "userId": None,
        "ifpaId": 11,
        "name": "Ada",
        "rating": formulas.round_half_up(rating),
        "rd": formulas.round_half_up(rd),
        "calculatedRd": formulas.round_half_up(now_rd),
        "ratingClass": 4,
        "delta": f"{rating - 1500:.2f}",
        "gameCount": 2,
        "winCount": 3,
        "lossCount": 0,
        "resultCount": 3,
        "efficiencyPercent": 1.0,
        "lowerBound": formulas.round_half_up(rating - 2 * now_rd),
        "firstRatingPeriod": "2026-03-01T00:00:00.000000Z",
        "lastRatingPeriod": "2026-03-01T00:00:00.000000Z",
        "rank": 1,
    }


def test_the_observed_player_has_the_observed_shares_and_deltas(store: Store) -> None:
    # Source: ratings.md A.6, a captured profile and its revisions.
    chain = (
        ("2026-02-23", 1606.46, None),
        ("2026-02-27", 1608.86, 1606.46),
        ("2026-03-05", 1599.74, 1608.86),
    )
    total = {"game_count": 2100, "win_count": 2838, "loss_count": 2657, "result_count": 5495}
    rating_id = build.a_rating(store, ifpa_id=38773, **total)
    for day, rating, before in chain[:2]:
        delta = None if before is None else rating - before
        build.row(
            store, tables.rating_revision, rating_id=rating_id, period_date=day, rating=rating, delta=delta
        )
    by = build.a_user(store)
    shown = build.ask(store, "/api/ratings/ifpa/38773/summary", by=by)[1]["data"]
    assert shown["efficiencyPercent"] == 0.5164695177434031
    assert (shown["rating"], shown["rd"], shown["lowerBound"], shown["delta"]) == (1600, 24, 1551, "-9.12")
    assert shown["ratingClass"] == 4
    rows = build.ask(store, "/api/ifpa/38773/rating-history", by=by)[1]["data"]
    assert [(row["rating"], row["delta"]) for row in rows] == [(1600, "-9.12"), (1609, "2.40"), (1606, None)]
    assert rows[0]["efficiencyPercent"] == 0.38461538461538464


@pytest.mark.both_databases
def test_the_list_is_by_id_and_filters_stand_in_the_query_or_the_body(circuit: Circuit) -> None:
    assert [rating["name"] for rating in circuit.get_json("/api/ratings")["data"]] == ["Ada", "Bo", "Cy"]
    bo = rating_of(circuit, "Bo")["userId"]
    assert [rating["name"] for rating in circuit.get_json(f"/api/ratings?userIds={bo},999")["data"]] == ["Bo"]
    assert [
        rating["name"] for rating in circuit.get_json(f"/api/ratings?userIds={bo}&ifpaIds=11")["data"]
    ] == [
        "Ada",
        "Bo",
    ]
    by = build.caller(circuit.organizer_id)
    status, body, _ = build.do(circuit.store, "GET", "/api/ratings", {"userIds": str(bo)}, by=by)
    assert (status, [rating["name"] for rating in body["data"]]) == (200, ["Bo"])


@pytest.mark.both_databases
def test_search_matches_every_word_ignoring_case_and_accents(store: Store) -> None:
    made = Circuit(store)
    made.night(1, ["Åsa Öst", "Asa Ostberg", "Lasa Osterman"], ["Asa Ostberg", "Åsa Öst"])
    made.rate(1)
    found = [rating["name"] for rating in made.get_json("/api/ratings/search?query=OST+asa")["data"]]
    assert set(found) == {"Åsa Öst", "Asa Ostberg", "Lasa Osterman"}
    exact = [rating["name"] for rating in made.get_json("/api/ratings/search?query=asa+ost")["data"]]
    assert exact[:2] == ["Åsa Öst", "Asa Ostberg"]
    assert made.get_json("/api/ratings/search?query=nobody")["data"] == []


def test_the_profile_has_a_point_for_every_day_of_a_year_and_rd_grows_between(circuit: Circuit) -> None:
    bundle = circuit.get_json("/api/ratings/ifpa/22")
    history = bundle["ratingHistory"]
    assert [point["ratingPeriod"] for point in history] == days(1, 6)
    widths = [point["upperBound"] - point["lowerBound"] for point in history]
    assert widths[0] <= widths[1] <= widths[2]
    assert widths[3] < widths[2] + 1
    assert history[-1]["rating"] == bundle["rating"]["rating"]
    assert history[-1]["lowerBound"] == bundle["rating"]["lowerBound"]
    assert bundle["ifpaInfo"] is None


def test_the_year_of_history_ends_with_the_latest_period(circuit: Circuit) -> None:
    later = date(2027, 6, 1)
    from silverball.service.periods import rating_run

    rating_run.rate_days(circuit.store, later, DEFAULTS, NOW)
    history = circuit.get_json("/api/ratings/ifpa/22")["ratingHistory"]
    assert len(history) == 366
    assert (history[0]["ratingPeriod"], history[-1]["ratingPeriod"]) == ("2026-06-01", "2027-06-01")
    assert {point["rating"] for point in history} == {
        circuit.get_json("/api/ratings/ifpa/22/summary")["data"]["rating"]
    }


def test_the_history_by_number_has_one_row_for_each_period_that_was_played(circuit: Circuit) -> None:
    page = circuit.get_json("/api/ifpa/22/rating-history?limit=1")
    assert (page["meta"]["total"], page["meta"]["per_page"], len(page["data"])) == (2, 1, 1)
    newest = page["data"][0]
    assert (newest["ratingPeriod"], newest["gameCount"], newest["lossCount"]) == ("2026-03-04", 1, 1)
    assert newest["efficiencyPercent"] == 0
    everything = circuit.get_json("/api/ifpa/22/rating-history")["data"]
    total = circuit.get_json("/api/ratings/ifpa/22/summary")["data"]
    for name in ("gameCount", "winCount", "lossCount", "resultCount"):
        assert sum(record[name] for record in everything) == total[name]


def test_ratings_of_a_day_are_those_of_its_last_revision(circuit: Circuit) -> None:
    now = circuit.get_json("/api/ratings/ifpa?ifpaIds=22,999,11")["data"]
    assert [rating["ifpaId"] for rating in now] == [22, 11]
    then = circuit.get_json("/api/ratings/ifpa?ifpaIds=22,11&date=2026-03-03")["data"]
    assert [rating["ifpaId"] for rating in then] == [22, 11]
    first = circuit.get_json("/api/ifpa/22/rating-history")["data"][-1]
    assert (then[0]["rating"], then[0]["gameCount"]) == (first["rating"], 2)
    assert then[0]["lastRatingPeriod"] == "2026-03-01T00:00:00.000000Z"
    assert circuit.get_json("/api/ratings/ifpa?ifpaIds=22&date=2026-02-01")["data"] == []


@pytest.mark.both_databases
def test_a_comparison_has_both_directions_of_each_pair(circuit: Circuit) -> None:
    ids = [circuit.player(name) for name in ("Ada", "Bo", "Cy")]
    body = circuit.get_json(f"/api/ratings/compare?playerIds={ids[0]},{ids[1]},{ids[2]}")
    assert [rating["name"] for rating in body["ratings"]] == ["Ada", "Bo", "Cy"]
    numbers = [rating for rating, _ in circuit.ratings().values()]
    assert body["globalRatingRange"] == {"min": round(min(numbers), 2), "max": round(max(numbers), 2)}
    met = {(record["ratingId"], record["opponentRatingId"]): record for record in body["records"]}
    assert len(met) == 6
    for (rating_id, opponent_id), record in met.items():
        back = met[opponent_id, rating_id]
        assert (record["winCount"], record["drawCount"]) == (back["lossCount"], back["drawCount"])
        assert record["lastPlayed"] == back["lastPlayed"]
        both = record["expectedWinProbability"] + back["expectedWinProbability"]
        assert both == pytest.approx(1, abs=0.0011)
    assert met[1, 2] == {
        "ratingId": 1,
        "opponentRatingId": 2,
        "gameCount": 2,
        "winCount": 2,
        "lossCount": 0,
        "drawCount": 0,
        "resultCount": 2,
        "efficiencyPercent": 1.0,
        "expectedWinProbability": met[1, 2]["expectedWinProbability"],
        "lastPlayed": "2026-03-01",
    }
    for rating in body["ratings"]:
        own = [record for record in body["records"] if record["ratingId"] == rating["ratingId"]]
        assert sum(record["winCount"] for record in own) == rating["winCount"]
        assert sum(record["resultCount"] for record in own) == rating["resultCount"]


def test_a_comparison_works_by_post_and_leaves_out_unrated_people(circuit: Circuit) -> None:
    asked = {"ifpaIds": [11, 999], "playerIds": [circuit.player("Cy")], "userIds": []}
    status, body, _ = build.do(
        circuit.store, "POST", "/api/ratings/compare", asked, by=build.caller(circuit.organizer_id)
    )
    assert (status, [rating["name"] for rating in body["ratings"]]) == (200, ["Ada", "Cy"])
    assert len(body["records"]) == 2


def test_a_user_comes_with_their_rating(circuit: Circuit) -> None:
    user_id = rating_of(circuit, "Bo")["userId"]
    body = circuit.get_json(f"/api/users/{user_id}?includeCounts=1")
    assert body["rating"] == rating_of(circuit, "Bo")
    assert body["userCounts"]["ratingPeriodCount"] == 2
    assert "rating" not in circuit.get_json(f"/api/users/{circuit.organizer_id}")


def test_periods_are_listed_newest_first_and_one_has_its_tournaments(circuit: Circuit) -> None:
    listed = circuit.get_json("/api/rating-periods")["data"]
    assert [period["periodDate"] for period in listed] == list(reversed(days(1, 6)))
    period = circuit.get_json("/api/rating-periods/2026-03-04")
    assert period["ratingPeriod"] == {**listed[2], "status": "processed", "playerCount": 2, "resultCount": 1}
    assert [night["tournamentId"] for night in period["tournaments"]] == [2]
    assert (period["challenges"], period["extEvents"]) == ([], [])
    for unknown in ("2026-04-01", "2026-13-01", "yesterday"):
        assert build.ask(circuit.store, f"/api/rating-periods/{unknown}", by=circuit.organizer_id)[0] == 404


@pytest.mark.sample(8)
@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/api/ratings/clubs/1", "type"),
        ("/api/ratings?userIds=x", "userIds"),
        ("/api/ratings?ifpaIds=0", "ifpaIds"),
        (f"/api/ratings?userIds={2**63}", "userIds"),
        (f"/api/ratings?userIds={','.join(map(str, range(1, 202)))}", "userIds"),
        (f"/api/ratings?ifpaIds={','.join(map(str, range(1, 202)))}", "ifpaIds"),
        ("/api/ratings/search", "query"),
        (f"/api/ratings/ifpa?ifpaIds={','.join(map(str, range(1, 202)))}", "ifpaIds"),
        (f"/api/ratings/ifpa?date=2026-03-01&ifpaIds={','.join(map(str, range(1, 27)))}", "ifpaIds"),
        ("/api/ratings/ifpa?ifpaIds=1&date=2026-03-07", "date"),
        ("/api/ratings/ifpa?ifpaIds=1&date=20260301", "date"),
        ("/api/ratings/ifpa?ifpaIds=1&date=2026-02-30", "date"),
        (f"/api/ratings/compare?userIds={','.join(map(str, range(1, 27)))}", "userIds"),
        ("/api/ratings/compare?ifpaIds=11&playerIds={ada}", "playerIds"),
        ("/api/ratings/compare?playerIds=x", "playerIds"),
        ("/api/ifpa/22/rating-history?limit=501", "limit"),
        ("/api/ifpa/22/rating-history?limit=0", "limit"),
        ("/api/rating-submissions?status=lost", "status"),
    ],
)
def test_an_invalid_request_names_the_field(circuit: Circuit, path: str, field: str) -> None:
    asked = path.format(ada=circuit.player("Ada"))
    status, body = build.ask(circuit.store, asked, by=circuit.organizer_id)
    assert (status, list(body["errors"])) == (422, [field])


@pytest.mark.parametrize(
    ("path", "size"),
    [
        ("/api/ratings?", 25),
        ("/api/ratings/search?query=a&", 25),
        ("/api/rating-periods?", 25),
        ("/api/rating-submissions?", 25),
        ("/api/ifpa/22/rating-history?", 100),
    ],
)
def test_pages_work_like_those_of_other_lists(circuit: Circuit, path: str, size: int) -> None:
    by = circuit.organizer_id
    for wrong in ("0", "-1", "x", "1.5"):
        status, body = build.ask(circuit.store, f"{path}page={wrong}", by=by)
        assert (status, list(body["errors"])) == (422, ["page"]), wrong
    meta = circuit.get_json(f"{path}page=1")["meta"]
    assert (meta["per_page"], meta["current_page"], meta["last_page"]) == (size, 1, 1)
    beyond = circuit.get_json(f"{path}page=9")
    assert (beyond["data"], beyond["meta"]["from"], beyond["meta"]["to"]) == ([], None, None)
    # Lists end at 10,000 rows; a history may be read to its end.
    deep = build.ask(circuit.store, f"{path}page={10_000 // size + 1}", by=by)[0]
    assert deep == (200 if "history" in path else 403)


def test_there_are_no_ratings_before_the_first_period(store: Store) -> None:
    made = Circuit(store)
    made.night(1, ["Ada", "Bo"])
    assert made.get_json("/api/ratings")["data"] == []
    assert made.get_json("/api/rating-periods")["data"] == []
    assert made.get_json("/api/ratings/compare?playerIds=1")["ratings"] == []
    assert build.ask(store, "/api/ratings/users/1", by=made.organizer_id)[0] == 404
    with store.read() as db:
        assert list(ratings_reads.rating_csv_lines(db)) == list(ratings_reads.revision_csv_lines(db)) == []


def test_the_chart_has_no_scripts_and_no_external_resources(circuit: Circuit) -> None:
    svg = circuit.get_json("/api/ratings/ifpa/22/chart.svg")
    root = ElementTree.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags.isdisjoint({"script", "image", "use", "foreignObject", "a"})
    assert "http" not in svg.replace("http://www.w3.org/", "")
    assert "prefers-color-scheme: dark" in svg.replace(
        "prefers-color-scheme:dark", "prefers-color-scheme: dark"
    )
    assert "Rating of Bo" in svg
    assert svg == circuit.get_json("/api/ratings/ifpa/22/chart.svg")


def test_a_rating_follows_a_changed_name_at_once(circuit: Circuit) -> None:
    user_id = rating_of(circuit, "Bo")["userId"]
    by = build.caller(user_id, ability="score")
    assert build.do(circuit.store, "PATCH", "/api/users/profile", {"name": "Bo Renamed"}, by=by)[0] == 200
    assert rating_of(circuit, "renamed")["userId"] == user_id


def test_a_period_shows_whether_it_is_open_waiting_or_corrected(circuit: Circuit) -> None:
    today, store = NOW.date(), circuit.store
    from silverball.store.people import rating_days

    with store.write() as transaction:
        rating_days.mark_days(
            transaction.connection, [date(2026, 3, 4), date(2026, 3, 20), today, today + timedelta(days=1)]
        )
    by = build.caller(circuit.organizer_id)
    _, body, _ = build.do(store, "GET", "/api/rating-periods", by=by, now=NOW)
    found = {period["periodDate"]: period["status"] for period in body["data"]}
    assert found["2026-04-02"] == found["2026-04-01"] == "open"
    assert (found["2026-03-20"], found["2026-03-04"], found["2026-03-05"]) == (
        "waiting",
        "dirty",
        "processed",
    )
