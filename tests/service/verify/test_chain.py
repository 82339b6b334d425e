"""The journal is a chain: who erases, merges or renames leaves it whole; who tampers is named."""

import hashlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import delete, insert, select, update

import build
from service.desk import Desk, a_desk
from silverball.cli.main import silverball_group
from silverball.service.accounts import erasing
from silverball.service.accounts.writes import accounts
from silverball.service.journal.reads import verification
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.tournament import chain, journal

LINE = tables.journal.c


def head_of(store: Store, tournament_id: int) -> str:
    with store.read() as db:
        head = chain.journal_head(db, tournament_id)
    assert head is not None
    return head


def report(store: Store, tournament_id: int, against: str | None = None) -> verification.VerificationReport:
    with store.read() as db:
        return verification.verify_tournament(db, tournament_id, against)


def a_played_desk(store: Store) -> Desk:
    """Two rounds of four players, the first of them recorded; one player has a label."""
    desk = a_desk(store, "matchplay", players=4)
    desk.ok("PATCH", f"/players/{desk.night.player_ids[0]}", {"labels": ["birthday"]})
    for game in desk.open_round():
        desk.ok("PUT", f"/games/{game['gameId']}/result", {"resultPositions": game["playerIds"]})
    desk.open_round()
    return desk


def all_lines(store: Store, tournament_id: int) -> list[Any]:
    with store.read() as db:
        rows = select(tables.journal).where(LINE.tournament_id == tournament_id)
        return list(db.execute(rows.order_by(LINE.journal_id)))


def test_each_line_covers_the_line_before_it(store: Store) -> None:
    desk = a_played_desk(store)
    lines = all_lines(store, desk.night.tournament_id)
    assert len({line.hash for line in lines}) == len(lines) > 10
    assert lines[-1].hash == head_of(store, desk.night.tournament_id)
    assert all(line.source_salt and line.source_hash and line.digests for line in lines)
    assert report(store, desk.night.tournament_id).faults == []


def test_every_earlier_head_still_proves_the_lines_up_to_it(store: Store) -> None:
    desk = a_played_desk(store)
    tournament_id = desk.night.tournament_id
    for line in all_lines(store, tournament_id):
        assert report(store, tournament_id, line.hash).proven_action_id == line.action_id


def test_erasing_merging_and_renaming_leave_the_chain_whole(store: Store) -> None:
    desk = a_played_desk(store)
    tournament_id, owner = desk.night.tournament_id, desk.callers["owner"]
    first, second, *_ = desk.night.player_ids
    user_id = build.a_user(store, name="Ada Erased")
    with store.write() as transaction:
        claimed = update(tables.player).where(tables.player.c.player_id == first)
        transaction.connection.execute(claimed.values(claimed_by=user_id))
    same = build.a_player(store, desk.night.organizer_id, name="The same")
    build.do(store, "POST", f"{desk.path}/complete", by=owner)
    before = head_of(store, tournament_id)
    lines = all_lines(store, tournament_id)
    assert any("birthday" in str(line.data) for line in lines)

    build.do(store, "PATCH", f"/api/players/{second}", {"name": "A new name"}, by=owner)
    assert build.do(store, "POST", f"/api/players/{first}/merge", {"playerId": same}, by=owner)[0] == 200
    with store.write() as transaction:
        accounts.erase_account(transaction, user_id)
        accounts.erase_account(transaction, desk.night.organizer_id)
    erasing.finish_changes(store)

    after = all_lines(store, tournament_id)
    assert "birthday" not in str([(line.data, line.sealed_labels) for line in after])
    assert {(line.source, line.source_salt) for line in after} == {("", None)}
    # Nothing of an old line is rewritten but the values of the erased.
    assert [(line.hash, line.at, line.actor_id, line.change) for line in after[: len(lines)]] == [
        (line.hash, line.at, line.actor_id, line.change) for line in lines
    ]
    assert after[len(lines)].change == journal.PLAYERS_MERGED
    assert after[len(lines)].data == {"removed": first, "remaining": same}
    found = report(store, tournament_id, before)
    assert (found.faults, found.proven_action_id) == ([], lines[-1].action_id)


def test_erased_values_cannot_be_guessed_from_what_stays(store: Store) -> None:
    desk = a_played_desk(store)
    first = desk.night.player_ids[0]
    user_id = build.a_user(store, name="Ada Erased")
    with store.write() as transaction:
        claimed = update(tables.player).where(tables.player.c.player_id == first)
        transaction.connection.execute(claimed.values(claimed_by=user_id))
        accounts.erase_account(transaction, user_id)
    sealed = [line.sealed_labels for line in all_lines(store, desk.night.tournament_id)]
    assert any(sealed)
    assert all("salt" not in labels for labels in sealed if labels)


def test_what_was_merged_can_be_undone_and_is_named_by_todays_player(store: Store) -> None:
    desk = a_played_desk(store)
    gone, owner = desk.night.player_ids[1], desk.callers["owner"]
    kept = build.a_player(store, desk.night.organizer_id, name="The same")
    assert build.do(store, "POST", f"/api/players/{gone}/merge", {"playerId": kept}, by=owner)[0] == 200
    newest = desk.ok("GET", "/journal")["data"]
    assert newest[0]["changes"] == [
        {"change": "PlayersMerged", "text": "Two players of the book were merged into The same."}
    ]
    assert not newest[0]["canUndo"]
    assert newest[1]["canUndo"]
    assert "The same" in str(newest[1:])
    for _ in range(3):
        desk.undo()
    assert report(store, desk.night.tournament_id).faults == []


# --- Tampering ------------------------------------------------------------------------------------------


def _line(db: Any, tournament_id: int, change: str) -> Any:
    rows = select(tables.journal).where(LINE.tournament_id == tournament_id, LINE.change == change)
    return db.execute(rows.order_by(LINE.journal_id.desc()).limit(1)).one()


def _set(change: str, /, **values: Any) -> Callable[[Any, int], None]:
    def tamper(db: Any, tournament_id: int) -> None:
        line = _line(db, tournament_id, change)
        shown = {name: value(line) if callable(value) else value for name, value in values.items()}
        db.execute(update(tables.journal).where(LINE.journal_id == line.journal_id).values(shown))

    return tamper


def _delete_line(db: Any, tournament_id: int) -> None:
    line = _line(db, tournament_id, "GameCompleted")
    db.execute(delete(tables.journal).where(LINE.journal_id == line.journal_id))


def _cut_the_end(db: Any, tournament_id: int) -> None:
    newest = select(LINE.journal_id).where(LINE.tournament_id == tournament_id)
    last = db.execute(newest.order_by(LINE.journal_id.desc()).limit(1)).scalar_one()
    db.execute(delete(tables.journal).where(LINE.journal_id == last))


def _add_line(db: Any, tournament_id: int) -> None:
    line = dict(_line(db, tournament_id, "GameOpened")._mapping)
    del line["journal_id"]
    db.execute(insert(tables.journal).values(**line))


def _swap_lines(db: Any, tournament_id: int) -> None:
    rows = select(tables.journal).where(LINE.tournament_id == tournament_id, LINE.change == "GameOpened")
    first, second = db.execute(rows.order_by(LINE.journal_id).limit(2)).all()
    for own, other in ((first, second), (second, first)):
        values = {name: value for name, value in other._mapping.items() if name != "journal_id"}
        db.execute(update(tables.journal).where(LINE.journal_id == own.journal_id).values(values))


def _rewrite_from(db: Any, tournament_id: int) -> None:
    """Change the time of a line, and compute every hash after it again: only an earlier head tells."""
    line = _line(db, tournament_id, "GameCompleted")
    values = {"at": line.at - timedelta(hours=1)}
    db.execute(update(tables.journal).where(LINE.journal_id == line.journal_id).values(values))
    previous = ""
    for row, content in list(chain.load_lines(db, tournament_id)):
        previous = content.hash_after(previous)
        values = {"hash": previous, "digests": chain.digests_text(content.digests.values())}
        db.execute(update(tables.journal).where(LINE.journal_id == row.journal_id).values(values))
    heads = tables.announcement.c.tournament_id == tournament_id
    db.execute(update(tables.announcement).where(heads).values(journal_head=None))


def _with_other_labels(line: Any) -> Any:
    return {**line.data, "after": {**line.data["after"], "labels": ["vip"]}}


CHANGED = "was changed after it was written: its "
TAMPERING: dict[str, tuple[Callable[[Any, int], None], str]] = {
    "the actor": (_set("GameCompleted", actor_id=None), CHANGED + "actor"),
    "the time": (_set("GameCompleted", at=lambda line: line.at - timedelta(hours=1)), CHANGED + "time"),
    "the dice seed": (_set("RoundOpened", dice_seed="another/round 0/0"), CHANGED + "dice seed"),
    "the source": (_set("RoundOpened", source="192.0.2.7"), CHANGED + "source"),
    "what was changed": (_set("GameOpened", change="GameDeleted"), CHANGED + "change"),
    "the content": (_set("RoundOpened", data=lambda line: {"thing": {**line.data["thing"], "name": "Final"}}),
                    CHANGED + "change"),
    "the labels": (
        _set("EntrantChanged", data=_with_other_labels),
        CHANGED + "labels",
    ),
    "a removed line": (_delete_line, "one was added, removed, moved or written again"),
    "an added line": (_add_line, "one was added, removed, moved or written again"),
    "two swapped lines": (_swap_lines, "does not follow the line before it"),
    "a removed hash": (_set("RoundOpened", hash=None), "has no hash: it was added or its hash was removed"),
    "the end": (_cut_the_end, "No line of the journal has the hash"),
    "a chain written again": (_rewrite_from, "No line of the journal has the hash"),
}  # fmt: skip


class _Tampered(Exception):
    """Ends the transaction without a trace."""


def _report_with(
    store: Store, tournament_id: int, head: str, tamper: Callable[[Any, int], None]
) -> verification.VerificationReport:
    """The report with this tampering, which is taken back at once."""
    found: list[verification.VerificationReport] = []
    with pytest.raises(_Tampered), store.write(tournament_id) as transaction:
        tamper(transaction.connection, tournament_id)
        found.append(verification.verify_tournament(transaction.connection, tournament_id, head))
        raise _Tampered
    return found[0]


@pytest.mark.both_databases
def test_thirteen_ways_of_tampering_are_each_named(store: Store) -> None:
    desk = a_played_desk(store)
    tournament_id = desk.night.tournament_id
    head = head_of(store, tournament_id)
    assert report(store, tournament_id, head).faults == []
    for kind, (tamper, words) in TAMPERING.items():
        found = _report_with(store, tournament_id, head, tamper)
        assert any(words in fault for fault in found.faults), (kind, found.faults)
        # An added line says nothing about those before it; everything else refutes the head.
        assert (found.proven_action_id is not None) == (kind == "an added line"), kind


def test_the_hash_of_a_line_can_be_computed_by_hand() -> None:
    line = chain.LineContent(
        tournament_id=1,
        action_id=2,
        position=1,
        actor_id=None,
        at=build.NOW,
        dice_seed=None,
        draw_version=None,
        source_hash=chain.salted_hash("ab", "clock"),
        change="RoundDeleted",
        data="{}",
    )
    covered = (
        f'["",1,2,1,null,"2026-03-05T19:30:00.000000Z",null,null,"{line.source_hash}","RoundDeleted","{{}}"]'
    )

    assert line.hash_after("") == hashlib.sha256(covered.encode()).hexdigest()


# --- The command ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_the_command_proves_or_refutes_a_head(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = a_played_desk(store)
    tournament_id = str(desk.night.tournament_id)
    head = head_of(store, desk.night.tournament_id)
    monkeypatch.setenv("SILVERBALL_DATABASE_URL", store.url.render_as_string(hide_password=False))
    clean = CliRunner().invoke(silverball_group, ["verify", tournament_id, "--against", head])
    assert clean.exit_code == 0, clean.output
    assert "was changed since that head" in clean.output
    false = CliRunner().invoke(silverball_group, ["verify", tournament_id, "--against", "0" * 64])
    assert false.exit_code == 1
    assert "No line of the journal has the hash" in false.output
    missing = CliRunner().invoke(silverball_group, ["verify", "--against", head])
    assert missing.exit_code == 2
    assert "Name the tournament" in missing.output
