"""Documents of version 1, parsed strictly. Source: ratings, A.8."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selection import examples
from service.submissions.sent_documents import a_document, encode
from silverball.service.submissions import document
from silverball.service.submissions.document import InvalidDocument

NOW = datetime(2026, 3, 5, 19, 30, tzinfo=UTC)
Change = Callable[[Any], None]


def put_value(path: str, value: object) -> Change:
    *parents, last = [int(word) if word.isdigit() else word for word in path.split(".")]

    def change(raw: Any) -> None:
        for word in parents:
            raw = raw[word]
        raw[last] = value

    return change


def without(path: str) -> Change:
    *parents, last = path.split(".")

    def change(raw: Any) -> None:
        for word in parents:
            raw = raw[int(word) if word.isdigit() else word]
        del raw[last]

    return change


FAULTS: list[tuple[Change, str]] = [
    (without("version"), "version: The version field is required."),
    (put_value("version", 2), "version: The selected version is invalid."),
    (put_value("version", "1"), "version: The version field must be an integer."),
    (without("name"), "name: The name field is required."),
    (put_value("name", " "), "name: The name field is required."),
    (put_value("name", "x" * 101), "name: The name field must not be greater than 100 characters."),
    (put_value("name", "zero\x00byte"), "name: The name field is not a text that can be stored."),
    (put_value("url", "javascript:alert(1)"), "url: The url field format is invalid."),
    (put_value("startedAt", "yesterday"), "startedAt: The started at field must be a valid date."),
    (put_value("startedAt", "2026-03-04 18:00"), "startedAt: The started at field must be a valid date."),
    (put_value("startedAt", "2026-03-04T18:00:00"), "startedAt: The started at field must be a valid date."),
    (put_value("startedAt", "2026-03-05T18:00:00Z"), "completedAt: The event must not end before it starts."),
    (
        put_value("startedAt", "2026-02-24T18:00:00Z"),
        "completedAt: An event of more than 7 days does not count",
    ),
    (put_value("completedAt", "2026-03-05T20:00:00Z"), "completedAt: The event must be over."),
    (
        put_value("startedAt", "0001-01-01T00:00:00+14:00"),
        "startedAt: The year must be between 2000 and 9998.",
    ),
    (put_value("completedAt", "9999-12-31T23:59:59-14:00"), "completedAt: The year must be between 2000"),
    (put_value("format", "best_game"), "format: The selected format is invalid."),
    (put_value("format", "golf"), "format: The selected format is invalid."),
    (put_value("software", 4), "software: The software field must be a string."),
    (put_value("players", []), "players: The players field must have at least 2 items."),
    (put_value("players.0", None), "players.0: The players.0 field must be an object."),
    (without("players.1.id"), "players.1.id: The players.1.id field is required."),
    (put_value("players.1.id", 1), "players.0.id: Another player has the same."),
    (put_value("players.1.id", 0), "players.1.id: The players.1.id field must be at least 1."),
    (put_value("players.1.id", 1.5), "players.1.id: The players.1.id field must be an integer or a string."),
    (
        put_value("players.2.name", "two\nlines"),
        "players.2.name: The players.2.name field format is invalid.",
    ),
    (
        put_value("players.2.ifpaId", "101"),
        "players.2.ifpaId: The players.2.ifpa id field must be an integer.",
    ),
    (put_value("players.2.ifpaId", 101), "players.0.ifpaId: Another player has the same."),
    (put_value("players.2.ifpaId", 2**63), "players.2.ifpaId: The players.2.ifpa id field must be between"),
    (
        put_value("players.3.matchplayUserId", 0),
        "players.3.matchplayUserId: The players.3.matchplay user id field",
    ),
    (put_value("games", []), "games: The games field must have at least 1 items."),
    (without("games.0.results"), "games.0.results: The games.0.results field is required."),
    (put_value("games.0.results", [[1]]), "games.0.results: A game has 2 to 8 players."),
    (put_value("games.0.results", []), "games.0.results: A game has 2 to 8 players."),
    (put_value("games.0.results", [[1], [], [2]]), "games.0.results: A group without players has no place."),
    (put_value("games.0.results", [[1], [2], [1]]), "games.0.results: A player is there twice."),
    (put_value("games.0.results", [[1], [5]]), "games.0.results: A player is not among the players"),
    (put_value("games.0.results", [[1], ["2"]]), "games.0.results: A player is not among the players"),
    (
        put_value("games.0.results", [1, 2]),
        "games.0.results.0: The games.0.results.0 field must be an array.",
    ),
    (put_value("games.1.opdbId", "g4odr"), "games.1.opdbId: The games.1.opdb id field format is invalid."),
    (
        put_value("games.1.completedAt", "9"),
        "games.1.completedAt: The games.1.completed at field must be a valid",
    ),
    (put_value("secretKey", 1), "document: There is a field that version 1 does not have."),
    (put_value("players.0.secretKey", 1), "players.0: There is a field that version 1 does not have."),
    (
        put_value("games.2.secretKey", {"a": "\x00"}),
        "games.2: There is a field that version 1 does not have.",
    ),
]
NO_DOCUMENTS: list[tuple[bytes, str]] = [
    (b"", "not JSON in UTF-8"),
    (b"  ", "not JSON in UTF-8"),
    (b"<html>", "not JSON in UTF-8"),
    (b"\xff\xfe{}", "not JSON in UTF-8"),
    ("{}".encode("utf-16"), "not JSON in UTF-8"),
    (b"{", "not JSON in UTF-8"),
    (b'{"version": NaN}', "not JSON in UTF-8"),
    (b"[" * 100_000, "nested deeper than 20 levels"),
    (b'{"a":' * 50 + b"1" + b"}" * 50, "nested deeper than 20 levels"),
    (b"[]", "The document must be an object."),
    (b"null", "version: The version field is required."),
    (b"1", "The document must be an object."),
    (b'{"version": 1e999}', "The document has a number that is out of range."),
    (b'{"games": [' + b"[]," * 60_000 + b"[]]}", "must not have more than 50000 items"),
]


def faults_of(body: bytes) -> list[str]:
    with pytest.raises(InvalidDocument) as caught:
        document.validate_document(body, NOW)
    return caught.value.faults


def test_a_valid_document_is_parsed() -> None:
    found = document.validate_document(encode(a_document()), NOW)
    assert (found.day.isoformat(), len(found.games)) == ("2026-03-04", 4)
    # Six results among four players, three among three, one among two.
    assert found.result_count == 6 + 6 + 1 + 1
    assert found.games[1].results == ((2,), (1, 3), (4,))


def test_the_day_of_a_document_is_that_of_its_end_in_utc() -> None:
    late = a_document(completedAt="2026-03-04T22:30:00-05:00")
    assert document.validate_document(encode(late), NOW).day.isoformat() == "2026-03-05"


def test_ids_of_players_are_numbers_or_texts_and_stay_distinct() -> None:
    raw = a_document()
    raw["players"].append({"id": "1", "name": "El Tilt"})
    raw["games"].append({"results": [["1"], [1]]})
    assert document.validate_document(encode(raw), NOW).place_by_id() == {1: 0, 2: 1, 3: 2, 4: 3, "1": 4}


@pytest.mark.parametrize(("change", "sentence"), FAULTS)
def test_a_fault_is_reported_with_its_place(change: Change, sentence: str) -> None:
    raw = a_document()
    change(raw)
    faults = faults_of(encode(raw))
    assert any(fault.startswith(sentence) for fault in faults), faults
    # Faults must not reveal what an address answers.
    assert "secretKey" not in str(faults)


@pytest.mark.parametrize(("body", "sentence"), NO_DOCUMENTS)
def test_other_content_is_reported_as_no_document(body: bytes, sentence: str) -> None:
    assert sentence in str(faults_of(body))


def test_all_faults_are_reported_together_up_to_a_limit() -> None:
    raw = a_document(games=[{"results": [[1]]}] * 100)
    assert len(faults_of(encode(raw))) == document.FAULTS_MAX
    raw = a_document(name=None, software=7, version=3)
    assert len(faults_of(encode(raw))) == 3


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)
PATHS = (
    "version", "name", "url", "startedAt", "completedAt", "format", "software", "players", "games",
    "players.0", "players.0.id", "players.0.name", "players.0.ifpaId", "players.0.matchplayUserId",
    "games.0", "games.0.results", "games.0.results.0", "games.0.id", "games.0.round", "games.0.arena",
    "games.1.opdbId", "games.2.completedAt", "extra", "games.0.extra",
)  # fmt: skip


@settings(max_examples=examples(300))
@given(st.lists(st.tuples(st.sampled_from(PATHS), JSON_VALUES), min_size=1, max_size=3))
def test_any_json_is_accepted_or_refused_with_sentences(
    changes: list[tuple[str, Any]],
) -> None:
    raw = a_document()
    for path, value in sorted(changes, key=lambda change: -len(change[0])):
        put_value(path, value)(raw)
    _is_taken_or_refused(encode(raw))


@settings(max_examples=examples(300))
@given(st.binary(max_size=200) | JSON_VALUES.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_accepted_or_refused_with_sentences(body: bytes) -> None:
    _is_taken_or_refused(body)


def _is_taken_or_refused(body: bytes) -> None:
    faults: list[str] = []
    try:
        found = document.validate_document(body, NOW)
    except InvalidDocument as error:
        faults = error.faults
    if faults:
        assert len(faults) <= document.FAULTS_MAX
        assert all(fault.endswith(".") and "\x00" not in fault for fault in faults)
        return
    places = found.place_by_id()
    assert len(places) == len(found.players)
    assert all(2 <= len(game.players) <= 8 for game in found.games)
    assert all(player in places for game in found.games for player in game.players)
    assert found.started_at <= found.completed_at <= NOW + timedelta(minutes=5)
    assert document.parse_document(body) == found
