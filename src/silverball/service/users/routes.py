"""Users, API tokens and directors over HTTP."""

from random import SystemRandom
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import Access, Call, OneTimeResult, delete, get, patch, post, put
from silverball.kit.http.query import Query
from silverball.service.accounts.writes import accounts
from silverball.service.core.calls import Write
from silverball.service.users import reads, writes
from silverball_wire.base import Id
from silverball_wire.pages import Data
from silverball_wire.players import ApiToken
from silverball_wire.users import OwnProfile, Suspension, User, UserBundle


class BundleQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/users/{userId}. Source: interface 4.5."""

    include_ifpa: bool = False
    """Whether `ifpa` is answered: the federation's record."""
    include_counts: bool = False
    """Whether `userCounts` is answered."""


class UnknownUsersQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/users/resolve-unknown. Source: interface 4.2 and 8."""

    users: Annotated[tuple[Id, ...], Meta(max_length=25)]
    """Ids of the accounts to answer; unknown ones are left out."""


@get("/api/users/profile", access=Access.OWN)
def show_profile(call: Call[Query]) -> OwnProfile:
    """The caller's profile."""
    with call.read() as db:
        return reads.own_profile(db, call.caller)


@patch("/api/users/profile", body=writes.ChangedProfile, ability="score")
def change_profile(call: Write[writes.ChangedProfile]) -> OwnProfile:
    """Change the caller's profile."""
    writes.change_profile(call.transaction, call.user_id, call.body)
    return reads.own_profile(call.db, call.caller)


@get("/api/users/resolve-unknown", query=UnknownUsersQuery)
def resolve_users(call: Call[UnknownUsersQuery]) -> Data[tuple[User, ...]]:
    """Users by their ids."""
    with call.read() as db:
        return Data(data=reads.existing_users(db, call.query.users, call.caller))


@get("/api/users/{user_id}", query=BundleQuery, access=Access.OPENABLE)
def show_user(call: Call[BundleQuery]) -> UserBundle:
    """A user's profile with rating, federation record, club and counts."""
    with call.read() as db:
        query = call.query
        return reads.user_bundle(
            db,
            call.ids["user_id"],
            call.caller,
            with_ifpa=query.include_ifpa,
            with_counts=query.include_counts,
        )


@put("/api/users/{user_id}/suspension", ability="admin")
def suspend_user(call: Write[Body]) -> Data[Suspension]:
    """Suspend an account: its tokens, sign-ins, devices and webhooks are refused at once."""
    user_id, by = call.ids["user_id"], call.user_id
    return Data(
        data=accounts.suspend(call.transaction, user_id, now=call.now, by_user_id=by, source=call.source)
    )


@delete("/api/users/{user_id}/suspension", ability="admin")
def unsuspend_user(call: Write[Body]) -> Data[Suspension]:
    """End the suspension of an account. Its webhooks stay switched off."""
    user_id, by = call.ids["user_id"], call.user_id
    return Data(
        data=accounts.unsuspend(call.transaction, user_id, now=call.now, by_user_id=by, source=call.source)
    )


@get("/api/tokens", access=Access.OWN)
def list_tokens(call: Call[Query]) -> Data[tuple[ApiToken, ...]]:
    """The caller's tokens without their secrets, newest first."""
    with call.read() as db:
        tokens = reads.owned_by(db, call.user_id)
    return Data(data=tuple(reads.api_token(token) for token in tokens))


@post("/api/tokens", body=writes.TokenRequest, ability="score", status=201)
def add_token(call: Write[writes.TokenRequest]) -> OneTimeResult[Data[ApiToken]]:
    """Create a token, shown only once. It can do no more than the token that creates it."""
    return _issued_token(call, writes.create_token_for_caller(call, SystemRandom()))


@post("/api/tokens/{token_id}/rotate", ability="read")
def rotate_token(call: Write[Body]) -> OneTimeResult[Data[ApiToken]]:
    """Give a token of the caller a new secret, shown only once; the old one works no longer.

    A token can rotate itself. It keeps its name and ability, and the day on which it expires.
    """
    token = reads.find_token(call.db, call.user_id, call.ids["token_id"])
    return _issued_token(call, writes.rotate_for_caller(call, token, SystemRandom()))


def _issued_token(call: Write[Any], issued: writes.IssuedToken) -> OneTimeResult[Data[ApiToken]]:
    """The token with its secret, which the answer to a repeated request leaves out."""
    item = reads.api_token(reads.find_token(call.db, call.user_id, issued.token_id))
    first, repeated = (msgspec.structs.replace(item, token=secret) for secret in (issued.text, None))
    return OneTimeResult(Data(data=first), Data(data=repeated))


@delete("/api/tokens/{token_id}", ability="score")
def revoke_token(call: Write[Body]) -> Data[ApiToken]:
    """Revoke a token of the caller, and return it as it was."""
    token_id = call.ids["token_id"]
    token = reads.find_token(call.db, call.user_id, token_id)
    writes.revoke_for_caller(call, token)
    return Data(data=reads.api_token(token))


DIRECTOR = "/api/tournaments/{tournament_id}/directors/{user_id}"


@put(DIRECTOR, ability="manage")
def add_director_to_tournament(call: Write[Body]) -> Data[User]:
    """Let an account run the tournament as its organizer does, but not delete it or choose directors."""
    return Data(data=writes.add_director(call))


@delete(DIRECTOR, ability="manage")
def remove_director_from_tournament(call: Write[Body]) -> Data[User]:
    """Take a director's rights; directors may resign."""
    return Data(data=writes.remove_director(call))
