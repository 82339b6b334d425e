"""POST /api/tournaments. Source: interface.md 3; formats, sections 2, 11 and 24."""

from typing import Any

import pytest
from sqlalchemy import func, select

import build
from silverball.rules.commands import draws
from silverball.rules.model import settings as rules
from silverball.rules.model.tournament import Tournament
from silverball.rules.registry import FORMATS
from silverball.service.core import loaded
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.tournament import journal

PATH = "/api/tournaments"
TIEBREAKERS = [["0.50"], ["0.50", "0.00"], ["0.50", "0.25", "0.00"], ["0.50", "0.25", "0.12", "0.00"]]


@pytest.fixture
def organizer(store: Store) -> int:
    return build.a_user(store, name="Olga Ramp", role="organizer")


def create(store: Store, by: int, **body: Any) -> dict[str, Any]:
    status, answer, _ = build.do(store, "POST", PATH, {"name": "Thursday", **body}, by=by)
    assert status == 201, answer
    data: dict[str, Any] = answer["data"]
    return data


def refusal_of(store: Store, by: Any, status: int = 422, **body: Any) -> dict[str, list[str]]:
    got, answer, _ = build.do(store, "POST", PATH, {"name": "Thursday", "type": "matchplay", **body}, by=by)
    assert got == status, answer
    with store.read() as db:
        assert db.execute(select(func.count()).select_from(tables.journal)).scalar_one() == 0
        assert db.execute(select(func.count()).select_from(tables.tournament)).scalar_one() == 0
    errors: dict[str, list[str]] = answer.get("errors", {})
    return errors


def stored_tournament(store: Store, tournament_id: int) -> Tournament:
    with store.read() as db:
        return loaded.load_tournament(db, tournament_id)


@pytest.mark.sample(8)
@pytest.mark.parametrize("kind", sorted(FORMATS))
def test_a_tournament_of_each_format_begins_with_its_defaults(store: Store, kind: str) -> None:
    organizer = build.a_user(store, name="Olga Ramp", role="organizer")
    made = create(store, organizer, type=kind)
    defaults = rules.default_values(FORMATS[kind].settings)
    assert {key: made[key] for key in defaults} == {
        key: _listed_ids(value) for key, value in defaults.items()
    }
    assert (made["status"], made["type"], made["organizerId"]) == ("planned", kind, organizer)
    assert made["primaryConfigSettings"] == list(FORMATS[kind].primary_settings)
    assert made["tiebreakerPointsMap"] == TIEBREAKERS
    assert made["startUtc"] == "2026-03-05T19:30:00.000000Z"
    assert (made["endUtc"], made["completedAt"], made["test"]) == (None, None, False)


def _listed_ids(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def test_the_answer_is_what_a_read_shows(store: Store, organizer: int) -> None:
    made = create(store, organizer, type="knockout", knockoutStrikeCount=4)
    assert build.ask(store, f"{PATH}/{made['tournamentId']}", by=organizer) == (200, {"data": made})
    assert made["knockoutStrikeCount"] == 4


@pytest.mark.parametrize(
    ("body", "points"),
    [
        ({"type": "group_matchplay"}, [[7], [7, 1], [7, 4, 1], [7, 5, 3, 1]]),
        ({"type": "group_matchplay", "scoring": "papa"}, [[4], [4, 2], [4, 2, 1], [4, 2, 1, 0]]),
        ({"type": "matchplay"}, [[1], [1, 0], [1, 0, 0], [1, 0, 0]]),
        ({"type": "golf"}, None),
        (
            {
                "type": "group_matchplay",
                "scoring": "custom",
                "pointsMapCustom": {"type": "matchplay", "3P": ["7", "5", "1"], "4P": ["7", "5", "3", "1"]},
            },
            "manual",
        ),
    ],
)
def test_points_by_place_follow_from_the_scoring(
    store: Store, organizer: int, body: dict[str, Any], points: Any
) -> None:
    assert create(store, organizer, **body)["pointsMap"] == points


def test_its_dice_are_drawn_once_and_journalled(store: Store, organizer: int) -> None:
    first = create(store, organizer, type="matchplay")["tournamentId"]
    second = create(store, organizer, type="matchplay")["tournamentId"]
    with store.read() as db:
        (action,) = journal.all_actions(db, first)
    assert (action.action_id, action.actor_id, action.source) == (1, organizer, "203.0.113.7")
    (change, data), (note, committed) = action.entries
    assert (change, note) == (journal.TOURNAMENT_CREATED, journal.SEED_COMMITTED)
    assert committed == {"commitment": draws.commitment(data["state"]["dice_seed"])}
    assert journal.decode_creation(first, "matchplay", data) == stored_tournament(store, first)
    assert len(stored_tournament(store, first).state.dice_seed) == 32
    assert stored_tournament(store, first).state.dice_seed != stored_tournament(store, second).state.dice_seed
    assert not action.is_undoable


def test_it_is_announced_from_the_beginning_of_a_channel(store: Store, organizer: int) -> None:
    tournament_id = create(store, organizer, type="matchplay")["tournamentId"]
    column = tables.tournament.c
    with store.read() as db:
        found = select(column.epoch, column.seq, column.seq_low, column.revision)
        row = db.execute(found.where(column.tournament_id == tournament_id)).one()
    assert (len(row.epoch), row.seq, row.seq_low, row.revision) == (8, 0, 0, 1)


def test_every_field_of_the_body_is_in_the_answer(store: Store, organizer: int) -> None:
    location_id = build.row(store, tables.location, organizer_id=organizer)
    series_id = build.row(store, tables.series, organizer_id=organizer)
    event_id = build.row(store, tables.occasion, organizer_id=organizer)
    qualifier = build.a_tournament(store, organizer_id=organizer).tournament_id
    flags = "".join(
        f"&include{part}=1"
        for part in (
            "Location",
            "Series",
            "Event",
            "Shortcut",
            "LinkedTournaments",
            "RsvpConfiguration",
            "EntryConfiguration",
        )
    )
    status, answer, _ = build.do(
        store,
        "POST",
        f"{PATH}?{flags[1:]}",
        {
            "name": "Finals",
            "type": "best_game",
            "description": "Two\nlines",
            "startLocal": "2026-07-01 19:00",
            "endUtc": "2026-07-01T22:00:00+00:00",
            "timezone": "Europe/Stockholm",
            "locationId": location_id,
            "seriesId": series_id,
            "eventId": event_id,
            "test": True,
            "links": [{"tournamentId": qualifier, "linkType": "qualifying"}],
            "rsvpConfiguration": {"playerLimit": 20, "openAtUtc": "2026-06-01T10:00:00Z"},
            "entryConfiguration": {"limited": True, "price": 5, "bundles": [{"entries": 7, "price": 20}]},
            "shortcut": "finals-2026",
            "motdText": "Bring coins",
            "motdColor": "red",
        },
        by=organizer,
    )
    assert status == 201, answer
    made = answer["data"]
    assert made["startUtc"] == "2026-07-01T17:00:00.000000Z"
    assert made["startLocal"] == "2026-07-01 19:00:00"
    assert made["endLocal"] == "2026-07-02 00:00:00"
    assert (made["locationId"], made["seriesId"], made["test"]) == (location_id, series_id, True)
    assert (made["location"]["locationId"], made["event"]["eventId"]) == (location_id, event_id)
    assert made["shortcut"]["slug"] == "finals-2026"
    assert (made["description"], made["motdText"], made["motdColor"]) == ("Two\nlines", "Bring coins", "red")
    (link,) = made["linkedTournaments"]
    assert (link["tournamentId"], link["linkType"]) == (qualifier, "qualifying")
    assert made["entryConfiguration"] == {
        "limited": True,
        "automaticEntries": 0,
        "price": 5,
        "currency": None,
        "bundles": [{"entries": 7, "price": 20}],
    }
    assert made["rsvpConfiguration"]["tournamentId"] == made["tournamentId"]
    assert made["rsvpConfiguration"]["openAtLocal"] == "2026-06-01 12:00:00"
    assert stored_tournament(store, made["tournamentId"]).has_entry_limits


def test_a_registration_opens_at_the_sent_moment_in_any_zone(store: Store, organizer: int) -> None:
    wanted = {"openAtUtc": "2026-06-01T12:00:00+02:00", "closeAtUtc": "2026-06-30T23:30:00-05:00"}
    body = {
        "name": "Finals",
        "type": "matchplay",
        "timezone": "Europe/Stockholm",
        "rsvpConfiguration": wanted,
    }
    status, answer, _ = build.do(store, "POST", f"{PATH}?includeRsvpConfiguration=1", body, by=organizer)
    assert status == 201, answer
    made = answer["data"]["rsvpConfiguration"]
    assert made["openAtUtc"] == "2026-06-01T10:00:00.000000Z"
    assert made["openAtLocal"] == "2026-06-01 12:00:00"
    assert made["closeAtUtc"] == "2026-07-01T04:30:00.000000Z"
    body["rsvpConfiguration"] = {"closeAtUtc": "0001-01-01T00:00:00Z"}
    status, answer, _ = build.do(store, "POST", PATH, body, by=organizer)
    assert (status, list(answer["errors"])) == (422, ["rsvpConfiguration.closeAtUtc"])


def test_tiebreak_games_may_be_worth_something_else(store: Store, organizer: int) -> None:
    rows = [["0.1"], ["0.1", "0"], ["0.3", "0.2", "0.1"], ["0.4", "0.3", "0.2", "0.1"]]
    made = create(store, organizer, type="matchplay", tiebreakerPointsMap=rows)
    assert made["tiebreakerPointsMap"][2] == ["0.30", "0.20", "0.10"]


def test_all_faults_of_a_list_of_bands_are_named_at_once(store: Store, organizer: int) -> None:
    bands = [{"value": 8, "text": "A"}, {"value": 8}]
    body = {"name": "Night", "type": "matchplay", "playoffsCutoffs": bands}
    status, answer, _ = build.do(store, "POST", "/api/tournaments", body, by=organizer)
    assert (status, set(answer["errors"])) == (
        422,
        {f"playoffsCutoffs.{at}.{name}" for at in (0, 1) for name in ("index", "cumulative", "text", "color")}
        - {"playoffsCutoffs.0.text"},
    )


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"type": "chess"}, "type"),
        ({"name": ""}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"knockoutStrikeCount": 3}, "knockoutStrikeCount"),
        ({"duration": 101}, "duration"),
        ({"duration": "ten"}, "duration"),
        ({"pairing": "by hat"}, "pairing"),
        ({"colour": "red"}, "colour"),
        ({"playoffsCutoffs": [{"index": 0, "value": 0, "cumulative": 0, "text": "A"}]}, "playoffsCutoffs"),
        (
            {"playoffsCutoffs": [{"index": 0, "value": 4, "cumulative": 5, "text": "A", "color": None}]},
            "playoffsCutoffs",
        ),
        ({"type": "group_matchplay", "scoring": "custom"}, "pointsMapCustom"),
        ({"type": "group_matchplay", "scoring": "idaho"}, "scoring"),
        ({"type": "group_bracket", "bracketSize": 4, "groupBracketDoubleByes": 1}, "groupBracketDoubleByes"),
        (
            {"tiebreakerPointsMap": [["1"], ["1", "0"], ["2", "1", "0"], ["3", "2", "1"]]},
            "tiebreakerPointsMap",
        ),
        ({"locationId": 77}, "locationId"),
        ({"seriesId": 77}, "seriesId"),
        ({"eventId": 77}, "eventId"),
        ({"links": [{"tournamentId": 77, "linkType": "playoff"}]}, "links"),
        ({"links": [{"tournamentId": 77, "linkType": "cousin"}]}, "links.0.linkType"),
        ({"timezone": "Mars/Olympus"}, "timezone"),
        ({"timezone": "../../etc/passwd"}, "timezone"),
        ({"startLocal": "2026-13-40 10:00"}, "startLocal"),
        # The clocks go forward from 02:00 to 03:00.
        ({"startLocal": "2026-03-29 02:30", "timezone": "Europe/Stockholm"}, "startLocal"),
        ({"endLocal": "2030-03-31 02:00", "timezone": "Europe/Stockholm"}, "endLocal"),
        ({"startUtc": "2026-01-01T10:00:00"}, "startUtc"),
        ({"startUtc": "0001-01-01T10:00:00Z"}, "startUtc"),
        ({"startUtc": "2026-01-02T10:00:00Z", "startLocal": "2026-01-01 10:00"}, "startLocal"),
        ({"startUtc": "2026-01-02T10:00:00Z", "endUtc": "2026-01-01T10:00:00Z"}, "endUtc"),
        ({"shortcut": "No Spaces"}, "shortcut"),
        ({"entryConfiguration": {"limited": "yes"}}, "entryConfiguration.limited"),
    ],
)
def test_faults_are_named_and_nothing_is_stored(
    store: Store, organizer: int, body: dict[str, Any], field: str
) -> None:
    assert field in " ".join(refusal_of(store, organizer, **body))


def test_locations_and_series_of_others_are_refused(store: Store, organizer: int) -> None:
    other = build.a_user(store, name="Otto Tilt", role="organizer")
    for field, table in (
        ("locationId", tables.location),
        ("seriesId", tables.series),
        ("eventId", tables.occasion),
    ):
        theirs = build.row(store, table, organizer_id=other)
        assert list(refusal_of(store, organizer, **{field: theirs})) == [field]


def test_a_shortcut_leads_to_one_place(store: Store, organizer: int) -> None:
    create(store, organizer, type="golf", shortcut="thursday")
    body = {"name": "Other", "type": "golf", "shortcut": "thursday"}
    status, answer, _ = build.do(store, "POST", PATH, body, by=organizer)
    assert (status, list(answer["errors"])) == (422, ["shortcut"])


def test_only_organizers_create_tournaments(store: Store) -> None:
    player = build.a_user(store)
    assert refusal_of(store, None, 401) == {}
    assert refusal_of(store, build.caller(player), 403) == {}
    assert refusal_of(store, build.caller(player, role="player", ability="manage"), 403) == {}
    assert refusal_of(store, build.caller(player, role="organizer", ability="score"), 403) == {}
    admin = build.caller(build.a_user(store, role="admin"), role="admin", ability="admin")
    assert build.do(store, "POST", PATH, {"name": "A", "type": "golf"}, by=admin)[0] == 201


def test_invisible_characters_of_names_are_dropped(store: Store, organizer: int) -> None:
    made = create(store, organizer, type="golf", name="  Fri\u202eday\u0007 Cafe\u0301 ", motdText="a\r\nb")
    assert (made["name"], made["motdText"]) == ("Friday Caf\u00e9", "a\nb")


def test_settings_that_follow_from_play_are_ignored(store: Store, organizer: int) -> None:
    assert create(store, organizer, type="frenzy", frenzyPausedSecondsLeft=90)["frenzyPausedSecondsLeft"] == 0
    errors = faults_beside_others(store, organizer, type="golf", frenzyPausedSecondsLeft=90)
    assert errors == ["frenzyPausedSecondsLeft"]


def faults_beside_others(store: Store, by: int, **body: Any) -> list[str]:
    """The faults of a creation beside other tournaments."""
    status, answer, _ = build.do(store, "POST", PATH, {"name": "Thursday", **body}, by=by)
    assert status == 422, answer
    return list(answer["errors"])
