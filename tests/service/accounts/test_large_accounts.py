"""An account in many tournaments changes at once, and a job does the rest in short transactions."""

import subprocess
import sys
from collections.abc import Sequence

import msgspec
import pytest
from sqlalchemy import insert, select

import build
from service.accounts.erased_world import ErasedWorld, a_world, everything, traces
from silverball.service.accounts import erasing
from silverball.service.accounts.writes import accounts, tournaments
from silverball.service.core import feed_events
from silverball.service.journal.reads import verification
from silverball.store import tables
from silverball.store.database.deadlines import COPIES
from silverball.store.database.engine import Store
from silverball.store.people import hidings, unfinished_changes
from silverball.store.revisions.known_revisions import KnownRevisions
from silverball.store.revisions.stamps import number_in
from silverball.store.tournament import announcements

OLD, NEW = "Quentin Oldname", "Quentin Newname"
TOURNAMENTS = 7
# Drawn anew in each database.
VOLATILE = (
    *("tournament.stamp", "world.", "tournament.epoch"),
    *("announcement.at", "announcement.digest", "announcement.epoch"),
)
# Does one slice after the other, each in a process that is killed in the middle of the next one.
KILLED_IN_EACH_SLICE = """
import os, signal, sys
from silverball.service.accounts.writes import tournaments as following
from silverball.store.database.engine import Store
from silverball.store.database.deadlines import COPIES

url, following.TOURNAMENTS_PER_SLICE, following.JOURNAL_LINES = sys.argv[1], 2, 5
following.BOOK_ROWS_PER_SLICE = 1
kills = 0
while True:
    process = os.fork()
    if not process:
        store = Store(url, limits=COPIES)
        with store.write() as transaction:
            is_busy = following.do_slice(transaction)
        if not is_busy:
            os._exit(0)
        with store.write() as transaction:
            following.do_slice(transaction)
            os.kill(os.getpid(), signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    if not os.WIFSIGNALED(status):
        print(kills)
        sys.exit(os.waitstatus_to_exitcode(status))
    kills += 1
"""


@pytest.fixture(autouse=True)
def _small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three tournaments are many here, and a slice has two."""
    monkeypatch.setattr(feed_events, "TOURNAMENTS_AT_ONCE", 3)
    monkeypatch.setattr(tournaments, "TOURNAMENTS_PER_SLICE", 2)


def a_regular(store: Store, **values: object) -> tuple[int, list[int]]:
    """An account that plays in seven running tournaments of as many organizers, and their ids."""
    user_id = build.a_user(store, name=OLD, role="organizer", **values)
    ids = []
    for number in range(TOURNAMENTS):
        night = build.a_tournament(store)
        player_id = build.a_player(store, night.organizer_id, name="Q. Oldname", claimed_by=user_id)
        at = {"tournament_id": night.tournament_id}
        labels = ["Oldname"] if number == 5 else []
        build.row(store, tables.entrant, **at, player_id=player_id, place=9, labels=labels)
        build.row(store, tables.scorekeeper, **at, user_id=user_id)
        ids.append(night.tournament_id)
    return user_id, ids


def revisions(store: Store, ids: Sequence[int]) -> list[int]:
    return [revision.number for _, revision in sorted(store.tournament_revisions(list(ids)).items())]


def do_slices(store: Store, number: int) -> None:
    """Do so many slices, as a server that is stopped after them."""
    for _ in range(number):
        with store.write() as transaction:
            assert tournaments.do_slice(transaction)


def is_unfinished(store: Store) -> bool:
    with store.read() as db:
        return bool(unfinished_changes.unfinished_changes(db))


def change_profile(store: Store, user_id: int, **fields: object) -> None:
    status, _, _ = build.do(store, "PATCH", "/api/users/profile", fields, by=user_id)
    assert status == 200


def switch_off(store: Store, user_id: int) -> None:
    """Erase an account that leaves more to do than its answer waits for."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(erasing, "FINISH_SECONDS_MAX", 0.0)
        erasing.erase_account(store, user_id, build.NOW)


def test_every_tournament_announces_the_change_later(store: Store) -> None:
    user_id, ids = a_regular(store)
    commits: list[int] = []
    before = revisions(store, ids)
    store.after_commit.append(lambda commit: commits.append(len(commit.tournament_revisions)))
    change_profile(store, user_id, name=NEW)
    assert commits == [0]
    assert revisions(store, ids) == before
    erasing.finish_changes(store)
    assert revisions(store, ids) == [revision + 1 for revision in before]
    # The change itself, the slices, and two times the end.
    assert commits == [0, 2, 2, 2, 1, 0, 0]
    assert not is_unfinished(store)
    with store.read() as db:
        for tournament_id in ids:
            head = announcements.channel_head(db, tournament_id)
            assert head is not None
            events = announcements.load_since(db, tournament_id, head.epoch, 0, 10)
            assert [event.name for event in events] == ["TournamentUpdated", "PlayersChanged"]


def test_a_few_tournaments_change_in_the_same_transaction(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_events, "TOURNAMENTS_AT_ONCE", TOURNAMENTS)
    user_id, ids = a_regular(store)
    commits: list[int] = []
    store.after_commit.append(lambda commit: commits.append(len(commit.tournament_revisions)))
    change_profile(store, user_id, name=NEW)
    assert commits == [len(ids)]
    assert not is_unfinished(store)


@pytest.mark.parametrize("slices_done", [1, 3])
def test_the_duty_goes_on_where_a_server_was_stopped(store: Store, slices_done: int) -> None:
    user_id, ids = a_regular(store)
    before = revisions(store, ids)
    change_profile(store, user_id, name=NEW)
    do_slices(store, slices_done)
    assert revisions(store, ids) == [
        revision + (place < 2 * slices_done) for place, revision in enumerate(before)
    ]
    while erasing.follow_accounts(store):
        pass
    assert revisions(store, ids) == [revision + 1 for revision in before]
    assert not is_unfinished(store)


def test_a_change_begins_again_what_an_earlier_one_has_left(store: Store) -> None:
    user_id, ids = a_regular(store)
    change_profile(store, user_id, profileOptOut=True)
    do_slices(store, 2)
    change_profile(store, user_id, name=NEW)
    with store.read() as db:
        (change,) = unfinished_changes.unfinished_changes(db)
        assert (change.user_id, change.is_hiding, change.tournament_id) == (user_id, True, 0)
        heads = announcements.channel_heads_by_id(db, ids)
    erasing.finish_changes(store)
    with store.read() as db:
        later = announcements.channel_heads_by_id(db, ids)
    # What was announced before is gone in those too that the first change had not reached.
    assert all(later[tournament_id].epoch != heads[tournament_id].epoch for tournament_id in ids)


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_two_nodes_do_no_slice_twice(store: Store) -> None:
    user_id, ids = a_regular(store)
    before = revisions(store, ids)
    change_profile(store, user_id, name=NEW)
    other = Store(store.url.render_as_string(hide_password=False), limits=COPIES)
    with store.write() as transaction:
        assert tournaments.do_slice(transaction)
        assert not erasing.follow_accounts(other)
    erasing.finish_changes(other)
    other.close()
    assert revisions(store, ids) == [revision + 1 for revision in before]


# Versions of other nodes


def test_no_node_uses_what_it_kept_from_before_though_no_tournament_is_raised(store: Store) -> None:
    user_id, ids = a_regular(store)
    other = Store(store.url.render_as_string(hide_password=False), limits=COPIES)
    nodes = [KnownRevisions(store), KnownRevisions(other)]
    generation = store.world_state().generation
    for node in nodes:
        node.poll()
    before = [[node.refresh(tournament_id) for tournament_id in ids] for node in nodes]
    change_profile(store, user_id, profileOptOut=True)
    # The node of the change knows it before its caller gets an answer.
    assert [nodes[0].known_version(tournament_id) for tournament_id in ids] == [0] * TOURNAMENTS
    nodes[1].poll()
    assert [nodes[1].known_version(tournament_id) for tournament_id in ids] == [0] * TOURNAMENTS
    for node, versions in zip(nodes, before, strict=True):
        later = [node.refresh(tournament_id) for tournament_id in ids]
        assert not {*later} & {*versions}
        assert [*map(number_in, later)] == [*map(number_in, versions)]
    # Nobody takes it for a database that has gone back.
    assert store.world_state().generation == generation
    for node in nodes:
        node.close()
    other.close()


def test_hiding_is_counted_once_and_renaming_a_few_times_only_in_many_tournaments(store: Store) -> None:
    user_id, _ = a_regular(store)
    stranger = build.a_user(store)
    counts = []
    for account, hides in ((user_id, True), (user_id, False), (stranger, False)):
        change_profile(store, account, **{"profileOptOut": True} if hides else {"name": NEW})
        with store.read() as db:
            counts.append(hidings.hiding_count(db))
    assert counts == [1, 2, 2]


# Erasing


def a_large_world(store: Store) -> ErasedWorld:
    """The person who is everywhere, in seven more tournaments, one of them with labels."""
    world = a_world(store)
    for number in range(TOURNAMENTS):
        night = build.a_tournament(store)
        player_id = build.a_player(store, night.organizer_id, name="canary", claimed_by=world.user_id)
        labels = ["canary-later"] if number == 5 else []
        build.row(
            store,
            tables.entrant,
            tournament_id=night.tournament_id,
            player_id=player_id,
            place=9,
            labels=labels,
        )
        build.a_game(store, night.tournament_id, [player_id, night.player_ids[0]])
    return world


@pytest.mark.both_databases
def test_games_that_were_announced_or_answered_no_longer_name_an_erased_account(store: Store) -> None:
    user_id, ids = a_regular(store)
    shown = f'{{"gameId":9,"playerIds":[3,4],"userIds":[null,{user_id}]}}'
    with store.write() as transaction:
        announcements.append(transaction, ids[-1], [("GameCreatedOrUpdated", shown)])
    stored_reply = {"fingerprint": "f", "status": 200, "headers": {}, "at": build.NOW, "body": shown}
    build.row(store, tables.idempotency, user_id=build.a_user(store), key="a", **stored_reply)
    switch_off(store, user_id)
    with store.read() as db:
        (event,) = announcements.load_page(db, ids[-1], 0, 10)[1]
    assert msgspec.json.decode(event.data)["userIds"] == [None, None]
    erasing.finish_changes(store)
    with store.read() as db:
        body = db.execute(select(tables.idempotency.c.body)).scalar_one()
    assert msgspec.json.decode(body) == {"gameId": 9, "playerIds": [3, 4], "userIds": [None, None]}


@pytest.mark.parametrize("at_once", [3, 100])
def test_a_person_in_few_or_many_tournaments_leaves_no_trace(
    store: Store, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_events, "TOURNAMENTS_AT_ONCE", at_once)
    world = a_large_world(store)
    switch_off(store, world.user_id)
    # Places that are erased while they are read, and the unused book of the person.
    book = {"bank", "occasion", "series", "player", "arena", "location", "club"}
    filtered = {"journal", "idempotency", "site_value", "announcement"}
    assert {where.partition(".")[0] for where in traces(store)} <= filtered | book
    erasing.finish_changes(store)
    assert traces(store) == set()
    with store.read() as db:
        ids = tables.tournament.c.tournament_id
        # The journal of the night is made up, and the others are rows without a journal.
        for tournament_id in db.execute(select(ids).where(ids != world.night.tournament_id)).scalars().all():
            faults = verification.verify_tournament(db, tournament_id).faults
            assert all("no line of the journal is this tournament's" in fault for fault in faults), faults


def test_labels_in_too_many_tournaments_are_erased_before_the_account(store: Store) -> None:
    user_id, _ = a_regular(store)
    with store.write() as transaction:
        # The ninth is the regular.
        labelled = tables.entrant.update().where(tables.entrant.c.place == 9)
        transaction.connection.execute(labelled.values(labels=["Oldname"]))
    with store.write() as transaction:
        assert not accounts.erase_account(transaction, user_id)
    with store.read() as db:
        name = db.execute(select(tables.user.c.name).where(tables.user.c.user_id == user_id)).scalar_one()
    assert name == OLD
    switch_off(store, user_id)
    assert not any("Oldname" in text for where, text in everything(store) if where == "entrant.labels")


def test_what_version_0_2_0_has_left_is_finished(store: Store) -> None:
    """It erased labels and names of tournaments after the account, and noted both in its own way."""
    world = a_large_world(store)
    switch_off(store, world.user_id)
    with store.read() as db:
        (change,) = unfinished_changes.unfinished_changes(db)
    rows = [
        (
            f"announcing {world.user_id}",
            {
                "user_id": world.user_id,
                "is_hiding": True,
                "erased_name": change.name,
                "player_ids": sorted(change.players),
                "tournament_id": world.night.tournament_id,
            },
        ),
        (
            f"erasure {world.user_id}",
            {"user_id": world.user_id, "name": change.name, "players": change.players, "journal_id": 0}
            | {"reply_owner_id": 0, "is_forgetting": False},
        ),
    ]
    with store.write() as transaction:
        db = transaction.connection
        theirs = tables.entrant.c.player_id == world.player_id
        db.execute(tables.entrant.update().where(theirs).values(labels=["canary-seat"]))
        db.execute(tables.site_value.delete().where(tables.site_value.c.name == rows[1][0]))
        stored = [{"name": name, "value": msgspec.json.encode(value).decode()} for name, value in rows]
        db.execute(insert(tables.site_value), stored)
    erasing.finish_changes(store)
    assert traces(store) == set()
    assert not is_unfinished(store)


def state(store: Store) -> list[tuple[str, str]]:
    """Everything in the database but what is drawn."""
    return sorted(line for line in everything(store) if not line[0].startswith(VOLATILE))


def kill_in_each_slice(store: Store) -> int:
    """Erase in processes that are killed in every slice; the number of kills."""
    url = store.url.render_as_string(hide_password=False)
    command = [sys.executable, "-c", KILLED_IN_EACH_SLICE, url]
    program = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return int(program.stdout)


def test_killed_in_every_slice_it_ends_as_if_it_had_not_been(
    store: Store, second_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in (store, second_store):
        switch_off(each, a_large_world(each).user_id)
    assert state(store) == state(second_store)
    assert kill_in_each_slice(store) >= 12
    assert traces(store) == set()
    monkeypatch.setattr(tournaments, "BOOK_ROWS_PER_SLICE", 1)
    erasing.finish_changes(second_store)
    assert state(store) == state(second_store)


# Thousands


MANY, LABELLED = 2_000, 150


def a_regular_of_years(store: Store) -> tuple[int, list[int]]:
    """An account in thousands of tournaments of an organizer, with announcements, and labels in many."""
    user_id = build.a_user(store, name=OLD, role="organizer")
    night = build.a_tournament(store)
    player_id = build.a_player(store, night.organizer_id, name=OLD, claimed_by=user_id)
    ids = [night.tournament_id + number for number in range(1, MANY + 1)]
    labels = {each: ["Oldname"] for each in ids[:LABELLED]}
    shown = f'{{"organizer":{{"userId":{user_id},"name":"{OLD}","pronouns":null}}}}'
    event = {"seq": 1, "name": "TournamentUpdated", "data": shown, "at": build.NOW, "digest": ""}
    with store.write() as transaction:
        db = transaction.connection
        rows = select(tables.tournament).where(tables.tournament.c.tournament_id == night.tournament_id)
        first = {**db.execute(rows).mappings().one(), "status": "completed", "seq": 1}
        rows = select(tables.entrant).where(tables.entrant.c.tournament_id == night.tournament_id).limit(1)
        entrant = {**db.execute(rows).mappings().one(), "player_id": player_id}
        db.execute(insert(tables.tournament), [{**first, "tournament_id": each} for each in ids])
        db.execute(
            insert(tables.entrant),
            [{**entrant, "tournament_id": each, "labels": labels.get(each, [])} for each in ids],
        )
        db.execute(
            insert(tables.announcement),
            [{**event, "tournament_id": each, "epoch": first["epoch"]} for each in ids],
        )
    return user_id, ids


@pytest.mark.soak
def test_a_person_in_two_thousand_tournaments_is_gone_at_once_and_leaves_no_trace(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    user_id, ids = a_regular_of_years(store)
    switch_off(store, user_id)

    # What was announced in those with labels is gone already.
    sample = ids[LABELLED::100]

    def events() -> list[str]:
        with store.read() as db:
            pages = [announcements.load_page(db, each, 0, 100)[1] for each in sample]
        return [event.data for page in pages for event in page]

    def stored_in() -> set[str]:
        return {where for where, text in everything(store) if "Oldname" in text}

    assert stored_in() == {"announcement.data", "site_value.value"}
    assert len(events()) == len(sample)
    assert not any("Oldname" in data for data in events())
    while erasing.follow_accounts(store):
        assert not any("Oldname" in data for data in events())
    assert stored_in() == set()
