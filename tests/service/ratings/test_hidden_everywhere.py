"""A hidden rating appears nowhere: all GET routes and all bulk files are searched for it."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

import build
from service.submissions import sent_documents
from silverball.exchange import nightly
from silverball.kit.http.endpoints import collect_endpoints
from silverball.service.core.access import AuthenticatedCaller
from silverball.slices import ROUTE_MODULES
from silverball.store import tables
from silverball.store.database.engine import Store

IFPA_ID = 104
RATING_ID = 918_273
# Unique values: the stored and the published rating, its bounds, and the id.
NUMBERS = {"rating": 1843.37, "rd": 23.19, "delta": 17.93, "lower_bound": 1796.99}
CANARIES = (str(RATING_ID), "1843", "1796.99", "17.93")
QUERIES = {
    "/api/arenas/resolve-unknown": "?arenas={arena_id}",
    "/api/players/resolve-unknown": "?players={player_id}",
    "/api/users/resolve-unknown": "?users={user_id}",
    "/api/tournaments/{tournament_id}/players/resolve-unknown": "?players={player_id}",
    "/api/tournaments/{tournament_id}/arenas/resolve-unknown": "?arenas={arena_id}",
    "/api/tournaments/{tournament_id}": "?includePlayers=1&includeScorekeepers=1",
    "/api/games": "?tournaments={tournament_id}",
    "/api/pintips": "?opdbId=G4ODR",
    "/api/search": "?query=canary&type=users",
    "/api/users/{user_id}": "?includeIfpa=1&includeCounts=1",
    "/api/ratings": "?userIds={user_id}&ifpaIds={ifpa_id}",
    "/api/ratings/ifpa": "?ifpaIds={ifpa_id}",
    "/api/ratings/search": "?query=canary",
    "/api/ratings/compare": "?userIds={user_id}&playerIds={opponent_id}",
}
MORE = (
    "/api/ratings",
    "/api/ratings/ifpa?ifpaIds={ifpa_id}&date={date}",
    "/api/ratings/compare?ifpaIds={ifpa_id}",
    "/api/ratings/compare?playerIds={player_id},{opponent_id}",
)


class RatedWorld:
    """A user with a rating by account and number, a tournament, and a submission."""

    def __init__(self, store: Store, *, is_hidden: bool) -> None:
        self.store = store
        self.user_id = build.a_user(store, name="Zxq Canary", ifpa_id=IFPA_ID, ratings_opt_out=is_hidden)
        owner = build.a_user(store, name="Olga Ramp", role="organizer")
        night = build.a_tournament(store, organizer_id=owner, status="completed")
        player_id, opponent_id = night.player_ids[:2]
        with store.write() as transaction:
            own = tables.player.c.player_id == player_id
            transaction.connection.execute(update(tables.player).where(own).values(claimed_by=self.user_id))
        game_id = build.a_game(store, night.tournament_id, night.player_ids[:2], status="completed")
        _rate(store, self.user_id, owner, rank=None if is_hidden else 1)
        # The document names the user by number.
        sent_documents.submit_document(store, owner, sent_documents.a_document())
        self.ids: dict[str, Any] = defaultdict(
            lambda: 1,
            tournament_id=night.tournament_id,
            game_id=game_id,
            player_id=player_id,
            opponent_id=opponent_id,
            arena_id=night.arena_ids[0],
            user_id=self.user_id,
            ifpa_id=IFPA_ID,
            rating_submission_id=1,
            type="users",
            date="2026-03-05",
            opdb_id="G4ODR",
        )

    def paths(self) -> Iterator[str]:
        reading = [
            endpoint
            for endpoint in collect_endpoints(*ROUTE_MODULES)
            if endpoint.method == "GET" and not endpoint.is_async
        ]
        for endpoint in reading:
            yield (endpoint.path + QUERIES.get(endpoint.path, "")).format_map(self.ids)
        for path in MORE:
            yield path.format_map(self.ids)

    def telling(self, by: AuthenticatedCaller | None) -> set[str]:
        """Paths of answers that hold a canary."""
        found = set()
        for path in self.paths():
            status, body = build.ask(self.store, path, by=by, public_read=True)
            assert status < 500, path
            if any(canary in str(body) for canary in CANARIES):
                found.add(path)
        return found


def _rate(store: Store, user_id: int, owner: int, *, rank: int | None) -> None:
    """The user's rating, and that of "Player 2" in the organizer's book, who lost to the user."""
    known = {"organizer_id": owner, "name_key": "player 2", "name": "Player 2", "name_folded": "player 2"}
    other = build.a_rating(store, **known)
    holder = {"user_id": user_id, "ifpa_id": IFPA_ID, "name": "Zxq Canary", "name_folded": "zxq canary"}
    build.row(store, tables.rating, rating_id=RATING_ID, **holder, **NUMBERS, rank=rank)
    numbers = {name: NUMBERS[name] for name in ("rating", "rd", "delta")}
    met = [other, 1, 0, 0]
    build.row(store, tables.rating_revision, rating_id=RATING_ID, meetings=met, **numbers)
    with store.write() as transaction:
        own = tables.rating_revision.c.rating_id == other
        transaction.connection.execute(
            update(tables.rating_revision).where(own).values(meetings=[RATING_ID, 0, 1, 0])
        )


def test_no_answer_reveals_a_hidden_rating(store: Store) -> None:
    world = RatedWorld(store, is_hidden=True)
    organizer = build.caller(build.a_user(store, role="organizer"), role="organizer", ability="manage")
    for by in (None, build.caller(build.a_user(store)), organizer):
        assert world.telling(by) == set()


@pytest.mark.both_databases
@pytest.mark.parametrize("who", ["anybody", "own_view", "admin"])
def test_the_same_answers_show_the_rating_to_permitted_viewers(store: Store, who: str) -> None:
    world = RatedWorld(store, is_hidden=who != "anybody")
    viewers = {
        "anybody": build.caller(build.a_user(store)),
        "own_view": build.caller(world.user_id, is_hidden=True),
        "admin": build.caller(build.a_user(store, role="admin"), role="admin", ability="admin"),
    }
    telling = world.telling(viewers[who])
    rated = {path for path in world.paths() if "/ratings" in path or "rating-history" in path}
    assert {path for path in rated if not path.endswith("chart.svg")} <= telling
    assert any(path.startswith("/api/users/") for path in telling)
    assert (f"{sent_documents.LIST}/1" in telling) is (who == "anybody")


def told_in_files(store: Store, folder: Path) -> set[str]:
    """Names of the bulk files that hold a canary."""
    written = [
        bulk_file
        for bulk_file in nightly.BULK_FILES
        if nightly.write_bulk_file(store, bulk_file, folder, build.NOW)
    ]
    texts = {bulk_file.name: (folder / bulk_file.name).read_text() for bulk_file in written}
    words = (*CANARIES, str(IFPA_ID), "Zxq Canary")
    return {name for name, text in texts.items() if any(word in text for word in words)}


def highest(store: Store) -> float:
    body = build.ask(store, "/api/ratings/compare", public_read=True)[1]
    return float(body["globalRatingRange"]["max"])


@pytest.mark.both_databases
def test_no_file_and_no_range_reveals_it_until_the_user_opts_in_again(store: Store, tmp_path: Path) -> None:
    world = RatedWorld(store, is_hidden=True)
    assert told_in_files(store, tmp_path) == set()
    assert highest(store) == 1599.74
    by = build.caller(world.user_id, ability="score")
    body = {"ratingsOptOut": False}
    assert build.do(store, "PATCH", "/api/users/profile", body, by=by)[0] == 200
    assert told_in_files(store, tmp_path) == {"latest-ratings.csv", "latest-rating-revisions.csv"}
    assert highest(store) == NUMBERS["rating"]
