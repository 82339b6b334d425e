# mypy: ignore-errors
"""Writes what is kept here: data and answers of this version, which later versions open and compare.

    python tests/kept/write_kept.py all        everything, with version 0.2.0 alone: later code need not fit
    python tests/kept/write_kept.py answers    the answers and documents, after a change of the wire

The nights are invented and played by robots: a completed and a running one of each format, and a mirror.
One of the players has hidden everything, one has just been erased and one is just hiding: their tournaments
have only begun to follow.
"""

import io
import json
import lzma
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

from sqlalchemy import delete, insert, make_url, select, text, update

sys.path.append(str(Path(__file__).parents[1]))

import build
from conftest import PostgreSQL, postgresql_bin
from exchange import bundles
from kept import opening
from silverball.cli import backup
from silverball.demo import nights as demo_nights
from silverball.demo import sandboxes as demo_sandboxes
from silverball.demo import trials as demo_trials
from silverball.demo.robots import InProcessClient, Robot, SteppedClock, TournamentPlan
from silverball.exchange import mirror
from silverball.exchange.bundle import file as bundle_file
from silverball.rules.registry import FORMATS
from silverball.service.accounts.writes import accounts, announcing, tournaments
from silverball.settings import Settings
from silverball.store import pending_announcements, tables
from silverball.store.database import migrate
from silverball.store.database.engine import Store
from silverball.store.tournament import chaining

STEP_SECONDS = 150
# Steps of a running night: some of its results are there, and some are missing.
RUNNING_STEPS = 9
# Bundles are kept of nights of these formats: each way of play, and each kind of stored part.
BUNDLED = ("best_game", "bowling", "double_bracket", "frenzy", "golf", "group_matchplay", "max_matchplay")
# Pages so small that the backup of an empty schema is small.
BACKUP_PAGE_BYTES = 512


def write_data(folder: Path) -> None:
    """Write the databases, bundles, heads and the backup into a folder."""
    file = folder / opening.DATABASE
    with closing(Store(f"sqlite:///{file}")) as store:
        migrate.migrate(store)
        play_nights(store)
        (folder / opening.BUNDLES).mkdir()
        (folder / opening.HEADS).write_text(json.dumps(_journal_heads(store), indent=1))
        _write_bundles(store, folder / opening.BUNDLES)
        hide_and_erase(store)
        write_dump(store, folder / opening.DUMP)
        with store.engine.connect() as db:
            db.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
    _write_backup(folder)


def play_nights(store: Store) -> None:
    """Play a completed and a running night of each format, and begin a mirror."""
    clock, dice = SteppedClock(build.NOW), Random(37)
    user_id = build.a_user(store, name="Olga Ramp", role="organizer", flag="se", location="Harbour Town")
    demo_nights.load_machines(store)
    client = demo_nights.organizer_client(store, Settings(base_url=build.BASE_URL), user_id, clock)
    book = demo_nights.load_book_ids(client)
    _claim_players(store, client, book[0])
    for is_completed in (True, False):
        for kind in sorted(FORMATS):
            clock.moment = (
                build.NOW - timedelta(days=len(FORMATS)) + timedelta(days=sorted(FORMATS).index(kind))
            )
            _play_night(client, clock, kind, book, dice, is_completed=is_completed)
    clock.moment = build.NOW
    _make_sandboxes(store, client)
    with_queues = demo_nights.start_night(client, demo_nights.QUEUES, book, dice)
    with_queues.queue_up(demo_nights.QUEUE_SIZES)
    there = json.loads(bundles.INVENTED[0].read_bytes())
    mirror.begin(store, "results.example", there, build.NOW, Random(1))


def _make_sandboxes(store: Store, client: InProcessClient) -> None:
    """Make what the demo makes for each write: things of the book, and small nights in every state."""
    visitors = {
        visitor_id: InProcessClient(client.api, build.caller(visitor_id, role="organizer", ability="manage"))
        for visitor_id in (build.a_user(store, name=name, role="organizer") for name in demo_trials.VISITORS)
    }
    boxes = demo_sandboxes.Sandboxes(client, visitors)
    demo_trials._try_the_book(boxes, client.caller.user_id)
    demo_trials._try_players(boxes)
    demo_sandboxes.try_tournaments(boxes)
    demo_sandboxes.try_rosters(boxes, client.caller.user_id)
    demo_sandboxes.try_games(boxes)
    demo_trials.try_evening(boxes)
    demo_sandboxes.try_clocks_and_queues(boxes)
    demo_sandboxes.try_single_player(boxes)
    # No secret is kept, not even the hash of one.
    with store.write() as transaction:
        transaction.connection.execute(delete(tables.token))


def _claim_players(store: Store, client: InProcessClient, player_ids: list[int]) -> None:
    """Give five of the players accounts: one is open, and one has opted out of everything."""
    opted_out = ("ratings", "stats", "video", "profile", "history")
    hidden = {f"{name}_opt_out": True for name in opted_out}
    accounts_of_players: list[tuple[str, dict[str, Any]]] = [
        ("Ada Quill", {"flag": "fi", "pronouns": "they", "initials": "AQ"}),
        ("Bo Larkin", {"flag": "no", **hidden}),
        (opening.ERASED, {"flag": "dk", "location": "Erased Town", "role": "organizer"}),
        (opening.HIDING, {"flag": "is", "location": "Hidden Town"}),
        ("Edie Frost", {"history_only_completed": True}),
    ]
    for player_id, (name, values) in zip(player_ids, accounts_of_players, strict=False):
        user_id = build.a_user(store, name=name, **values)
        build.a_rating(
            store, user_id=user_id, name=name, name_folded=name.lower(), lower_bound=1500.0 + user_id
        )
        own = tables.player.c.player_id == player_id
        client.send("PATCH", f"/api/players/{player_id}", {"name": name})
        with store.write() as transaction:
            transaction.connection.execute(update(tables.player).where(own).values(claimed_by=user_id))


def _play_night(
    client: InProcessClient,
    clock: SteppedClock,
    kind: str,
    book: demo_nights.BookIds,
    dice: Random,
    *,
    is_completed: bool,
) -> None:
    demo = FORMATS[kind].demo
    name = f"{'Completed' if is_completed else 'Running'} {demo.name}"
    plan = TournamentPlan(
        name=name,
        type=kind,
        players=demo.players,
        settings=demo.settings,
        games_each=demo.games_per_player,
    )
    # Those who have accounts play in all of them.
    players, machines = book
    robot = Robot.create(client, plan, dice)
    robot.add_members(
        [*players[:5], *dice.sample(players[5:], max(plan.players - 5, 0))][: plan.players], machines
    )
    robot.start()
    if is_completed:
        robot.play_to_end(lambda: clock.tick(STEP_SECONDS))
        return
    for _ in range(RUNNING_STEPS):
        if robot.step():
            clock.tick(STEP_SECONDS)


def hide_and_erase(store: Store) -> None:
    """Erase a player and let another hide, as a server that is stopped before all tournaments follow."""
    pending_announcements.TOURNAMENTS_AT_ONCE = 3
    announcing.TOURNAMENTS_PER_STATEMENT = 2
    announcing.SLICE_SECONDS = 0.0
    store.finish_deferred = lambda: None
    with store.write() as transaction:
        accounts.erase_account(transaction, opening.user_named(store, opening.ERASED))
    with store.read() as db:
        pending = pending_announcements.first_pending(db)
        assert pending is not None
        waiting = tournaments.find_waiting(db, pending)
    for _ in range(2):
        with store.write() as transaction:
            left = announcing.change_slice(transaction, waiting)
        assert left is not None
        waiting = left
    hiding = opening.user_named(store, opening.HIDING)
    status, _, _ = build.do(store, "PATCH", "/api/users/profile", {"profileOptOut": True}, by=hiding)
    assert status == 200


def _journal_heads(store: Store) -> dict[str, str | None]:
    with store.read() as db:
        return {
            str(tournament_id): chaining.journal_head(db, tournament_id)
            for tournament_id in opening.tournament_ids(store)
        }


def _write_bundles(store: Store, folder: Path) -> None:
    with store.read() as db:
        own = tables.tournament.c
        found = select(own.tournament_id).where(own.name.startswith("Completed"), own.type.in_(BUNDLED))
        for tournament_id in db.execute(found.order_by(own.tournament_id)).scalars().all():
            for ending, with_journal in ((".json", False), (".journal.json", True)):
                content = bundle_file.export_bundle(db, tournament_id, with_journal=with_journal)
                (folder / f"{tournament_id}{ending}").write_bytes(content)


def write_dump(store: Store, file: Path) -> None:
    """Write the rows of this store as the dump of a database of PostgreSQL."""
    bin_folder = postgresql_bin()
    assert bin_folder is not None, "PostgreSQL is not installed"
    cluster = PostgreSQL(bin_folder)
    try:
        url = cluster.empty_database()
        with closing(Store(url)) as target:
            migrate.migrate(target)
            _copy_rows(store, target)
            with target.migration() as db:
                # Their extension is not everywhere; `migrate` makes them where it is.
                indexes = ", ".join(searched.index for searched in migrate.SEARCHED.values())
                db.exec_driver_sql(f"DROP INDEX IF EXISTS {indexes}")
                db.exec_driver_sql("DROP EXTENSION IF EXISTS pg_trgm")
        _dump(cluster, str(make_url(url).database), file)
    finally:
        cluster.stop()


def _copy_rows(source: Store, target: Store) -> None:
    with source.read() as db, target.migration() as there:
        there.execute(text("SET LOCAL session_replication_role = replica"))
        for table in tables.metadata.sorted_tables:
            there.execute(table.delete())
            rows = [dict(row) for row in db.execute(select(table)).mappings()]
            if rows:
                there.execute(insert(table), rows)
            key = table.autoincrement_column
            if key is not None and rows:
                last = max(row[key.name] for row in rows)
                name = f'"{table.name}"'
                there.execute(
                    text("SELECT setval(pg_get_serial_sequence(:name, :key), :last)"),
                    {"name": name, "key": key.name, "last": last},
                )


def _dump(cluster: PostgreSQL, database: str, file: Path) -> None:
    command = ["pg_dump", "--no-owner", "--no-privileges", "-h", cluster.folder, "-U", "silverball"]
    done = subprocess.run([*map(str, command), database], capture_output=True, text=True, check=True)
    # Newer versions of psql refuse what older ones do not know, and the other way round.
    lines = [line for line in done.stdout.splitlines() if not line.startswith(("\\restrict", "\\unrestrict"))]
    file.write_text("\n".join(lines) + "\n")


def _write_backup(folder: Path) -> None:
    """Write a sealed backup of a database with one tournament, and its passphrase."""
    file = folder / "small.db"
    with closing(Store(f"sqlite:///{file}")) as store:
        migrate.migrate(store)
        build.a_tournament(store, name="Sealed Night")
    with closing(sqlite3.connect(file)) as db:
        for statement in (
            "PRAGMA journal_mode = DELETE",
            f"PRAGMA page_size = {BACKUP_PAGE_BYTES}",
            "VACUUM",
        ):
            db.execute(statement)
    passphrase = folder / "passphrase.txt"
    passphrase.write_text(opening.PASSPHRASE + "\n")
    source = backup.Source(url=f"sqlite:///{file}", file=file, key_file=None)
    encryption = backup.Encryption(passphrase=opening.PASSPHRASE)
    backup._write(source, folder / opening.SEALED, encryption, with_secret=False, is_verified=False)
    for leftover in (passphrase, *folder.glob("small.db*")):
        leftover.unlink()


def write_answers(folder: Path) -> None:
    """Write the answers of the kept database, and the documents of the interface."""
    with opening.open_sqlite(folder) as store:
        answers = {caller: dict(opening.answers(store, caller)) for caller in opening.CALLERS}
    _write_xz(opening.ANSWERS, json.dumps(answers, indent=0, ensure_ascii=False).encode())
    for file, content in opening.documents().items():
        _write_xz(file, content)


def _write_xz(file: Path, content: bytes) -> None:
    file.write_bytes(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))


def _pack(folder: Path) -> None:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.name.endswith(("-wal", "-shm", ".secret")):
                member = tarfile.TarInfo(str(path.relative_to(folder)))
                member.size = path.stat().st_size
                with path.open("rb") as packed:
                    archive.addfile(member, packed)
    _write_xz(opening.ARCHIVE, content.getvalue())


def main() -> None:
    """Write everything, or what follows from the kept database."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if sys.argv[1:] == ["all"]:
            write_data(folder)
            _pack(folder)
        elif sys.argv[1:] == ["answers"]:
            opening.unpack(folder)
        else:
            raise SystemExit(__doc__)
        write_answers(folder)


if __name__ == "__main__":
    main()
