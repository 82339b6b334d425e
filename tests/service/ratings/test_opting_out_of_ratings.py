"""Seeds and ratings of people who hide their rating."""

import json
from typing import Any

import pytest

import build
from service.ratings.circuit import Circuit
from silverball.rules.ratings import formulas
from silverball.service.ratings import reads as ratings_reads
from silverball.store.database.engine import Store


def rating_of(circuit: Circuit, name: str) -> Any:
    found = circuit.get_json(f"/api/ratings/search?query={name}")["data"]
    assert len(found) == 1
    return found[0]


def started(circuit: Circuit, seeding: str) -> int:
    """Start a tournament of Bo, a newcomer, Cy and Ada."""
    by, store = circuit.organizer_id, circuit.store
    wanted = {"name": "T", "type": "matchplay", "seeding": seeding}
    made = build.do(store, "POST", "/api/tournaments", wanted, by=by)
    tournament_id = int(made[1]["data"]["tournamentId"])
    entered = {"players": [{"playerId": circuit.player(name)} for name in ("Bo", "New", "Cy", "Ada")]}
    assert build.do(store, "POST", f"/api/tournaments/{tournament_id}/players", entered, by=by)[0] == 201
    status, body, _ = build.do(store, "POST", f"/api/tournaments/{tournament_id}/start", by=by)
    assert status == 200, body
    return tournament_id


def seeds_of(circuit: Circuit, tournament_id: int, **more: Any) -> dict[str, int | None]:
    path = f"/api/tournaments/{tournament_id}?includePlayers=true"
    players = circuit.get_json(path, **more)["data"]["players"]
    return {player["name"]: player["tournamentPlayer"]["seed"] for player in players}


@pytest.mark.both_databases
def test_seeding_by_rating_puts_the_best_first_and_shows_the_number(circuit: Circuit) -> None:
    seeds = seeds_of(circuit, started(circuit, "mp_rating_rating"))
    ratings = {name: formulas.round_half_up(rating) for name, (rating, _) in circuit.ratings().items()}
    assert seeds == {**ratings, "New": None}


@pytest.mark.parametrize(
    ("seeding", "is_told"), [("mp_rating", False), ("mp_rating_rating", False), ("manual", True)]
)
def test_a_seed_by_rating_is_hidden_after_opting_out(circuit: Circuit, seeding: str, is_told: bool) -> None:
    tournament_id, user_id = started(circuit, seeding), rating_of(circuit, "Bo")["userId"]
    before = seeds_of(circuit, tournament_id)
    own_view = build.caller(user_id, ability="score", is_hidden=True)
    body = {"ratingsOptOut": True}
    assert build.do(circuit.store, "PATCH", "/api/users/profile", body, by=own_view)[0] == 200
    shown = before if is_told else {**before, "Bo": None}
    assert seeds_of(circuit, tournament_id) == shown
    assert seeds_of(circuit, tournament_id, by=own_view) == before
    bo, path = circuit.player("Bo"), f"/api/tournaments/{tournament_id}/players"
    resolved = circuit.get_json(f"{path}/resolve-unknown?players={bo}")["data"][0]
    assert resolved["tournamentPlayer"]["seed"] == shown["Bo"]
    row = next(line for line in circuit.get_json(f"{path}/csv").splitlines() if line.startswith(f"{bo},"))
    # The first manual seed is 0.
    assert row.split(",")[5] == ("" if shown["Bo"] is None else str(shown["Bo"]))


CANARY = "Zxq Canary"


@pytest.fixture
def hidden(store: Store) -> tuple[Circuit, int]:
    """The best of three players hides their rating."""
    made = Circuit(store)
    user_id = made.claim(CANARY, ratings_opt_out=True)
    made.night(1, [CANARY, "Bo", "Cy"], ["Bo", "Cy"])
    made.rate(2)
    return made, user_id


def paths_of(made: Circuit, user_id: int) -> list[str]:
    ids = ",".join(str(player_id) for player_id in made.players.values())
    return [
        "/api/ratings",
        f"/api/ratings?userIds={user_id}",
        "/api/ratings/search?query=canary",
        f"/api/ratings/compare?playerIds={ids}",
        f"/api/ratings/compare?userIds={user_id}",
    ]


@pytest.mark.both_databases
def test_a_hidden_rating_is_in_no_answer_rank_or_file(hidden: tuple[Circuit, int]) -> None:
    made, user_id = hidden
    for path in paths_of(made, user_id):
        assert CANARY not in json.dumps(made.get_json(path)), path
    for ending in ("", "/summary", "/chart.svg"):
        path = f"/api/ratings/users/{user_id}{ending}"
        assert build.ask(made.store, path, by=made.organizer_id)[0] == 404
    bundle = made.get_json(f"/api/users/{user_id}?includeCounts=1")
    assert "rating" not in bundle
    assert bundle["userCounts"]["ratingPeriodCount"] == 0
    assert {rating["name"]: rating["rank"] for rating in made.get_json("/api/ratings")["data"]} == {
        "Bo": 1,
        "Cy": 2,
    }
    with made.store.read() as db:
        for lines in (ratings_reads.rating_csv_lines(db), ratings_reads.revision_csv_lines(db)):
            rows = [line.split(",") for line in lines]
            assert all(CANARY not in row[0] and row[1] != str(user_id) for row in rows)
    highest = made.get_json("/api/ratings/compare?userIds=1")["globalRatingRange"]["max"]
    assert highest < made.ratings()[CANARY][0]


@pytest.mark.both_databases
@pytest.mark.parametrize("who", ["own_view", "admin"])
def test_the_user_and_an_admin_see_a_hidden_rating(hidden: tuple[Circuit, int], who: str) -> None:
    made, user_id = hidden
    viewer = (
        build.caller(user_id, is_hidden=True)
        if who == "own_view"
        else build.caller(build.a_user(made.store, role="admin"), role="admin", ability="admin")
    )
    for path in paths_of(made, user_id):
        assert CANARY in json.dumps(made.get_json(path, by=viewer)), path
    assert made.get_json(f"/api/users/{user_id}", by=viewer)["rating"]["name"] == CANARY


def test_opting_out_and_in_again_moves_all_lower_ranks(hidden: tuple[Circuit, int]) -> None:
    made, user_id = hidden
    own_view = build.caller(user_id, ability="score", is_hidden=True)

    def ranks(*, opted_out: bool) -> dict[str, int]:
        body = {"ratingsOptOut": opted_out}
        assert build.do(made.store, "PATCH", "/api/users/profile", body, by=own_view)[0] == 200
        return {rating["name"]: rating["rank"] for rating in made.get_json("/api/ratings")["data"]}

    assert ranks(opted_out=False) == {CANARY: 1, "Bo": 2, "Cy": 3}
    assert ranks(opted_out=False) == {CANARY: 1, "Bo": 2, "Cy": 3}
    assert ranks(opted_out=True) == {"Bo": 1, "Cy": 2}


def test_opponents_of_hidden_players_are_rated_all_the_same(hidden: tuple[Circuit, int]) -> None:
    made, _ = hidden
    shown = Circuit(made.store)
    shown.night(1, [CANARY, "Bo", "Cy"], ["Bo", "Cy"])
    before = made.ratings()["Bo"]
    shown.rate(2)
    with made.store.read() as db:
        lines = [line for line in ratings_reads.rating_csv_lines(db) if line.startswith('"Bo"')]
    assert len({line.split(",")[3] for line in lines}) == 1
    assert lines[0].split(",")[3] == f"{before[0]:.2f}"


def test_a_hidden_profile_hides_the_number(circuit: Circuit) -> None:
    user_id = rating_of(circuit, "Bo")["userId"]
    by = build.caller(user_id, ability="score")
    assert build.do(circuit.store, "PATCH", "/api/users/profile", {"profileOptOut": True}, by=by)[0] == 200
    assert rating_of(circuit, "Bo")["ifpaId"] is None
    assert circuit.get_json("/api/ratings/ifpa?ifpaIds=22")["data"] == []
    assert build.ask(circuit.store, "/api/ifpa/22/rating-history", by=circuit.organizer_id)[0] == 404
    with circuit.store.read() as db:
        assert not any(
            ",22," in line
            for line in (*ratings_reads.rating_csv_lines(db), *ratings_reads.revision_csv_lines(db))
        )
