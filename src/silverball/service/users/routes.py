"""Users over HTTP."""

from typing import Annotated

from msgspec import Meta

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import Access, Call, delete, get, patch, put
from silverball.kit.http.query import Query
from silverball.service.accounts.writes import suspension
from silverball.service.calls import Write
from silverball.service.users import reads, writes
from silverball_wire.base import Id
from silverball_wire.pages import Data
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
        data=suspension.suspend(call.transaction, user_id, now=call.now, by_user_id=by, source=call.source)
    )


@delete("/api/users/{user_id}/suspension", ability="admin")
def unsuspend_user(call: Write[Body]) -> Data[Suspension]:
    """End the suspension of an account. Its webhooks stay switched off."""
    user_id, by = call.ids["user_id"], call.user_id
    return Data(
        data=suspension.unsuspend(call.transaction, user_id, now=call.now, by_user_id=by, source=call.source)
    )
