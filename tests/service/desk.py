"""Nights over HTTP: a `Desk` sends an organizer's requests and compares their effects."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

import build
from mirror import Mirror
from silverball.rules.model import settings
from silverball.rules.registry import FORMATS
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.standings.reads import standings
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.tournament import snapshot


@dataclass
class Desk:
    """A started tournament and the callers who may want to write to it."""

    store: Store
    night: build.Night
    callers: dict[str, AuthenticatedCaller]

    @property
    def path(self) -> str:
        return f"/api/tournaments/{self.night.tournament_id}"

    def do(self, method: str, path: str, body: Any = None, *, by: str = "owner", **options: Any) -> Any:
        """Status and body."""
        caller = self.callers.get(by)
        status, answer, _ = build.do(self.store, method, self.path + path, body, by=caller, **options)
        if method != "GET" and status < 300:
            # Every change has to reach the followers of the feed.
            self.mirror.follow()
        return status, answer

    @cached_property
    def mirror(self) -> Mirror:
        """A client that follows the tournament from now on."""
        return Mirror(self.store, self.night.tournament_id)

    def ok(self, method: str, path: str, body: Any = None, **options: Any) -> Any:
        """The answer of a request that must succeed."""
        status, answer = self.do(method, path, body, **options)
        assert status in (200, 201), answer
        return answer

    def expect_refusal(self, status: int, method: str, path: str, body: Any = None, **options: Any) -> Any:
        """The answer of a request that must be refused and change nothing."""
        before = self.stored_state()
        actual_status, answer = self.do(method, path, body, **options)
        assert actual_status == status, (actual_status, answer)
        assert self.stored_state() == before
        return answer

    def stored_state(self) -> Any:
        with self.store.read() as db:
            return snapshot.load(db, self.night.tournament_id), self.standings()

    def standings(self) -> dict[int, str]:
        """Player id -> the row of the standings that everybody reads, to the letter."""
        with self.store.read() as db:
            rows = standings.decoded_standings(db, self.night.tournament_id)
        return {row.player_id: msgspec.json.encode(row).decode() for row in rows}

    def do_and_undo(self, method: str, path: str, body: Any = None, **options: Any) -> Any:
        """The answer of a successful request that is undone at once, which must restore the stored state."""
        before = self.stored_state()
        answer = self.ok(method, path, body, **options)
        assert self.stored_state() != before
        self.undo()
        assert self.stored_state() == before
        return answer

    def undo(self) -> None:
        """Undo the newest action."""
        # The refusal of a wrong id names the right one.
        _status, refusal = self.do("POST", "/undo", {"action": 10**6})
        newest = int(refusal["message"].split(": action ")[1].split(" ")[0])
        assert self.do("POST", "/undo", {"action": newest})[0] == 200, refusal

    def open_round(self) -> list[dict[str, Any]]:
        """The games of a new round."""
        games: list[dict[str, Any]] = self.ok("POST", "/rounds", {})["games"]
        return games


def a_desk(
    store: Store,
    type_: str = "matchplay",
    *,
    players: int = 4,
    arenas: int = 3,
    starts: bool = True,
    **wire_settings: Any,
) -> Desk:
    """A desk at a started tournament with these settings, by wire key."""
    owner = build.a_user(store, name="Olga Ramp", role="organizer")
    people = {name: build.a_user(store, name=name.title()) for name in ("keeper", "player", "reader")}
    other = build.a_user(store, name="Otto Tilt", role="organizer")
    admin = build.a_user(store, name="Ada Min", role="admin")
    chosen = {"scorekeeping": "user", **wire_settings}
    form = FORMATS[type_].settings
    night = build.a_tournament(
        store,
        players=players,
        arenas=arenas,
        organizer_id=owner,
        type=type_,
        status="planned",
        settings={**settings.default_values(form), **chosen},
        points_map=FORMATS[type_].points_map(settings.read_settings(form, chosen), None),
        engine={"dice_seed": "s"},
    )
    build.row(store, tables.scorekeeper, tournament_id=night.tournament_id, user_id=people["keeper"])
    with store.write() as transaction:
        is_first = tables.player.c.player_id == night.player_ids[0]
        transaction.connection.execute(
            tables.player.update().where(is_first).values(claimed_by=people["player"])
        )
    callers = {name: build.caller(user_id, ability="score") for name, user_id in people.items()}
    callers["reader"] = build.caller(people["reader"], ability="read")
    callers["stranger"] = build.caller(people["reader"], ability="score")
    callers["owner"] = build.caller(owner, role="organizer", ability="manage")
    callers["kiosk"] = build.caller(owner, role="organizer", ability="score")
    callers["other"] = build.caller(other, role="organizer", ability="manage")
    callers["admin"] = build.caller(admin, role="admin", ability="admin")
    desk = Desk(store, night, callers)
    # The mirror has to start before anything is written.
    assert desk.mirror.seq == 0
    if starts:
        desk.ok("POST", "/start")
    return desk
