"""What clients read in answers: flags, absent members, spreadsheets, refusals in words."""

import csv
import io
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

from clients.behaviours.site import Site


def rows(site: Site, path: str) -> list[dict[str, str]]:
    """The rows of a spreadsheet, by the names in its header."""
    answer = site.get(path)
    assert answer.headers["content-type"].startswith("text/csv")
    header, *body = list(csv.reader(io.StringIO(answer.text)))
    assert {len(row) for row in body} <= {len(header)}
    return [dict(zip(header, row, strict=True)) for row in body]


@pytest.mark.parametrize("flag", ["1", "true", "True", "on", "yes"])
def test_a_client_asks_for_parts_with_any_word_for_true(site: Site, flag: str) -> None:
    # Observed: clients send 1, true and, from Python, True. Source: interface.md 2, row 16.
    tournament = site.data(site.path("live", f"?includePlayers={flag}&includeArenas={flag}"))
    assert (len(tournament["players"]), len(tournament["arenas"])) == (8, 12)


@pytest.mark.parametrize("flag", ["0", "false", "False", ""])
def test_a_client_does_without_parts_with_any_other_word(site: Site, flag: str) -> None:
    # Source: interface.md 2, row 16.
    assert "players" not in site.data(site.path("live", f"?includePlayers={flag}"))


def test_a_client_that_cannot_read_null_gets_no_rating_of_a_user_without_one(site: Site) -> None:
    # Observed: a client dies on `rating: null`. Source: interface.md 2, row 2.
    user = site.get(f"/api/users/{site.organizer_id}").json()
    assert "rating" not in user
    assert user["user"]["userId"] == site.organizer_id


def test_a_profile_is_read_with_and_without_its_envelope(site: Site) -> None:
    # Observed: half of the clients read `data`, the others the fields. Source: interface.md 2, row 1.
    profile = site.get("/api/users/profile").json()
    assert profile["data"]["userId"] == profile["userId"] == site.organizer_id


def test_a_client_that_cannot_read_null_gets_no_arena_of_a_game_without_one(site: Site) -> None:
    # Observed: a client reads game.arena.name wherever there is an arena. Source: interface.md 4.
    games = [site.data(site.path("live", f"/games/{game['gameId']}")) for game in latest_games(site)]
    for game in games:
        assert ("arena" in game) == (game["arenaId"] is not None)


def latest_games(site: Site) -> list[Any]:
    games: list[Any] = site.data(site.path("live", "/games?round=latest"))
    return games


def test_open_games_have_as_many_nulls_as_players(site: Site) -> None:
    # Observed: a scoreboard zips playerIds with resultPoints and shows null as a dash.
    for game in latest_games(site):
        seats = len(game["playerIds"])
        assert len(game["resultPositions"]) == len(game["resultPoints"]) == len(game["userIds"]) == seats
        if game["status"] == "started":
            assert set(game["resultPoints"]) == {None}


def test_a_spreadsheet_of_players_is_read_by_the_names_of_its_columns(site: Site) -> None:
    # Observed: a seeding tool reads "Player ID" and "Name", in any order. Source: ratings.md E.
    players = site.data(site.path("live", "?includePlayers=1"))["players"]
    listed = rows(site, site.path("live", "/players/csv"))
    assert {row["Player ID"]: row["Name"] for row in listed} == {
        str(player["playerId"]): player["name"] for player in players
    }


def test_points_summed_by_player_in_the_spreadsheet_of_games_are_the_standings(site: Site) -> None:
    # Observed: a league tool sums "Points" by "Player ID". Source: ratings.md E.
    sums: Counter[str] = Counter()
    totals: dict[str, Decimal] = {}
    for row in rows(site, site.path("live", "/games/csv")):
        totals[row["Player ID"]] = totals.get(row["Player ID"], Decimal(0)) + Decimal(row["Points"] or 0)
        sums[row["Game ID"]] += 1
    assert set(sums.values()) == {2}
    standings = site.data(site.path("live", "/standings"))
    assert totals == {str(row["playerId"]): Decimal(row["points"]) for row in standings}


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("/queues", 403, "Tournament is not Best Game."),
        ("/arenas/bgsummary", 400, "Tournament is not Best Game"),
        ("/frenzy", 400, "Tournament is not Frenzy"),
        ("/max-matchplay", 400, "Tournament is not Max Match Play"),
        ("/amazing-race", 400, "Tournament is not Amazing Race"),
    ],
)
def test_a_client_that_tries_a_room_of_another_format_reads_the_sentence(
    site: Site, path: str, status: int, message: str
) -> None:
    # Observed: a client tries the room and compares the message. Source: interface.md 1.
    answer = site.get(site.path("live", path))
    assert (answer.status_code, answer.json()["message"]) == (status, message)


def test_a_game_of_another_tournament_is_refused_in_the_known_words(site: Site) -> None:
    # Source: interface.md 1.
    game_id = latest_games(site)[0]["gameId"]
    answer = site.get(site.path("knockout", f"/games/{game_id}"))
    assert (answer.status_code, answer.json()["message"]) == (400, "Game not in tournament")


def test_empty_queues_are_a_list_and_others_an_object_by_arena(site: Site) -> None:
    # Observed: a client for queues tells both apart. Source: interface.md 1.
    assert site.get(site.path("queues", "/queues")).json() == {"data": []}
    entrant = site.data(site.path("queues", "?includePlayers=1&includeArenas=1"))
    arena_id = entrant["arenas"][0]["arenaId"]
    body = {"playerId": entrant["players"][0]["playerId"], "arenaId": arena_id}
    joined = site.http.post(site.path("queues", "/queues"), json=body)
    assert joined.status_code == 201
    queues = site.get(site.path("queues", "/queues")).json()["data"]
    assert list(queues) == [str(arena_id)]


def test_ratings_are_filtered_by_a_body_on_get(site: Site) -> None:
    # Observed: a client sends its filters of GET /ratings as JSON. Source: interface.md 2, row 19.
    answer = site.http.request("GET", "/api/ratings", json={"page": 1})
    assert answer.status_code == 200
    assert answer.json()["data"] == site.get("/api/ratings?page=1").json()["data"]


def test_an_error_is_read_from_message_and_errors(site: Site) -> None:
    # Source: conventions.md, Errors.
    missing = site.get("/api/search")
    assert missing.status_code == 422
    assert set(missing.json()["errors"]) >= {"type"}
    unknown = site.get("/api/tournaments/99999999")
    assert unknown.json()["message"] == "No query results for model [App\\Models\\Tournament] 99999999"
    nobody = site.http.get("/api/tournaments", headers={"Authorization": "Bearer 1|nothing"})
    assert (nobody.status_code, nobody.json()["message"]) == (401, "Unauthenticated.")


@pytest.mark.parametrize("accept", ["application/json", "text/html", "*/*", "image/png"])
def test_json_is_answered_whatever_a_client_accepts(site: Site, accept: str) -> None:
    # Source: interface.md, first paragraph.
    answer = site.get(site.path("live"), headers={"Accept": accept})
    assert answer.headers["content-type"].startswith("application/json")
