"""The account: signing in and out, and the API tokens of whoever is signed in."""

from starlette.responses import Response

from silverball.kit import passwords
from silverball.kit.errors import Conflict, Invalid
from silverball.kit.http import path_id
from silverball.service import access
from silverball.service.sessions import reads as session_reads
from silverball.service.sessions import writes as session_writes
from silverball.service.tokens import reads as token_reads
from silverball.service.tokens import writes as token_writes
from silverball.service.users import writes as user_writes
from silverball.web.visit import GUEST, SESSION, Visit, page, see

ABILITIES_SAID = {
    "read": "Read what you may see yourself",
    "score": "Read, and record results where you are a scorekeeper",
    "manage": "Read, record results, and run your own tournaments",
    "admin": "Everything, on the whole site",
}
# What one page may tell the next; anything else in the address is ignored.
SAID = {
    "revoked": "The token is revoked. Programs that use it are refused from now on.",
    "out": "You are signed out.",
    "over": "Your session is over. Sign in again.",
}


@page("GET", "/account")
def overview(visit: Visit) -> Response:
    return _overview(visit)


@page("GET", "/account/sign-in", for_guests=True)
def sign_in_form(visit: Visit) -> Response:
    return _sign_in_form(visit) if visit.signed_in is None else see("/account")


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
        return _sign_in_form(visit, 422, fault="The e-mail or the password is wrong.")
    site.sign_ins.succeeded(visit.address, email)
    _renew_hash(visit, login, password)
    return _signed_in(visit, login.user_id)


@page("POST", "/account/sign-out")
def sign_out(visit: Visit) -> Response:
    with visit.site.store.write(quiet=True) as db:
        session_writes.end(db, visit.session_secret)
    answer = see("/account/sign-in?said=out")
    visit.forget(answer, SESSION)
    return answer


@page("POST", "/account/tokens")
def create_token(visit: Visit) -> Response:
    site = visit.site
    try:
        with site.store.write(quiet=True) as db:
            made = token_writes.create(
                db,
                visit.who.user_id,
                visit.field("name"),
                abilities=[visit.field("ability")],
                expires_days=_days(visit.field("expires")),
                now=site.now(),
                dice=site.dice,
            )
    except Invalid as refused:
        faults = {field: sentences[0] for field, sentences in refused.errors.items()}
        return _overview(visit, 422, faults=faults)
    except Conflict as refused:
        return _overview(visit, 409, faults={"name": refused.message})
    return visit.shown("token.html", 201, made=made, name=visit.field("name").strip(), base_url=site.base_url)


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


def _overview(visit: Visit, status: int = 200, faults: dict[str, str] | None = None) -> Response:
    with visit.site.store.read() as db:
        tokens = token_reads.owned_by(db, visit.who.user_id)
    allowed = access.abilities_for(visit.who.role)
    return visit.shown(
        "account.html",
        status,
        tokens=tokens,
        now=visit.site.now(),
        said=SAID.get(visit.query.get("said", "")),
        faults=faults or {},
        typed={name: visit.field(name) for name in ("name", "ability", "expires")},
        abilities={ability: ABILITIES_SAID[ability] for ability in allowed},
        limits=token_writes,
    )


def _sign_in_form(visit: Visit, status: int = 200, fault: str | None = None) -> Response:
    said = SAID.get(visit.query.get("said", ""))
    answer = visit.shown("sign_in.html", status, email=visit.field("email"), fault=fault, said=said)
    visit.keep(answer, GUEST, visit.guest_secret, None)
    return answer


def _too_often(visit: Visit, seconds: int) -> Response:
    unit = "second" if seconds == 1 else "seconds"
    answer = _sign_in_form(visit, 429, fault=f"Too many attempts. Wait {seconds} {unit} and try again.")
    answer.headers["retry-after"] = str(seconds)
    return answer


def _signed_in(visit: Visit, user_id: int) -> Response:
    site = visit.site
    with site.store.write(quiet=True) as db:
        # What the browser carried before signing in is worth nothing afterwards.
        session_writes.end(db, visit.session_secret)
        made = session_writes.start(db, user_id, now=site.now(), dice=site.dice)
    answer = see("/account")
    visit.keep(answer, SESSION, made.secret, int(session_writes.LASTS.total_seconds()))
    visit.forget(answer, GUEST)
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
