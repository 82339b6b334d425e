"""An export after an import equals the imported file, on both databases."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from exchange import bundles
from golden import load
from silverball.cli.demo import BUNDLES
from silverball.store import tables
from silverball.store.database.engine import Store

GOLDEN = sorted((load.FOLDER.parent / "knockouts-standings").glob("*.json"))


@pytest.fixture
def second(request: pytest.FixtureRequest, tmp_path: Path, database_url: str) -> Any:
    """Another empty database of the same kind."""
    if database_url.startswith("sqlite"):
        path = tmp_path / "second.db"
        path.write_bytes(Path(request.getfixturevalue("empty_sqlite")).read_bytes())
        url = f"sqlite:///{path}"
    else:
        url = request.getfixturevalue("postgresql").new_database()
    opened = Store(url)
    yield opened
    opened.close()


def test_every_field_of_every_night_comes_back_and_export_after_import_is_the_identity(
    store: Store, second: Store
) -> None:
    for path in (*bundles.NIGHTS, *bundles.INVENTED):
        done = bundles.import_bundle(store, path)
        assert done.outcome == "new"
        exported = bundles.export_bundle(store, done.tournament_id)
        assert bundles.find_losses(bundles.read_bundle(path), exported) == [], path.name
        bundles.import_bundle(second, exported)
        again = bundles.export_bundle(second, done.tournament_id)
        assert without_head(again) == without_head(exported), path.name


def test_every_part_of_a_bundle_comes_back(store: Store, second: Store) -> None:
    original = bundles.full_bundle()
    bundles.import_bundle(store, original)
    exported = bundles.export_bundle(store, 700)
    assert bundles.find_losses(original, exported) == []
    bundles.import_bundle(second, exported)
    assert without_head(bundles.export_bundle(second, 700)) == without_head(exported)


def without_head(bundle: Any) -> Any:
    """The bundle without the head of the journal and the source, which are of the database it comes from."""
    assert (len(bundle["journalHead"]), len(bundle["source"])) == (64, 16)
    return {name: value for name, value in bundle.items() if name not in ("journalHead", "source")}


def test_lists_are_exported_by_id(store: Store) -> None:
    path = bundles.NIGHTS[7]
    exported = bundles.export_bundle(store, bundles.import_bundle(store, path).tournament_id)
    ids = {
        "roundId": exported["rounds"],
        "gameId": exported["games"],
        "playerId": exported["standings"],
        "arenaId": exported["tournament"]["arenas"],
    }
    for key, listed in ids.items():
        assert [item[key] for item in listed] == sorted(item[key] for item in listed)


def test_missing_settings_get_their_defaults(store: Store) -> None:
    tournament = bundles.export_bundle(store, bundles.import_bundle(store, bundles.NIGHTS[7]).tournament_id)[
        "tournament"
    ]
    assert tournament["playerOrderOpen"] == "scorekeepers"
    assert tournament["primaryConfigSettings"] == ["knockoutStrikeCount", "pairing"]


@pytest.mark.parametrize("path", GOLDEN, ids=[path.stem for path in GOLDEN])
def test_a_hand_checked_night_stands_as_worked_out_and_nobody_who_left_is_above_the_survivor(
    store: Store, path: Path
) -> None:
    expected = bundles.read_bundle(path)
    done = bundles.import_bundle(store, path.parent.parent / "knockouts" / path.name)
    rows = bundles.export_bundle(store, done.tournament_id)["standings"]
    got = {row["playerId"]: (row["position"], row["strikeCount"]) for row in rows}
    assert got == {row["playerId"]: (row["position"], row["strikes"]) for row in expected}
    survivors = [row["playerId"] for row in expected if row["outInRound"] is None]
    assert [player_id for player_id, (position, _) in got.items() if position == 1] == survivors


def test_computed_standings_have_every_key(store: Store) -> None:
    done = bundles.import_bundle(store, bundles.NIGHTS[0])
    observed = set(bundles.read_bundle(load.FOLDER.parent / "samples" / "standings.json")[0])
    with store.read() as db:
        rows = db.execute(select(tables.standing.c.row)).scalars().all()
    assert len(observed) == 21
    assert done.outcome == "new"
    assert all(set(row) == observed for row in rows)


def test_standings_in_the_file_are_kept_as_they_are(store: Store) -> None:
    original = bundles.full_bundle()
    original["tournament"] |= {"status": "completed", "completedAt": "2026-03-06T20:00:00.000000Z"}
    rows = bundles.read_bundle(load.FOLDER.parent / "samples" / "standings.json")
    original["standings"] = [{**rows[0], "playerId": number, "points": 3.25} for number in (901, 902, 903)]
    bundles.import_bundle(store, original)
    assert bundles.export_bundle(store, 700)["standings"] == original["standings"]


def test_standings_in_the_file_without_a_row_for_each_player_are_ranked_again(store: Store) -> None:
    original = bundles.full_bundle()
    original["tournament"] |= {"status": "completed", "completedAt": "2026-03-06T20:00:00.000000Z"}
    rows = bundles.read_bundle(load.FOLDER.parent / "samples" / "standings.json")
    original["standings"] = [{**rows[0], "playerId": 901, "points": 3.25}]
    bundles.import_bundle(store, original)
    ranked = bundles.export_bundle(store, 700)["standings"]
    assert {row["playerId"]: row["points"] for row in ranked}[901] == "1.00"
    assert len(ranked) == 3


def test_a_running_tournament_is_ranked_whatever_standings_are_in_the_file(store: Store) -> None:
    original = bundles.full_bundle()
    rows = bundles.read_bundle(load.FOLDER.parent / "samples" / "standings.json")
    original["standings"] = [{**rows[0], "playerId": 901, "points": 3.25}]
    bundles.import_bundle(store, original)
    ranked = bundles.export_bundle(store, 700)["standings"]
    assert {row["playerId"]: row["points"] for row in ranked}[901] == "1.00"
    with store.read() as db:
        assert db.execute(select(tables.standing)).all() == []


def test_the_demo_carries_the_same_nights_as_the_tests() -> None:
    assert len(bundles.NIGHTS) == 21
    for path in bundles.NIGHTS:
        assert path.read_bytes() == (BUNDLES / path.name).read_bytes()
