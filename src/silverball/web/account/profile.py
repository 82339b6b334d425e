"""What an account says and hides of its user, where it is signed in, all of its data, and its end."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.responses import Response

from silverball.exchange import own_data
from silverball.kit import passwords
from silverball.kit.errors import Conflict, Invalid
from silverball.kit.http.body import BodyParser
from silverball.service.accounts import reads as account_reads
from silverball.service.accounts.writes import accounts as account_writes
from silverball.service.sessions import reads as session_reads
from silverball.service.sessions import writes as session_writes
from silverball.service.users import reads as user_reads
from silverball.service.users import writes as user_writes
from silverball.web.forms import FormData, FormState
from silverball.web.page_request import SESSION, PageRequest, page, redirect
from silverball.web.site import message_page

PROFILE, DELETE = "profile", "delete"
TEXTS = ("initials", "pronouns", "flag", "location")
# Wire name -> what ticking it means.
OPT_OUTS = {
    "profileOptOut": "Hide my federation number, flag, town, pronouns, initials and pictures",
    "historyOptOut": "Hide which tournaments I played",
    "historyOnlyCompleted": "Show only completed tournaments in my history",
    "ratingsOptOut": "Hide my rating and my rank",
    "statsOptOut": "Leave me out of statistics and comparisons with others",
    "videoOptOut": "I do not want to be filmed",
}
NOTICES = {"saved": "Saved.", "ended": "You are signed out everywhere but here."}
NOT_SURE = "Tick that you are sure."
MISTYPED = "The password is wrong. Nothing was deleted."
# As long as a number that the database can hold may be.
DIGITS = re.compile("[0-9]{1,18}")
_PARSER = BodyParser(user_writes.ChangedProfile)


@page("GET", "/account/profile")
def profile(visit: PageRequest) -> Response:
    return _render_profile(visit, FormState())


def _rerender_profile(visit: PageRequest, sentence: str) -> Response:
    return _render_profile(visit, FormState(PROFILE, visit.form, sentence), 419)


@page("POST", "/account/profile", rerender=_rerender_profile)
def save_profile(visit: PageRequest) -> Response:
    try:
        said = _PARSER.parse(msgspec.json.encode(_profile_body(visit.form)))
        with visit.site.store.write() as transaction:
            user_writes.change_profile(transaction, visit.account.user_id, said)
    except Invalid as refused:
        sentences = " ".join(one for listed in refused.errors.values() for one in listed)
        return _render_profile(visit, FormState(PROFILE, visit.form, sentences), 422)
    return redirect("/account/profile?said=saved")


def _profile_body(form: FormData) -> Mapping[str, Any]:
    """The whole profile as the interface takes it."""
    number = form.value("ifpaId").strip()
    texts = {name: form.value(name).strip() or None for name in TEXTS}
    if texts["flag"]:
        texts["flag"] = texts["flag"].lower()
    return {
        "name": form.value("name"),
        **texts,
        # What is no number is refused by the field's own type.
        "ifpaId": int(number) if DIGITS.fullmatch(number) else number or None,
        **{name: form.has(name) for name in OPT_OUTS},
    }


@page("GET", "/account/data")
def own_data_page(visit: PageRequest) -> Response:
    return _render_data(visit)


@page("GET", "/account/data.zip")
def download_data(visit: PageRequest) -> Response:
    site = visit.site
    with site.store.read() as db:
        found = account_reads.account_data(db, visit.account.user_id)
        name, content = own_data.account_file(visit.account.user_id, found, site.now())
    headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}
    return Response(content, media_type=own_data.CONTENT_TYPE, headers=headers)


@page("POST", "/account/sessions/end")
def end_sessions(visit: PageRequest) -> Response:
    with visit.site.store.write(quiet=True) as transaction:
        session_writes.end_other_sessions(transaction.connection, visit.account.user_id, visit.session_secret)
    return redirect("/account/data?said=ended")


@page("POST", "/account/delete")
def delete_account(visit: PageRequest) -> Response:
    """Only with the password: whoever finds an open browser cannot do it."""
    site, user_id = visit.site, visit.account.user_id
    if not visit.field("sure"):
        return _render_data(visit, 422, NOT_SURE)
    seconds = site.sign_in_limiter.seconds_to_wait(visit.client_address, visit.account.email, site.now())
    if seconds:
        answer = _render_data(visit, 429, f"Too many attempts. Wait {seconds} seconds and try again.")
        answer.headers["retry-after"] = str(seconds)
        return answer
    with site.store.read() as db:
        login = session_reads.find_credentials(db, visit.account.email)
    if not passwords.is_correct(visit.field("password"), login.password_hash if login else None):
        return _render_data(visit, 422, MISTYPED)
    site.sign_in_limiter.record_success(visit.client_address, visit.account.email)
    try:
        with site.store.write() as transaction:
            account_writes.erase_account(transaction, user_id)
    except Conflict as refused:
        return _render_data(visit, 409, refused.message)
    gone = "Your name and everything that only you needed is gone. Results stay, under a pseudonym."
    answer = message_page(200, "Your account is deleted", gone)
    visit.delete_cookie(answer, SESSION)
    return answer


def _redirect_to_data(_visit: PageRequest) -> Response:
    return redirect("/account/data")


# Reloading what a form answered is not an error.
sessions_opened = page("GET", "/account/sessions/end")(_redirect_to_data)
delete_opened = page("GET", "/account/delete")(_redirect_to_data)


def _render_profile(visit: PageRequest, typed: FormState, status: int = 200) -> Response:
    with visit.site.store.read() as db:
        own = msgspec.to_builtins(user_reads.own_profile(db, visit.caller).data)
    said = NOTICES.get(visit.query.get("said", ""))
    return visit.render(
        "account/profile.html", status, own=own, typed=typed, form=PROFILE, said=said, opt_outs=OPT_OUTS
    )


def _render_data(visit: PageRequest, status: int = 200, fault: str = "") -> Response:
    user_id, now = visit.account.user_id, visit.site.now()
    with visit.site.store.read() as db:
        sessions = session_reads.open_sessions(db, user_id, visit.session_secret, now)
        parts = account_reads.export_sections(user_id)
    said = NOTICES.get(visit.query.get("said", ""))
    typed = FormState(DELETE, visit.form, fault)
    return visit.render(
        "account/data.html", status, sessions=sessions, parts=parts, said=said, typed=typed, form=DELETE
    )
