"""Occasions, called events on the wire. Source: samples/events.json, events-list.json."""

import pytest

import build
from silverball.store import tables
from silverball.store.database.engine import Store


def test_the_newest_come_first_25_a_page_with_their_location(store: Store) -> None:
    organizer = build.a_user(store)
    location_id = build.row(store, tables.location, organizer_id=organizer)
    made = [build.row(store, tables.occasion, organizer_id=organizer) for _ in range(25)]
    made.append(build.row(store, tables.occasion, organizer_id=organizer, location_id=location_id))
    _, body = build.ask(store, "/api/events", by=organizer)
    assert [occasion["eventId"] for occasion in body["data"]] == made[:0:-1]
    assert [occasion["location"] and occasion["location"]["locationId"] for occasion in body["data"][:2]] == [
        location_id,
        None,
    ]
    assert not {"organizer", "links", "tournaments"} & set(body["data"][0])
    assert (body["meta"]["per_page"], body["meta"]["total"]) == (25, 26)


@pytest.mark.both_databases
def test_an_occasion_has_its_links_and_tournaments_and_their_order(store: Store) -> None:
    organizer = build.a_user(store, name="Olga Ramp")
    nights = [build.a_tournament(store, organizer_id=organizer) for _ in range(2)]
    occasion_id = build.row(store, tables.occasion, organizer_id=organizer)
    own = {"occasion_id": occasion_id, "user_id": organizer}
    links = [
        build.row(
            store,
            tables.occasion_link,
            **own,
            place=place,
            label=f"Link {place}",
            url="https://example.com/page",
            is_registration=place,
            embed=0,
        )
        for place in (1, 0)
    ]
    entries = [
        build.row(
            store,
            tables.occasion_tournament,
            **own,
            tournament_id=night and night.tournament_id,
            place=place,
            labels=["Main"],
            label_color="lime",
            player_limit=72,
            external={} if night else {"externalName": "Elsewhere", "externalLink": "https://example.com"},
        )
        for place, night in ((2, nights[1]), (0, nights[0]), (1, None))
    ]
    _, body = build.ask(store, f"/api/events/{occasion_id}", by=organizer)
    data = body["data"]
    assert data["organizer"]["userId"] == organizer
    assert [link["linkId"] for link in data["links"]] == links
    assert data["links"][0] == {
        "linkId": links[0],
        "userId": organizer,
        "label": "Link 1",
        "url": "https://example.com/page",
        "isRegistration": 1,
        "embed": 0,
    }
    assert data["linkIds"] == links[::-1]
    assert [entry["eventTournamentId"] for entry in data["eventTournaments"]] == entries
    assert data["eventTournamentIds"] == [entries[1], entries[2], entries[0]]
    elsewhere = data["eventTournaments"][2]
    assert (elsewhere["tournamentId"], elsewhere["externalName"]) == (None, "Elsewhere")
    assert elsewhere["externalStartUtc"] is None
    assert [tournament["tournamentId"] for tournament in data["tournaments"]] == [
        nights[1].tournament_id,
        nights[0].tournament_id,
    ]
    assert data["tournaments"][0]["organizer"]["userId"] == organizer


@pytest.mark.both_databases
def test_an_occasion_shows_its_shortcut(store: Store) -> None:
    organizer = build.a_user(store)
    occasion_id = build.row(store, tables.occasion, organizer_id=organizer)
    _, body = build.ask(store, f"/api/events/{occasion_id}", by=organizer)
    assert (body["data"]["shortcutId"], body["data"]["shortcutSlug"]) == (None, None)
    shortcut_id = build.row(store, tables.shortcut, slug="weekend", occasion_id=occasion_id)
    _, body = build.ask(store, f"/api/events/{occasion_id}", by=organizer)
    assert (body["data"]["shortcutId"], body["data"]["shortcutSlug"]) == (shortcut_id, "weekend")
