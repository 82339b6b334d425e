"""Cards: lists, limits, one card."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

import build
from silverball.store import tables
from silverball.store.database.engine import Store


@dataclass(frozen=True)
class Qualifying:
    """A card best game with a good card, a started one and a voided one."""

    store: Store
    night: build.Night
    cards: list[int]

    def ask(self, tail: str = "") -> tuple[int, Any]:
        return build.ask(self.store, f"/api/tournaments/{self.night.tournament_id}/cards{tail}", by=1)

    def listed_ids(self, tail: str = "") -> list[int]:
        status, body = self.ask(tail)
        assert status == 200, body
        return [card["cardId"] for card in body["data"]]


@pytest.fixture
def qualifying(store: Store) -> Qualifying:
    night = build.a_tournament(store, type="card_best_game", status="completed")
    common = {"tournament_id": night.tournament_id}
    ann, bob = night.player_ids[:2]
    cards = [
        build.row(store, tables.card, **common, player_id=ann, status="completed", best_game=True),
        build.row(store, tables.card, **common, player_id=bob),
        build.row(store, tables.card, **common, player_id=ann, voided=True),
    ]
    points = [None, Decimal("0.50"), Decimal("141.25"), Decimal(200)]
    for index, own in zip((3, 2, 1, 0), points, strict=True):
        build.row(
            store,
            tables.single_player_game,
            **common,
            player_id=ann,
            card_id=cards[0],
            game_index=index,
            arena_id=None if own is None else night.arena_ids[index % 2],
            points=own,
        )
    return Qualifying(store, night, cards)


def test_a_card_holds_its_games_in_its_own_order(qualifying: Qualifying) -> None:
    status, body = qualifying.ask(f"/{qualifying.cards[0]}")
    assert status == 200
    card = body["data"]
    assert [game["index"] for game in card["singlePlayerGames"]] == [0, 1, 2, 3]
    ids = [game["singlePlayerGameId"] for game in card["singlePlayerGames"]]
    assert card["singlePlayerGameIds"] == ids
    here, there = qualifying.night.arena_ids
    assert card["arenaIds"] == [here, there, here, None]
    assert [game["points"] for game in card["singlePlayerGames"]] == ["200.00", "141.25", "0.50", None]
    assert {game["cardId"] for game in card["singlePlayerGames"]} == {qualifying.cards[0]}


def test_points_on_a_card_are_numbers_and_whole_ones_have_no_decimals(qualifying: Qualifying) -> None:
    _, body = qualifying.ask(f"/{qualifying.cards[0]}")
    points = body["data"]["pointsList"]
    assert points == [200, 141.25, 0.5, None]
    assert [type(own) for own in points] == [int, float, float, type(None)]


@pytest.mark.both_databases
def test_a_card_shows_its_moments_with_six_digits(qualifying: Qualifying) -> None:
    _, body = qualifying.ask(f"/{qualifying.cards[1]}")
    assert body["data"]["createdAt"] == "2026-03-05T19:30:00.000000Z"
    assert body["data"]["updatedAt"] == "2026-03-05T19:30:00.000000Z"
    assert body["data"]["singlePlayerGames"] == []


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", [0, 1]),
        ("?voided=true", [0, 1, 2]),
        ("?bestGame=true", [0]),
        ("?bestGame=false", [0, 1]),
        ("?status=started", [1]),
        ("?status=pending", []),
        ("?player={ann}&voided=yes", [0, 2]),
        ("?player=99999999", []),
        ("?limit=1&page=2", [1]),
        ("?limit=500", [0, 1]),
        ("?page=9", []),
    ],
)
def test_the_list_is_narrowed_by_its_filters(qualifying: Qualifying, query: str, expected: list[int]) -> None:
    filters = query.format(ann=qualifying.night.player_ids[0])
    assert qualifying.listed_ids(filters) == [qualifying.cards[index] for index in expected]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=501", "limit"),
        ("limit=0", "limit"),
        ("page=0", "page"),
        ("status=new", "status"),
        ("player=9223372036854775808", "player"),
    ],
)
def test_parameters_outside_the_limits_are_refused_by_name(
    qualifying: Qualifying, query: str, field: str
) -> None:
    status, body = qualifying.ask(f"?{query}")
    assert (status, list(body["errors"])) == (422, [field])


def test_pages_end_ten_thousand_rows_deep(qualifying: Qualifying) -> None:
    assert qualifying.ask("?page=400")[0] == 200
    assert qualifying.ask("?page=401")[0] == 403


def test_a_card_of_another_tournament_is_not_found(qualifying: Qualifying) -> None:
    other = build.a_tournament(qualifying.store)
    path = f"/api/tournaments/{other.tournament_id}/cards/{qualifying.cards[0]}"
    status, body = build.ask(qualifying.store, path, by=1)
    assert (status, body["message"]) == (
        404,
        rf"No query results for model [App\Models\Card] {qualifying.cards[0]}",
    )


@pytest.mark.parametrize("tail", ["", "/1"])
def test_cards_of_an_unknown_tournament_are_not_found(store: Store, tail: str) -> None:
    status, body = build.ask(store, f"/api/tournaments/7/cards{tail}", by=1)
    assert (status, body["message"]) == (404, r"No query results for model [App\Models\Tournament] 7")
