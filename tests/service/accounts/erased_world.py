"""A person who is in every table, and the search for what is left of them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import insert, select

import build
import canaries
from canaries import IFPA_CANARY
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.people import names
from silverball.store.tournament import announcements

NAME = 'Canary "Quill" Ötztal'
CANARIES: dict[str, Any] = {
    **canaries.PROFILE,
    "email": canaries.EMAIL,
    "first_name": "canary-first",
    "last_name": "canary-last",
    "password_hash": "canary-hash",
}
WORDS = (
    NAME,
    names.fold(NAME) or "",
    json.dumps(NAME)[1:-1],
    json.dumps(NAME, ensure_ascii=False)[1:-1],
    "anary",
    str(IFPA_CANARY),
)


@dataclass(frozen=True)
class ErasedWorld:
    """A user who organizes, keeps scores, plays, claims, and is mentioned everywhere."""

    store: Store
    user_id: int
    # The user's player in another organizer's book, and that organizer's tournament.
    player_id: int
    night: build.Night
    own: build.Night


def a_world(store: Store, **values: Any) -> ErasedWorld:
    user_id = build.a_user(store, name=NAME, **{"role": "organizer", **CANARIES, **values})
    night = build.a_tournament(store)
    player_id = build.a_player(
        store, night.organizer_id, name=NAME, claimed_by=user_id, ifpa_id=IFPA_CANARY, labels=["canary-label"]
    )
    at = {"tournament_id": night.tournament_id}
    build.row(store, tables.entrant, **at, player_id=player_id, place=9, labels=["canary-seat"])
    build.row(store, tables.scorekeeper, **at, user_id=user_id)
    game_id = build.a_game(store, night.tournament_id, [player_id, night.player_ids[0]], status="completed")
    build.row(store, tables.suggestion, **at, game_id=game_id, user_id=user_id, player_id=player_id)
    own = build.a_tournament(store, organizer_id=user_id, status="completed", managers=[{"name": NAME}])
    build.row(
        store,
        tables.token,
        user_id=user_id,
        name="canary-token",
        hash="h",
        abilities=[],
        created_at=build.NOW,
    )
    build.row(
        store,
        tables.session,
        hash="canary-session",
        user_id=user_id,
        csrf="canary",
        created_at=build.NOW,
        expires_at=build.NOW,
    )
    build.row(store, tables.shortcut, user_id=user_id, slug="canary-slug")
    build.row(store, tables.location, organizer_id=user_id, name="canary-home", address="canary-address")
    build.row(store, tables.occasion, organizer_id=user_id, name="canary-event", contact_email="canary@mail")
    occasion_id = build.row(store, tables.occasion, organizer_id=user_id, contact_email="canary@mail")
    listed = {"user_id": user_id, "tournament_id": own.tournament_id}
    build.row(store, tables.occasion_tournament, occasion_id=occasion_id, **listed)
    build.a_player(store, user_id, name="canary-unused")
    bank_id = build.row(store, tables.bank, organizer_id=user_id, name="canary-bank")
    arena_id = build.an_arena(store, user_id, name="canary-arena")
    build.row(store, tables.bank_arena, bank_id=bank_id, place=0, arena_id=arena_id)
    build.row(store, tables.series, organizer_id=user_id, name="canary-series")
    build.row(store, tables.club, user_id=user_id, name="canary-club")
    other = build.a_player(store, night.organizer_id)
    build.row(store, tables.claim, player_id=other, user_id=user_id, at=build.NOW)
    _rate_user(store, user_id, night)
    _submit_user(store, user_id, night)
    _mention_everywhere(store, user_id, night, player_id)
    return ErasedWorld(store, user_id, player_id, night, own)


def _rate_user(store: Store, user_id: int, night: build.Night) -> None:
    """Ratings of the account, and of the number and the name that were merged into it."""
    named = {"name": NAME, "name_folded": names.fold(NAME)}
    rating_id = build.a_rating(store, **named, user_id=user_id, ifpa_id=IFPA_CANARY)
    book = {"organizer_id": night.organizer_id, "name_key": names.name_key(NAME)}
    build.row(store, tables.rating, **named, **book, merged_into=rating_id, rank=None)
    other = {"name": "Bo Larkin", "name_folded": "bo larkin", "lower_bound": 1500.0}
    build.row(store, tables.rating, **other, user_id=night.organizer_id, rank=2)


def _submit_user(store: Store, user_id: int, night: build.Night) -> None:
    """Submitted results with the user, and with a name that could be the user's."""
    submission_id = build.row(
        store,
        tables.rating_submission,
        submitter_id=night.organizer_id,
        url="https://results.example.org/1",
        source_domain="results.example.org",
        status="ready",
        errors=[],
        tries=1,
        created_at=build.NOW,
        updated_at=build.NOW,
    )
    at = {"rating_submission_id": submission_id, "candidates": [], "settled": True}
    known = {"name": NAME, "ifpa_id": IFPA_CANARY, "user_id": user_id}
    build.row(store, tables.submission_player, **{**at, **known}, place=0)
    perhaps = [{"user_id": user_id, "ifpa_id": IFPA_CANARY}, {"user_id": night.organizer_id, "ifpa_id": None}]
    build.row(store, tables.submission_player, **{**at, "candidates": perhaps}, place=1, name="C. Quill")
    players = [{"id": 8, "name": NAME, "ifpaId": IFPA_CANARY}, {"id": 9, "name": "C. Quill"}]
    body = json.dumps({"version": 1, "players": players})
    build.row(store, tables.submission_document, rating_submission_id=submission_id, body=body)


def _mention_everywhere(store: Store, user_id: int, night: build.Night, player_id: int) -> None:
    body = json.dumps({"name": NAME}, ensure_ascii=False)
    with store.write() as transaction:
        announcements.append(transaction, night.tournament_id, [("PlayersAdded", body)])
        stored_reply = {"fingerprint": "f", "status": 200, "headers": {}, "at": build.NOW}
        mine = {"user_id": user_id, "key": "own", "body": '{"mine": "canary"}'}
        transaction.connection.execute(insert(tables.idempotency).values(**stored_reply, **mine))
        shown = {"playerId": player_id, "name": NAME, "ifpaId": IFPA_CANARY, "labels": ["canary-label"]}
        named = json.dumps({"data": [shown]}, ensure_ascii=False)
        managed = json.dumps({"managers": [{"name": NAME}]}, ensure_ascii=False)
        address = '{"to":"/run?q=Canary+%22Quill%22+%C3%96tztal"}'
        for key, reply in (("name", named), ("manager", managed), ("address", address)):
            row = {"user_id": night.organizer_id, "key": key, "body": reply}
            transaction.connection.execute(insert(tables.idempotency).values(**stored_reply, **row))
        acted = {
            "tournament_id": night.tournament_id,
            "action_id": 1,
            "at": build.NOW,
            "source": "canary-address",
        }
        transaction.connection.execute(
            insert(tables.journal).values(**acted, change="RoundOpened", data={}, actor_id=user_id)
        )


def everything(store: Store) -> Iterator[tuple[str, str]]:
    """Every value of every table as text, with its column."""
    with store.read() as db:
        for table in tables.metadata.sorted_tables:
            for row in db.execute(select(table)).mappings():
                for column, value in row.items():
                    yield f"{table.name}.{column}", json.dumps(value, ensure_ascii=False, default=str)


def traces(store: Store) -> set[str]:
    return {
        where
        for where, text in everything(store)
        for word in WORDS
        if word in text or word in text.encode().decode("unicode_escape", "replace")
    }
