"""Nights that fill every table of a tournament, and the changes of single columns and rows in them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace as with_changes
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from msgspec import Struct
from sqlalchemy import Column, Table, and_, delete, select, text, update
from sqlalchemy.types import TypeEngine

import build
from rules import test_machines, test_machines_brackets, test_machines_solo
from rules.moves import Moves
from rules.night import NOON, Night, a_night
from rules.verify import walked_nights
from service import stored_nights
from service.stored_nights import ORGANIZER_ID, SCOREKEEPER_ID, StoredNight
from silverball.rules.model.changes import TournamentEdited, tournament_changes
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.revisions import revisions
from silverball.store.tables.base import Real
from silverball.store.tournament import chain, snapshot
from silverball.store.types import Flag, Hundredths, Id, Instant, Json

ALL_MOVES: dict[str, Moves] = {
    case.machine.moves.kind: case.machine.moves
    for module in (test_machines, test_machines_brackets, test_machines_solo)
    for case in vars(module).values()
    if hasattr(case, "machine")
}
# The tables with the rows of one tournament.
TOURNAMENT_TABLES: Sequence[Table] = (
    tables.tournament,
    tables.entrant,
    tables.lineup_arena,
    tables.lineup_bank,
    tables.scorekeeper,
    tables.tournament_link,
    tables.entry,
    tables.sign_up,
    tables.round_,
    tables.game,
    tables.game_player,
    tables.suggestion,
    tables.single_player_game,
    tables.card,
    tables.queue_entry,
    tables.game_note,
    tables.standing,
    tables.arena_summary,
    tables.player_arena_summary,
    tables.match_summary,
    tables.journal,
    tables.announcement,
)
SEEDS_MAX = 40
# The day up to which the nights are rated.
UNTIL = date(2026, 3, 12)
# No id in these nights is as high.
FAR = 10**15


def a_walked_night(
    store: Store,
    kind: str,
    *,
    steps: int,
    seed: str = "planted",
    day: int = 0,
    is_completed: bool = True,
) -> StoredNight:
    """A random night of this format, some days after the first, that has begun."""

    def prepare(planned: Night) -> StoredNight:
        return stored_nights.a_stored_night(store, with_changes(planned, now=NOON + timedelta(days=day)))

    for number in range(SEEDS_MAX):
        night = walked_nights.random_night(
            ALL_MOVES[kind], f"{seed} {kind} {number}", steps=steps, prepare=prepare
        )
        if night.tournament.status == "started" and is_completed:
            night.complete()
        wanted = "completed" if is_completed else "started"
        if night.tournament.status == wanted and (
            night.tournament.games or night.tournament.single_player_games
        ):
            return night
    raise AssertionError(f"no night of {kind} has begun")


class Evening:
    """A tournament that is run over HTTP, with everything beside its games."""

    def __init__(self, store: Store, kind: str, **settings: Any) -> None:
        self.store = store
        self.night = stored_nights.a_stored_night(store, a_night(kind, players=4, arenas=3, **settings))
        self._link()
        self.path = f"/api/tournaments/{self.night.tournament.tournament_id}"
        self.now = build.NOW

    def _link(self) -> None:
        """Name another tournament as related."""
        other = stored_nights.a_stored_night(self.store, a_night("matchplay", players=2, arenas=2))
        link = {
            "linked_tournament_id": other.tournament.tournament_id,
            "link_type": "related",
            "link_index": 1,
            "shown": {"name": "Thursday Night"},
        }
        tournament = self.night.tournament
        details = {**tournament.details, snapshot.LINKS: [link]}
        self.night.apply(tournament_changes(TournamentEdited, tournament, details=details))

    def ok(self, method: str, path: str, body: Any = None, *, by: Any = ORGANIZER_ID) -> Any:
        """The answer of a request that must succeed, five minutes after the one before."""
        self.now += timedelta(minutes=5)
        status, answer, _ = build.do(self.store, method, self.path + path, body, by=by, now=self.now)
        assert status in (200, 201), answer
        return answer

    def rows_beside_play(self) -> None:
        """A list at the door, prizes, machines in banks, scorekeepers, links."""
        store = self.store
        waiting = build.row(store, tables.player, **_new_player(store, "Wim Late"))
        bank = build.row(store, tables.bank, **{**build.DEFAULTS["bank"], "organizer_id": ORGANIZER_ID})
        self.ok(
            "PATCH", "", {"rsvpConfiguration": {"status": "active", "playerLimit": 4, "hasWaitlist": True}}
        )
        self.ok(
            "PATCH", "", {"shortcut": f"evening-{self.night.tournament.tournament_id}", "motdText": "Hello"}
        )
        self.ok("PATCH", "/sign-ups", {"fee": 1000})
        self.ok("POST", "/sign-ups/waiting", {"playerId": waiting})
        first = self.night.tournament.entrants[0].player_id
        paid = {"here": True, "payment": {"cents": 1000, "how": "cash"}}
        self.ok("PUT", f"/sign-ups/players/{first}", paid)
        self.ok("PUT", f"/banks/{bank}")
        self.ok("PUT", f"/scorekeepers/{SCOREKEEPER_ID}")
        self.ok("PUT", "/prizes", {"entryFee": 1000, "shares": [6000, 4000], "rounding": 100})


def _new_player(store: Store, name: str) -> dict[str, Any]:
    return chain.with_name_digest({**build.DEFAULTS["player"], "organizer_id": ORGANIZER_ID, "name": name})


class Plant(Struct, frozen=True):
    """A change of a column of one row, or the end of the row where no column is named."""

    table: Table
    key: tuple[Any, ...]
    column: Column[Any] | None = None

    @property
    def name(self) -> str:
        return self.table.name + (f".{self.column.name}" if self.column is not None else " deleted")

    def apply(self, db: Any) -> None:
        """Change the row past the program."""
        if db.dialect.name == "sqlite":
            # What refers to the row is looked at when the transaction ends, and this one is taken back.
            db.execute(text("PRAGMA defer_foreign_keys = ON"))
        own = and_(*(column == value for column, value in zip(self.table.primary_key, self.key, strict=True)))
        if self.column is None:
            db.execute(delete(self.table).where(own))
            return
        value = db.execute(select(self.column).where(own)).scalar_one()
        db.execute(update(self.table).where(own).values({self.column: other_value(self.column, value)}))


def other_value(column: Column[Any], value: Any) -> Any:
    """Another value of the column's type."""
    kind: TypeEngine[Any] = column.type
    if isinstance(kind, Json):
        return _other_json(value)
    if isinstance(kind, Flag):
        return not value
    if isinstance(kind, Instant):
        return (value or NOON) + timedelta(hours=1)
    if isinstance(kind, Hundredths):
        return (value or 0) + Decimal(1)
    if isinstance(kind, Id):
        return (value or 0) + (FAR if column.primary_key or column.foreign_keys else 1)
    if kind is Real or isinstance(value, float):
        return (value or 0.0) + 0.5
    return (value or "") + "x"


def _other_json(value: Any) -> Any:
    if isinstance(value, dict) and value:
        name = next(
            (name for name, part in value.items() if not isinstance(part, dict | list)), next(iter(value))
        )
        return {**value, name: _other_scalar(value[name])}
    if isinstance(value, list) and value:
        return value[:-1]
    return [77]


def _other_scalar(value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int | float):
        return value + 1
    return f"{value}x" if isinstance(value, str) else None


def column_plants(db: Any, table: Table, *conditions: Any) -> Iterator[Plant]:
    """A change of each column, in the first row that has a value there, or else in the first row."""
    for column in table.columns:
        rows = select(*table.primary_key).where(*conditions).order_by(column.is_(None), *table.primary_key)
        key = db.execute(rows.limit(1)).one_or_none()
        if key is not None:
            yield Plant(table, tuple(key), column)


def row_plants(db: Any, table: Table, *conditions: Any) -> Iterator[Plant]:
    """The end of each row."""
    rows = select(*table.primary_key).where(*conditions).order_by(*table.primary_key)
    for key in db.execute(rows).all():
        yield Plant(table, tuple(key))


def give_names(store: Store) -> None:
    """Give every player a name of their own, as ratings know people by it."""
    with store.write() as transaction:
        db = transaction.connection
        for player_id in db.execute(select(tables.player.c.player_id)).scalars().all():
            values = chain.with_name_digest({"name": f"Player {player_id}"})
            db.execute(update(tables.player).where(tables.player.c.player_id == player_id).values(values))


def _claim(store: Store, tournament_id: int, player_id: int) -> int:
    """A user who has claimed this player."""
    user_id = build.a_user(store, name="Kit Flip")
    with store.write() as transaction:
        own = tables.player.c.player_id == player_id
        transaction.connection.execute(tables.player.update().where(own).values(claimed_by=user_id))
        revisions.raise_tournaments(transaction, [tournament_id])
    return user_id


def an_evening(store: Store) -> Evening:
    """A running match play with a list at the door, prizes, a report and a note."""
    evening = Evening(store, "matchplay", scorekeeping="user", suggestions="restricted")
    evening.rows_beside_play()
    evening.ok("POST", "/start")
    games = evening.ok("POST", "/rounds", {})["games"]
    first, second = (game["gameId"] for game in games)
    order = {"resultPositions": games[0]["playerIds"]}
    evening.ok("PUT", f"/games/{first}/result", order)
    evening.ok("POST", f"/games/{second}/notes", {"kind": "slow", "text": "Ten minutes late."})
    reporter = build.caller(
        _claim(store, evening.night.tournament.tournament_id, games[1]["playerIds"][0]), ability="score"
    )
    report = {"resultPositions": games[1]["playerIds"]}
    evening.ok("POST", f"/games/{second}/suggestions", report, by=reporter)
    return evening


def an_evening_with_entries(store: Store) -> Evening:
    """A running best game in which entries are bought."""
    evening = Evening(store, "best_game")
    evening.ok("PATCH", "", {"entryConfiguration": {"limited": True}})
    evening.ok("POST", "/start")
    player_id = evening.night.tournament.entrants[0].player_id
    evening.ok("POST", f"/players/{player_id}/entries", {"quantity": 5})
    return evening
