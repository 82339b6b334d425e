"""Games name the accounts that have claimed their players now, in every answer that shows them."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from sqlalchemy import select

import build
from kept import opening
from mirror import ANEW
from service.desk import Desk, a_desk
from silverball.exchange.bundle import file as bundle_file
from silverball.service.accounts.writes import accounts
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.revisions import revisions
from silverball.store.tournament import announcements

STEPS = 16
WALKS_SOAK = 40
FORMATS = ("matchplay", "group_matchplay", "knockout", "round_robin", "bracket", "frenzy")


@dataclass
class Claims:
    """A tournament whose players are claimed, and no longer claimed, while it is played."""

    desk: Desk
    dice: Random
    actions: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        # As `opening.answers` wants them.
        names = ("Ada Quill", "Bo", "Cy", "Di", "Ed")
        self.users = [build.a_user(self.desk.store, name=name) for name in names]
        self.accounts = [*self.users, self.desk.callers["player"].user_id]
        self.note_action()

    @property
    def store(self) -> Store:
        return self.desk.store

    def claimed_by(self) -> dict[int, int | None]:
        """Player id -> the account that has claimed the player."""
        own = tables.player.c
        with self.store.read() as db:
            return {
                row.player_id: row.claimed_by for row in db.execute(select(own.player_id, own.claimed_by))
            }

    def entrant_ids(self) -> list[int]:
        own = tables.entrant.c
        rows = select(own.player_id).where(own.tournament_id == self.desk.night.tournament_id)
        with self.store.read() as db:
            return list(db.execute(rows.order_by(own.player_id)).scalars())

    def do(self, method: str, path: str, body: Any = None, *, by: int | None = None) -> int:
        """The status of a request of this account, or of the organizer."""
        caller = self.desk.callers["owner"] if by is None else build.caller(by, ability="score")
        return build.do(self.store, method, path, body, by=caller)[0]

    def note_action(self) -> None:
        rows = select(tables.journal.c.action_id).order_by(tables.journal.c.journal_id.desc()).limit(1)
        with self.store.read() as db:
            newest = db.execute(rows).scalar_one()
        if newest not in self.actions:
            self.actions.append(newest)

    # What may happen: True where accounts may be named less than before

    def claim(self) -> bool:
        player_id, user_id = self.dice.choice(self.entrant_ids()), self.dice.choice(self.users)
        path = f"/api/players/{player_id}/claim"
        self.do("POST", path, by=user_id)
        self.do("PUT", path, {"userId": user_id})
        return False

    def reject(self) -> bool:
        claimed = [key for key, user_id in self.claimed_by().items() if user_id is not None]
        if not claimed:
            return False
        player_id = self.dice.choice(claimed)
        user_id = self.claimed_by()[player_id]
        is_entrant = player_id in self.entrant_ids()
        if self.dice.random() < 0.5:
            assert self.do("DELETE", f"/api/players/{player_id}/claim?user={user_id}") == 200
        else:
            assert self.do("DELETE", f"/api/players/{player_id}/claim", by=user_id) == 200
        return is_entrant

    def merge(self) -> bool:
        entrant_id = self.dice.choice(self.entrant_ids())
        other_id = build.a_player(
            self.store,
            self.desk.night.organizer_id,
            claimed_by=self.dice.choice([None, build.a_user(self.store)]),
        )
        gone, remains = self.dice.sample([entrant_id, other_id], 2)
        status = self.do("POST", f"/api/players/{gone}/merge", {"playerId": remains})
        assert status in (200, 409)
        return status == 200 and gone == entrant_id

    def opt_out(self) -> bool:
        user_id = self.dice.choice(self.users)
        is_entrant = user_id in {self.claimed_by()[key] for key in self.entrant_ids()}
        profile = build.ask(self.store, "/api/users/profile", by=user_id)[1]
        wanted = not profile["profileOptOut"]
        assert self.do("PATCH", "/api/users/profile", {"profileOptOut": wanted}, by=user_id) == 200
        return is_entrant and wanted

    def erase(self) -> bool:
        user_id = self.users.pop()
        is_entrant = user_id in {self.claimed_by()[key] for key in self.entrant_ids()}
        with self.store.write() as transaction:
            assert accounts.erase_account(transaction, user_id)
        self.users.append(build.a_user(self.store, name=f"User {user_id}"))
        return is_entrant

    def play(self) -> bool:
        open_games = self.desk.ok("GET", "/games?status=started")["data"]
        if open_games:
            game = self.dice.choice(open_games)
            finish = self.dice.sample(game["playerIds"], len(game["playerIds"]))
            status, answer = self.desk.do(
                "PUT", f"/games/{game['gameId']}/result", {"resultPositions": finish}
            )
            if status == 200:
                self.expect_claims(answer)
        else:
            status, answer = self.desk.do("POST", "/rounds", {})
            if status == 201:
                self.expect_claims(answer)
        self.note_action()
        return False

    def undo(self) -> bool:
        _start, *later = self.actions
        if later and self.desk.do("POST", "/undo", {"action": later[-1]})[0] == 200:
            self.note_action()
        return False

    # What must hold

    def expect_claims(self, answer: Any) -> int:
        """Every game in an answer names the accounts of now; returns how many games there are."""
        claims = self.claimed_by()
        games = list(games_in(answer))
        for game in games:
            assert game["userIds"] == [claims.get(player_id) for player_id in game["playerIds"]], game
        return len(games)

    def expect_claims_everywhere(self) -> None:
        """The answers that show games, at this action and an earlier one, and the file of the tournament."""
        tournament_id = self.desk.night.tournament_id
        games = self.desk.ok("GET", "/games", by="owner")["data"]
        assert self.expect_claims(games) == len(games)
        paths = [f"{self.desk.path}/games/{game['gameId']}" for game in games[:3]]
        paths += [
            f"{self.desk.path}/games?at={self.dice.choice(self.actions)}",
            f"/api/games?tournaments={tournament_id}",
        ]
        for path in paths:
            status, answer = build.ask(self.store, path, by=self.desk.callers["owner"])
            assert status == 200, path
            self.expect_claims(answer)
        with self.store.read() as db:
            bundle = json.loads(bundle_file.export_bundle(db, tournament_id))
        assert self.expect_claims(bundle) == len(games)
        for player in bundle["tournament"]["players"]:
            assert player["claimedBy"] == self.claimed_by()[player["playerId"]]

    def walk(self) -> None:
        happenings: list[Callable[[], bool]] = [self.undo, self.reject, self.merge, self.opt_out, self.erase]
        happenings += [self.play] * 6 + [self.claim] * 3
        for _ in range(STEPS):
            names_fewer = self.dice.choice(happenings)()
            # A follower either derives the accounts, or is told to read everything again.
            assert (self.desk.mirror.follow() == [ANEW]) is names_fewer
            self.expect_claims_everywhere()


def games_in(answer: Any) -> Iterator[dict[str, Any]]:
    """The games anywhere in an answer."""
    if isinstance(answer, dict):
        if "userIds" in answer and "playerIds" in answer:
            yield answer
        answer = list(answer.values())
    if isinstance(answer, list):
        for member in answer:
            yield from games_in(member)


def walk(store: Store, kind: str, number: int) -> None:
    claims = Claims(a_desk(store, kind, players=6, arenas=4), Random(f"{kind} {number}"))
    claims.walk()
    claims.play()
    seen = 0
    for path, answer in opening.answers(store, "owner"):
        status, _, body = answer.partition(" ")
        if status == "200" and body.startswith("{") and "/events" not in path:
            seen += claims.expect_claims(json.loads(body))
    assert seen


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", FORMATS)
def test_every_answer_names_the_accounts_of_now(store: Store, kind: str) -> None:
    walk(store, kind, 0)


@pytest.mark.soak
@pytest.mark.parametrize("kind", FORMATS)
def test_every_answer_names_the_accounts_of_now_in_many_nights(store: Store, kind: str) -> None:
    for number in range(1, WALKS_SOAK):
        walk(store, kind, number)


def approve(store: Store, player_id: int, user_id: int, organizer_id: int) -> None:
    path = f"/api/players/{player_id}/claim"
    assert build.do(store, "POST", path, by=build.caller(user_id, ability="score"))[0] == 201
    assert build.do(store, "PUT", path, {"userId": user_id}, by=organizer_id)[0] == 200


def reject(store: Store, player_id: int, user_id: int, organizer_id: int) -> None:
    path = f"/api/players/{player_id}/claim?user={user_id}"
    assert build.do(store, "DELETE", path, by=organizer_id)[0] == 200


@pytest.mark.both_databases
def test_a_claim_is_one_event_and_what_was_sent_before_stays_until_it_is_rejected(store: Store) -> None:
    desk = a_desk(store)
    desk.open_round()
    game = desk.ok("GET", "/games")["data"][0]
    player_id = next(each for each in game["playerIds"] if each != desk.night.player_ids[0])
    who = (player_id, build.a_user(store), desk.night.organizer_id)
    approve(store, *who)
    assert desk.mirror.follow() == ["PlayersChanged"]
    with store.read() as db:
        events = announcements.load_since(db, desk.night.tournament_id, desk.mirror.epoch, 0, 100)
    sent = [json.loads(event.data) for event in events if event.name == "GameCreatedOrUpdated"]
    assert {user_id for each in sent for user_id in each["userIds"]} == {None, desk.callers["player"].user_id}
    reject(store, *who)
    assert desk.mirror.follow() == [ANEW]
    with store.read() as db:
        left = announcements.load_since(db, desk.night.tournament_id, desk.mirror.epoch, 0, 100)
    assert [event.name for event in left] == ["PlayersChanged"]


@pytest.mark.both_databases
def test_a_completed_tournament_shows_a_claim_in_a_new_revision_without_an_event(store: Store) -> None:
    night = build.a_tournament(store, status="completed", completed_at=build.NOW)
    build.a_game(store, night.tournament_id, night.player_ids[:2], status="completed", points=[1, 0])
    user_id, path = build.a_user(store), f"/api/tournaments/{night.tournament_id}/games"

    def stand() -> tuple[int, int, list[int | None]]:
        with store.read() as db:
            head = announcements.channel_head(db, night.tournament_id)
            revision = revisions.current_revision(db, night.tournament_id)
        assert head is not None
        assert revision is not None
        return revision.number, head.seq, build.ask(store, path, public_read=True)[1]["data"][0]["userIds"]

    first, seq, shown = stand()
    assert shown == [None, None]
    approve(store, night.player_ids[1], user_id, night.organizer_id)
    assert stand() == (first + 1, seq, [None, user_id])
    reject(store, night.player_ids[1], user_id, night.organizer_id)
    assert stand() == (first + 2, 0, [None, None])
