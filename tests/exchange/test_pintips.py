"""Tips and videos are imported all or nothing. Source: ratings C.2 and C.3."""

import json
from collections.abc import Iterable
from typing import Any

import pytest
from sqlalchemy import select

from exchange.opdb_files import a_tip
from silverball.exchange import machine_files
from silverball.exchange.bundle.checks import BrokenFile
from silverball.service.machines import reads as machines_reads
from silverball.service.machines.writes import TooFewRows
from silverball.store import tables
from silverball.store.database.engine import Store

FILM = {
    "opdbId": "G4ODR-MLzY7",
    "title": "Comet Rider in ten minutes",
    "url": "https://films.example/comet",
    "provider": "films.example",
    "author": "Vera Solder",
    "durationSeconds": 600,
}


def import_tips(store: Store, tips: Iterable[dict[str, Any]], *, is_forced: bool = False) -> None:
    with store.write() as transaction:
        machine_files.import_tips(transaction, machine_files.parse_pintips(list(tips)), is_forced=is_forced)


def exported_tips(store: Store) -> list[dict[str, Any]]:
    with store.read() as db:
        listed: list[dict[str, Any]] = json.loads("".join(machines_reads.tip_json_lines(db)))
    return listed


@pytest.mark.both_databases
def test_our_own_file_equals_the_imported_one(store: Store) -> None:
    assert exported_tips(store) == []
    tips = [
        a_tip(3, voteTotal=-1, text="Ünder the “ramp”\n\u2028"),
        a_tip(7, "GR1", category="skillshot"),
    ]
    import_tips(store, reversed(tips))
    assert exported_tips(store) == tips
    import_tips(store, exported_tips(store))
    assert exported_tips(store) == tips


def test_a_tip_is_for_the_whole_title(store: Store) -> None:
    import_tips(store, [a_tip(1, "G4ODR-MLzY7"), a_tip(2, "G4ODR-MLzY7-A1B7O")])
    assert [tip["opdbId"] for tip in exported_tips(store)] == ["G4ODR", "G4ODR"]


def test_a_file_replaces_the_stored_tips_unless_it_is_far_shorter(store: Store) -> None:
    tips = [a_tip(n) for n in range(1, 11)]
    import_tips(store, tips)
    import_tips(store, tips[:8])
    assert len(exported_tips(store)) == 8
    with pytest.raises(TooFewRows, match="6 tips and 8 are stored"):
        import_tips(store, tips[:6])
    assert len(exported_tips(store)) == 8
    import_tips(store, [], is_forced=True)
    assert exported_tips(store) == []


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"opdbId": "4ODR"}, "$[1].opdbId: '4ODR' is not an id of the machine database."),
        ({"category": "jokes"}, "$[1].category: Invalid enum value 'jokes'."),
        ({"text": ""}, "$[1].text: Expected `str` of length >= 1."),
        ({"createdAt": "then"}, "$[1].createdAt: 'then' is not a date and time."),
        ({"updatedAt": None}, "$[1].updatedAt: Expected `str`, got `null`."),
        ({"tipId": 1}, "$[1]: 1 is in the file twice, first at $[0]."),
        ({"voteTotal": "many"}, "$[1].voteTotal: Expected `int`, got `str`."),
    ],
)
def test_a_fault_is_reported_with_its_row_and_field_and_nothing_is_stored(
    store: Store, fields: dict[str, Any], sentence: str
) -> None:
    import_tips(store, [a_tip(9)])
    with pytest.raises(BrokenFile) as error:
        import_tips(store, [a_tip(1), a_tip(2, **fields)])
    assert sentence in error.value.message
    assert [tip["tipId"] for tip in exported_tips(store)] == [9]


def test_a_file_that_is_not_a_list_of_tips_is_refused() -> None:
    others: tuple[Any, ...] = ({"entries": []}, 7, None)
    for raw in others:
        with pytest.raises(BrokenFile, match="This is not a list of tips"):
            machine_files.parse_pintips(raw)
    with pytest.raises(BrokenFile, match=r"\$\[0\]: Object missing required field `tipId`"):
        machine_files.parse_pintips([{"opdb_id": "G4ODR", "name": "Comet Rider"}])


def test_a_file_replaces_the_stored_videos(store: Store) -> None:
    for listed in ([FILM], {"videos": [FILM, {**FILM, "url": "https://films.example/2"}]}, [FILM]):
        with store.write() as transaction:
            machine_files.import_videos(transaction, machine_files.parse_videos(listed))
    with store.read() as db:
        assert [video.url for video in db.execute(select(tables.machine_video))] == [FILM["url"]]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"url": "javascript:alert(1)"}, "$[1].url: Expected `str` matching regex"),
        ({"opdbId": "4ODR"}, "$[1].opdbId: '4ODR' is not an id of the machine database."),
        ({"title": ""}, "$[1].title: Expected `str` of length >= 1."),
        ({"length": 5}, "$[1]: Object contains unknown field `length`."),
        ({"durationSeconds": -1}, "$[1].durationSeconds: Expected `int` >= 0."),
        (
            {"url": FILM["url"]},
            "$[1]: ('G4ODR-MLzY7', 'https://films.example/comet') is in the file twice",
        ),
    ],
)
def test_a_fault_in_a_video_is_reported_with_its_row_and_field(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BrokenFile) as error:
        machine_files.parse_videos([FILM, {**FILM, "url": "https://films.example/2", **fields}])
    assert sentence in error.value.message


@pytest.mark.parametrize("raw", [7, {"films": []}, None, {"videos": 3}])
def test_a_file_that_is_not_a_list_of_videos_is_refused(raw: Any) -> None:
    with pytest.raises(BrokenFile, match="neither a list of videos"):
        machine_files.parse_videos(raw)
