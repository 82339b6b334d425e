"""Every announcement fits into a message of the feed, however much an organizer writes."""

import json

import pytest

import build
from service.desk import a_desk
from silverball.rules.commands.roster import BANKS_MAX, SCOREKEEPERS_MAX
from silverball.store import tables
from silverball.store.database.engine import Store

MESSAGE_BYTES_MAX = 256_000
# Four bytes each in UTF-8.
WIDE = "\U0001f3b1"
ARENAS_OF_A_BANK_MAX = 100
BANDS_MAX = 100


@pytest.mark.both_databases
def test_a_tournament_at_every_limit_fits_into_a_message(store: Store) -> None:
    desk = a_desk(store, "group_matchplay", starts=False, arenas=ARENAS_OF_A_BANK_MAX)
    owner = desk.callers["owner"].user_id
    location_id = build.row(
        store,
        tables.location,
        organizer_id=owner,
        name=WIDE * 100,
        address=WIDE * 200,
        status="active",
    )
    bands = [
        {"index": n, "value": 1, "cumulative": n + 1, "text": WIDE * 100, "color": "#12345678"}
        for n in range(BANDS_MAX)
    ]
    series = {**build.DEFAULTS["series"], "name": WIDE * 100, "playoffs_cutoffs": bands}
    points = {str(rank): 1_000_000 for rank in range(1, 1001)}
    series_id = build.row(store, tables.series, organizer_id=owner, scoring_custom=points, **series)
    for _ in range(BANKS_MAX):
        bank_id = build.row(store, tables.bank, organizer_id=owner, name=WIDE * 100, status="active")
        for place, arena_id in enumerate(desk.night.arena_ids):
            build.row(store, tables.bank_arena, bank_id=bank_id, place=place, arena_id=arena_id)
        desk.ok("PUT", f"/banks/{bank_id}")
    # The tournament has one scorekeeper already.
    for _ in range(SCOREKEEPERS_MAX - 1):
        user_id = build.a_user(
            store, name=WIDE * 100, pronouns=WIDE * 40, location=WIDE * 100, initials=WIDE * 4
        )
        desk.ok("PUT", f"/scorekeepers/{user_id}")
    for path, extra_id in (("scorekeepers", build.a_user(store)), ("banks", _a_bank(store, owner))):
        status, answer = desk.do("PUT", f"/{path}/{extra_id}")
        assert (status, "25" in answer["message"]) == (409, True)
    desk.ok(
        "PATCH",
        "",
        {
            "name": WIDE * 100,
            "description": WIDE * 10_000,
            "motdText": WIDE * 1_000,
            "locationId": location_id,
            "seriesId": series_id,
            "playoffsCutoffs": bands,
        },
    )
    event = desk.mirror.seen[-1]
    assert event.name == "TournamentUpdated"
    assert len(json.loads(event.data)["banks"]) == BANKS_MAX
    size = len(
        json.dumps(json.dumps(json.loads(event.data), ensure_ascii=False), ensure_ascii=False).encode()
    )
    assert 150_000 < size < MESSAGE_BYTES_MAX


def _a_bank(store: Store, owner: int) -> int:
    return build.row(store, tables.bank, organizer_id=owner, name="One More", status="active")
