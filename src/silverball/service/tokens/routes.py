"""API tokens over HTTP."""

from random import SystemRandom
from typing import Any

import msgspec

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import Access, Call, OneTimeResult, delete, get, post
from silverball.kit.http.query import Query
from silverball.service.calls import Write
from silverball.service.tokens import reads, writes
from silverball_wire.pages import Data
from silverball_wire.tokens import ApiToken


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
