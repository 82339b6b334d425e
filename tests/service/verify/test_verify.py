"""The verifier finds changes that bypassed enact."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import Table, delete, insert, select, update

from exchange import bundles
from rules import single_player_night
from rules.night import a_night
from service import stored_nights
from service.stored_nights import StoredNight
from silverball.cli.main import silverball_group
from silverball.kit.errors import NotFound
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.verify import tallies
from silverball.service.journal.reads import verification
from silverball.store import tables
from silverball.store.database.engine import Store

Tamper = Callable[[Any, StoredNight], None]


def _night(store: Store, kind: str = "group_knockout", **given: Any) -> StoredNight:
    """Two rounds of six players, then closed."""
    night = stored_nights.a_stored_night(store, a_night(kind, players=6, arenas=4, **given))
    night.start()
    for _ in range(2):
        night.play_round()
    night.complete()
    return night


def _faults(night: StoredNight) -> list[str]:
    with night.store.read() as db:
        return list(verification.verify_tournament(db, night.tournament.tournament_id).faults)


@pytest.mark.parametrize("kind", ["knockout", "group_knockout", "pace_matchplay", "group_matchplay"])
@pytest.mark.parametrize("drops", [False, True])
def test_a_night_closed_with_a_round_open_is_clean(store: Store, kind: str, drops: bool) -> None:
    given = {"pace_initial_rounds": 2} if kind == "pace_matchplay" else {}
    night = stored_nights.a_stored_night(store, a_night(kind, players=8, **given))
    night.start()
    night.play_round()
    game = night.open_round()[0]
    night.record_order(game, *game.player_ids)
    night.complete(drops_open_round=drops)
    assert len(night.tournament.rounds) == (1 if drops else 2)
    assert _faults(night) == []
    night.apply(tournament_commands.reopen(night.tournament))
    assert _faults(night) == []
    night.undo()
    # The result before the completion is undone, and the games that it removed are back.
    assert night.tournament.status == "started"
    assert game.game_id in {each.game_id for each in night.open_games()}
    assert _faults(night) == []


@pytest.mark.both_databases
def test_standings_by_the_sums_of_earlier_versions_are_no_fault(store: Store) -> None:
    night = stored_nights.a_stored_night(
        store, a_night("group_matchplay", players=7, tiebreaker="standard", games_per_round=2)
    )
    night.start()
    night.play_round()
    night.complete()
    with store.read() as db:
        rows = dict(db.execute(select(tables.standing.c.player_id, tables.standing.c.row)).all())
    for row in tallies.points_table(night.tournament):
        sums = {"tiebreakers": [row["tiebreakers"][0], *map(float, row["tiebreakers"][1:])]}
        _store_standing(
            store,
            row["playerId"],
            row["position"],
            {**rows[row["playerId"]], **sums, "position": row["position"]},
        )
    assert _faults(night) == []
    # A table of both is a fault.
    _store_standing(store, 1, rows[1]["position"], rows[1])
    assert _faults(night)


def _store_standing(store: Store, player_id: int, position: int, row: Any) -> None:
    key = tables.standing.c
    with store.write() as transaction:
        changed = update(tables.standing).where(key.player_id == player_id)
        transaction.connection.execute(changed.values(position=position, row=row))


def _change_row(table: Table, **values: Any) -> Tamper:
    """Change the first row of the tournament, by its keys."""

    def tamper(db: Any, night: StoredNight) -> None:
        own = table.c.tournament_id == night.tournament.tournament_id
        row = db.execute(select(table).where(own).order_by(*table.primary_key).limit(1)).one()
        db.execute(
            update(table)
            .where(*(column == row._mapping[column.name] for column in table.primary_key))
            .values(values)
        )

    return tamper


def _delete_row(table: Table) -> Tamper:
    """Delete the first row of the tournament, by its keys."""

    def tamper(db: Any, night: StoredNight) -> None:
        own = table.c.tournament_id == night.tournament.tournament_id
        row = db.execute(select(table).where(own).order_by(*table.primary_key).limit(1)).one()
        db.execute(
            delete(table).where(*(column == row._mapping[column.name] for column in table.primary_key))
        )

    return tamper


def _delete_journal_line(change: str, nth: int = 0) -> Tamper:
    def tamper(db: Any, night: StoredNight) -> None:
        entry = tables.journal.c
        own = (entry.tournament_id == night.tournament.tournament_id, entry.change == change)
        found = db.execute(select(entry.journal_id).where(*own).order_by(entry.journal_id)).scalars().all()
        db.execute(delete(tables.journal).where(entry.journal_id == found[nth]))

    return tamper


def _swap_seats(db: Any, night: StoredNight) -> None:
    """Swap two players of a round between their games."""
    first, second = night.tournament.games[:2]
    seat = tables.game_player
    for game, player_id in ((first, second.player_ids[0]), (second, first.player_ids[0])):
        seat_of_game = (seat.c.game_id == game.game_id, seat.c.slot == 0)
        db.execute(update(seat).where(*seat_of_game).values(player_id=player_id))


def _duplicate_seat(db: Any, night: StoredNight) -> None:
    game = night.tournament.games[0]
    here = (tables.game_player.c.game_id == game.game_id, tables.game_player.c.slot == 0)
    db.execute(update(tables.game_player).where(*here).values(player_id=game.player_ids[1]))


def _change_shown_row(**values: Any) -> Tamper:
    """Change the published row of a standing."""

    def tamper(db: Any, night: StoredNight) -> None:
        row = db.execute(select(tables.standing.c.player_id, tables.standing.c.row).limit(1)).one()
        here = tables.standing.c.player_id == row.player_id
        db.execute(update(tables.standing).where(here).values(row={**row.row, **values}))

    return tamper


def _invent_game(db: Any, night: StoredNight) -> None:
    tournament_id = night.tournament.tournament_id
    values = {"set_number": 7, "status": "completed", "bye": False, "scorbit_verified": False}
    round_id = night.tournament.rounds[0].round_id
    made = insert(tables.game).values(
        tournament_id=tournament_id,
        round_id=round_id,
        result_count_mismatch=False,
        is_tiebreak=False,
        **values,
    )
    game_id = db.execute(made).inserted_primary_key[0]
    seat = {"tournament_id": tournament_id, "game_id": game_id, "slot": 0, "player_id": 1, "points": 1}
    db.execute(insert(tables.game_player).values(**seat, result_position=1))


def _forge_result(db: Any, night: StoredNight) -> None:
    """Change a result in the rows and in the journal alike."""
    entry = tables.journal.c
    own = (entry.tournament_id == night.tournament.tournament_id, entry.change == "GameCompleted")
    line = db.execute(select(tables.journal).where(*own).order_by(entry.journal_id).limit(1)).one()
    game = night.game(line.data["after"]["game_id"])
    forged = ["1.00"] * len(game.player_ids)
    data = {**line.data, "after": {**line.data["after"], "result_points": forged}}
    db.execute(update(tables.journal).where(entry.journal_id == line.journal_id).values(data=data))
    db.execute(
        update(tables.game_player).where(tables.game_player.c.game_id == game.game_id).values(points=1)
    )


TAMPERED: dict[str, tuple[Tamper, str]] = {
    "points": (_change_row(tables.game_player, points=5), "result_points is"),
    "a place": (
        _change_row(tables.game_player, result_position=None, score=3),
        "is not what it is since action",
    ),
    "a game": (_delete_row(tables.game), "is missing: it is there since action"),
    "a seat": (_delete_row(tables.game_player), "player_ids is"),
    "swapped players": (_swap_seats, "player_ids is"),
    "a player twice in a game": (_duplicate_seat, "has a player twice"),
    "a game nobody played": (_invent_game, "is stored, but no action of the journal made it"),
    "a round's status": (_change_row(tables.round_, status="started"), "status is started"),
    "an entrant": (_change_row(tables.entrant, points_adjustment=2), "points_adjustment is 2"),
    "an arena": (_delete_row(tables.lineup_arena), "The arena 501 is missing"),
    "the settings": (
        _change_row(tables.tournament, settings={"knockoutStrikeCount": 9}),
        "The tournament's settings",
    ),
    "the name": (_change_row(tables.tournament, name="Another"), "The tournament's details.name is Another"),
    "the status": (_change_row(tables.tournament, status="started"), "The tournament's status is started"),
    "a place in the standings": (_change_row(tables.standing, position=9), "under another player or place"),
    "points in the standings": (_change_row(tables.standing, points=77), "are stored as 77.00 and shown"),
    "a shown place": (_change_shown_row(position=9), "show position 9"),
    "shown points": (_change_shown_row(points="77.00"), "show points 77.00"),
    "shown strikes": (_change_shown_row(strikeCount=9), "show strikeCount 9"),
    "shown games": (_change_shown_row(gamesPlayed=9), "show gamesPlayed 9"),
    "a shown tiebreaker": (_change_shown_row(tiebreakers=["9.00"]), "show tiebreakers"),
    "a row of the standings": (_delete_row(tables.standing), "has no row in the standings"),
    "arena sums": (_change_row(tables.arena_summary, games=99), "The arena_summary of"),
    "an arena sum": (_delete_row(tables.arena_summary), "is missing"),
    "wins": (_change_row(tables.player_arena_summary, wins=99), "The player_arena_summary of"),
    "meetings": (_change_row(tables.match_summary, losses=99), "The match_summary of"),
    "a result in the journal": (_delete_journal_line("GameCompleted"), "is not what it is since action"),
    "a draw in the journal": (_delete_journal_line("GameOpened"), "no action of the journal made it"),
    "the end in the journal": (
        _delete_journal_line("TournamentCompleted"),
        "status is completed, since action",
    ),
    "the creation in the journal": (
        _delete_journal_line("TournamentCreated"),
        "(SeedCommitted) does not follow the line before it",
    ),
    "rows and journal alike": (_forge_result, "strikes, not"),
    "the channel": (_change_row(tables.tournament, seq=2, seq_low=9), "The channel cannot be"),
}


def test_an_untouched_night_is_clean(store: Store) -> None:
    assert _faults(_night(store)) == []
    assert _faults(_night(store, "matchplay")) == []


# The rows are the same on both databases, whose types other tests cover.
@pytest.mark.sample(10)
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("what", sorted(TAMPERED))
def test_tampering_is_found(store: Store, what: str) -> None:
    night = _night(store)
    tamper, fault_text = TAMPERED[what]
    with store.write() as transaction:
        tamper(transaction.connection, night)
    assert any(fault_text in fault for fault in _faults(night)), _faults(night)


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("kind", "column", "value", "fault_text"),
    [
        ("golf", "points", 9, "9.00 strokes, not 1 to 6"),
        ("golf", "points", 3, "points is 3.00"),
        ("bowling", "rolls", [1, 1], "its rolls give 2"),
        ("best_game", "score", 7, "score is 7"),
        ("amazingrace", "score", 7, "score is 7"),
    ],
)
def test_tampering_with_single_player_games_is_found(
    store: Store, kind: str, column: str, value: Any, fault_text: str
) -> None:
    night = stored_nights.a_stored_night(store, a_night(kind, players=3, arenas=2))
    night.start()
    play: dict[str, Callable[[], Any]] = {
        "golf": lambda: single_player_night.play_holes(night, 1, 2, 2),
        "bowling": lambda: single_player_night.bowl(night, 1, 0, 3, 4),
        "best_game": lambda: single_player_night.play_score(night, 1, 501, 500),
        "amazingrace": lambda: single_player_night.play_race_score(night, 1, 500),
    }
    play[kind]()
    assert _faults(night) == []
    played = next(game for game in night.tournament.single_player_games if game.status == "completed")
    attempt = tables.single_player_game
    here = attempt.c.single_player_game_id == played.single_player_game_id
    with store.write() as transaction:
        transaction.connection.execute(update(attempt).where(here).values({column: value}))
    assert any(fault_text in fault for fault in _faults(night)), _faults(night)


@pytest.mark.both_databases
def test_an_undo_of_another_action_is_found(store: Store) -> None:
    night = stored_nights.a_stored_night(store, a_night("matchplay", players=4, arenas=2))
    night.start()
    night.open_round()
    night.undo()
    assert _faults(night) == []
    with store.write() as transaction:
        _delete_journal_line("RoundDeleted")(transaction.connection, night)
    assert any("its changes are not the opposite ones" in fault for fault in _faults(night))


@pytest.mark.both_databases
def test_imported_tournaments_are_clean_until_they_are_tampered_with(store: Store) -> None:
    imported = bundles.import_bundle(store, bundles.real_night("17"))
    bundles.import_bundle(store, bundles.full_bundle())
    with store.read() as db:
        found = {
            tournament_id: verification.verify_tournament(db, tournament_id).faults
            for tournament_id in verification.tournament_ids(db)
        }
    assert found == {imported.tournament_id: [], 700: []}
    with store.write() as transaction:
        here = tables.game.c.tournament_id == imported.tournament_id
        last = (
            transaction.connection.execute(
                select(tables.game.c.game_id).where(here).order_by(tables.game.c.game_id)
            )
            .scalars()
            .all()[-1]
        )
        transaction.connection.execute(delete(tables.game).where(tables.game.c.game_id == last))
    with store.read() as db:
        faults = verification.verify_tournament(db, imported.tournament_id).faults
    assert any("games came in" in fault for fault in faults), faults


def test_a_tournament_that_is_not_there_is_not_found(store: Store) -> None:
    with store.read() as db, pytest.raises(NotFound):
        verification.verify_tournament(db, 404)


@pytest.mark.both_databases
def test_the_command_prints_differences_and_fails(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SILVERBALL_DATABASE_URL", store.url.render_as_string(hide_password=False))
    night = _night(store)
    tournament_id = str(night.tournament.tournament_id)
    clean = CliRunner().invoke(silverball_group, ["verify"])
    assert (clean.exit_code, clean.output) == (0, "1 tournament verified, none with differences.\n")
    with store.write() as transaction:
        _change_row(tables.standing, position=9)(transaction.connection, night)
    output = CliRunner().invoke(silverball_group, ["verify", tournament_id])
    assert output.exit_code == 1
    assert output.output.startswith(
        f"Tournament {tournament_id}, Thursday Night:\n  The standings of player 1 "
    )
    listed = CliRunner().invoke(silverball_group, ["verify", "--json"])
    assert listed.exit_code == 1
    ((report,),) = (json.loads(listed.output),)
    assert (report["tournamentId"], len(report["faults"])) == (int(tournament_id), 1)
    missing = CliRunner().invoke(silverball_group, ["verify", "404"])
    assert (missing.exit_code, missing.output) == (1, "Error: There is no tournament 404.\n")
