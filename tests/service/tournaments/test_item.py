"""A tournament and its eleven parts. Source: interface 4.6; interface.md 2, rows 24 and 27."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

import build
from silverball.service.tournaments.reads import parts
from silverball.store import tables
from silverball.store.database.engine import Store

RSVP = {
    "tournamentId": 1,
    "seriesId": None,
    "userId": 1,
    "status": "active",
    "type": "open",
    "selfCheckinStatus": "inactive",
    "hasSelfCheckin": False,
    "requestEmail": False,
    "requestPhone": False,
    "playerLimit": 32,
    "hasWaitlist": True,
    "publicList": True,
    "showDescription": 0,
    "custom1": None,
    "custom2": None,
    "custom3": None,
    "openAtUtc": None,
    "openAtLocal": None,
    "closeAtUtc": None,
    "closeAtLocal": None,
    "timezone": None,
}
ENTRIES = {
    "limited": True,
    "automaticEntries": 5,
    "price": 2.5,
    "currency": "EUR",
    "bundles": [{"entries": 10, "price": 20}],
}
# Flag -> member, and its empty value.
FLAGS: dict[str, tuple[str, Any]] = {
    "includePlayers": ("players", []),
    "includeArenas": ("arenas", []),
    "includeBanks": ("banks", []),
    "includeScorekeepers": ("scorekeepers", []),
    "includeDirectors": ("directors", []),
    "includeLocation": ("location", None),
    "includeEntryConfiguration": ("entryConfiguration", None),
    "includeRsvpConfiguration": ("rsvpConfiguration", None),
    "includeLinkedTournaments": ("linkedTournaments", []),
    "includeEvent": ("event", None),
    "includeShortcut": ("shortcut", None),
    "includeSeries": ("series", None),
}
MEMBERS = {member for member, _ in FLAGS.values()}


def item(store: Store, tournament_id: int, query: str = "", by: int = 1) -> dict[str, Any]:
    status, body = build.ask(store, f"/api/tournaments/{tournament_id}?{query}", by=by)
    assert status == 200, body
    data: dict[str, Any] = body["data"]
    return data


def test_there_are_twelve_flags_and_each_has_its_part() -> None:
    assert set(parts.PARTS) == set(parts.PartsQuery.__struct_fields__)
    assert len(FLAGS) == len(parts.PARTS) == 12


def test_without_flags_there_is_the_organizer_and_no_other_part(store: Store) -> None:
    organizer = build.a_user(store)
    location_id = build.row(store, tables.location, organizer_id=organizer)
    night = build.a_tournament(store, organizer_id=organizer, location_id=location_id)
    for query in ("", "includePlayers=false&includeLocation=0&includeSeries=no", "includeEverything=true"):
        found = item(store, night.tournament_id, query)
        assert found["organizer"]["userId"] == organizer
        assert not MEMBERS & set(found), query


def test_a_part_that_is_empty_is_null_or_an_empty_list(store: Store) -> None:
    night = build.a_tournament(store, players=0, arenas=0)
    for flag, (member, nothing) in FLAGS.items():
        found = item(store, night.tournament_id, f"{flag}=true")
        assert MEMBERS & set(found) == {member}
        assert found[member] == nothing
    all_of_them = "&".join(f"{flag}=1" for flag in FLAGS)
    assert set(item(store, night.tournament_id, all_of_them)) >= MEMBERS


@pytest.mark.both_databases
def test_the_item_is_the_row_with_its_settings_beside_the_rest(store: Store) -> None:
    night = build.a_tournament(
        store,
        type="group_matchplay",
        points_map=[[5], [5, 1]],
        tiebreaker_points_map=[["0.50"], ["0.50", "0.00"]],
        estimated_tgp=200,
        motd_text="Håll i hatten 🎩",
        settings={"scorekeeping": "user", "playoffsCutoffs": [], "gamesPerRound": 2, "scoring": "ifpa"},
    )
    found = item(store, night.tournament_id)
    assert {key: found[key] for key in ("scorekeeping", "playoffsCutoffs", "gamesPerRound", "scoring")} == {
        "scorekeeping": "user",
        "playoffsCutoffs": [],
        "gamesPerRound": 2,
        "scoring": "ifpa",
    }
    assert "knockoutStrikeCount" not in found
    assert "settings" not in found
    assert (found["pointsMap"], found["estimatedTgp"]) == ([[5], [5, 1]], 200)
    assert found["tiebreakerPointsMap"] == [["0.50"], ["0.50", "0.00"]]
    assert found["motdText"] == "Håll i hatten 🎩"


def test_each_moment_has_its_own_form(store: Store) -> None:
    night = build.a_tournament(store, completed_at=build.NOW, status="completed")
    found = item(store, night.tournament_id)
    names = ("startUtc", "startLocal", "endUtc", "endLocal", "completedAt", "createdAt", "updatedAt")
    assert [found[name] for name in names] == [
        "2026-03-05T19:30:00.000000Z",
        "2026-03-05 20:30:00",
        "2026-03-05T19:30:00.000000Z",
        "2026-03-05 20:30:00",
        "2026-03-05T19:30:00.000000Z",
        "2026-03-05 19:30:00",
        "2026-03-05 19:30:00",
    ]


def test_settings_without_scorekeeping_show_it_as_null(store: Store) -> None:
    night = build.a_tournament(store, settings={})
    assert item(store, night.tournament_id)["scorekeeping"] is None


@pytest.mark.both_databases
def test_players_and_arenas_come_in_the_order_they_were_added(store: Store) -> None:
    night = build.a_tournament(store, players=2, arenas=2)
    late = build.a_player(store, night.organizer_id)
    build.row(store, tables.entrant, tournament_id=night.tournament_id, player_id=late, place=-1)
    found = item(store, night.tournament_id, "includePlayers=1&includeArenas=on")
    assert [player["playerId"] for player in found["players"]] == [late, *night.player_ids]
    assert [arena["arenaId"] for arena in found["arenas"]] == night.arena_ids
    assert all("tournamentPlayer" in player for player in found["players"])
    assert all("tournamentArena" in arena for arena in found["arenas"])


def test_a_bank_lists_its_arenas_in_order(store: Store) -> None:
    night = build.a_tournament(store, arenas=2)
    full, empty = (build.row(store, tables.bank, organizer_id=night.organizer_id) for _ in range(2))
    for place, bank_id in enumerate((empty, full)):
        build.row(store, tables.lineup_bank, tournament_id=night.tournament_id, bank_id=bank_id, place=place)
    for place, arena_id in enumerate(reversed(night.arena_ids)):
        build.row(store, tables.bank_arena, bank_id=full, place=place, arena_id=arena_id)
    common = {"name": "Bank A", "status": "active", "organizerId": night.organizer_id}
    assert item(store, night.tournament_id, "includeBanks=1")["banks"] == [
        {"bankId": empty, **common, "arenaIds": []},
        {"bankId": full, **common, "arenaIds": night.arena_ids[::-1]},
    ]


def test_a_scorekeeper_is_a_user(store: Store) -> None:
    night, keeper = build.a_tournament(store), build.a_user(store, name="Kim Keeper")
    build.row(store, tables.scorekeeper, tournament_id=night.tournament_id, user_id=keeper)
    found = item(store, night.tournament_id, "includeScorekeepers=1")["scorekeepers"]
    assert [(user["userId"], user["name"], user["role"]) for user in found] == [
        (keeper, "Kim Keeper", "player")
    ]


@pytest.mark.both_databases
def test_configurations_are_shown_as_they_were_stored(store: Store) -> None:
    night = build.a_tournament(store, rsvp_configuration=RSVP, entry_configuration=ENTRIES)
    found = item(store, night.tournament_id, "includeRsvpConfiguration=1&includeEntryConfiguration=1")
    assert found["rsvpConfiguration"] == RSVP
    assert found["entryConfiguration"] == ENTRIES


def test_location_series_event_and_shortcut_are_shown(store: Store) -> None:
    organizer = build.a_user(store)
    location_id = build.row(store, tables.location, organizer_id=organizer)
    series_id = build.row(store, tables.series, organizer_id=organizer)
    night = build.a_tournament(store, organizer_id=organizer, location_id=location_id, series_id=series_id)
    shortcut_id = build.row(store, tables.shortcut, slug="strikes", tournament_id=night.tournament_id)
    occasions = [build.row(store, tables.occasion, organizer_id=organizer) for _ in range(2)]
    for occasion_id in reversed(occasions):
        listed = {"user_id": organizer, "tournament_id": night.tournament_id}
        build.row(store, tables.occasion_tournament, occasion_id=occasion_id, **listed)
    found = item(
        store, night.tournament_id, "includeLocation=1&includeSeries=1&includeEvent=1&includeShortcut=1"
    )
    assert found["location"]["locationId"] == location_id
    assert found["series"]["seriesId"] == series_id
    assert not {"organizer", "rsvpConfiguration", "tournamentIds"} & set(found["series"])
    assert (found["event"]["eventId"], found["event"]["location"]) == (occasions[1], None)
    assert found["shortcut"] == {"shortcutId": shortcut_id, "slug": "strikes"}


SAID = {
    "tournamentId": 99999999,
    "name": "As it was said",
    "type": "golf",
    "organizerId": 1,
    "status": "planned",
    "linkType": "qualifying",
    "linkIndex": 1,
    "test": False,
}


def test_a_linked_tournament_has_its_current_or_its_stored_state(store: Store) -> None:
    night, finals = build.a_tournament(store), build.a_tournament(store, name="Finals", status="planned")
    series = {**{key: value for key, value in SAID.items() if key != "tournamentId"}, "seriesId": 7}
    series |= {"linkType": "series", "status": "active", "type": None}
    for place, (linked_id, link_type, stored) in enumerate(
        [
            (finals.tournament_id, "playoff", {**SAID, "tournamentId": finals.tournament_id}),
            (99999999, "qualifying", SAID),
            # The number of a series may be that of a tournament.
            (night.tournament_id, "series", series),
        ]
    ):
        build.row(
            store,
            tables.tournament_link,
            tournament_id=night.tournament_id,
            place=place,
            linked_tournament_id=linked_id,
            link_type=link_type,
            shown=stored,
        )
    linked = item(store, night.tournament_id, "includeLinkedTournaments=1")["linkedTournaments"]
    assert linked[0] == {
        "tournamentId": finals.tournament_id,
        "name": "Finals",
        "type": "group_knockout",
        "organizerId": finals.organizer_id,
        "status": "planned",
        "linkType": "playoff",
        "linkIndex": None,
        "test": False,
    }
    assert linked[1:] == [SAID, series]


@pytest.mark.parametrize("public_read", [True, False])
def test_a_tournament_is_open_on_a_public_server(store: Store, public_read: bool) -> None:
    night = build.a_tournament(store)
    path = f"/api/tournaments/{night.tournament_id}?includePlayers=1"
    assert build.ask(store, path, public_read=public_read)[0] == (200 if public_read else 401)


def test_an_item_takes_one_statement_and_each_part_one_more(empty_sqlite: Path, tmp_path: Path) -> None:
    shutil.copy(empty_sqlite, tmp_path / "one.db")
    store = Store(f"sqlite:///{tmp_path / 'one.db'}")
    night = build.a_tournament(store, players=8, arenas=4)
    statements: list[str] = []

    def listen(connection: Any, *_: Any) -> None:
        connection.set_trace_callback(
            lambda text: statements.append(text) if text.startswith(("SELECT", "WITH")) else None
        )

    event.listen(store.engine, "checkout", listen)
    for query, count in (("", 1), ("includePlayers=1", 2), ("includePlayers=1&includeArenas=1", 3)):
        statements.clear()
        item(store, night.tournament_id, query)
        assert len(statements) == count, statements
    store.close()
