"""The events that each change announces, in order. Every request here is also mirrored (see `mirror.py`).

The table is that of the feed's design: deletions, then additions and changes, queues last, and a
completion after all events that led to it.
"""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

import build
from mirror import ANEW
from service.desk import Desk, a_desk
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.tournament import announcements

GAME = "GameCreatedOrUpdated"
ROUND = "RoundCreatedOrUpdated"
SINGLE = "SinglePlayerGameCreatedOrUpdated"


def _event_names(desk: Desk, since: int) -> list[str]:
    return [event.name for event in desk.mirror.seen[since:]]


def _announced_by(desk: Desk, method: str, path: str, body: Any = None, **options: Any) -> list[str]:
    """The names of the events that a successful request announces."""
    since = len(desk.mirror.seen)
    desk.ok(method, path, body, **options)
    return _event_names(desk, since)


def _event_data(desk: Desk, index: int = -1) -> Any:
    return msgspec.json.decode(desk.mirror.seen[index].data)


def _status(store: Store, method: str, path: str, body: Any = None, *, by: Any) -> int:
    return build.do(store, method, path, body, by=by)[0]


def test_the_start_announces_the_tournament_then_all_players_as_their_seeds_are_fixed(store: Store) -> None:
    desk = a_desk(store, starts=False)
    assert _announced_by(desk, "POST", "/start")[:2] == ["TournamentUpdated", "PlayersChanged"]
    assert _event_data(desk)["playerIds"] == desk.night.player_ids


def test_a_schedule_made_at_the_start_follows_the_players(store: Store) -> None:
    desk = a_desk(store, "round_robin", starts=False)
    first, second, *schedule = _announced_by(desk, "POST", "/start")
    assert [first, second] == ["TournamentUpdated", "PlayersChanged"]
    assert schedule in ([*[ROUND] * 3, *[GAME] * 6], [ROUND, GAME, GAME] * 3)


def test_a_round_is_announced_before_its_games(store: Store) -> None:
    desk = a_desk(store)
    assert _announced_by(desk, "POST", "/rounds", {}) == [ROUND, GAME, GAME]


def test_a_bye_is_announced_as_a_game(store: Store) -> None:
    desk = a_desk(store, players=5)
    assert _announced_by(desk, "POST", "/rounds", {}) == [ROUND, GAME, GAME, GAME]


def test_a_result_announces_its_game(store: Store) -> None:
    desk = a_desk(store)
    game = desk.open_round()[0]
    assert _announced_by(desk, "PUT", f"/games/{game['gameId']}/result", _order(game)) == [GAME]


def test_opening_a_round_first_announces_the_completion_of_the_one_before(store: Store) -> None:
    desk = a_desk(store)
    for game in desk.open_round():
        desk.ok("PUT", f"/games/{game['gameId']}/result", _order(game))
    assert _announced_by(desk, "POST", "/rounds", {}) == [ROUND, ROUND, GAME, GAME]
    assert [_event_data(desk, -4)["status"], _event_data(desk, -3)["status"]] == ["completed", "started"]


def test_the_games_of_a_deleted_round_are_announced_before_the_round(store: Store) -> None:
    desk = a_desk(store)
    game = desk.open_round()[0]
    announced = _announced_by(desk, "DELETE", f"/rounds/{game['roundId']}")
    assert announced == ["GamesDeleted", "RoundsDeleted"]
    assert _event_data(desk) == {"tournamentId": desk.night.tournament_id, "roundIds": [game["roundId"]]}


def test_undo_announces_the_opposite_changes_and_restored_games_keep_their_ids(store: Store) -> None:
    desk = a_desk(store)
    games = desk.open_round()
    desk.ok("DELETE", f"/rounds/{games[0]['roundId']}")
    since = len(desk.mirror.seen)
    desk.undo()
    assert sorted(_event_names(desk, since)) == [GAME, GAME, ROUND]
    assert set(desk.mirror.known["games"]) == {game["gameId"] for game in games}


def test_a_completion_announces_the_tournament_last(store: Store) -> None:
    desk = a_desk(store)
    desk.open_round()
    announced = _announced_by(desk, "POST", "/complete")
    assert announced == ["GamesDeleted", "RoundsDeleted", "TournamentUpdated"]
    assert _event_data(desk)["status"] == "completed"
    assert _announced_by(desk, "POST", "/reopen") == ["TournamentUpdated"]


@pytest.mark.parametrize(
    ("method", "path", "body", "announced"),
    [
        ("PATCH", "", {"name": "Friday Strikes"}, ["TournamentUpdated"]),
        ("PATCH", "", {"motdText": "Pizza is here"}, ["TournamentUpdated"]),
        ("PATCH", "", {"rsvpConfiguration": None}, []),
        ("PATCH", "/players/{player}", {"pointsAdjustment": 1}, ["PlayersChanged"]),
        ("PATCH", "/players/{player}", {"status": "inactive"}, ["PlayersChanged"]),
        ("POST", "/players", {"name": "Late Lena"}, ["PlayersAdded"]),
        ("PATCH", "/arenas/{arena}", {"status": "inactive"}, ["ArenasChanged"]),
        ("PATCH", "/arenas/{arena}", {"labels": ["loud"]}, ["ArenasChanged"]),
        ("DELETE", "/scorekeepers/{keeper}", None, ["TournamentUpdated"]),
    ],
)
def test_a_request_announces_these_events(
    store: Store, method: str, path: str, body: Any, announced: list[str]
) -> None:
    desk = a_desk(store)
    filled = path.format(
        player=desk.night.player_ids[1],
        arena=desk.night.arena_ids[0],
        keeper=desk.callers["keeper"].user_id,
    )
    assert _announced_by(desk, method, filled, body) == announced


def test_a_suggestion_announces_its_game(store: Store) -> None:
    desk = a_desk(store, suggestions="restricted")
    game = next(game for game in desk.open_round() if desk.night.player_ids[0] in game["playerIds"])
    body = {"resultPositions": game["playerIds"]}
    assert _announced_by(desk, "POST", f"/games/{game['gameId']}/suggestions", body, by="player") == [GAME]
    assert len(_event_data(desk)["suggestions"]) == 1


def test_a_score_announces_every_game_that_it_moves_down(store: Store) -> None:
    desk = a_desk(store, "best_game", suggestions="disabled")
    arena_id = desk.night.arena_ids[0]
    for place, player_id in enumerate(desk.night.player_ids[:3]):
        body = {"playerId": player_id, "arenaId": arena_id, "score": 1000 * (3 - place)}
        desk.ok("POST", "/single-player-games", body)
    best = {"playerId": desk.night.player_ids[3], "arenaId": arena_id, "score": 9_000_000}
    assert _announced_by(desk, "POST", "/single-player-games", best) == [SINGLE] * 4


def test_a_queue_of_more_than_a_hundred_is_announced_without_its_spots(store: Store) -> None:
    desk = a_desk(store, "best_game", players=102, suggestions="disabled", useQueues=True)
    arena_id = desk.night.arena_ids[0]
    waiting = desk.night.player_ids[:99]
    for place, player_id in enumerate(waiting):
        spot = {"arena_id": arena_id, "player_id": player_id, "queue_index": place}
        build.row(store, tables.queue_entry, tournament_id=desk.night.tournament_id, **spot)
    payloads = []
    for player_id in desk.night.player_ids[99:]:
        joined = {"playerId": player_id, "arenaId": arena_id}
        assert _announced_by(desk, "POST", "/queues", joined) == ["QueueChanged"]
        payloads.append(_event_data(desk))
    assert [len(payload.get("queues", ())) for payload in payloads] == [100, 0, 0]
    ids_only = {"tournamentId": desk.night.tournament_id, "arenaId": arena_id, "roundId": None}
    assert payloads[-1] == ids_only
    # The mirror fetched the queues, as the feed's description of such an event demands.
    assert len(desk.mirror.known["queue"]) == 102


def test_a_changed_player_of_the_book_is_announced_in_every_tournament_that_is_not_completed(
    store: Store,
) -> None:
    desk = a_desk(store)
    owner, player_id = desk.callers["owner"], desk.night.player_ids[2]
    over = build.a_tournament(store, organizer_id=owner.user_id, players=0, arenas=0, status="completed")
    build.row(store, tables.entrant, tournament_id=over.tournament_id, player_id=player_id)
    assert _status(store, "PATCH", f"/api/players/{player_id}", {"name": "Renamed Rex"}, by=owner) == 200
    assert desk.mirror.follow() == ["PlayersChanged"]
    assert _event_data(desk)["playerIds"] == [player_id]
    with store.read() as db:
        head = announcements.channel_head(db, over.tournament_id)
    assert head is not None
    assert head.seq == 0


def test_a_changed_arena_of_the_book_is_announced_where_it_is_in_the_lineup(store: Store) -> None:
    desk = a_desk(store)
    arena_id = desk.night.arena_ids[1]
    by = desk.callers["owner"]
    assert _status(store, "PATCH", f"/api/arenas/{arena_id}", {"name": "Meteor"}, by=by) == 200
    assert desk.mirror.follow() == ["ArenasChanged"]


@pytest.mark.both_databases
def test_a_changed_location_or_series_announces_the_tournament(store: Store) -> None:
    desk = a_desk(store)
    by = desk.callers["owner"]
    location_id = build.row(
        store, tables.location, organizer_id=by.user_id, name="The Drain", status="active"
    )
    series_id = build.row(store, tables.series, **{**build.DEFAULTS["series"], "organizer_id": by.user_id})
    assert _announced_by(desk, "PATCH", "", {"locationId": location_id, "seriesId": series_id}) == [
        "TournamentUpdated"
    ]
    for path in (f"/api/locations/{location_id}", f"/api/series/{series_id}"):
        assert _status(store, "PATCH", path, {"name": "New Name"}, by=by) == 200
        assert desk.mirror.follow() == ["TournamentUpdated"]


def test_a_renamed_organizer_announces_their_tournaments(store: Store) -> None:
    desk = a_desk(store)
    by = desk.callers["owner"]
    assert _status(store, "PATCH", "/api/users/profile", {"name": "Olga Orbit"}, by=by) == 200
    assert desk.mirror.follow() == ["TournamentUpdated"]


def test_an_opt_out_deletes_the_announcements_of_the_user(store: Store) -> None:
    desk = a_desk(store)
    before = desk.mirror.epoch
    by = desk.callers["player"]
    assert _status(store, "PATCH", "/api/users/profile", {"profileOptOut": True}, by=by) == 200
    with store.read() as db:
        head = announcements.channel_head(db, desk.night.tournament_id)
        assert announcements.load_since(db, desk.night.tournament_id, before, 0, 100) == []
    assert head is not None
    assert head.epoch != before
    # A follower has to read everything again, and is up to date from then on.
    assert desk.mirror.follow() == [ANEW]
    assert _announced_by(desk, "PATCH", "", {"name": "After"}) == ["TournamentUpdated"]


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("method", "path", "body", "announced"),
    [
        ("POST", "/start", None, ["TournamentUpdated"]),
        ("PATCH", "", {"name": "Friday Finals"}, ["TournamentUpdated"]),
        # What the linked one is worth.
        ("PATCH", "", {"arenaAssignment": "random"}, ["TournamentUpdated"]),
        ("PATCH", "/players/{player}", {"status": "inactive"}, ["TournamentUpdated"]),
        ("PATCH", "", {"motdText": "Pizza is here"}, []),
        ("PATCH", "/players/{player}", {"pointsAdjustment": 1}, []),
    ],
)
def test_a_linked_tournament_announces_the_linking_one_when_it_shows_otherwise(
    store: Store, method: str, path: str, body: Any, announced: list[str]
) -> None:
    desk = a_desk(store)
    other = a_desk(store, starts=False)
    links = {"links": [{"tournamentId": other.night.tournament_id, "linkType": "playoff"}]}
    owner = desk.callers["owner"]
    with store.write() as transaction:
        is_other = tables.tournament.c.tournament_id == other.night.tournament_id
        transaction.connection.execute(
            tables.tournament.update().where(is_other).values(organizer_id=owner.user_id)
        )
    assert _announced_by(desk, "PATCH", "", links) == ["TournamentUpdated"]
    own_path = path.replace("{player}", str(other.night.player_ids[0]))
    status = _status(store, method, f"/api/tournaments/{other.night.tournament_id}{own_path}", body, by=owner)
    assert status == 200
    assert desk.mirror.follow() == announced


def test_a_refused_request_announces_nothing(store: Store) -> None:
    desk = a_desk(store)
    desk.expect_refusal(422, "PATCH", "", {"name": ""})
    assert desk.mirror.follow() == []


def test_a_running_tournament_keeps_announcements_of_a_day_and_the_newest_ten_thousand(store: Store) -> None:
    tournament_id = build.a_tournament(store).tournament_id
    old, young = build.NOW, build.NOW + timedelta(hours=30)
    with store.write(tournament_id) as transaction:
        db = transaction.connection
        announcements.append(transaction, tournament_id, [("TournamentUpdated", "{}")] * 12_000, old)
        announcements.append(transaction, tournament_id, [("TournamentUpdated", "{}")] * 9_000, young)
        # Of the 12,000 old ones 1,000 are among the newest 10,000.
        assert announcements.trimmable_tournaments(db, young) == [tournament_id]
        slices = [announcements.trim_slice(db, tournament_id, young) for _ in range(7)]
        assert slices == [2_000] * 5 + [1_000, 0]
        head = announcements.channel_head(db, tournament_id)
        assert head is not None
        assert (head.seq, head.low) == (21_000, 11_000)
        (oldest,) = announcements.load_since(db, tournament_id, head.epoch, 11_000, 1)
        assert oldest.seq == 11_001


@pytest.mark.both_databases
def test_a_tournament_keeps_no_announcements_a_week_after_its_completion(store: Store) -> None:
    completed_at = build.NOW
    night = build.a_tournament(store, status="completed", completed_at=completed_at)
    with store.write(night.tournament_id) as transaction:
        announcements.append(
            transaction, night.tournament_id, [("TournamentUpdated", "{}")] * 3, completed_at
        )
        for days, left in ((6, 3), (7, 0)):
            now = completed_at + timedelta(days=days)
            announcements.trim_slice(transaction.connection, night.tournament_id, now)
            assert (
                len(announcements.load_since(transaction.connection, night.tournament_id, "k3f9", 0, 10))
                == left
            )
        assert (
            announcements.trimmable_tournaments(transaction.connection, completed_at + timedelta(days=8))
            == []
        )


def _order(game: Any) -> Any:
    return {"resultPositions": game["playerIds"]}
