"""Clubs. Source: samples/clubs.json."""

import pytest

import build
from silverball.store import tables
from silverball.store.database.engine import Store


@pytest.mark.both_databases
def test_a_club_is_shown_to_anybody_with_a_token(store: Store) -> None:
    founder, reader = build.a_user(store), build.a_user(store)
    club_id = build.row(store, tables.club, user_id=founder, description="Tuesdays", location="Springfield")
    _, body = build.ask(store, f"/api/clubs/{club_id}", by=reader)
    assert body["data"] == {
        "clubId": club_id,
        "userId": founder,
        "name": "The Tilters",
        "logo": None,
        "description": "Tuesdays",
        "location": "Springfield",
    }
    assert build.ask(store, f"/api/clubs/{club_id}", public_read=True)[0] == 401
