"""The account: signing in and out, and the API tokens of whoever is signed in."""

from typing import Any

import msgspec
from starlette.responses import Response

from silverball.kit import passwords
from silverball.kit.body import Body
from silverball.kit.errors import Conflict, Invalid
from silverball.kit.http import Access, Endpoint, Once, Write
from silverball.kit.query import Query, QueryParser
from silverball.kit.routing import path_id
from silverball.service import access
from silverball.service.sessions import reads as session_reads
from silverball.service.sessions import writes as session_writes
from silverball.service.tokens import reads as token_reads
from silverball.service.tokens import writes as token_writes
from silverball.service.users import writes as user_writes
from silverball.web.console import doing
from silverball.web.forms import KEY
from silverball.web.visit import SESSION, Visit, page, see, signed_in

ABILITIES_SAID = {
    "read": "Read what you may see yourself",
    "score": "Read, and record results where you are a scorekeeper",
    "manage": "Read, record results, and run your own tournaments",
    "admin": "Everything, on the whole site",
}
# What one page may tell the next; anything else in the address is ignored.
MADE_ALREADY = (
    "This token was made when the form was sent before, and was shown then. If you have not copied it,"
    " revoke it and create another."
)
SAID = {"revoked": "The token is revoked. Programs that use it are refused from now on."}


class MadeToken(msgspec.Struct, frozen=True):
    """A token that was made just now."""

    text: str


@page("GET", "/account")
def overview(visit: Visit) -> Response:
    return _overview(visit)


@page("GET", "/account/sign-in", for_guests=True)
def sign_in_form(visit: Visit) -> Response:
    return visit.asked_to_sign_in(_afterwards(visit)) if visit.signed_in is None else see("/account")


@page("POST", "/account/sign-in", for_guests=True)
def sign_in(visit: Visit) -> Response:
    site, email, password = visit.site, visit.field("email"), visit.field("password")
    seconds = site.sign_ins.seconds_to_wait(visit.address, email, site.now())
    if seconds:
        return _too_often(visit, seconds)
    with site.store.read() as db:
        login = session_reads.login(db, email)
    # Asked with and without an account: both take equally long, and outside any transaction.
    is_right = passwords.is_right(password, login.password_hash if login else None)
    if login is None or not is_right:
        return visit.asked_to_sign_in(_afterwards(visit), 422, "The e-mail or the password is wrong.")
    site.sign_ins.succeeded(visit.address, email)
    _renew_hash(visit, login, password)
    return signed_in(visit, login.user_id)


@page("POST", "/account/sign-out")
def sign_out(visit: Visit) -> Response:
    with visit.site.store.write(quiet=True) as db:
        session_writes.end(db, visit.session_secret)
    answer = see("/account/sign-in?said=out")
    visit.forget(answer, SESSION)
    return answer


def _token_again(visit: Visit, sentence: str) -> Response:
    return _overview(visit, 419, faults={"name": sentence})


@page("POST", "/account/tokens", again=_token_again)
def create_token(visit: Visit) -> Response:
    site = visit.site
    try:
        made = doing.patiently(lambda: _token(visit))
    except Invalid as refused:
        # A form that was sent as another one has no field to say so at but its first.
        fields = {"name" if "Key" in field else field: said[0] for field, said in refused.errors.items()}
        return _overview(visit, 422, faults=fields, is_new=fields.keys() != refused.errors.keys())
    except Conflict as refused:
        return _overview(visit, 409, faults={"name": refused.message})
    if not made.text:
        return _overview(visit, said=MADE_ALREADY)
    return visit.shown("token.html", 201, made=made, name=visit.field("name").strip(), base_url=site.base_url)


def _token(visit: Visit) -> MadeToken:
    """The new token; without its text when the same form was sent before, for that is not stored."""

    def handled(call: Write[Any]) -> Once[MadeToken]:
        made = token_writes.create(
            call.db,
            visit.who.user_id,
            visit.field("name"),
            abilities=[visit.field("ability")],
            expires_days=_days(visit.field("expires")),
            now=call.now,
            dice=visit.site.dice,
        )
        return Once(MadeToken(made.text), MadeToken(""))

    endpoint = Endpoint(
        method="POST",
        path=visit.path,
        handler=handled,
        access=Access.TOKEN,
        query=Query,
        returns=MadeToken,
        parser=QueryParser(Query),
        ability="read",
        body=Body,
    )
    answer = visit.site.writing.answer(endpoint, doing.call_of(visit, {}), doing.request_of(visit))
    return msgspec.json.decode(answer.body, type=MadeToken)


@page("POST", "/account/tokens/{token_id}/revoke")
def revoke_token(visit: Visit) -> Response:
    token_id = path_id("token_id", visit.ids["token_id"])
    with visit.site.store.write(quiet=True) as db:
        token_writes.revoke(db, token_id, user_id=visit.who.user_id)
    return see("/account?said=revoked")


def back(_visit: Visit) -> Response:
    """Where a form was sent from, when somebody opens its address."""
    return see("/account")


# Reloading or bookmarking what a form answered is not an error.
sign_out_opened = page("GET", "/account/sign-out")(back)
tokens_opened = page("GET", "/account/tokens")(back)
revoke_opened = page("GET", "/account/tokens/{token_id}/revoke")(back)


def _overview(
    visit: Visit,
    status: int = 200,
    *,
    faults: dict[str, str] | None = None,
    said: str | None = None,
    is_new: bool = False,
) -> Response:
    with visit.site.store.read() as db:
        tokens = token_reads.owned_by(db, visit.who.user_id)
    allowed = access.abilities_for(visit.who.role)
    return visit.shown(
        "account.html",
        status,
        tokens=tokens,
        now=visit.site.now(),
        said=said or SAID.get(visit.query.get("said", "")),
        faults=faults or {},
        typed={name: visit.field(name) for name in ("name", "ability", "expires")}
        # What was refused is still the same request.
        | {"key": visit.field(KEY) if faults and not is_new else ""},
        abilities={ability: ABILITIES_SAID[ability] for ability in allowed},
        limits=token_writes,
    )


def _afterwards(visit: Visit) -> dict[str, str]:
    """What is to happen once the visitor is signed in: a page to see, or a form that was interrupted."""
    named = {name: visit.field(name) for name in ("next", "kept", "kept_path")}
    named["next"] = named["next"] or visit.query.get("next", "")
    return {name: value for name, value in named.items() if value}


def _too_often(visit: Visit, seconds: int) -> Response:
    unit = "second" if seconds == 1 else "seconds"
    sentence = f"Too many attempts. Wait {seconds} {unit} and try again."
    answer = visit.asked_to_sign_in(_afterwards(visit), 429, sentence)
    answer.headers["retry-after"] = str(seconds)
    return answer


def _renew_hash(visit: Visit, login: session_reads.Login, password: str) -> None:
    if passwords.is_outdated(login.password_hash):
        renewed = passwords.hashed(password)
        with visit.site.store.write(quiet=True) as db:
            user_writes.renew_hash(db, login.user_id, old=login.password_hash, new=renewed)


def _days(text: str) -> int | None:
    """The days of a form; what is no number is out of bounds, so that it is refused by field."""
    text = text.strip()
    if not text:
        return None
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 4 else 0
