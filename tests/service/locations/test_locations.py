"""Locations. Source: interface 4.1; samples/locations-list.json."""

import pytest

import build
from silverball.store import tables
from silverball.store.database.engine import Store


@pytest.mark.both_databases
def test_a_location_is_shown_with_its_place_on_the_map(store: Store) -> None:
    organizer = build.a_user(store)
    location_id = build.row(
        store, tables.location, organizer_id=organizer, address="1 Flipper Street", lat=47.123456, lng=-122.5
    )
    _, body = build.ask(store, "/api/locations", by=organizer)
    assert body["data"] == [
        {
            "locationId": location_id,
            "scorbitVenueId": None,
            "scorbitVenueUuid": None,
            "pinballmapId": None,
            "name": "The Drain",
            "organizerId": organizer,
            "status": "active",
            "address": "1 Flipper Street",
            "lat": 47.123456,
            "lng": -122.5,
        }
    ]
