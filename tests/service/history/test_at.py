"""`?at=ACTION`: standings, games and rounds as they stood after an action of the journal."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Any

import msgspec
import pytest
from sqlalchemy import delete, select, update

import build
from rules.night import Night, a_night
from rules.test_corrections import ALL
from rules.verify import walked_nights
from service import stored_nights
from service.stored_nights import StoredNight
from silverball import app
from silverball.kit.http.api import Api
from silverball.kit.http.endpoints import Request
from silverball.rules.model.changes import Change
from silverball.settings import Settings
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.tournament import journal

SHOWN = ("standings", "games", "rounds")
STEPS = 14
WALKS_SOAK = 12


@dataclass
class ServedNight(StoredNight):
    """A night that notes after each action what is served."""

    api: Any = None
    # Action id -> body by what was asked for.
    served: dict[int, dict[str, bytes]] = field(default_factory=dict)

    def apply(self, changes: Sequence[Change]) -> list[Change]:
        real = super().apply(changes)
        self.note()
        return real

    def undo(self) -> list[Change]:
        opposites = super().undo()
        self.note()
        return opposites

    def note(self) -> None:
        newest = stored_nights.all_actions(self.store, self.tournament.tournament_id)[-1].action_id
        self.served[newest] = {shown: self.answer(shown) for shown in SHOWN}

    def answer(self, shown: str, query: str = "") -> bytes:
        status, body = ask(self.api, f"/api/tournaments/{self.tournament.tournament_id}/{shown}", query)
        assert status == 200, body
        return body


def ask(api: Api, path: str, query: str = "") -> tuple[int, bytes]:
    got = app.answer_request(api, Request(method="GET", path=path, query=query.encode()))
    return got.status, got.body


def public_api(store: Store) -> Api:
    return app.build_api(store, Settings(base_url=build.BASE_URL, public_read=True))


def a_served_night(store: Store, plan: Night) -> ServedNight:
    stored = stored_nights.a_stored_night(store, plan)
    values = {part.name: getattr(stored, part.name) for part in fields(StoredNight)}
    night = ServedNight(**values, api=public_api(store))
    night.note()
    return night


def differences(night: ServedNight) -> list[str]:
    """What is answered for an action, and was not served after it."""
    return [
        f"{shown} after action {action_id}"
        for action_id, bodies in night.served.items()
        for shown, body in bodies.items()
        if night.answer(shown, f"at={action_id}") != body
    ]


def walk(store: Store, kind: str, number: int, steps: int = STEPS) -> None:
    night = walked_nights.random_night(
        ALL[kind], f"at {kind} {number}", steps=steps, prepare=lambda planned: a_served_night(store, planned)
    )
    assert len(night.served) > 1
    assert differences(night) == [], f"{kind}, walk {number}"


@pytest.mark.sample(5)
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("kind", sorted(ALL))
def test_what_is_answered_for_an_action_is_what_was_served_after_it(store: Store, kind: str) -> None:
    stored_nights.skip_disk_sync(store)
    walk(store, kind, 0)


@pytest.mark.soak
@pytest.mark.parametrize("kind", sorted(ALL))
def test_what_is_answered_is_what_was_served_in_many_nights(store: Store, kind: str) -> None:
    stored_nights.skip_disk_sync(store)
    for number in range(1, WALKS_SOAK):
        walk(store, kind, number, steps=30)


FILTERS = (
    "round=latest",
    "round=activeOrLatest",
    "status=started",
    "status=completed",
    "player={}",
    "arena={}",
)


@pytest.mark.both_databases
def test_the_filters_of_games_hold_for_earlier_games_too(store: Store) -> None:
    night = a_served_night(store, a_night("group_knockout", players=6, arenas=4))
    filters: list[str] = []
    served: list[tuple[int, str, bytes]] = []
    night.start()
    for _ in range(2):
        for game in night.open_round():
            chosen = (game.player_ids[0], game.arena_id)
            filters = [text.format(chosen["arena" in text]) for text in FILTERS] + [f"round={game.round_id}"]
            night.record_order(game, *game.player_ids)
            newest = max(night.served)
            served += [(newest, text, night.answer("games", text)) for text in filters]
    assert len({body for _, _, body in served}) > len(filters)
    for action_id, text, body in served:
        assert night.answer("games", f"at={action_id}&{text}") == body, (action_id, text)


def test_a_correction_leaves_what_was_shown_before_it(store: Store) -> None:
    """Ann beats Bea, which was a mistake: the answer for the action still has Ann in front."""
    night = a_served_night(store, a_night("matchplay", players=2, arenas=1))
    night.start()
    (game,) = night.open_round()
    ann, bea = game.player_ids
    night.record_order(game, ann, bea)
    recorded = max(night.served)
    before = night.answer("standings")
    night.correct(night.game(game.game_id), bea, ann)
    assert night.answer("standings") != before
    assert night.answer("standings", f"at={recorded}") == before
    assert night.answer("standings", f"at={recorded + 1}") == night.answer("standings")
    assert night.answer("standings", "at=1") == b"[]"


def test_an_earlier_state_is_kept_until_the_journal_grows(store: Store) -> None:
    night = a_served_night(store, a_night("matchplay", players=4, arenas=2))
    night.start()
    started = max(night.served)
    night.play_round()
    for _ in range(2):
        assert night.answer("games", f"at={started}") == night.served[started]["games"]
    night.play_round()
    assert night.answer("games", f"at={started}") == night.served[started]["games"]


@pytest.mark.both_databases
def test_claims_are_those_of_today(store: Store) -> None:
    night = a_served_night(store, a_night("matchplay", players=4, arenas=2))
    night.start()
    night.open_round()
    with store.write() as transaction:
        row = tables.player.c.player_id == night.tournament.games[0].player_ids[0]
        transaction.connection.execute(update(tables.player).where(row).values(claimed_by=1))
    newest = max(night.served)
    night.undo()
    # A game that is gone has no row that says whose the players were.
    assert b'"userIds":[1,null]' in night.answer("games", f"at={newest}")


REFUSED = {
    "0": "The at field must be at least 1.",
    "-3": "The at field must be at least 1.",
    "yesterday": "The at field must be an integer.",
    "9" * 30: "The at field must be an integer.",
    "9" * 19: "The at field must not be greater than 9223372036854775807.",
    "4": "The journal of this tournament ends with action 3.",
}


def test_an_action_that_is_none_is_refused_with_a_sentence(store: Store) -> None:
    night = a_served_night(store, a_night("matchplay", players=4, arenas=2))
    night.start()
    for shown in SHOWN:
        path = f"/api/tournaments/{night.tournament.tournament_id}/{shown}"
        for at, sentence in REFUSED.items():
            status, body = build.ask(store, f"{path}?at={at}", public_read=True)
            assert (status, body["errors"]) == (422, {"at": [sentence]}), (shown, at)
        assert build.ask(store, f"/api/tournaments/99/{shown}?at=1", public_read=True)[0] == 404


def test_a_tournament_without_a_journal_is_refused_with_a_sentence(store: Store) -> None:
    tournament_id = build.a_tournament(store).tournament_id
    status, body = build.ask(store, f"/api/tournaments/{tournament_id}/standings?at=1", public_read=True)
    assert (status, body["message"]) == (
        422,
        "This tournament has no journal, so it can be shown only as it is now.",
    )


def test_before_an_import_nothing_is_known(store: Store) -> None:
    night = a_served_night(store, a_night("matchplay", players=4, arenas=2))
    night.start()
    tournament_id = night.tournament.tournament_id
    with store.write(tournament_id) as transaction:
        entry: list[tuple[str, dict[str, Any]]] = [(journal.MATCHES_MERGED, {})]
        journal.append(
            transaction.connection, tournament_id, entry, actor_id=None, source="test", now=build.NOW
        )
    path = f"/api/tournaments/{tournament_id}/games?at="
    assert build.ask(store, path + "4", public_read=True)[0] == 200
    status, body = build.ask(store, path + "3", public_read=True)
    assert (status, body["message"]) == (422, "The journal tells of this tournament from action 4 on.")


@pytest.mark.both_databases
def test_a_journal_that_does_not_lead_to_the_rows_is_no_source(store: Store) -> None:
    night = a_served_night(store, a_night("matchplay", players=4, arenas=2))
    night.start()
    game = night.open_round()[0]
    with store.write() as transaction:
        for table in (tables.game_player, tables.game):
            transaction.connection.execute(delete(table).where(table.c.game_id == game.game_id))
    with reopened(store) as again:
        path = f"/api/tournaments/{night.tournament.tournament_id}/standings?at=3"
        status, body = build.ask(again, path, public_read=True)
    assert (status, body["code"]) == (409, "journal-does-not-lead-here")
    assert body["message"].startswith(
        "The journal does not lead from action 3 to the tournament as it is now"
    )


@contextmanager
def reopened(store: Store) -> Iterator[Store]:
    """The database as another process sees it, with nothing in memory."""
    opened = Store(store.url.render_as_string(hide_password=False))
    yield opened
    opened.close()


@pytest.mark.both_databases
def test_who_was_merged_since_stands_in_earlier_states_as_whom_they_are_now(store: Store) -> None:
    night = a_served_night(store, a_night("matchplay", players=4, arenas=2))
    night.start()
    for _ in range(2):
        night.play_round()
    with store.read() as db:
        owner_id = db.execute(select(tables.tournament.c.organizer_id)).scalar_one()
        gone_id = night.tournament.entrants[0].player_id
        name = db.execute(
            select(tables.player.c.name).where(tables.player.c.player_id == gone_id)
        ).scalar_one()
    kept_id = build.a_player(store, owner_id, player_id=900, name=name)
    owner = build.caller(owner_id, role="organizer", ability="manage")
    status, _, _ = build.do(store, "POST", f"/api/players/{gone_id}/merge", {"playerId": kept_id}, by=owner)
    assert status == 200
    for action_id, bodies in night.served.items():
        for shown, body in bodies.items():
            expected = with_player(msgspec.json.decode(body), gone_id, kept_id)
            if shown == "standings":
                # Who shares a place is listed by id.
                expected.sort(key=lambda row: (row["position"], row["playerId"]))
            answered = msgspec.json.decode(night.answer(shown, f"at={action_id}"))
            assert answered == expected, (shown, action_id)


def with_player(value: Any, gone_id: int, kept_id: int, key: str = "") -> Any:
    """The decoded answer with another id wherever it names the player."""
    if isinstance(value, dict):
        return {name: with_player(part, gone_id, kept_id, name) for name, part in value.items()}
    if isinstance(value, list):
        return [with_player(part, gone_id, kept_id, key) for part in value]
    is_player = key in {"playerId", "playerIds", "playerIdAdvantage", "resultPositions"}
    return kept_id if is_player and value == gone_id else value
