"""The account: signing in and out, and the API tokens of whoever is signed in."""

from typing import Any

import msgspec
from starlette.responses import Response

from silverball.kit import passwords
from silverball.kit.errors import Conflict, Invalid
from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import Access, Endpoint, OneTimeResult
from silverball.kit.http.query import Query, QueryParser
from silverball.kit.http.router import parse_path_id
from silverball.service import access
from silverball.service.calls import Write
from silverball.service.sessions import reads as session_reads
from silverball.service.sessions import writes as session_writes
from silverball.service.tokens import reads as token_reads
from silverball.service.tokens import writes as token_writes
from silverball.service.users import writes as user_writes
from silverball.web.console import dispatch
from silverball.web.forms import KEY
from silverball.web.page_request import SESSION, PageRequest, page, redirect, start_session

ABILITY_LABELS = {
    "read": "Read what you may see yourself",
    "score": "Read, and record results where you are a scorekeeper",
    "manage": "Read, record results, and run your own tournaments",
    "admin": "Everything, on the whole site",
}
# What one page may tell the next; anything else in the address is ignored.
SHOWN_BEFORE = (
    "This token was made when the form was sent before, and was shown then. If you have not copied it,"
    " revoke it and create another."
)
NOTICES = {"revoked": "The token is revoked. Programs that use it are refused from now on."}


class CreatedToken(msgspec.Struct, frozen=True):
    """A token that was made just now."""

    text: str


@page("GET", "/account")
def overview(visit: PageRequest) -> Response:
    return _render_overview(visit)


@page("GET", "/account/sign-in", for_guests=True)
def sign_in_form(visit: PageRequest) -> Response:
    return (
        visit.render_sign_in(_sign_in_continuation(visit)) if visit.session is None else redirect("/account")
    )


@page("POST", "/account/sign-in", for_guests=True)
def sign_in(visit: PageRequest) -> Response:
    site, email, password = visit.site, visit.field("email"), visit.field("password")
    seconds = site.sign_in_limiter.seconds_to_wait(visit.client_address, email, site.now())
    if seconds:
        return _too_many_attempts(visit, seconds)
    with site.store.read() as db:
        login = session_reads.find_credentials(db, email)
    # Asked with and without an account: both take equally long, and outside any transaction.
    is_right = passwords.is_correct(password, login.password_hash if login else None)
    if login is None or not is_right:
        return visit.render_sign_in(_sign_in_continuation(visit), 422, "The e-mail or the password is wrong.")
    site.sign_in_limiter.record_success(visit.client_address, email)
    _renew_hash(visit, login, password)
    return start_session(visit, login.user_id)


@page("POST", "/account/sign-out")
def sign_out(visit: PageRequest) -> Response:
    with visit.site.store.write(quiet=True) as transaction:
        session_writes.end_session(transaction.connection, visit.session_secret)
    answer = redirect("/account/sign-in?said=out")
    visit.delete_cookie(answer, SESSION)
    return answer


def _rerender_tokens(visit: PageRequest, sentence: str) -> Response:
    return _render_overview(visit, 419, faults={"name": sentence})


@page("POST", "/account/tokens", rerender=_rerender_tokens)
def create_token(visit: PageRequest) -> Response:
    site = visit.site
    try:
        made = dispatch.wait_for_first_result(lambda: _create_token_once(visit))
    except Invalid as refused:
        # A form that was sent as another one has no field to say so at but its first.
        fields = {"name" if "Key" in field else field: said[0] for field, said in refused.errors.items()}
        return _render_overview(visit, 422, faults=fields, is_new=fields.keys() != refused.errors.keys())
    except Conflict as refused:
        return _render_overview(visit, 409, faults={"name": refused.message})
    if not made.text:
        return _render_overview(visit, said=SHOWN_BEFORE)
    return visit.render(
        "token.html", 201, made=made, name=visit.field("name").strip(), base_url=site.base_url
    )


def _create_token_once(visit: PageRequest) -> CreatedToken:
    """The new token; without its text when the same form was sent before, for that is not stored."""

    def handled(call: Write[Any]) -> OneTimeResult[CreatedToken]:
        made = token_writes.create_token(
            call.db,
            visit.account.user_id,
            visit.field("name"),
            abilities=[visit.field("ability")],
            expires_days=_parse_days(visit.field("expires")),
            now=call.now,
            dice=visit.site.dice,
        )
        return OneTimeResult(CreatedToken(made.text), CreatedToken(""))

    endpoint = Endpoint(
        method="POST",
        path=visit.path,
        handler=handled,
        access=Access.TOKEN,
        query=Query,
        returns=CreatedToken,
        parser=QueryParser(Query),
        ability="read",
        body=Body,
    )
    answer = visit.site.writing.answer(
        endpoint, dispatch.build_call(visit, {}), dispatch.build_request(visit)
    )
    return msgspec.json.decode(answer.body, type=CreatedToken)


@page("POST", "/account/tokens/{token_id}/revoke")
def revoke_token(visit: PageRequest) -> Response:
    token_id = parse_path_id("token_id", visit.ids["token_id"])
    with visit.site.store.write(quiet=True) as transaction:
        token_writes.revoke_token(transaction.connection, token_id, user_id=visit.account.user_id)
    return redirect("/account?said=revoked")


def redirect_to_account(_visit: PageRequest) -> Response:
    """Where a form was sent from, when somebody opens its address."""
    return redirect("/account")


# Reloading or bookmarking what a form answered is not an error.
sign_out_opened = page("GET", "/account/sign-out")(redirect_to_account)
tokens_opened = page("GET", "/account/tokens")(redirect_to_account)
revoke_opened = page("GET", "/account/tokens/{token_id}/revoke")(redirect_to_account)


def _render_overview(
    visit: PageRequest,
    status: int = 200,
    *,
    faults: dict[str, str] | None = None,
    said: str | None = None,
    is_new: bool = False,
) -> Response:
    with visit.site.store.read() as db:
        tokens = token_reads.owned_by(db, visit.account.user_id)
    allowed = access.abilities_for(visit.account.role)
    return visit.render(
        "account.html",
        status,
        tokens=tokens,
        now=visit.site.now(),
        said=said or NOTICES.get(visit.query.get("said", "")),
        faults=faults or {},
        typed={name: visit.field(name) for name in ("name", "ability", "expires")}
        # What was refused is still the same request.
        | {"key": visit.field(KEY) if faults and not is_new else ""},
        abilities={ability: ABILITY_LABELS[ability] for ability in allowed},
        limits=token_writes,
    )


def _sign_in_continuation(visit: PageRequest) -> dict[str, str]:
    """What is to happen once the visitor is signed in: a page to see, or a form that was interrupted."""
    named = {name: visit.field(name) for name in ("next", "kept", "kept_path")}
    named["next"] = named["next"] or visit.query.get("next", "")
    return {name: value for name, value in named.items() if value}


def _too_many_attempts(visit: PageRequest, seconds: int) -> Response:
    unit = "second" if seconds == 1 else "seconds"
    sentence = f"Too many attempts. Wait {seconds} {unit} and try again."
    answer = visit.render_sign_in(_sign_in_continuation(visit), 429, sentence)
    answer.headers["retry-after"] = str(seconds)
    return answer


def _renew_hash(visit: PageRequest, login: session_reads.Credentials, password: str) -> None:
    if passwords.is_outdated(login.password_hash):
        renewed = passwords.hash_password(password)
        with visit.site.store.write(quiet=True) as transaction:
            user_writes.rehash_password(
                transaction.connection, login.user_id, old=login.password_hash, new=renewed
            )


def _parse_days(text: str) -> int | None:
    """The days of a form; what is no number is out of bounds, so that it is refused by field."""
    text = text.strip()
    if not text:
        return None
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 4 else 0
