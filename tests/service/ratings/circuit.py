"""A circuit of rated tournaments on days of March 2026, with its players and ratings."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

from sqlalchemy import select

import build
from service import stored_nights
from silverball.rules.ratings.formulas import DEFAULTS, Parameters
from silverball.service.numbers import writes as number_writes
from silverball.service.periods import rating_run
from silverball.store import tables
from silverball.store.database.engine import Store

FIRST = date(2026, 3, 1)
NOW = datetime(2026, 4, 1, 6, tzinfo=UTC)


def moment(day: int, hour: int = 20) -> datetime:
    return datetime(2026, 3, day, hour, tzinfo=UTC)


@dataclass
class Circuit:
    """An organizer and the players of their book, by name."""

    store: Store
    organizer_id: int = 0
    players: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        stored_nights.skip_disk_sync(self.store)
        self.organizer_id = build.a_user(self.store, name="Olga Ramp", role="organizer")

    def player(self, name: str, **values: Any) -> int:
        """The player of this name in the organizer's book, created when missing."""
        if name not in self.players:
            self.players[name] = build.a_player(self.store, self.organizer_id, name=name, **values)
        return self.players[name]

    def night(self, day: int, *games: Sequence[str], **values: Any) -> int:
        """Create a completed tournament. A game is the list of its players, best first."""
        ends = values.pop("completed_at", moment(day))
        own = {
            "type": "matchplay",
            "status": "completed",
            "completed_at": ends,
            "start_utc": moment(day, 18),
            "points_map": [[1], [1, 0], [2, 1, 0], [3, 2, 1, 0]],
        }
        tournament_id = build.row(
            self.store, tables.tournament, organizer_id=self.organizer_id, **{**own, **values}
        )
        names = dict.fromkeys(name for game in games for name in game)
        for place, name in enumerate(names):
            entered = {"player_id": self.player(name), "place": place}
            build.row(self.store, tables.entrant, tournament_id=tournament_id, **entered)
        for game in games:
            ids = [self.player(name) for name in game]
            seated = sorted(ids)
            began = {**own, **values}["start_utc"]
            played = {"status": "completed", "positions": ids, "started_at": began}
            build.a_game(self.store, tournament_id, seated, **played)
        return tournament_id

    def rate(self, day: int, *, parameters: Parameters = DEFAULTS, **more: Any) -> int:
        """Rate all days up to a day of March, and return the number of rated days."""
        return rating_run.rate_days(self.store, date(2026, 3, day), parameters, NOW, **more)

    def claim(self, name: str, **values: Any) -> int:
        """Create a user who has claimed this player."""
        user_id, player_id = build.a_user(self.store, name=name, **values), self.player(name)
        with self.store.write() as transaction:
            own = tables.player.c.player_id == player_id
            transaction.connection.execute(tables.player.update().where(own).values(claimed_by=user_id))
        return user_id

    def change_profile(self, user_id: int, body: dict[str, Any]) -> int:
        """Change the profile of a user, as they do, and return the status of the answer."""
        by = build.caller(user_id, ability="score")
        return int(build.do(self.store, "PATCH", "/api/users/profile", body, by=by)[0])

    def confirm(self, user_id: int, ifpa_id: int) -> None:
        """Confirm the number for the account, as an administrator."""
        with self.store.write() as transaction:
            number_writes.confirm_number(transaction, user_id, ifpa_id, now=NOW, source="command line")

    def ratings(self) -> dict[str, tuple[float, float]]:
        """Name -> rating and deviation, of all rated players."""
        own = tables.rating.c
        rows = select(own.name, own.rating, own.rd).where(own.last_period.is_not(None))
        with self.store.read() as db:
            return {row.name: (row.rating, row.rd) for row in db.execute(rows)}

    def numbers(self) -> dict[str, float]:
        """The same numbers under one key each, for comparison with a tolerance."""
        return {
            f"{name} {kind}": value
            for name, pair in self.ratings().items()
            for kind, value in zip(("rating", "rd"), pair, strict=True)
        }

    def stored_rows(self) -> dict[str, list[tuple[Any, ...]]]:
        """All rows that a run stores, without its time and number."""
        found = {}
        with self.store.read() as db:
            for table in (tables.rating, tables.rating_revision, tables.rating_period):
                columns = [column for column in table.c if column.name != "processed_at"]
                rows = db.execute(select(*columns).order_by(columns[0]))
                found[table.name] = [tuple(row) for row in rows]
        return found

    def get_json(self, path: str, **more: Any) -> Any:
        """The body of an answer, which must be a 200."""
        status, body = build.ask(self.store, path, by=more.pop("by", self.organizer_id), **more)
        assert status == 200, body
        return body


def days(first: int, last: int) -> list[str]:
    return [(date(2026, 3, first) + timedelta(days=n)).isoformat() for n in range(last - first + 1)]


def delete_everything(store: Store) -> None:
    """Delete all tournaments and ratings before the next example of a property."""
    with store.write() as transaction:
        for table in (
            tables.rating_revision,
            tables.rating,
            tables.rating_period,
            tables.game_player,
            tables.game,
            tables.entrant,
            tables.tournament,
        ):
            transaction.connection.execute(table.delete())
