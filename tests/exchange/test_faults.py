"""A broken file is refused with the JSON path of its fault. Source: the issue's point 8."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from exchange import bundles
from silverball.exchange import bundle, bundle_faults
from silverball.exchange.bundle_faults import BrokenBundle
from silverball.store.engine import Store

Change = Callable[[Any], object]


def put(path: str, value: Any) -> Change:
    """Set the member at a path like `games.0.playerIds`."""
    *parents, last = [int(word) if word.isdigit() else word for word in path.split(".")]

    def change(raw: Any) -> None:
        for word in parents:
            raw = raw[word]
        raw[last] = value

    return change


def drop(path: str) -> Change:
    *parents, last = path.split(".")

    def change(raw: Any) -> None:
        for word in parents:
            raw = raw[int(word) if word.isdigit() else word]
        del raw[last]

    return change


def twice(path: str) -> Change:
    def change(raw: Any) -> None:
        for word in path.split("."):
            raw = raw[word]
        raw.append(raw[0])

    return change


FAULTS: list[tuple[Change, str]] = [
    # Shapes.
    (drop("games.1.playerIds"), "$.games[1]"),
    (put("games.0.playerIds", "901"), "$.games[0].playerIds"),
    (put("games.0.bye", 1), "$.games[0].bye"),
    (put("tournament.type", "chess"), "$.tournament.type"),
    (put("tournament.status", "over"), "$.tournament.status"),
    (put("tournament.pairing", "alphabetical"), "$.tournament.pairing"),
    (drop("tournament.players"), "$.tournament.players"),
    (drop("tournament.arenas"), "$.tournament.arenas"),
    (drop("tournament.players.1.tournamentPlayer"), "$.tournament.players[1].tournamentPlayer"),
    (drop("tournament.arenas.0.tournamentArena"), "$.tournament.arenas[0].tournamentArena"),
    # Numbers and texts.
    (put("games.0.gameId", 2**63), "$.games[0].gameId"),
    (put("games.0.gameId", 0), "$.games[0].gameId"),
    (put("games.0.resultPositions.1", -(2**63) - 1), "$.games[0].resultPositions[1]"),
    (put("tournament.players.2.claimedBy", -1), "$.tournament.players[2].claimedBy"),
    (put("tournament.name", "a\x00b"), "$.tournament.name"),
    (put("tournament.pointsMapCustom", {"a b": "\x00"}), '$.tournament.pointsMapCustom["a b"]'),
    (put("games.0.resultPoints.0", "1.005"), "$.games[0].resultPoints[0]"),
    (put("games.0.resultPoints.0", "one"), "$.games[0].resultPoints[0]"),
    (put("games.0.resultPoints.0", "NaN"), "$.games[0].resultPoints[0]"),
    (put("games.0.resultPoints.0", "1e99"), "$.games[0].resultPoints[0]"),
    (put("games.0.resultScores.0", "12a"), "$.games[0].resultScores[0]"),
    (put("games.0.resultScores.0", "9" * 400), "$.games[0].resultScores[0]"),
    (put("singlePlayerGames.0.points", "0.001"), "$.singlePlayerGames[0].points"),
    (put("rounds.0.score", 1.5), "$.rounds[0].score"),
    (
        put("tournament.players.0.tournamentPlayer.pointsAdjustment", 0.125),
        "$.tournament.players[0].tournamentPlayer.pointsAdjustment",
    ),
    # Moments and places.
    (put("tournament.timezone", "Europe/Atlantis"), "$.tournament.timezone"),
    (put("tournament.timezone", "../../etc/passwd"), "$.tournament.timezone"),
    (put("tournament.timezone", ""), "$.tournament.timezone"),
    (put("tournament.startUtc", "yesterday"), "$.tournament.startUtc"),
    (put("rounds.0.createdAt", "2026-02-30 10:00:00Z"), "$.rounds[0].createdAt"),
    (put("games.0.startedAt", "x"), "$.games[0].startedAt"),
    (put("cards.0.updatedAt", "x"), "$.cards[0].updatedAt"),
    (put("tournament.organizer.createdAt", "x"), "$.tournament.organizer.createdAt"),
    (put("scorekeepers.0.createdAt", "x"), "$.scorekeepers[0].createdAt"),
    (put("series.organizer", bundles.USER | {"createdAt": "x"}), "$.series.organizer.createdAt"),
    (put("series.organizer", bundles.USER | {"userId": 9}), "$.series.organizer"),
    (put("tournament.event.startUtc", "x"), "$.tournament.event.startUtc"),
    # Belonging together.
    (put("rounds.0.tournamentId", 701), "$.rounds[0].tournamentId"),
    (put("games.0.tournamentId", 701), "$.games[0].tournamentId"),
    (put("cards.0.tournamentId", 701), "$.cards[0].tournamentId"),
    (put("queues.0.tournamentId", 701), "$.queues[0].tournamentId"),
    (put("singlePlayerGames.0.tournamentId", 701), "$.singlePlayerGames[0].tournamentId"),
    (put("games.2.suggestions.0.gameId", 1301), "$.games[2].suggestions[0].gameId"),
    (put("games.2.suggestions.0.roundId", 1002), "$.games[2].suggestions[0].roundId"),
    (put("games.0.playerIds.1", 999), "$.games[0].playerIds[1]"),
    (put("games.0.playerIds.1", 901), "$.games[0].playerIds"),
    (put("games.0.playerIds", []), "$.games[0].playerIds"),
    (put("games.0.roundId", 999), "$.games[0].roundId"),
    (put("games.0.arenaId", 999), "$.games[0].arenaId"),
    (put("games.0.bankId", 999), "$.games[0].bankId"),
    (put("games.0.userIds", [None]), "$.games[0].userIds"),
    (put("games.0.resultPoints", ["1.00"]), "$.games[0].resultPoints"),
    (put("games.0.resultPositions.0", 903), "$.games[0].resultPositions[0]"),
    (put("games.0.resultPositions.0", 902), "$.games[0].resultPositions"),
    (put("games.0.playerIdAdvantage", 903), "$.games[0].playerIdAdvantage"),
    (put("rounds.0.arenaId", 999), "$.rounds[0].arenaId"),
    (put("singlePlayerGames.0.playerId", 999), "$.singlePlayerGames[0].playerId"),
    (put("singlePlayerGames.1.cardId", 999), "$.singlePlayerGames[1].cardId"),
    (put("cards.0.singlePlayerGames.0.cardId", 1102), "$.cards[0].singlePlayerGames[0].cardId"),
    (put("cards.0.pointsList", [12.5, 4]), "$.cards[0].pointsList"),
    (put("cards.0.arenaIds", [801]), "$.cards[0].arenaIds"),
    (put("queues.0.playerId", 999), "$.queues[0].playerId"),
    (put("banks.0.arenaIds.0", 999), "$.banks[0].arenaIds[0]"),
    (put("tournament.organizer.userId", 1), "$.tournament.organizer"),
    (put("tournament.location.locationId", 1), "$.tournament.location"),
    (drop("tournament.location"), "$.tournament.locationId"),
    (put("series.seriesId", 1), "$.series"),
    (put("tournament.event.locationId", 9), "$.tournament.event.locationId"),
    # Named twice.
    (twice("games"), "$.games[3]"),
    (twice("rounds"), "$.rounds[1]"),
    (twice("tournament.players"), "$.tournament.players[3]"),
    (twice("tournament.arenas"), "$.tournament.arenas[2]"),
    (twice("queues"), "$.queues[1]"),
    (twice("banks"), "$.banks[1]"),
    (twice("scorekeepers"), "$.scorekeepers[1]"),
    # Settings of a format that is played here.
    (put("tournament.knockoutStrikeCount", 0), "$.tournament.knockoutStrikeCount"),
    (put("tournament.byes", None), ""),
]


@pytest.mark.parametrize(
    ("change", "path"), FAULTS, ids=[f"{n} {path}" for n, (_, path) in enumerate(FAULTS)]
)
def test_a_fault_is_told_with_its_place(change: Change, path: str) -> None:
    raw = bundles.everything()
    change(raw)
    content = json.dumps(raw).encode()
    if not path:
        # Null is the default of a setting.
        assert bundle.parsed(content, "test.json").tournament_id == 700
        return
    with pytest.raises(BrokenBundle) as refused:
        bundle.parsed(content, "test.json")
    assert refused.value.path == path
    assert refused.value.message.startswith(f"{path}: ")


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b'{"tournament": "\xff"}', b"[" * 100_000, b"7"])
def test_what_is_no_bundle_at_all_is_refused(content: bytes) -> None:
    with pytest.raises(BrokenBundle):
        bundle.parsed(content, "test.json")


@pytest.mark.parametrize(
    ("row", "path"),
    [
        ({"playerId": 1}, "$.standings[0].playerId"),
        ({"position": 0}, "$.standings[0].position"),
        ({"points": "many"}, "$.standings[0].points"),
    ],
)
def test_a_broken_row_of_standings_is_refused(row: dict[str, Any], path: str) -> None:
    raw = bundles.raw(bundles.INVENTED[0])
    raw["standings"][0].update(row)
    with pytest.raises(BrokenBundle) as refused:
        bundle.parsed(json.dumps(raw).encode(), "test.json")
    assert refused.value.path == path


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "BYTES_MAX", 10)
    path = tmp_path / "large.json"
    path.write_bytes(b"[1, 2, 3, 4, 5]")
    with pytest.raises(BrokenBundle, match="15 bytes; a bundle has at most 10"):
        bundle.read(path)


def test_a_bundle_of_too_many_values_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle_faults, "NODES_MAX", 100)
    with pytest.raises(BrokenBundle, match="more than 100 values"):
        bundle.parsed(json.dumps(bundles.everything()).encode(), "test.json")


def test_results_that_do_not_fit_the_format_are_told_by_game_and_nothing_is_stored(store: Store) -> None:
    raw = bundles.night("00")
    raw["games"][3]["resultPoints"][0] = "7.00"
    with pytest.raises(BrokenBundle) as refused:
        bundles.bring_in(store, raw)
    assert refused.value.path == "$.games[3].resultPoints"
    assert store.tournament_revisions([raw["tournament"]["tournamentId"]]) == {}
