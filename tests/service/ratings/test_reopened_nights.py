"""Corrections of a completed night keep its day; what is played since may move it. Source: ratings.md A.3."""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

import build
from exchange import bundles
from service.desk import Desk, a_desk
from silverball.rules.ratings.formulas import DEFAULTS
from silverball.service.journal.reads import verification
from silverball.service.periods import rating_run
from silverball.service.tournaments import writes as tournaments_writes
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.tournament import announcements

DAY = timedelta(days=1)
EVENING = datetime(2026, 3, 5, 19, tzinfo=UTC)
CLOSED = EVENING + timedelta(hours=2)
# The days after the night on which somebody comes back to it.
LATER = (1, 6, 8, 400)


@dataclass
class RatedNight:
    """A night of 5 March with one round of two games, completed and rated."""

    store: Store
    desk: Desk
    games: list[dict[str, Any]] = field(default_factory=list)

    def do(self, method: str, path: str, body: Any = None, *, at: datetime) -> Any:
        return self.desk.ok(method, path, body, now=at)

    def play_round(self, at: datetime) -> list[dict[str, Any]]:
        """Open a round and let the first player of each game win, half an hour later."""
        games: list[dict[str, Any]] = self.do("POST", "/rounds", {}, at=at)["games"]
        for game in games:
            self.record(game, game["playerIds"], at=at + timedelta(minutes=30))
        return games

    def record(self, game: dict[str, Any], order: list[int], *, at: datetime) -> None:
        self.do("PUT", f"/games/{game['gameId']}/result", {"resultPositions": order}, at=at)

    def complete(self, at: datetime) -> Any:
        return self.do("POST", "/complete", at=at)["data"]

    def reopen(self, at: datetime) -> Any:
        return self.do("POST", "/reopen", at=at)["data"]

    def correct(self, at: datetime) -> None:
        """Let the other player win the first game."""
        game = self.games[0]
        body = {"resultPositions": game["playerIds"][::-1], "correction": {"reason": "Misread."}}
        self.do("PUT", f"/games/{game['gameId']}/result", body, at=at)

    def rate(self, until: datetime) -> None:
        rating_run.rate_days(self.store, until.date(), DEFAULTS, until)

    @property
    def completed_at(self) -> datetime:
        own = tables.tournament.c
        with self.store.read() as db:
            rows = select(own.completed_at).where(own.tournament_id == self.desk.night.tournament_id)
            found: datetime = db.execute(rows).scalar_one()
        return found

    def rated_days(self) -> dict[str, int]:
        """Day -> number of results, of the days that have any."""
        own = tables.rating_period.c
        with self.store.read() as db:
            rows = select(own.period_date, own.result_count).where(own.result_count > 0)
            return {row.period_date: row.result_count for row in db.execute(rows)}

    def ratings(self) -> dict[str, float]:
        """Name -> rating, of those who have one."""
        own = tables.rating.c
        with self.store.read() as db:
            rows = select(own.name, own.rating).where(own.last_period.is_not(None))
            return {row.name: row.rating for row in db.execute(rows)}

    def assert_proven(self) -> None:
        with self.store.read() as db:
            assert verification.verify_tournament(db, self.desk.night.tournament_id).faults == []


def a_night(store: Store, **settings: Any) -> RatedNight:
    """A night that has begun, with the results of its first round."""
    night = RatedNight(store, a_desk(store, starts=False, **settings))
    night.do("POST", "/start", at=EVENING)
    night.games = night.play_round(EVENING)
    return night


def a_rated_night(store: Store) -> RatedNight:
    night = a_night(store)
    night.complete(CLOSED)
    night.rate(EVENING + 7 * DAY)
    assert night.rated_days() == {"2026-03-05": 2}
    return night


def opened(store: Store, tournament_id: int, made: RatedNight) -> RatedNight:
    """Another night of the same organizer."""
    night = build.Night(tournament_id, made.desk.night.organizer_id, [], [])
    return RatedNight(store, Desk(store, night, made.desk.callers))


def idle_close(night: RatedNight, at: datetime) -> None:
    with night.store.write() as transaction:
        closed = tournaments_writes.complete_if_idle(transaction, night.desk.night.tournament_id, "job", at)
    assert closed


@pytest.mark.both_databases
@pytest.mark.parametrize("closed_by", ["hand", "clock"])
@pytest.mark.parametrize("days", LATER)
def test_a_correction_keeps_the_day_of_the_night(store: Store, days: int, closed_by: str) -> None:
    night, back = a_rated_night(store), EVENING + days * DAY
    before = night.ratings()
    assert "completedAt" in night.reopen(back)
    night.correct(back + timedelta(minutes=1))
    if closed_by == "hand":
        night.complete(back + timedelta(minutes=2))
    else:
        idle_close(night, back + 3 * DAY)
    assert night.completed_at == CLOSED
    night.rate(EVENING + 20 * DAY)
    after = night.ratings()
    assert night.rated_days() == {"2026-03-05": 2}
    assert after.keys() == before.keys()
    assert sorted(after.values()) == pytest.approx(sorted(before.values()))
    assert after != before
    night.assert_proven()


@pytest.mark.both_databases
@pytest.mark.parametrize("days", LATER)
def test_a_running_bundle_over_a_completed_night_keeps_its_day(store: Store, days: int) -> None:
    made = a_night(store)
    running = bundles.export_bundle(store, made.desk.night.tournament_id)
    made.complete(CLOSED)
    file = bundles.export_bundle(store, made.desk.night.tournament_id)
    own = {"source": "there", "owner_id": made.desk.night.organizer_id}
    imported = bundles.import_bundle(store, file, new_ids=True, **own).tournament_id
    bundles.import_bundle(store, running, **own)
    night, back = opened(store, imported, made), EVENING + days * DAY
    night.complete(back)
    assert night.completed_at == CLOSED
    night.assert_proven()


def test_a_bundle_of_a_reopened_night_carries_its_day(store: Store) -> None:
    night, back = a_rated_night(store), EVENING + 30 * DAY
    night.reopen(back)
    file = bundles.export_bundle(store, night.desk.night.tournament_id)
    owner_id = night.desk.night.organizer_id
    imported = bundles.import_bundle(store, file, new_ids=True, owner_id=owner_id).tournament_id
    assert bundles.export_bundle(store, imported)["tournament"]["ratedUntil"] == "2026-03-12T19:00:00.000000Z"
    there = opened(store, imported, night)
    there.complete(back + DAY)
    assert there.completed_at == CLOSED


@pytest.mark.parametrize("closed_by", ["clock", "import"])
def test_a_night_keeps_the_day_on_which_clock_or_import_completed_it(store: Store, closed_by: str) -> None:
    night = a_night(store)
    if closed_by == "clock":
        idle_close(night, EVENING + 3 * DAY)
    else:
        night.complete(CLOSED)
        file = bundles.export_bundle(store, night.desk.night.tournament_id)
        owner_id = night.desk.night.organizer_id
        imported = bundles.import_bundle(store, file, new_ids=True, owner_id=owner_id)
        night = opened(store, imported.tournament_id, night)
    first = night.completed_at
    assert first.date() == date(2026, 3, 5)
    night.reopen(EVENING + 30 * DAY)
    night.complete(EVENING + 31 * DAY)
    assert night.completed_at == first


@pytest.mark.both_databases
@pytest.mark.parametrize("days", [1, 6])
def test_what_is_played_within_a_week_moves_the_day(store: Store, days: int) -> None:
    night, back = a_rated_night(store), EVENING + days * DAY
    night.reopen(back)
    night.play_round(back)
    night.complete(back + timedelta(hours=5))
    last_play = back + timedelta(minutes=30)
    assert night.completed_at == last_play
    night.rate(back + 10 * DAY)
    assert night.rated_days() == {last_play.date().isoformat(): 4}
    # A later correction moves nothing.
    night.reopen(back + 30 * DAY)
    night.correct(back + 30 * DAY)
    night.complete(back + 30 * DAY)
    assert night.completed_at == last_play
    night.rate(back + 40 * DAY)
    assert night.rated_days() == {last_play.date().isoformat(): 4}
    night.assert_proven()


@pytest.mark.both_databases
@pytest.mark.parametrize("days", [8, 400])
def test_what_is_played_after_a_week_is_not_rated_and_takes_nothing_away(store: Store, days: int) -> None:
    night, back = a_rated_night(store), EVENING + days * DAY
    before = night.ratings()
    assert night.reopen(back)["ratedUntil"] == "2026-03-12T19:00:00.000000Z"
    (newest, *_) = night.desk.ok("GET", "/journal")["data"]
    told = "The tournament was reopened. Games that are played after 2026-03-12 19:00 UTC are not rated."
    assert told in [line["text"] for line in newest["changes"]]
    night.play_round(back)
    night.complete(back + timedelta(hours=1))
    assert night.completed_at == CLOSED
    night.rate(back + 10 * DAY)
    assert night.rated_days() == {"2026-03-05": 2}
    assert night.ratings() == before
    # Nor by reopening it once more, when the late games are old results.
    night.reopen(back + 20 * DAY)
    night.complete(back + 20 * DAY)
    night.rate(back + 30 * DAY)
    assert (night.completed_at, night.rated_days(), night.ratings()) == (CLOSED, {"2026-03-05": 2}, before)
    night.assert_proven()


def test_a_play_that_would_make_the_night_too_long_is_not_rated(store: Store) -> None:
    night = a_night(store)
    night.play_round(EVENING + 5 * DAY)
    night.complete(EVENING + 5 * DAY + timedelta(hours=1))
    night.rate(EVENING + 12 * DAY)
    assert night.rated_days() == {"2026-03-10": 4}
    back = EVENING + 8 * DAY
    assert night.reopen(back)["ratedUntil"] == "2026-03-12T19:00:00.000000Z"
    night.play_round(back)
    night.complete(back + timedelta(hours=1))
    night.rate(EVENING + 20 * DAY)
    assert night.rated_days() == {"2026-03-10": 4}


def cleared_and_entered(night: RatedNight, at: datetime) -> None:
    game = night.games[0]
    night.do("DELETE", f"/games/{game['gameId']}/result", at=at)
    night.record(game, game["playerIds"][::-1], at=at)


def undone_and_entered(night: RatedNight, at: datetime) -> None:
    night.correct(at)
    night.desk.undo()
    night.correct(at)


def tied_and_separated(night: RatedNight, at: datetime) -> None:
    winners = [game["playerIds"][0] for game in night.games]
    (game,) = night.do("POST", "/tiebreaks", {"playerIds": winners}, at=at)["data"]
    night.record(game, winners, at=at)


def forfeited(night: RatedNight, at: datetime) -> None:
    games = night.do("POST", "/rounds", {}, at=at)["games"]
    for game in games:
        absent = {"forfeit": game["playerIds"][0]}
        night.do("PUT", f"/games/{game['gameId']}/result", absent, at=at)


@pytest.mark.parametrize(
    "happening", [cleared_and_entered, undone_and_entered, tied_and_separated, forfeited]
)
@pytest.mark.parametrize("days", [2, 30])
def test_what_is_no_play_moves_no_day(store: Store, happening: Any, days: int) -> None:
    night, back = a_rated_night(store), EVENING + days * DAY
    night.reopen(back)
    happening(night, back)
    night.complete(back + timedelta(hours=1))
    assert night.completed_at == CLOSED
    night.rate(back + 10 * DAY)
    assert list(night.rated_days()) == ["2026-03-05"]
    assert night.rated_days()["2026-03-05"] >= 2


@pytest.mark.both_databases
@pytest.mark.parametrize("kind", ["announced early", "closed late"])
def test_a_night_lasts_from_its_first_game_to_its_last(store: Store, kind: str) -> None:
    night = a_night(store)
    if kind == "announced early":
        own = tables.tournament.c.tournament_id == night.desk.night.tournament_id
        with store.write() as transaction:
            early = tables.tournament.update().where(own).values(start_utc=EVENING - 30 * DAY)
            transaction.connection.execute(early)
    closed = CLOSED if kind == "announced early" else CLOSED + 10 * DAY
    night.complete(closed)
    night.rate(closed + 7 * DAY)
    assert night.rated_days() == {closed.date().isoformat(): 2}


@pytest.mark.both_databases
def test_the_published_start_stands_in_for_games_whose_times_are_not_known(store: Store) -> None:
    night = a_night(store)
    night.complete(CLOSED)
    with store.write() as transaction:
        db, own = transaction.connection, night.desk.night.tournament_id
        early = tables.tournament.c.tournament_id == own, EVENING - 8 * DAY
        db.execute(tables.tournament.update().where(early[0]).values(start_utc=early[1]))
        games = tables.game.update().where(tables.game.c.tournament_id == own)
        db.execute(games.values(started_at=None, duration_seconds=None))
    night.rate(CLOSED + 7 * DAY)
    assert night.rated_days() == {}


def test_a_league_of_more_than_a_week_is_not_rated(store: Store) -> None:
    night = a_night(store)
    night.play_round(EVENING + 8 * DAY)
    night.complete(EVENING + 8 * DAY + timedelta(hours=1))
    night.rate(EVENING + 20 * DAY)
    assert night.rated_days() == {}


def test_the_feed_of_a_night_that_is_completed_again_can_be_replayed_for_a_week(store: Store) -> None:
    night, back = a_rated_night(store), EVENING + 400 * DAY
    night.reopen(back)
    night.complete(back)
    with store.read() as db:
        assert announcements.trimmable_tournaments(db, back + DAY) == []
        assert announcements.trimmable_tournaments(db, back + 8 * DAY) == [night.desk.night.tournament_id]


def test_the_day_is_the_night_s_in_every_list_by_day(store: Store) -> None:
    night, back = a_rated_night(store), EVENING + 8 * DAY
    night.reopen(back)
    assert night.desk.ok("GET", "")["data"]["completedAt"] is None
    night.correct(back)
    night.complete(back)
    night.rate(back + 10 * DAY)
    shown = build.ask(store, "/api/rating-periods/2026-03-05", by=1)[1]
    assert [each["tournamentId"] for each in shown["tournaments"]] == [night.desk.night.tournament_id]
    later = build.ask(store, f"/api/rating-periods/{date(2026, 3, 13)}", by=1)[1]
    assert later["tournaments"] == []


def start(night: RatedNight) -> RatedNight:
    night.do("POST", "/start", at=EVENING)
    return night


def test_a_match_that_was_not_played_to_its_end_is_play(store: Store) -> None:
    night = start(RatedNight(store, a_desk(store, "bracket", starts=False, gamesPerRound=3)))
    first, second = (game for game in night.desk.ok("GET", "/games")["data"] if game["status"] == "started")
    night.do("PUT", f"/games/{first['gameId']}/result", {"resultPositions": first["playerIds"]}, at=EVENING)
    half = {"games": {str(second["playerIds"][0]): 1, str(second["playerIds"][1]): 0}}
    night.do("PUT", f"/games/{second['gameId']}/result", half, at=EVENING)
    night.complete(CLOSED)
    back = EVENING + DAY
    night.reopen(back)
    (match,) = (game for game in night.desk.ok("GET", "/games")["data"] if game["status"] == "started")
    night.do("PUT", f"/games/{match['gameId']}/result", {"resultPositions": match["playerIds"]}, at=back)
    night.complete(back + timedelta(hours=1))
    assert night.completed_at == back
    night.assert_proven()


@pytest.mark.parametrize("voids", [False, True])
def test_an_entry_moves_the_day_of_a_best_game_unless_it_is_void(store: Store, voids: bool) -> None:
    night = start(RatedNight(store, a_desk(store, "best_game", starts=False)))
    player_id, arena_id = night.desk.night.player_ids[0], night.desk.night.arena_ids[0]
    entry = {"playerId": player_id, "arenaId": arena_id, "score": 1_000_000}
    old = night.do("POST", "/single-player-games", entry, at=EVENING)["data"]
    night.complete(CLOSED)
    back = EVENING + DAY
    night.reopen(back)
    path = f"/single-player-games/{old['singlePlayerGameId']}"
    night.do("PATCH", path, {"score": 2_000_000, "correction": {"reason": "Misread."}}, at=back)
    new = night.do("POST", "/single-player-games", entry, at=back)["data"]
    if voids:
        night.do("POST", f"/single-player-games/{new['singlePlayerGameId']}/void", at=back)
    night.complete(back + timedelta(hours=1))
    assert night.completed_at == (CLOSED if voids else back)
    night.assert_proven()


def a_pingolf_bracket(store: Store, *, left_out: int = 0) -> RatedNight:
    """A first round of two groups, completed and rated, with holes that were not played."""
    night = start(RatedNight(store, a_desk(store, "golf_bracket", starts=False, players=8)))
    night.do("POST", "/rounds", {}, at=EVENING)
    holes = pending_holes(night)
    for n, hole in enumerate(holes[: len(holes) - left_out]):
        play_hole(night, hole, 1 + n % 5, at=EVENING)
    night.complete(CLOSED)
    night.rate(EVENING + 7 * DAY)
    return night


def pending_holes(night: RatedNight) -> list[dict[str, Any]]:
    holes: list[dict[str, Any]] = night.desk.ok("GET", "/single-player-games?limit=100")["data"]
    return [hole for hole in holes if hole["status"] == "pending"]


def play_hole(night: RatedNight, hole: dict[str, Any], strokes: int, *, at: datetime) -> None:
    night.do("PATCH", f"/single-player-games/{hole['singlePlayerGameId']}", {"strokes": strokes}, at=at)


def test_a_pingolf_bracket_keeps_its_day(store: Store) -> None:
    night, back = a_pingolf_bracket(store), EVENING + 8 * DAY
    rated = night.rated_days()
    assert list(rated) == ["2026-03-05"]
    before = night.ratings()
    night.reopen(back)
    holes = night.desk.ok("GET", "/single-player-games?limit=100")["data"]
    play_hole(night, holes[0], 6, at=back)
    night.complete(back)
    assert night.completed_at == CLOSED
    night.rate(EVENING + 20 * DAY)
    assert night.rated_days() == rated
    assert night.ratings().keys() == before.keys()


def test_a_group_of_a_pingolf_bracket_that_ends_too_late_is_not_rated(store: Store) -> None:
    night, back = a_pingolf_bracket(store, left_out=1), EVENING + 8 * DAY
    rated, before = night.rated_days(), night.ratings()
    assert len(before) == 4
    night.reopen(back)
    (missing,) = pending_holes(night)
    play_hole(night, missing, 2, at=back)
    night.complete(back)
    night.rate(EVENING + 20 * DAY)
    assert (night.completed_at, night.rated_days(), night.ratings()) == (CLOSED, rated, before)
