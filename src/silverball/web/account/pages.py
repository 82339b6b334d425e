"""Pages of an account: signing in and out, API tokens, profile, entries in books, data, deletion."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from silverball.exchange import own_data
from silverball.kit.errors import Conflict, Invalid, NotFound, Refusal
from silverball.kit.http.body import BodyParser
from silverball.kit.http.endpoints import OneTimeResult
from silverball.kit.security import passwords
from silverball.kit.values import decode
from silverball.service.accounts import erasing
from silverball.service.accounts import reads as account_reads
from silverball.service.accounts.writes import sessions
from silverball.service.core import access
from silverball.service.core.calls import Write
from silverball.service.players import reads as players
from silverball.service.players import writes as players_writes
from silverball.service.users import reads as users
from silverball.service.users import writes as user_writes
from silverball.store.database.engine import Db, Store
from silverball.store.people import audit, encryption
from silverball.store.revisions import known_revisions
from silverball.web import form_actions, refusal_counts
from silverball.web import sessions as web_sessions
from silverball.web.account import passwords as account_passwords
from silverball.web.account import two_step
from silverball.web.form_actions import FormAction
from silverball.web.forms import KEY, FormData, FormState
from silverball.web.page_request import (
    PageRequest,
    not_found_page,
    page,
    redirect,
)
from silverball.web.sign_in_throttle import too_many_attempts
from silverball.web.site import message_page, needs_new_key, status_for
from silverball.web.visitors import SESSION
from silverball_wire.players import Player

PROFILE_TEXTS = ("initials", "pronouns", "flag", "location")
# Wire name -> what a ticked box means.
OPT_OUTS = {
    "profileOptOut": "Hide my federation number, flag, town, pronouns, initials and pictures",
    "historyOptOut": "Hide which tournaments I played",
    "historyOnlyCompleted": "Show only completed tournaments in my history",
    "ratingsOptOut": "Hide my rating and my rank",
    "statsOptOut": "Leave me out of statistics and comparisons with others",
    "videoOptOut": "I do not want to be filmed",
}
ENTRIES = "/account/entries"
# Of tokens that are made on a page, unless another number or "never" is chosen.
EXPIRES_DAYS = 365
# The forms of /account/entries/do/{action}.
CLAIM_ACTIONS: Mapping[str, FormAction] = {
    "claim": FormAction(
        write=players_writes.stake_claim,
        ability="score",
        id_fields=("player_id",),
        redirect_to=lambda _value: f"{ENTRIES}?said=asked",
    ),
    "claim-back": FormAction(
        write=lambda call: players_writes.give_up_claim(call, None),
        ability="score",
        id_fields=("player_id",),
        redirect_to=lambda _value: f"{ENTRIES}?said=back",
    ),
}
# The longest number that fits the database.
_DIGITS = re.compile("[0-9]{1,18}")
_PROFILE_PARSER = BodyParser(user_writes.ChangedProfile)


class CreatedToken(msgspec.Struct, frozen=True):
    """The answer to the form that creates a token; the stored answer has no text."""

    text: str


def create_token(request: PageRequest) -> CreatedToken:
    """Create a token; without its text when the same form was sent before."""

    def handle(call: Write[Any]) -> OneTimeResult[CreatedToken]:
        created = user_writes.create_token(
            call.db,
            request.account.user_id,
            request.field("name"),
            abilities=[request.field("ability")],
            expires_days=None if request.form.has("never") else _parse_days(request.field("expires")),
            now=call.now,
            dice=request.site.dice,
            source=request.client_address,
        )
        return OneTimeResult(CreatedToken(created.text), CreatedToken(""))

    endpoint = form_actions.write_endpoint(request, handle, returns=CreatedToken, ability="read")
    response = form_actions.answer_once(request, endpoint, {})
    return decode(response.body, CreatedToken)


def _parse_days(text: str) -> int:
    """The days, EXPIRES_DAYS without a text; 0, which is refused by field, when it is not a number."""
    text = text.strip() or str(EXPIRES_DAYS)
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 4 else 0


def save_profile(request: PageRequest) -> bool:
    """Replace the account's profile, and return whether this hides something. Raises Invalid."""
    body = _PROFILE_PARSER.parse(msgspec.json.encode(_profile_body(request.form)))
    with request.site.store.write() as transaction:
        user_writes.change_profile(transaction, request.account.user_id, body)
    return transaction.hides


def _profile_body(form: FormData) -> Mapping[str, Any]:
    number = form.value("ifpaId").strip()
    texts = {name: form.value(name).strip() or None for name in PROFILE_TEXTS}
    if texts["flag"]:
        texts["flag"] = texts["flag"].lower()
    return {
        "name": form.value("name"),
        **texts,
        # Text that is not a number is refused by the type of the field.
        "ifpaId": int(number) if _DIGITS.fullmatch(number) else number or None,
        **{name: form.has(name) for name in OPT_OUTS},
    }


ABILITY_LABELS = {
    "read": "Read what you may see yourself",
    "score": "Read, and record results where you are a scorekeeper",
    "manage": "Read, record results, and run your own tournaments",
    "admin": "Everything, on the whole site",
}
# Notices that an address asks for with `?said=`; other words are ignored.
ACCOUNT_NOTICES = {
    "password": "The password is changed. You are signed out everywhere but here.",
    "two-step-off": "Two-step sign-in is off. Remove the account from your app.",
    "revoked": "The token is revoked. Programs that use it are refused from now on.",
}
PROFILE_NOTICES = {
    "saved": "Saved.",
    "ended": "You are signed out everywhere but here.",
    "ended-one": "That sign-in is ended.",
}
ENTRY_NOTICES = {
    "asked": "Asked. It counts when the organizer says that it is right.",
    "yours": "This player is you now.",
    "back": "Taken back.",
}
PROFILE, DELETE = "profile", "delete"
SEARCH_LETTERS_MIN, SEARCH_LETTERS_MAX = 3, 100


def render_overview(
    request: PageRequest,
    status: int = 200,
    *,
    faults: dict[str, str] | None = None,
    notice: str | None = None,
    needs_new_key: bool = False,
) -> Response:
    """The account with its tokens; `faults` are by field of the form that creates one."""
    with request.site.store.read() as db:
        owned = users.owned_by(db, request.account.user_id)
        is_key_missing = encryption.missing_key(db) is not None
    entered = {name: request.field(name) for name in ("name", "ability", "expires", "never")}
    entered["expires"] = entered["expires"] or str(EXPIRES_DAYS)
    # A refused form keeps its key: sent again, it is the same request.
    entered["key"] = request.field(KEY) if faults and not needs_new_key else ""
    abilities = access.abilities_for(request.account.role)
    return request.render(
        "account.html",
        status,
        tokens=owned,
        now=request.site.now(),
        notice=notice or ACCOUNT_NOTICES.get(request.query.get("said", "")),
        faults=faults or {},
        entered=entered,
        off=f"{encryption.OFF_WITHOUT_KEY}." if is_key_missing else "",
        abilities={ability: ABILITY_LABELS[ability] for ability in abilities},
        limits=user_writes,
        needs_password=not account_passwords.is_recent(request),
    )


def render_profile(request: PageRequest, form: FormState, status: int = 200) -> Response:
    """The form of the account's own profile."""
    with request.site.store.read() as db:
        own = msgspec.to_builtins(users.own_profile(db, request.caller).data)
    return request.render(
        "account/profile.html",
        status,
        own=own,
        form_state=form,
        form=PROFILE,
        notice=PROFILE_NOTICES.get(request.query.get("said", "")),
        opt_outs=OPT_OUTS,
    )


def render_data(
    request: PageRequest, status: int = 200, fault: str = "", *, sessions_fault: str = ""
) -> Response:
    """The account's sessions, the download of its data, and the form that deletes it."""
    user_id, now, limit = request.account.user_id, request.site.now(), web_sessions.idle_limit(request.site)
    with request.site.store.read() as db:
        open_sessions = account_reads.open_sessions(db, user_id, request.session_secret, now, limit)
        sections = account_reads.export_sections(user_id)
    return request.render(
        "account/data.html",
        status,
        sessions=open_sessions,
        sessions_fault=sessions_fault,
        needs_password=not account_passwords.is_recent(request),
        parts=sections,
        notice=PROFILE_NOTICES.get(request.query.get("said", "")),
        form_state=FormState(DELETE, request.form, fault),
        form=DELETE,
    )


class BookEntry(Struct, frozen=True):
    """A player in an organizer's book, and how to tell players of the same name apart."""

    player: Player
    organizer: str
    # Id and name; None for a player without tournaments.
    newest_tournament: tuple[int, str] | None


def render_entries(request: PageRequest, form: FormState, status: int = 200) -> Response:
    """The players that are the user, that the user has claimed, and that a search offers."""
    user_id = request.account.user_id
    # A form that is shown again holds the search that led to it.
    query = request.query.get("q", form.submitted.value("q") or request.account.name)
    words = query.replace("\x00", "").strip()[:SEARCH_LETTERS_MAX]
    with request.site.store.read() as db:
        mine = players.players_of_user(db, user_id, request.caller)
        claims = [claim for claim in players.pending_claims(db, user_id) if claim.user_id == user_id]
        claimed_ids = [claim.player_id for claim in claims]
        claimed = players.existing_players(db, claimed_ids or [0], request.caller)
        matches: Sequence[Player] = ()
        if len(words) >= SEARCH_LETTERS_MIN:
            matches = players.claimable_players(db, words, request.caller)
        already_claimed = {player.player_id for player in claimed}
        offered = [player for player in matches if player.player_id not in already_claimed]
        context: dict[str, Any] = {
            "mine": _book_entries(db, request, mine),
            "waiting": _book_entries(db, request, claimed),
            "offered": _book_entries(db, request, offered),
        }
    return request.render(
        "account/entries.html",
        status,
        words=words,
        words_min=SEARCH_LETTERS_MIN,
        found_max=players.SEARCH_MAX,
        notice=ENTRY_NOTICES.get(request.query.get("said", "")),
        form_state=form,
        **context,
    )


def _book_entries(db: Db, request: PageRequest, entries: Sequence[Player]) -> list[BookEntry]:
    if not entries:
        return []
    organizer_ids = sorted({player.organizer_id for player in entries})
    organizers = users.existing_users(db, organizer_ids, request.caller)
    names = {organizer.user_id: organizer.name for organizer in organizers}
    newest = players.newest_tournaments(db, [player.player_id for player in entries])
    return [
        BookEntry(player, names.get(player.organizer_id, ""), newest.get(player.player_id))
        for player in entries
    ]


CREATED_BEFORE = (
    "This token was made when the form was sent before, and was shown then. If you have not copied it,"
    " revoke it and create another."
)
NOT_SURE = "Tick that you are sure."
SUSPENDED = "This account is suspended. Ask whoever runs this site."
NOTHING_DELETED = "Nothing was deleted."
ENTRY_GONE = "This entry is not there any more."
DELETED = "Your name and everything that only you needed is gone. Results stay, under a pseudonym."


class HeldResponse(Response):
    """A response that is sent later, without a thread that waits."""

    def __init__(self, response: Response, seconds: float) -> None:
        super().__init__()
        self._response = response
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(self._seconds)
        await self._response(scope, receive, send)


def _hold_until_hidden(store: Store, response: Response) -> Response:
    """The response to a form that hid something, sent when no node answers from before any more."""
    return HeldResponse(response, known_revisions.hiding_seconds(store))


@page("GET", "/account")
def overview(request: PageRequest) -> Response:
    return render_overview(request)


# Signing in and out


@page("GET", "/account/sign-in", for_guests=True)
def sign_in_form(request: PageRequest) -> Response:
    if request.session is not None:
        return redirect("/account")
    return request.render_sign_in(web_sessions.sign_in_fields(request))


@page("POST", "/account/sign-in", for_guests=True)
def sign_in(request: PageRequest) -> Response:
    site, email, password = request.site, request.field("email"), request.field("password")
    with site.store.read() as db:
        credentials = account_reads.find_credentials(db, email)
        is_known = credentials is not None and account_reads.is_known_browser(
            db, credentials.user_id, request.browser_secret
        )
    browser = request.browser_secret if is_known else ""
    seconds = site.sign_in_limiter.seconds_to_wait(request.client_address, email, site.now(), device=browser)
    if seconds:
        refusal_counts.count_refusal(request, "too-many-sign-ins")
        return _too_many_attempts(request, seconds)
    # Also checked without an account, so that both take equally long; and outside any transaction.
    is_correct = passwords.is_correct(password, credentials.password_hash if credentials else None)
    if credentials is None or not is_correct:
        owner_id = credentials.user_id if credentials else None
        refusal_counts.count_refusal(request, "sign-in-refused", owner_id)
        return request.render_sign_in(
            web_sessions.sign_in_fields(request), 422, "The e-mail or the password is wrong."
        )
    if credentials.is_suspended:
        # Said only to who knows the password.
        refusal_counts.count_refusal(request, "sign-in-refused", credentials.user_id)
        return request.render_sign_in(web_sessions.sign_in_fields(request), 403, SUSPENDED)
    site.sign_in_limiter.record_success(request.client_address, email, device=browser)
    _renew_hash(request, credentials, password)
    if credentials.needs_code:
        return two_step.ask_for_code(request, credentials.user_id)
    return web_sessions.start_session(request, credentials.user_id)


@page("POST", "/account/sign-out", opens="/account")
def sign_out(request: PageRequest) -> Response:
    with request.site.store.write(quiet=True) as transaction:
        sessions.end_session(transaction.connection, request.session_secret)
    response = redirect("/account/sign-in?said=out")
    request.delete_cookie(response, SESSION)
    return response


def _too_many_attempts(request: PageRequest, seconds: int) -> Response:
    response = request.render_sign_in(web_sessions.sign_in_fields(request), 429, too_many_attempts(seconds))
    response.headers["retry-after"] = str(seconds)
    return response


def _renew_hash(request: PageRequest, credentials: account_reads.Credentials, password: str) -> None:
    if passwords.is_outdated(credentials.password_hash):
        renewed = passwords.hash_password(password)
        with request.site.store.write(quiet=True) as transaction:
            user_writes.rehash_password(
                transaction.connection, credentials.user_id, old=credentials.password_hash, new=renewed
            )


# API tokens


def _rerender_tokens(request: PageRequest, sentence: str) -> Response:
    return render_overview(request, 419, faults={"name": sentence})


@page("POST", "/account/tokens", rerender=_rerender_tokens, opens="/account")
def create_token_page(request: PageRequest) -> Response:
    proved = account_passwords.require_recent(request)
    if isinstance(proved, account_passwords.PasswordFault):
        faults = {"password": proved.sentence}
        return proved.answer(render_overview(request, proved.status, faults=faults))
    request = proved
    try:
        created = create_token(request)
    except Invalid as refusal:
        if needs_new_key(refusal):
            # The idempotency key has no field on the page, so its fault is shown at the first field.
            return render_overview(request, 422, faults={"name": refusal.text()}, needs_new_key=True)
        faults = {field: sentences[0] for field, sentences in refusal.errors.items()}
        return render_overview(request, 422, faults=faults)
    except Conflict as refusal:
        return render_overview(request, 409, faults={"name": refusal.text()})
    if not created.text:
        return render_overview(request, notice=CREATED_BEFORE)
    name = request.field("name").strip()
    return request.render("token.html", 201, token=created.text, name=name, base_url=request.base_url)


@page("POST", "/account/tokens/{token_id}/rotate", opens="/account")
def rotate_token(request: PageRequest) -> Response:
    """Give a token a new secret; the old one works no longer."""
    token_id = request.path_id("token_id")
    proved = account_passwords.require_recent(request)
    if isinstance(proved, account_passwords.PasswordFault):
        faults = {f"rotate-{token_id}": proved.sentence}
        return proved.answer(render_overview(request, proved.status, faults=faults))
    site, user_id = request.site, request.account.user_id
    # Not quiet: this process drops what it remembers of the token.
    with site.store.write() as transaction:
        issued = user_writes.rotate_token(
            transaction,
            token_id,
            user_id=user_id,
            now=site.now(),
            dice=site.dice,
            source=request.client_address,
        )
        name = users.find_token(transaction.connection, user_id, token_id).name
    return request.render("token.html", 201, token=issued.text, name=name, base_url=request.base_url)


@page("POST", "/account/tokens/{token_id}/revoke", opens="/account")
def revoke_token(request: PageRequest) -> Response:
    token_id = request.path_id("token_id")
    # Not quiet: this process drops what it remembers of the token.
    with request.site.store.write() as transaction:
        user_writes.revoke_token(
            transaction,
            token_id,
            user_id=request.account.user_id,
            now=request.site.now(),
            source=request.client_address,
        )
    return redirect("/account?said=revoked")


# The profile, and entries in organizers' books


@page("GET", "/account/profile")
def profile(request: PageRequest) -> Response:
    return render_profile(request, FormState())


def _rerender_profile(request: PageRequest, sentence: str) -> Response:
    return render_profile(request, FormState(PROFILE, request.form, sentence), 419)


@page("POST", "/account/profile", rerender=_rerender_profile)
def save_profile_page(request: PageRequest) -> Response:
    try:
        hides = save_profile(request)
    except Invalid as refusal:
        return render_profile(request, FormState(PROFILE, request.form, refusal.text()), 422)
    saved = redirect("/account/profile?said=saved")
    return _hold_until_hidden(request.site.store, saved) if hides else saved


@page("GET", ENTRIES)
def entries(request: PageRequest) -> Response:
    return render_entries(request, FormState())


def _rerender_entries(request: PageRequest, sentence: str) -> Response:
    return render_entries(request, FormState(request.field("form"), request.form, sentence), 419)


@page("POST", "/account/entries/do/{action}", rerender=_rerender_entries, opens=ENTRIES)
def run_claim_form(request: PageRequest) -> Response:
    action = CLAIM_ACTIONS.get(request.ids["action"])
    if action is None:
        return not_found_page()
    try:
        return redirect(form_actions.run_action(request, action, None).to)
    except Refusal as refusal:
        sentence = ENTRY_GONE if isinstance(refusal, NotFound) else refusal.text()
        form = FormState(request.field("form"), request.form, sentence, needs_new_key(refusal))
        return render_entries(request, form, status_for(refusal))


# The account's data


@page("GET", "/account/data")
def own_data_page(request: PageRequest) -> Response:
    return render_data(request)


@page("GET", "/account/data.zip")
def download_data(request: PageRequest) -> Response:
    user_id, site = request.account.user_id, request.site
    with site.store.read() as db:
        data = account_reads.account_data(db, user_id)
        name, content = own_data.account_file(user_id, data, site.now())
    site.note_download(user_id, request.client_address)
    headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}
    return Response(content, media_type=own_data.CONTENT_TYPE, headers=headers)


@page("POST", "/account/sessions/end", opens="/account/data")
def end_sessions(request: PageRequest) -> Response:
    """End the session that the form names, or all but this; an open browser is not enough."""
    proved = account_passwords.require_recent(request)
    if isinstance(proved, account_passwords.PasswordFault):
        return proved.answer(render_data(request, proved.status, sessions_fault=proved.sentence))
    request = proved
    site, user_id, label = request.site, request.account.user_id, request.field("label")
    with site.store.write(quiet=True) as transaction:
        db = transaction.connection
        if label:
            ended = sessions.end_named_session(db, user_id, label)
            number = 0 if ended is None else 1
        else:
            number = sessions.end_other_sessions(db, user_id, request.session_secret)
        if number:
            audit.record(
                db,
                "sign-ins-ended",
                at=site.now(),
                user_id=user_id,
                source=request.client_address,
                detail=str(number),
            )
    return redirect("/account/data?said=ended-one" if label else "/account/data?said=ended")


@page("POST", "/account/delete", opens="/account/data")
def delete_account(request: PageRequest) -> Response:
    """Delete the account; the password is asked for, so that an open browser is not enough."""
    site = request.site
    if not request.field("sure"):
        return render_data(request, 422, NOT_SURE)
    fault = account_passwords.find_fault(request)
    if fault is not None:
        return fault.answer(render_data(request, fault.status, f"{fault.sentence} {NOTHING_DELETED}"))
    try:
        erasing.erase_account(site.store, request.account.user_id, site.now())
    except Conflict as refusal:
        return render_data(request, 409, refusal.text())
    response = message_page(200, "Your account is deleted", DELETED)
    request.delete_cookie(response, SESSION)
    return _hold_until_hidden(request.site.store, response)
