"""Erasing an account: no trace of the person remains, the results do. Source: reliability 6, Privacy."""

import json
from datetime import timedelta

import msgspec
import pytest
from sqlalchemy import select, text, update

import build
from service.accounts.erased_world import CANARIES, a_world, everything, traces
from service.desk import a_desk
from silverball.kit.errors import Conflict, NotFound
from silverball.service.accounts import erasing
from silverball.service.accounts.writes import accounts as writes
from silverball.service.journal.reads import verification
from silverball.service.users import writes as user_writes
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.people.names import SEARCHED
from silverball.store.tournament import announcements


def switch_off(store: Store, user_id: int) -> None:
    with store.write() as transaction:
        writes.erase_account(transaction, user_id)


def erase(store: Store, user_id: int) -> None:
    switch_off(store, user_id)
    erasing.finish_changes(store)


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_nothing_in_the_indexes_of_names_is_left_of_the_name(store: Store) -> None:
    """FTS5 keeps entries that are deleted until it merges its parts."""
    world = a_world(store)
    switch_off(store, world.user_id)
    assert b"zta" in _indexed_parts(store)
    erasing.finish_changes(store)
    assert b"zta" not in _indexed_parts(store)


def _indexed_parts(store: Store) -> bytes:
    blocks = [f"SELECT block FROM {searched.index}_data" for searched in SEARCHED.values()]
    with store.read() as db:
        return b"".join(db.execute(text(" UNION ALL ".join(blocks))).scalars())


def test_nothing_in_the_database_names_the_person(store: Store) -> None:
    world = a_world(store)
    assert len(traces(store)) > 30
    erase(store, world.user_id)
    assert traces(store) == set()


def test_the_answer_comes_when_no_note_has_the_name_any_more(store: Store) -> None:
    world = a_world(store)
    erasing.erase_account(store, world.user_id, build.NOW)
    assert traces(store) == set()


def a_reply(store: Store, user_id: int, key: str, reply: object) -> None:
    body = msgspec.json.encode(reply).decode()
    stored_reply = {"fingerprint": "f", "status": 200, "headers": {}, "at": build.NOW, "body": body}
    build.row(store, tables.idempotency, user_id=user_id, key=key, **stored_reply)


def replies(store: Store) -> dict[str, object]:
    with store.read() as db:
        rows = db.execute(select(tables.idempotency.c.key, tables.idempotency.c.body)).all()
    return {row.key: json.loads(row.body) for row in rows}


@pytest.mark.both_databases
def test_other_peoples_retries_still_act_once(store: Store) -> None:
    stranger = build.a_user(store, role="organizer")
    theirs: dict[str, object] = {
        "substring": {"data": {"name": "Edited by Fred", "status": "started"}},
        "namesake": {"data": {"playerId": 999, "name": "Ed"}},
        "address": {"to": "/run?q=Eddie"},
    }
    for key, reply in theirs.items():
        a_reply(store, stranger, key, reply)
    erase(store, build.a_user(store, name="Ed"))
    assert replies(store) == theirs


def test_a_retry_that_named_the_person_is_answered_with_the_pseudonym(store: Store) -> None:
    organizer_id, user_id = build.a_user(store, role="organizer"), build.a_user(store, name="Ed")
    player_id = build.a_player(store, organizer_id, name="Ed", claimed_by=user_id)
    others = {"playerId": 999, "name": "Ed", "ifpaId": 5}
    own = {"playerId": player_id, "name": "Ed", "ifpaId": 7, "status": "active", "claimedBy": user_id}
    a_reply(store, organizer_id, "added", {"data": [own, others]})
    a_reply(store, organizer_id, "search", {"to": "/run?q=Ed&page=2"})
    erase(store, user_id)
    shown = {"playerId": player_id, "name": f"Player {player_id}", "ifpaId": None, "status": "active"}
    assert replies(store) == {
        "added": {"data": [{**shown, "claimedBy": None}, others]},
        "search": {"to": "/run?page=2"},
    }


@pytest.mark.both_databases
def test_labels_leave_the_journal_and_the_tournament_still_verifies(store: Store) -> None:
    desk = a_desk(store)
    user_id = build.a_user(store)
    player_id, gone_id, other_id = (
        build.a_player(store, desk.night.organizer_id, claimed_by=claimed_by)
        for claimed_by in (user_id, user_id, None)
    )
    label = {"labels": ["canary-label"], "labelColor": "#aabbcc"}
    desk.ok("POST", "/players", {"playerId": player_id, **label})
    desk.ok("PATCH", f"/players/{player_id}", {"labels": ["canary-second"], "pointsAdjustment": 2})
    desk.ok("PATCH", f"/players/{player_id}", {"labels": ["canary-third"]})
    desk.undo()
    desk.ok("POST", "/players", {"playerId": gone_id, **label})
    desk.do("DELETE", f"/players/{gone_id}")
    desk.ok("POST", "/players", {"playerId": other_id, "labels": ["rookie"]})
    assert faults(store, desk.night.tournament_id) == []
    erase(store, user_id)
    stored = [(where, text) for where, text in everything(store) if where == "journal.data"]
    assert not any("canary" in text or "aabbcc" in text for _, text in stored)
    assert any("rookie" in text for _, text in stored)
    assert faults(store, desk.night.tournament_id) == []
    # What was done to the entry before can still be undone.
    desk.undo()
    assert faults(store, desk.night.tournament_id) == []


def faults(store: Store, tournament_id: int) -> list[str]:
    with store.read() as db:
        return list(verification.verify_tournament(db, tournament_id).faults)


@pytest.mark.both_databases
def test_a_retry_knows_of_the_erasing_before_its_reply_is_tidied(store: Store) -> None:
    organizer_id, user_id = build.a_user(store, role="organizer"), build.a_user(store, name="Ed")
    player_id = build.a_player(store, organizer_id, name="Ed", claimed_by=user_id)

    def change() -> object:
        path, body = f"/api/players/{player_id}", {"labels": ["new"]}
        status, reply, _ = build.do(store, "PATCH", path, body, by=organizer_id, key="once")
        assert status == 200
        return reply["data"]["name"]

    assert change() == "Ed"
    switch_off(store, user_id)
    assert change() == f"Player {player_id}"
    erasing.finish_changes(store)
    assert change() == f"Player {player_id}"


def test_results_stay_under_a_pseudonym(store: Store) -> None:
    world = a_world(store)
    erase(store, world.user_id)
    status, shown = build.ask(store, f"/api/tournaments/{world.night.tournament_id}?includePlayers=1", by=1)
    assert status == 200
    names = {player["playerId"]: (player["name"], player["claimedBy"]) for player in shown["data"]["players"]}
    assert names[world.player_id] == (f"Player {world.player_id}", None)
    _, games = build.ask(store, f"/api/tournaments/{world.night.tournament_id}/games", by=1)
    assert world.player_id in games["data"][0]["playerIds"]
    _, own = build.ask(store, f"/api/tournaments/{world.own.tournament_id}", by=1)
    assert own["data"]["organizer"]["name"] == f"Player {world.user_id}"


def test_followers_of_the_users_tournaments_read_everything_again(store: Store) -> None:
    world = a_world(store)
    with store.read() as db:
        before = announcements.channel_head(db, world.night.tournament_id)
    erase(store, world.user_id)
    with store.read() as db:
        after = announcements.channel_head(db, world.night.tournament_id)
        assert before is not None
        assert after is not None
        assert after.epoch != before.epoch
        events = announcements.load_since(db, world.night.tournament_id, after.epoch, 0, 100)
    assert [event.name for event in events] == ["TournamentUpdated", "PlayersChanged"]


@pytest.mark.both_databases
def test_book_entries_that_others_use_stay(store: Store) -> None:
    world = a_world(store)
    erase(store, world.user_id)
    with store.read() as db:
        own = select(tables.player.c.player_id).where(tables.player.c.organizer_id == world.user_id)
        assert list(db.execute(own.order_by("player_id")).scalars()) == world.own.player_ids
        arenas = select(tables.arena.c.arena_id).where(tables.arena.c.organizer_id == world.user_id)
        assert list(db.execute(arenas.order_by("arena_id")).scalars()) == world.own.arena_ids


@pytest.mark.both_databases
def test_submitted_results_stay_under_a_pseudonym(store: Store) -> None:
    world = a_world(store)
    erase(store, world.user_id)
    with store.read() as db:
        document = json.loads(db.execute(select(tables.submission_document.c.body)).scalar_one())
        columns = select(tables.submission_player.c.name, tables.submission_player.c.candidates)
        rows = db.execute(columns.order_by(tables.submission_player.c.place)).all()
    assert document["players"] == [{"id": 8, "name": "Player 1"}, {"id": 9, "name": "C. Quill"}]
    assert [tuple(row) for row in rows] == [
        ("Player 1", []),
        ("C. Quill", [{"user_id": world.night.organizer_id, "ifpa_id": None}]),
    ]


def test_nobody_is_ranked_behind_a_pseudonym(store: Store) -> None:
    world = a_world(store)
    erase(store, world.user_id)
    _, listed = build.ask(store, "/api/ratings", by=1)
    assert [(rating["name"], rating["rank"]) for rating in listed["data"]] == [("Bo Larkin", 1)]


@pytest.mark.both_databases
def test_days_with_games_of_the_user_are_rated_again(store: Store) -> None:
    world = a_world(store)
    at = {"tournament_id": world.night.tournament_id}
    with store.write() as transaction:
        own = tables.tournament.c.tournament_id == at["tournament_id"]
        done = {"status": "completed", "type": "matchplay", "completed_at": build.NOW - timedelta(days=30)}
        transaction.connection.execute(update(tables.tournament).where(own).values(**done))
    erase(store, world.user_id)
    with store.read() as db:
        columns = select(tables.rating_period.c.period_date, tables.rating_period.c.status)
        assert ("2026-02-03", "waiting") in [tuple(row) for row in db.execute(columns)]


@pytest.mark.both_databases
def test_a_rating_by_name_continues_under_the_pseudonym(store: Store) -> None:
    organizer_id, user_id = build.a_user(store), build.a_user(store, name="Zoe Nadir")
    player_id = build.a_player(store, organizer_id, name="Zoe N.", claimed_by=user_id)
    named = {"name": "Zoe N.", "name_folded": "zoe n.", "organizer_id": organizer_id, "name_key": "zoe n."}
    build.a_rating(store, **named)
    erase(store, user_id)
    with store.read() as db:
        row = db.execute(select(tables.rating.c.name, tables.rating.c.name_key)).one()
    assert tuple(row) == (f"Player {player_id}", f"player {player_id}")


@pytest.mark.both_databases
def test_other_people_are_left_alone(store: Store) -> None:
    world = a_world(store)
    other = build.a_user(store, name="Bo Larkin", email="bo@silverball.test", location="Malmö")
    player_id = build.a_player(store, world.night.organizer_id, name="Bo Larkin", claimed_by=other)
    before = [(where, text) for where, text in everything(store) if "Bo" in text or "Malm" in text]
    erase(store, world.user_id)
    assert [(where, text) for where, text in everything(store) if "Bo" in text or "Malm" in text] == before
    _, shown = build.ask(store, f"/api/players/resolve-unknown?players={player_id}", by=1)
    assert shown["data"][0]["claimedBy"] == other


@pytest.mark.parametrize("status", ["planned", "started"])
def test_an_account_with_a_tournament_that_is_not_over_is_kept(store: Store, status: str) -> None:
    user_id = build.a_user(store, role="organizer")
    build.a_tournament(store, organizer_id=user_id, status=status, name="Thursday Strikes")
    before = list(everything(store))
    with pytest.raises(Conflict, match="Thursday Strikes"):
        erase(store, user_id)
    assert list(everything(store)) == before


@pytest.mark.both_databases
def test_the_only_admin_who_can_sign_in_is_kept(store: Store) -> None:
    admin = build.a_user(store, role="admin", email="a@silverball.test", password_hash="x")
    build.a_user(store, role="admin", email="b@silverball.test")
    with pytest.raises(Conflict, match="only administrator"):
        erase(store, admin)
    with store.write() as transaction:
        transaction.connection.execute(
            update(tables.user).where(tables.user.c.user_id != admin).values(password_hash="y")
        )
    erase(store, admin)


def test_an_erased_account_cannot_sign_in_or_have_tokens(store: Store) -> None:
    world = a_world(store)
    erase(store, world.user_id)
    with store.write() as transaction, pytest.raises(Conflict):
        user_writes.set_password(transaction.connection, world.user_id, "hash")
    again = build.a_user(store, email=CANARIES["email"])
    assert again != world.user_id
    with pytest.raises(NotFound):
        erase(store, 999_999)
    # A second time there is nothing left to do.
    erase(store, world.user_id)
