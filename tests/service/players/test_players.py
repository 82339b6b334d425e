"""Players and entrants. Source: interface 4.1 and 4.2; samples/resolve-players-*.json."""

from decimal import Decimal

import pytest

import build
from silverball.store import tables
from silverball.store.database.engine import Store


@pytest.mark.both_databases
def test_a_player_is_shown_as_in_the_book(store: Store) -> None:
    organizer, claimant = build.a_user(store), build.a_user(store, name="Ada Quill")
    player_id = build.a_player(
        store, organizer, name="Åsa Öst", ifpa_id=7, claimed_by=claimant, labels=["A"], label_color="sky"
    )
    _, body = build.ask(store, f"/api/players/resolve-unknown?players={player_id}", by=claimant)
    assert body["data"] == [
        {
            "playerId": player_id,
            "name": "Åsa Öst",
            "ifpaId": 7,
            "status": "active",
            "organizerId": organizer,
            "claimedBy": claimant,
            "labels": ["A"],
            "labelColor": "sky",
        }
    ]


@pytest.mark.both_databases
def test_an_entrant_is_a_player_with_their_part_in_the_tournament(store: Store) -> None:
    night = build.a_tournament(store, players=0)
    player_id = build.a_player(store, night.organizer_id, status="inactive")
    build.row(
        store,
        tables.entrant,
        tournament_id=night.tournament_id,
        player_id=player_id,
        seed=5,
        points_adjustment=Decimal(10),
        labels=["Late"],
        label_color="red",
        subscription="weekly",
    )
    path = f"/api/tournaments/{night.tournament_id}/players/resolve-unknown?players={player_id}"
    _, body = build.ask(store, path, by=night.organizer_id)
    assert body["data"][0]["status"] == "inactive"
    assert body["data"][0]["tournamentPlayer"] == {
        "status": "active",
        "seed": 5,
        "pointsAdjustment": 10,
        "subscription": "weekly",
        "labels": ["Late"],
        "labelColor": "red",
    }


@pytest.mark.parametrize(
    ("stored", "shown"), [("0", 0), ("10", 10), ("-1.5", -1.5), ("0.25", 0.25), ("-2", -2)]
)
def test_an_adjustment_is_a_number_without_needless_decimals(store: Store, stored: str, shown: float) -> None:
    night = build.a_tournament(store, players=0)
    player_id = build.a_player(store, night.organizer_id)
    adjustment = {"points_adjustment": Decimal(stored), "score_adjustment": Decimal(stored)}
    build.row(store, tables.entrant, tournament_id=night.tournament_id, player_id=player_id, **adjustment)
    path = f"/api/tournaments/{night.tournament_id}/players/resolve-unknown?players={player_id}"
    _, body = build.ask(store, path, by=night.organizer_id)
    part = body["data"][0]["tournamentPlayer"]
    assert (part["pointsAdjustment"], type(part["pointsAdjustment"])) == (shown, type(shown))
    # The key is our addition, so it is present only with a value.
    assert part.get("scoreAdjustment", 0) == shown
    assert ("scoreAdjustment" in part) is (shown != 0)


def test_players_of_other_tournaments_are_not_entrants_of_this_one(store: Store) -> None:
    night, other = build.a_tournament(store), build.a_tournament(store)
    asked = ",".join(str(player_id) for player_id in [*reversed(night.player_ids), *other.player_ids])
    path = f"/api/tournaments/{night.tournament_id}/players/resolve-unknown?players={asked}"
    _, body = build.ask(store, path, by=other.organizer_id)
    assert [player["playerId"] for player in body["data"]] == night.player_ids


def test_any_token_may_resolve_players_of_any_book(store: Store) -> None:
    night, stranger = build.a_tournament(store), build.a_user(store)
    asked = ",".join(str(player_id) for player_id in night.player_ids)
    _, body = build.ask(store, f"/api/players/resolve-unknown?players={asked}", by=stranger)
    assert [player["playerId"] for player in body["data"]] == night.player_ids
    assert all("tournamentPlayer" not in player for player in body["data"])
