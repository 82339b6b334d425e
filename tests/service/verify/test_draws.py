"""Draws are shown to be fair: the seed is committed to, revealed at the end, and gives the draws again."""

import hashlib
import json
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import select, update

import build
from service import stored_nights
from service.desk import a_desk
from silverball.cli.main import silverball_group
from silverball.demo import nights as demo_nights
from silverball.service.journal.reads.verification import BEFORE_COMMITMENTS, DrawsReport, verify_draws
from silverball.settings import Settings
from silverball.store import tables
from silverball.store.database.engine import Store
from stories.hall import Hall

LINE = tables.journal.c


def remade(store: Store, tournament_id: int) -> DrawsReport:
    with store.read() as db:
        return verify_draws(db, tournament_id)


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_every_draw_of_a_night_of_every_format_gives_the_same_again(store: Store) -> None:
    stored_nights.skip_disk_sync(store)
    organizer_id = build.a_user(store, name="Olga Ramp", role="organizer")
    demo_nights.play_nights(store, Settings(base_url=build.BASE_URL), organizer_id, Random(1))
    with store.read() as db:
        own = tables.tournament.c
        types = {row.tournament_id: row.type for row in db.execute(select(own.tournament_id, own.type))}
    reports = {type_: remade(store, tournament_id) for tournament_id, type_ in types.items()}
    assert len(reports) == 21
    assert {type_: list(report.faults) for type_, report in reports.items() if report.faults} == {}
    assert sum(len(report.same) for report in reports.values()) > 300
    assert {type_: list(report.not_remade) for type_, report in reports.items() if report.not_remade} == {}


def a_made_tournament(store: Store) -> tuple[int, Any]:
    """A started tournament that was made over the interface, and its organizer."""
    organizer = build.caller(build.a_user(store, role="organizer"), role="organizer", ability="manage")
    path = "/api/tournaments"
    made = build.do(store, "POST", path, {"name": "Thursday", "type": "matchplay"}, by=organizer)[1]["data"]
    own = f"{path}/{made['tournamentId']}"
    names = [{"name": f"Player {number}"} for number in range(8)]
    assert build.do(store, "POST", f"{own}/players", {"players": names}, by=organizer)[0] == 201
    for change in ("start", "rounds"):
        assert build.do(store, "POST", f"{own}/{change}", {}, by=organizer)[0] < 300
    return made["tournamentId"], organizer


def journal_of(store: Store, tournament_id: int, organizer: Any) -> Any:
    return build.ask(store, f"/api/tournaments/{tournament_id}/journal", by=organizer)[1]["data"]


def committed(store: Store, tournament_id: int) -> list[str]:
    with store.read() as db:
        rows = select(LINE.data).where(LINE.tournament_id == tournament_id, LINE.change == "SeedCommitted")
        return [data["commitment"] for data in db.execute(rows.order_by(LINE.journal_id)).scalars()]


def test_the_seed_is_committed_to_hidden_while_it_counts_and_revealed_at_the_end(store: Store) -> None:
    tournament_id, organizer = a_made_tournament(store)
    path = f"/api/tournaments/{tournament_id}"
    assert {action["diceSeed"] for action in journal_of(store, tournament_id, organizer)} == {None}
    build.do(store, "POST", f"{path}/complete", {}, by=organizer)
    revealed = [action["diceSeed"] for action in journal_of(store, tournament_id, organizer)]
    seed = next(text for text in revealed if text).split("/")[0]
    assert committed(store, tournament_id) == [hashlib.sha256(seed.encode()).hexdigest()]
    assert list(remade(store, tournament_id).faults) == []


def test_reopening_commits_to_a_new_seed_because_the_old_one_is_known(store: Store) -> None:
    tournament_id, organizer = a_made_tournament(store)
    path = f"/api/tournaments/{tournament_id}"
    for change in ("complete", "reopen", "rounds"):
        assert build.do(store, "POST", f"{path}/{change}", {}, by=organizer)[0] < 300
    first, second = committed(store, tournament_id)
    assert first != second
    report = remade(store, tournament_id)
    assert (list(report.faults), list(report.not_remade)) == ([], [])
    assert len(report.same) >= 3


def _with_two_players_swapped(db: Any, tournament_id: int) -> None:
    """Two players change places in the journal and in the rows, as somebody with the database would do it."""
    rows = select(tables.journal).where(LINE.tournament_id == tournament_id, LINE.change == "GameOpened")
    first, second = db.execute(rows.order_by(LINE.journal_id).limit(2)).all()
    left, right = first.data["thing"]["player_ids"], second.data["thing"]["player_ids"]
    for line, players in ((first, [right[0], *left[1:]]), (second, [left[0], *right[1:]])):
        game = {**line.data["thing"], "player_ids": players}
        own = LINE.journal_id == line.journal_id
        db.execute(update(tables.journal).where(own).values(data={"thing": game}))
        seat = tables.game_player.c
        for slot, player_id in enumerate(players):
            place = (seat.game_id == game["game_id"], seat.slot == slot)
            db.execute(update(tables.game_player).where(*place).values(player_id=player_id))


def _with_another_seed(db: Any, tournament_id: int) -> None:
    line = (LINE.tournament_id == tournament_id, LINE.change == "RoundOpened")
    db.execute(update(tables.journal).where(*line).values(dice_seed="another/round 0/0"))


def _with_another_count(db: Any, tournament_id: int) -> None:
    lines = select(LINE.journal_id, LINE.dice_seed).where(
        LINE.tournament_id == tournament_id, LINE.dice_seed.like("%round 0/0")
    )
    for journal_id, seed in db.execute(lines).all():
        own = LINE.journal_id == journal_id
        db.execute(update(tables.journal).where(own).values(dice_seed=seed[:-1] + "4"))


def _with_another_commitment(db: Any, tournament_id: int) -> None:
    line = (LINE.tournament_id == tournament_id, LINE.change == "SeedCommitted")
    db.execute(update(tables.journal).where(*line).values(data={"commitment": "0" * 64}))


def _by_version_two(db: Any, tournament_id: int) -> None:
    lines = (LINE.tournament_id == tournament_id, LINE.draw_version.is_not(None))
    db.execute(update(tables.journal).where(*lines).values(draw_version=2))


def _with_a_player_twice(db: Any, tournament_id: int) -> None:
    """One player is in both of the first two games of the round."""
    rows = select(tables.journal).where(LINE.tournament_id == tournament_id, LINE.change == "GameOpened")
    first, second = db.execute(rows.order_by(LINE.journal_id).limit(2)).all()
    player_id = first.data["thing"]["player_ids"][0]
    game = {**second.data["thing"], "player_ids": [player_id, *second.data["thing"]["player_ids"][1:]]}
    own = LINE.journal_id == second.journal_id
    db.execute(update(tables.journal).where(own).values(data={"thing": game}))
    seat = tables.game_player.c
    place = (seat.game_id == game["game_id"], seat.slot == 0)
    db.execute(update(tables.game_player).where(*place).values(player_id=player_id))


def test_an_earlier_version_drew_otherwise_without_a_fault_while_it_is_legal(store: Store) -> None:
    tournament_id, _organizer = a_made_tournament(store)
    with store.write(tournament_id) as transaction:
        _by_version_two(transaction.connection, tournament_id)
    # What this version draws too is the same, whoever drew it.
    before = remade(store, tournament_id)
    assert (list(before.faults), list(before.earlier)) == ([], [])
    with store.write(tournament_id) as transaction:
        _with_two_players_swapped(transaction.connection, tournament_id)
    report = remade(store, tournament_id)
    assert (list(report.faults), list(report.not_remade)) == ([], [])
    assert [name.partition("(")[2] for name in report.earlier] == ["round 0)"]
    with store.write(tournament_id) as transaction:
        _with_a_player_twice(transaction.connection, tournament_id)
    (fault,) = remade(store, tournament_id).faults
    assert fault.startswith("Round 1, drawn by action")
    assert "twice" in fault


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("tamper", "words"),
    [
        (_with_two_players_swapped, "is not what its dice give"),
        (_with_another_seed, "was drawn with another seed"),
        (_with_another_count, "says that it was drawn again"),
        (_with_another_commitment, "committed to another seed"),
    ],
)
def test_a_draw_that_the_dice_did_not_make_is_named(store: Store, tamper: Any, words: str) -> None:
    tournament_id, _organizer = a_made_tournament(store)
    with store.write(tournament_id) as transaction:
        tamper(transaction.connection, tournament_id)
    assert any(words in fault for fault in remade(store, tournament_id).faults)


def test_a_tournament_without_a_commitment_was_drawn_before_commitments(store: Store) -> None:
    desk = a_desk(store)
    desk.open_round()
    assert remade(store, desk.night.tournament_id).reason == BEFORE_COMMITMENTS


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_the_command_makes_the_draws_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    tournament_id, _organizer = a_made_tournament(store)
    monkeypatch.setenv("SILVERBALL_DATABASE_URL", store.url.render_as_string(hide_password=False))
    clean = CliRunner().invoke(silverball_group, ["verify", str(tournament_id), "--draws"])
    assert clean.exit_code == 0, clean.output
    assert "draws made again gave the same." in clean.output
    listed = CliRunner().invoke(silverball_group, ["verify", "--draws", "--json"])
    assert json.loads(listed.output)[0]["draws"]["faults"] == []
    with store.write(tournament_id) as transaction:
        _by_version_two(transaction.connection, tournament_id)
        _with_two_players_swapped(transaction.connection, tournament_id)
    earlier = CliRunner().invoke(silverball_group, ["verify", str(tournament_id), "--draws"])
    assert "Drawn by an earlier version, and only checked for being legal: 1." in earlier.output
    with store.write(tournament_id) as transaction:
        _with_another_seed(transaction.connection, tournament_id)
    changed = CliRunner().invoke(silverball_group, ["verify", str(tournament_id), "--draws"])
    assert changed.exit_code == 1
    assert "was drawn with another seed" in changed.output


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("type_", ["matchplay", "bracket", "max_matchplay"])
def test_a_draw_that_took_longer_than_a_second_gives_the_same_again(store: Store, type_: str) -> None:
    """The clock moves on by minutes whenever it is read: also between a draw and its commit."""
    hall = Hall(store, type_, "Ada Bo Cleo Dov Edie Finn Greta Hugo")
    hall.start()
    if type_ == "matchplay":
        hall.play_rounds(2, "Ada Bo Cleo Dov Edie Finn Greta Hugo")
    report = remade(store, hall.tournament_id)
    assert list(report.faults) == []
    assert report.same
