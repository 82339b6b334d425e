"""A broken file is refused with the JSON path of its fault. Source: the issue's point 8."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from exchange import bundles
from silverball.exchange.bundle import checks
from silverball.exchange.bundle import file as bundle_file
from silverball.exchange.bundle.checks import BrokenBundle
from silverball.store.database.engine import Store

Change = Callable[[Any], object]


def set_value(path: str, value: Any) -> Change:
    """Set the member at a path like `games.0.playerIds`."""
    *parents, last = [int(word) if word.isdigit() else word for word in path.split(".")]

    def change(raw: Any) -> None:
        for word in parents:
            raw = raw[word]
        raw[last] = value

    return change


def drop_value(path: str) -> Change:
    *parents, last = path.split(".")

    def change(raw: Any) -> None:
        for word in parents:
            raw = raw[int(word) if word.isdigit() else word]
        del raw[last]

    return change


def duplicate_value(path: str) -> Change:
    def change(raw: Any) -> None:
        for word in path.split("."):
            raw = raw[word]
        raw.append(raw[0])

    return change


FAULTS: list[tuple[Change, str]] = [
    # Shapes.
    (drop_value("games.1.playerIds"), "$.games[1]"),
    (set_value("games.0.playerIds", "901"), "$.games[0].playerIds"),
    (set_value("games.0.bye", 1), "$.games[0].bye"),
    (set_value("tournament.arenas.0.opdbId", "medieval"), "$.tournament.arenas[0].opdbId"),
    (set_value("tournament.type", "chess"), "$.tournament.type"),
    (set_value("tournament.status", "over"), "$.tournament.status"),
    (set_value("tournament.pairing", "alphabetical"), "$.tournament.pairing"),
    (drop_value("tournament.players"), "$.tournament.players"),
    (drop_value("tournament.arenas"), "$.tournament.arenas"),
    (drop_value("tournament.players.1.tournamentPlayer"), "$.tournament.players[1].tournamentPlayer"),
    (drop_value("tournament.arenas.0.tournamentArena"), "$.tournament.arenas[0].tournamentArena"),
    # Numbers and texts.
    (set_value("games.0.gameId", 2**63), "$.games[0].gameId"),
    (set_value("games.0.gameId", 0), "$.games[0].gameId"),
    (set_value("games.0.resultPositions.1", -(2**63) - 1), "$.games[0].resultPositions[1]"),
    (set_value("tournament.players.2.claimedBy", -1), "$.tournament.players[2].claimedBy"),
    (set_value("tournament.name", "a\x00b"), "$.tournament.name"),
    (set_value("tournament.pointsMapCustom", {"a b": "\x00"}), '$.tournament.pointsMapCustom["a b"]'),
    (set_value("games.0.resultPoints.0", "1.005"), "$.games[0].resultPoints[0]"),
    (set_value("games.0.resultPoints.0", "one"), "$.games[0].resultPoints[0]"),
    (set_value("games.0.resultPoints.0", "NaN"), "$.games[0].resultPoints[0]"),
    (set_value("games.0.resultPoints.0", "1e99"), "$.games[0].resultPoints[0]"),
    (set_value("games.0.resultScores.0", "12a"), "$.games[0].resultScores[0]"),
    (set_value("games.0.resultScores.0", "9" * 400), "$.games[0].resultScores[0]"),
    (set_value("singlePlayerGames.0.points", "0.001"), "$.singlePlayerGames[0].points"),
    (set_value("rounds.0.score", 1.5), "$.rounds[0].score"),
    (
        set_value("tournament.players.0.tournamentPlayer.pointsAdjustment", 0.125),
        "$.tournament.players[0].tournamentPlayer.pointsAdjustment",
    ),
    # Times and places.
    (set_value("tournament.timezone", "Europe/Atlantis"), "$.tournament.timezone"),
    (set_value("tournament.timezone", "../../etc/passwd"), "$.tournament.timezone"),
    (set_value("tournament.timezone", ""), "$.tournament.timezone"),
    (set_value("tournament.startUtc", "yesterday"), "$.tournament.startUtc"),
    (set_value("rounds.0.createdAt", "2026-02-30 10:00:00Z"), "$.rounds[0].createdAt"),
    (set_value("games.0.startedAt", "x"), "$.games[0].startedAt"),
    (set_value("cards.0.updatedAt", "x"), "$.cards[0].updatedAt"),
    (set_value("tournament.organizer.createdAt", "x"), "$.tournament.organizer.createdAt"),
    (set_value("scorekeepers.0.createdAt", "x"), "$.scorekeepers[0].createdAt"),
    (set_value("series.organizer", bundles.USER | {"createdAt": "x"}), "$.series.organizer.createdAt"),
    (set_value("series.organizer", bundles.USER | {"userId": 9}), "$.series.organizer"),
    (set_value("tournament.event.startUtc", "x"), "$.tournament.event.startUtc"),
    # References between the parts.
    (set_value("rounds.0.tournamentId", 701), "$.rounds[0].tournamentId"),
    (set_value("games.0.tournamentId", 701), "$.games[0].tournamentId"),
    (set_value("cards.0.tournamentId", 701), "$.cards[0].tournamentId"),
    (set_value("queues.0.tournamentId", 701), "$.queues[0].tournamentId"),
    (set_value("singlePlayerGames.0.tournamentId", 701), "$.singlePlayerGames[0].tournamentId"),
    (set_value("games.2.suggestions.0.gameId", 1301), "$.games[2].suggestions[0].gameId"),
    (set_value("games.2.suggestions.0.roundId", 1002), "$.games[2].suggestions[0].roundId"),
    (set_value("games.0.playerIds.1", 999), "$.games[0].playerIds[1]"),
    (set_value("games.0.playerIds.1", 901), "$.games[0].playerIds"),
    (set_value("games.0.playerIds", []), "$.games[0].playerIds"),
    (set_value("games.0.roundId", 999), "$.games[0].roundId"),
    (set_value("games.0.arenaId", 999), "$.games[0].arenaId"),
    (set_value("games.0.bankId", 999), "$.games[0].bankId"),
    (set_value("games.0.resultPoints", ["1.00"]), "$.games[0].resultPoints"),
    (set_value("games.0.resultPositions.0", 903), "$.games[0].resultPositions[0]"),
    (set_value("games.0.resultPositions.0", 902), "$.games[0].resultPositions"),
    (set_value("games.0.playerIdAdvantage", 903), "$.games[0].playerIdAdvantage"),
    (set_value("rounds.0.arenaId", 999), "$.rounds[0].arenaId"),
    (set_value("singlePlayerGames.0.playerId", 999), "$.singlePlayerGames[0].playerId"),
    (set_value("singlePlayerGames.1.cardId", 999), "$.singlePlayerGames[1].cardId"),
    (set_value("cards.0.singlePlayerGames.0.cardId", 1102), "$.cards[0].singlePlayerGames[0].cardId"),
    (set_value("cards.0.pointsList", [12.5, 4]), "$.cards[0].pointsList"),
    (set_value("cards.0.arenaIds", [801]), "$.cards[0].arenaIds"),
    (set_value("queues.0.playerId", 999), "$.queues[0].playerId"),
    (set_value("banks.0.arenaIds.0", 999), "$.banks[0].arenaIds[0]"),
    (set_value("tournament.organizer.userId", 1), "$.tournament.organizer"),
    (set_value("tournament.location.locationId", 1), "$.tournament.location"),
    (drop_value("tournament.location"), "$.tournament.locationId"),
    (set_value("series.seriesId", 1), "$.series"),
    (set_value("tournament.event.locationId", 9), "$.tournament.event.locationId"),
    # Ids used twice.
    (duplicate_value("games"), "$.games[3]"),
    (duplicate_value("rounds"), "$.rounds[1]"),
    (duplicate_value("tournament.players"), "$.tournament.players[3]"),
    (duplicate_value("tournament.arenas"), "$.tournament.arenas[2]"),
    (duplicate_value("queues"), "$.queues[1]"),
    (duplicate_value("banks"), "$.banks[1]"),
    (duplicate_value("scorekeepers"), "$.scorekeepers[1]"),
    # Settings of a known format.
    (set_value("tournament.knockoutStrikeCount", 0), "$.tournament.knockoutStrikeCount"),
    (set_value("tournament.byes", None), ""),
]


@pytest.mark.parametrize(
    ("change", "path"), FAULTS, ids=[f"{n} {path}" for n, (_, path) in enumerate(FAULTS)]
)
def test_a_fault_is_reported_with_its_place(change: Change, path: str) -> None:
    raw = bundles.full_bundle()
    change(raw)
    content = json.dumps(raw).encode()
    if not path:
        # Null is the default of a setting.
        assert bundle_file.parse(content, "test.json").tournament_id == 700
        return
    with pytest.raises(BrokenBundle) as refused:
        bundle_file.parse(content, "test.json")
    assert refused.value.path == path
    assert refused.value.message.startswith(f"{path}: ")


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b'{"tournament": "\xff"}', b"[" * 100_000, b"7"])
def test_a_file_that_is_not_a_bundle_is_refused(content: bytes) -> None:
    with pytest.raises(BrokenBundle):
        bundle_file.parse(content, "test.json")


@pytest.mark.parametrize(
    ("row", "path"),
    [
        ({"playerId": 1}, "$.standings[0].playerId"),
        ({"position": 0}, "$.standings[0].position"),
        ({"points": "many"}, "$.standings[0].points"),
    ],
)
def test_a_broken_row_of_standings_is_refused(row: dict[str, Any], path: str) -> None:
    raw = bundles.read_bundle(bundles.INVENTED[0])
    raw["standings"][0].update(row)
    with pytest.raises(BrokenBundle) as refused:
        bundle_file.parse(json.dumps(raw).encode(), "test.json")
    assert refused.value.path == path


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle_file, "BYTES_MAX", 10)
    path = tmp_path / "large.json"
    path.write_bytes(b"[1, 2, 3, 4, 5]")
    with pytest.raises(BrokenBundle, match="15 bytes; a bundle has at most 10"):
        bundle_file.read(path)


def test_a_bundle_of_too_many_values_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "NODES_MAX", 100)
    with pytest.raises(BrokenBundle, match="more than 100 values"):
        bundle_file.parse(json.dumps(bundles.full_bundle()).encode(), "test.json")


def test_results_that_do_not_fit_the_format_are_reported_by_game_and_nothing_is_stored(store: Store) -> None:
    raw = bundles.real_night("00")
    raw["games"][3]["resultPoints"][0] = "7.00"
    with pytest.raises(BrokenBundle) as refused:
        bundles.import_bundle(store, raw)
    assert refused.value.path == "$.games[3].resultPoints"
    assert store.tournament_revisions([raw["tournament"]["tournamentId"]]) == {}
