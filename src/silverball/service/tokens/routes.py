"""API tokens over HTTP."""

from random import SystemRandom

import msgspec

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import Access, Call, OneTimeResult, delete, get, post
from silverball.kit.http.query import Query
from silverball.service.calls import Write
from silverball.service.tokens import reads, writes
from silverball.wire.pages import Data
from silverball.wire.tokens import ApiToken


@get("/api/tokens", access=Access.OWN)
def list_tokens(call: Call[Query]) -> Data[tuple[ApiToken, ...]]:
    """The caller's tokens without their secrets, newest first."""
    with call.read() as db:
        found = reads.owned_by(db, call.user_id)
    return Data(data=tuple(reads.api_token(one) for one in found))


@post("/api/tokens", body=writes.TokenRequest, ability="score", status=201)
def add_token(call: Write[writes.TokenRequest]) -> OneTimeResult[Data[ApiToken]]:
    """A new token of the caller, shown this once; it can do no more than the one that asks for it."""
    made = writes.create_token_for_caller(call, SystemRandom())
    known = reads.api_token(reads.find_token(call.db, call.user_id, made.token_id))
    shown, again = (msgspec.structs.replace(known, token=secret) for secret in (made.text, None))
    return OneTimeResult(Data(data=shown), Data(data=again))


@delete("/api/tokens/{token_id}", ability="score")
def revoke_token(call: Write[Body]) -> Data[ApiToken]:
    """A token of the caller is refused from now on; as it was."""
    token_id = call.ids["token_id"]
    known = reads.find_token(call.db, call.user_id, token_id)
    writes.revoke_for_caller(call, known)
    return Data(data=reads.api_token(known))
