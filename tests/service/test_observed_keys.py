"""Our answers have the keys of the observed ones. Source: tests/golden/samples."""

import json
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

import build
from golden.keys import keys_of
from golden.shapes import SHAPES, sample
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball_wire.generated.format_settings import FormatSettings
from silverball_wire.series import SeriesDetails

# Settings differ by format, and optional keys may be missing in one sample.
SETTINGS = set(FormatSettings.__struct_encode_fields__)
PRIZE_POOL = {
    "type": "standard",
    "private": False,
    "bounties": [],
    "currency": "$",
    "rounding": 1,
    "distributions": [
        {
            "title": "Prize pool",
            "percentage": 100,
            "pool": [{"extra": None, "adjustment": None, "percentage": 100}],
        }
    ],
    "fixedAddition": 0,
    "fixedReduction": 0,
    "perPlayerAddition": 5,
    "perPlayerReduction": 0,
}
CUTOFF = {"index": 0, "value": 3, "cumulative": 3, "text": "TOP 3", "color": "green"}


@dataclass(frozen=True)
class SampleObjects:
    """One object of each kind that the samples show."""

    store: Store
    user_id: int
    night: build.Night
    series_id: int
    occasion_id: int
    club_id: int


@pytest.fixture
def world(store: Store) -> SampleObjects:
    user_id = build.a_user(store, name="Olga Ramp", role="organizer")
    club_id = build.row(store, tables.club, user_id=user_id)
    location_id = build.row(store, tables.location, organizer_id=user_id)
    series_id = build.row(store, tables.series, organizer_id=user_id, playoffs_cutoffs=[CUTOFF])
    night = build.a_tournament(
        store,
        organizer_id=user_id,
        location_id=location_id,
        series_id=series_id,
        prize_pool=PRIZE_POOL,
        type="matchplay",
        settings={"scorekeeping": "user", "playoffsCutoffs": [CUTOFF]},
    )
    build.row(store, tables.tournament, organizer_id=user_id, prize_pool=PRIZE_POOL)
    first, second = night.player_ids[:2]
    build.a_game(store, night.tournament_id, [first, second], status="completed")
    occasion_id = build.row(store, tables.occasion, organizer_id=user_id, location_id=location_id)
    common = {"occasion_id": occasion_id, "user_id": user_id, "place": 0}
    build.row(
        store, tables.occasion_link, **common, label="Stream", url="http://x", is_registration=0, embed=0
    )
    build.a_rating(store, user_id=user_id, ifpa_id=38773)
    build.row(store, tables.occasion_tournament, **common, tournament_id=night.tournament_id)
    return SampleObjects(store, user_id, night, series_id, occasion_id, club_id)


PARTS = "&".join(
    f"include{part}=true"
    for part in ("Players", "Arenas", "Banks", "Scorekeepers", "Location", "LinkedTournaments", "Series")
)
# Sample -> the request for an answer of that kind.
REQUESTS = {
    "arenas-list": "/api/arenas",
    "clubs": "/api/clubs/{club}",
    "events": "/api/events/{occasion}",
    "events-list": "/api/events",
    "locations-list": "/api/locations",
    "resolve-arenas-scoped": "/api/tournaments/{tournament}/arenas/resolve-unknown?arenas={arenas}",
    "resolve-players-global": "/api/players/resolve-unknown?players={players}",
    "resolve-players-scoped": "/api/tournaments/{tournament}/players/resolve-unknown?players={players}",
    "resolve-users-global": "/api/users/resolve-unknown?users={user}",
    "search-users": "/api/search?type=users&query=olga",
    "series": "/api/series/{series}",
    "series-list": "/api/series",
    "series-stats": "/api/series/{series}/stats",
    "series-stats-attendance": "/api/series/{series}/stats/attendance?count=1",
    "tournament-series-expansions": "/api/tournaments/{tournament}?" + PARTS,
    "tournaments-played": "/api/tournaments?limit=5",
    "user": "/api/users/{user}?includeCounts=1",
    "ratings-by-user": "/api/ratings/users/{user}",
    "ifpa-rating-history": "/api/ifpa/38773/rating-history?limit=1",
}


def request(world: SampleObjects, name: str) -> str:
    return REQUESTS[name].format(
        club=world.club_id,
        occasion=world.occasion_id,
        series=world.series_id,
        tournament=world.night.tournament_id,
        user=world.user_id,
        players=",".join(map(str, world.night.player_ids)),
        arenas=",".join(map(str, world.night.arena_ids)),
    )


# Keys that a sample cannot show or our objects do not have.
OURS_ONLY = {
    "tournaments-played": {"meta.last_page", "meta.total"},
    "user": {"userCounts.ratingPeriodCount", "rating.rank"},
    "ratings-by-user": {"rating.rank"},
}


def compared(name: str, value: Any) -> set[str]:
    """The keys that depend neither on the format nor on the organizer's input."""
    return {
        key
        for key in keys_of(value)
        if not any(part.removesuffix("[]") in SETTINGS for part in key.split("."))
        # Arenas of a tournament have a sample of their own; this one has none.
        and not (name == "tournament-series-expansions" and key.startswith("data.arenas[]."))
        and not (name.startswith(("events", "tournaments-played")) and ".prizePool." in key)
    }


@pytest.mark.parametrize("name", sorted(REQUESTS))
def test_an_answer_has_the_keys_of_its_sample(world: SampleObjects, name: str) -> None:
    status, body = build.ask(world.store, request(world, name), by=world.user_id)
    assert status == 200, body
    observed = json.loads(sample(name))
    if name == "ratings-by-user":
        # Our objects have no records of the federation.
        observed["ifpaInfo"] = None
    assert compared(name, body) - OURS_ONLY.get(name, set()) == compared(name, observed)


@pytest.mark.parametrize("name", sorted(REQUESTS))
def test_an_answer_is_of_the_published_shape(world: SampleObjects, name: str) -> None:
    _, body = build.ask(world.store, request(world, name), by=world.user_id)
    assert msgspec.json.decode(json.dumps(body), type=SHAPES[name], strict=True)


@pytest.mark.both_databases
def test_details_of_a_series_are_of_the_published_shape(world: SampleObjects) -> None:
    path = f"/api/series/{world.series_id}?includeDetails=1"
    _, body = build.ask(world.store, path, by=world.user_id)
    details = msgspec.json.decode(json.dumps(body["data"]), type=SeriesDetails, strict=True)
    assert json.loads(msgspec.json.encode(details)) == body["data"]
