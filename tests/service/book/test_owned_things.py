"""Things of an organizer, added, changed and deleted over HTTP."""

from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import select

import build
from silverball.service.core.access import AuthenticatedCaller
from silverball.store import tables
from silverball.store.database.engine import Store


@dataclass(frozen=True)
class OwnedKind:
    """The list, the id, an example and a fault of a kind of thing."""

    path: str
    key: str
    new: dict[str, Any]
    changed: dict[str, Any]
    faulty: dict[str, Any]
    field: str


START = "2026-03-05T19:30:00Z"
KINDS = {
    "players": OwnedKind(
        "players",
        "playerId",
        {"name": "Bo Larkin", "ifpaId": 12, "labels": ["guest"], "labelColor": "sky"},
        {"ifpaId": None, "status": "inactive"},
        {"name": "Bo", "labels": ["x"] * 11},
        "labels",
    ),
    "arenas": OwnedKind(
        "arenas",
        "arenaId",
        {"name": "Meteor Shower", "opdbId": "GR1-MX2", "categoryId": 3},
        {"opdbId": None, "labels": ["left"]},
        {"name": "Meteor", "opdbId": "no such id"},
        "opdbId",
    ),
    "locations": OwnedKind(
        "locations",
        "locationId",
        {"name": "The Drain", "address": "1 Lane", "lat": 59.5, "lng": 18.25},
        {"lat": None, "lng": None},
        {"name": "The Drain", "lat": 91, "lng": 0},
        "lat",
    ),
    "banks": OwnedKind(
        "banks",
        "bankId",
        {"name": "Bank A"},
        {"status": "inactive"},
        {"name": "B", "arenaIds": [99]},
        "arenaIds",
    ),
    "series": OwnedKind(
        "series",
        "seriesId",
        {"name": "Winter", "scoring": "custom", "scoringCustom": {"1": 10, "2": 7}, "removedResults": -5},
        {
            "status": "completed",
            "playoffsCutoffs": [{"index": 0, "value": 8, "cumulative": 8, "text": "A", "color": "sky"}],
        },
        {"name": "Winter", "scoring": "custom"},
        "scoringCustom",
    ),
    "events": OwnedKind(
        "events",
        "eventId",
        {"name": "Weekend", "startUtc": START, "timezone": "Europe/Stockholm", "contactEmail": "a@b.test"},
        {"endUtc": "2026-03-06T19:30:00Z"},
        {"name": "Weekend", "startUtc": START, "endUtc": "2026-03-04T19:30:00Z"},
        "endUtc",
    ),
    "clubs": OwnedKind(
        "clubs",
        "clubId",
        {"name": "The Tilters", "location": "Oslo"},
        {"description": "Two\nlines"},
        {"name": "T", "logo": "javascript:alert(1)"},
        "logo",
    ),
}
every = pytest.mark.parametrize("name", KINDS)


@pytest.fixture
def owner(store: Store) -> int:
    return build.a_user(store, name="Olga Ramp", role="organizer")


def add_owned(store: Store, owner: int, name: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    kind = KINDS[name]
    status, got, _ = build.do(store, "POST", f"/api/{name}", kind.new if body is None else body, by=owner)
    assert status == 201, got
    data: dict[str, Any] = got["data"]
    return data


def path_of(name: str, data: dict[str, Any]) -> str:
    return f"/api/{name}/{data[KINDS[name].key]}"


@pytest.mark.both_databases
@every
def test_a_thing_is_added_changed_and_deleted_and_each_answer_shows_it(
    store: Store, owner: int, name: str
) -> None:
    kind = KINDS[name]
    data = add_owned(store, owner, name)
    assert {key: data[key] for key in kind.new} == {
        **kind.new,
        **({"startUtc": "2026-03-05T19:30:00.000000Z"} if name == "events" else {}),
    }
    status, got, _ = build.do(store, "PATCH", path_of(name, data), kind.changed, by=owner)
    assert status == 200
    for key, value in kind.changed.items():
        assert str(got["data"][key])[:19] == str(value)[:19] if key == "endUtc" else got["data"][key] == value
    untouched = set(data) - set(kind.changed) - {"endLocal", "descriptionHtml", "descriptionPreviewHtml"}
    assert {key: got["data"][key] for key in untouched if key != "organizer"} == {
        key: data[key] for key in untouched if key != "organizer"
    }
    status, gone, _ = build.do(store, "DELETE", path_of(name, data), by=owner)
    assert (status, gone["data"]) == (200, got["data"])
    assert build.do(store, "DELETE", path_of(name, data), by=owner)[0] == 404
    assert build.do(store, "PATCH", path_of(name, data), {"name": "Late"}, by=owner)[0] == 404


@every
def test_only_the_owner_and_an_admin_change_it(store: Store, owner: int, name: str) -> None:
    data = add_owned(store, owner, name)
    other = build.a_user(store, name="Otto Tilt", role="organizer")
    admin = build.a_user(store, name="Ada Min", role="admin")
    callers: dict[str, AuthenticatedCaller | None] = {
        "nobody": None,
        "reader": build.caller(owner, role="organizer", ability="read"),
        "scorer": build.caller(owner, role="organizer", ability="score"),
        "other": build.caller(other, role="organizer", ability="manage"),
    }
    found = {}
    for who, caller in callers.items():
        calls: list[tuple[str, str, Any]] = (
            [("POST", f"/api/{name}", KINDS[name].new)] if who != "other" else []
        )
        calls += [("PATCH", path_of(name, data), {"name": "Mine"}), ("DELETE", path_of(name, data), None)]
        found[who] = [build.do(store, *call, by=caller)[0] for call in calls]
    assert found == {"nobody": [401] * 3, "reader": [403] * 3, "scorer": [403] * 3, "other": [403] * 2}
    by = build.caller(admin, role="admin", ability="admin")
    status, got, _ = build.do(store, "PATCH", path_of(name, data), {}, by=by)
    assert (status, got["data"]["name"]) == (200, data["name"])


@every
def test_faults_are_named_by_field_and_nothing_is_stored(store: Store, owner: int, name: str) -> None:
    kind = KINDS[name]
    for body, field in (
        (kind.faulty, kind.field),
        ({**kind.new, "name": " \u202e "}, "name"),
        ({**kind.new, "name": "x" * 101}, "name"),
        ({**kind.new, "organizerId": 7}, "organizerId"),
        ({**kind.new, "claimedBy": 7}, "claimedBy"),
    ):
        status, got, _ = build.do(store, "POST", f"/api/{name}", body, by=owner)
        assert (status, list(got["errors"])) == (422, [field])
    if name != "clubs":
        status, got = build.ask(store, f"/api/{name}", by=owner)
        assert got["data"] == []


def test_invisible_characters_are_dropped(store: Store, owner: int) -> None:
    typed = "  Zoe\u0308 \u202eTi\u200blt\x07 "
    assert add_owned(store, owner, "players", {"name": typed})["name"] == "Zo\u00eb Tilt"


def revision(store: Store, tournament_id: int) -> int:
    with store.read() as db:
        columns = select(tables.tournament.c.revision)
        found = columns.where(tables.tournament.c.tournament_id == tournament_id)
        return int(db.execute(found).scalar_one())


@pytest.mark.both_databases
def test_a_change_raises_every_tournament_that_shows_it_and_no_other(store: Store, owner: int) -> None:
    location = add_owned(store, owner, "locations")
    series = add_owned(store, owner, "series")
    bank = add_owned(store, owner, "banks")
    night = build.a_tournament(
        store, organizer_id=owner, location_id=location["locationId"], series_id=series["seriesId"]
    )
    elsewhere = build.a_tournament(store, organizer_id=owner)
    own = night.tournament_id
    build.row(store, tables.lineup_bank, tournament_id=own, bank_id=bank["bankId"])
    event = add_owned(store, owner, "events", {**KINDS["events"].new, "tournaments": [{"tournamentId": own}]})
    paths = [
        f"/api/players/{night.player_ids[0]}",
        f"/api/arenas/{night.arena_ids[0]}",
        path_of("locations", location),
        path_of("series", series),
        path_of("banks", bank),
        path_of("events", event),
    ]
    for path in paths:
        before = revision(store, own), revision(store, elsewhere.tournament_id)
        assert build.do(store, "PATCH", path, {"name": "Renamed"}, by=owner)[0] == 200
        assert (revision(store, own), revision(store, elsewhere.tournament_id)) == (before[0] + 1, before[1])


@pytest.mark.both_databases
def test_used_things_cannot_be_deleted(store: Store, owner: int) -> None:
    location, series, bank = (add_owned(store, owner, name) for name in ("locations", "series", "banks"))
    night = build.a_tournament(
        store, organizer_id=owner, location_id=location["locationId"], series_id=series["seriesId"]
    )
    build.row(store, tables.lineup_bank, tournament_id=night.tournament_id, bank_id=bank["bankId"])
    body = {**KINDS["events"].new, "tournaments": [{"tournamentId": night.tournament_id}]}
    event = add_owned(store, owner, "events", body)
    messages = {}
    for name, path in {
        "Player": f"/api/players/{night.player_ids[0]}",
        "Arena": f"/api/arenas/{night.arena_ids[0]}",
        "Location": path_of("locations", location),
        "Series": path_of("series", series),
        "Bank": path_of("banks", bank),
        "Event": path_of("events", event),
    }.items():
        status, got, _ = build.do(store, "DELETE", path, by=owner)
        messages[name] = (status, got["message"].partition(".")[0])
    assert messages == {
        name: (409, f"{name} {key} is used by tournament {night.tournament_id} and cannot be deleted")
        for name, key in {
            "Player": night.player_ids[0],
            "Arena": night.arena_ids[0],
            "Location": location["locationId"],
            "Series": series["seriesId"],
            "Bank": bank["bankId"],
            "Event": event["eventId"],
        }.items()
    }
    status, roster = build.ask(store, f"/api/tournaments/{night.tournament_id}?includePlayers=1", by=owner)
    assert len(roster["data"]["players"]) == 4


@pytest.mark.both_databases
def test_an_arena_of_a_bank_and_a_place_of_an_event_are_used_too(store: Store, owner: int) -> None:
    arena, place = add_owned(store, owner, "arenas"), add_owned(store, owner, "locations")
    bank = add_owned(store, owner, "banks", {"name": "A", "arenaIds": [arena["arenaId"]]})
    event = add_owned(store, owner, "events", {**KINDS["events"].new, "locationId": place["locationId"]})
    for name, data in (("arenas", arena), ("locations", place)):
        assert build.do(store, "DELETE", path_of(name, data), by=owner)[0] == 409
    assert build.do(store, "PATCH", path_of("banks", bank), {"arenaIds": []}, by=owner)[0] == 200
    assert build.do(store, "PATCH", path_of("events", event), {"locationId": None}, by=owner)[0] == 200
    for name, data in (("arenas", arena), ("locations", place)):
        assert build.do(store, "DELETE", path_of(name, data), by=owner)[0] == 200


@pytest.mark.both_databases
def test_banks_are_listed_with_their_arenas_in_order(store: Store, owner: int) -> None:
    arenas = [add_owned(store, owner, "arenas")["arenaId"] for _ in range(3)]
    wanted = [arenas[2], arenas[0]]
    bank = add_owned(store, owner, "banks", {"name": "A", "arenaIds": wanted})
    assert bank["arenaIds"] == wanted
    for query, count in {"": 1, "?status=inactive": 0, "?banks=999": 0}.items():
        status, got = build.ask(store, f"/api/banks{query}", by=owner)
        assert (status, len(got["data"]), got["meta"]["total"]) == (200, count, count)
    assert build.ask(store, "/api/banks", by=build.a_user(store))[1]["data"] == []
    for ids, sentence in (([arenas[0]] * 2, "named twice"), ([_foreign(store)], "another organizer")):
        status, got, _ = build.do(store, "PATCH", path_of("banks", bank), {"arenaIds": ids}, by=owner)
        assert (status, list(got["errors"])) == (422, ["arenaIds"])
        assert sentence in got["message"]


def _foreign(store: Store) -> int:
    return build.an_arena(store, build.a_user(store, role="organizer"))


def test_the_arenas_of_a_bank_stay_while_a_tournament_is_played_with_it(store: Store, owner: int) -> None:
    bank = add_owned(store, owner, "banks")
    night = build.a_tournament(store, organizer_id=owner)
    build.row(store, tables.lineup_bank, tournament_id=night.tournament_id, bank_id=bank["bankId"])
    body = {"arenaIds": night.arena_ids[:1]}
    status, got, _ = build.do(store, "PATCH", path_of("banks", bank), body, by=owner)
    assert (status, f"Tournament {night.tournament_id}" in got["message"]) == (409, True)


def test_an_event_shows_its_links_and_its_tournaments_in_order(store: Store, owner: int) -> None:
    night = build.a_tournament(store, organizer_id=owner)
    body = {
        **KINDS["events"].new,
        "description": "Come <b>all</b>\n\nBring coins",
        "links": [{"label": "Stream", "url": "https://video.test/a", "isRegistration": True}],
        "tournaments": [
            {"externalName": "Side show", "externalStartUtc": START},
            {"tournamentId": night.tournament_id, "labels": ["Main"], "playerLimit": 40},
        ],
    }
    event = add_owned(store, owner, "events", body)
    assert event["startLocal"] == "2026-03-05 20:30:00"
    assert event["descriptionHtml"] == "<p>Come &lt;b&gt;all&lt;/b&gt;</p>\n<p>Bring coins</p>\n"
    assert [(link["label"], link["isRegistration"]) for link in event["links"]] == [("Stream", 1)]
    shown = {entry["eventTournamentId"]: entry for entry in event["eventTournaments"]}
    side, main = (shown[key] for key in event["eventTournamentIds"])
    assert (side["externalName"], side["externalStartLocal"]) == ("Side show", "2026-03-05 20:30:00")
    assert (main["tournamentId"], main["labels"], main["playerLimit"]) == (night.tournament_id, ["Main"], 40)
    status, got, _ = build.do(
        store,
        "PATCH",
        path_of("events", event),
        {"timezone": "America/New_York", "tournaments": []},
        by=owner,
    )
    assert (status, got["data"]["startLocal"], got["data"]["tournaments"]) == (200, "2026-03-05 14:30:00", [])
    assert [link["label"] for link in got["data"]["links"]] == ["Stream"]


@pytest.mark.parametrize("tournaments", [[{}], [{"tournamentId": 1, "externalName": "both"}]])
def test_a_tournament_of_an_event_is_local_or_external(
    store: Store, owner: int, tournaments: list[Any]
) -> None:
    body = {**KINDS["events"].new, "tournaments": tournaments}
    status, got, _ = build.do(store, "POST", "/api/events", body, by=owner)
    assert (status, "either a tournamentId or an externalName" in got["message"]) == (422, True)


def test_an_event_takes_only_tournaments_of_its_organizer_that_are_in_no_other(
    store: Store, owner: int
) -> None:
    foreign = build.a_tournament(store).tournament_id
    own = build.a_tournament(store, organizer_id=owner).tournament_id
    new = KINDS["events"].new
    first = add_owned(store, owner, "events", {**new, "tournaments": [{"tournamentId": own}]})
    for tournament_id, sentence in (
        (foreign, "another organizer"),
        (own, f"in event {first['eventId']}"),
        (999, "There is no"),
    ):
        body = {**new, "tournaments": [{"tournamentId": tournament_id}]}
        status, got, _ = build.do(store, "POST", "/api/events", body, by=owner)
        assert (status, list(got["errors"]), sentence in got["message"]) == (422, ["tournaments"], True)
    for field, value in (
        ("timezone", "Nowhere/Lost"),
        ("timezone", "../etc"),
        ("startUtc", "9999-12-31T23:59:59Z"),
    ):
        assert build.do(store, "POST", "/api/events", {**new, field: value}, by=owner)[0] == 422


@pytest.mark.both_databases
def test_a_club_begins_with_its_founder_and_ends_without_members(store: Store, owner: int) -> None:
    club = add_owned(store, owner, "clubs")
    profile = "/api/users/profile"
    assert build.ask(store, profile, by=owner)[1]["clubId"] == club["clubId"]
    build.do(store, "DELETE", path_of("clubs", club), by=owner)
    assert build.ask(store, profile, by=owner)[1]["clubId"] is None
