"""Pages as endpoints for Starlette: who asks is found, the form is read and checked, the page runs."""

import hmac
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar, copy_context
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request
from starlette.responses import Response

from silverball.kit.edge.backend import SeenRevision
from silverball.kit.edge.shares import DUTY
from silverball.kit.edge.work_queue import Importance, Overloaded
from silverball.kit.errors import Invalid, NotFound
from silverball.kit.http import multipart
from silverball.kit.http.endpoints import TOURNAMENT
from silverball.kit.security import tokens
from silverball.service.accounts import reads as accounts_reads
from silverball.service.core import access
from silverball.service.users import reads as users_reads
from silverball.service.users.reads import KnownDevice
from silverball.store.database.engine import Commit
from silverball.store.revisions.stamps import Revision
from silverball.web import sessions
from silverball.web.forms import FormData
from silverball.web.page_request import (
    BROWSER,
    FORM_RESTORED,
    GUEST,
    SIGN_IN,
    PageFinder,
    PageRequest,
    PageRoute,
    device_cookie_name,
    not_found_page,
    redirect,
)
from silverball.web.site import Site, message_page
from silverball.web.visitors import DEVICE, SESSION

WITHOUT_PAGE = "return=minimal"
FORM_TYPE = "application/x-www-form-urlencoded"
# The commits of the form that this thread answers.
_COMMITS: ContextVar[list[Commit] | None] = ContextVar("silverball_commits", default=None)


class FormTooLarge(Exception):
    """A form larger than any of ours."""


def page_endpoint(
    site: Site, route: PageRoute, find_page: PageFinder
) -> Callable[[Request], Awaitable[Response]]:
    """The page as an endpoint for Starlette."""

    def answer(http_request: Request, form: FormData) -> Response:
        request = _build_page_request(site, route, http_request, form, find_page)
        if request.session is not None:
            site.known_cookies.add(request.session_secret)
        if request.device is not None:
            site.known_cookies.add(request.device_secret)
        commits: list[Commit] = []
        _COMMITS.set(commits)
        response = _answer_page(request, route)
        if request.renewed_secrets:
            lifetime_seconds = int(sessions.lifetime(site).total_seconds())
            request.set_cookie(response, SESSION, request.renewed_secrets[-1], lifetime_seconds)
        if _acted_on_duty(request, commits):
            http_request.scope.get(DUTY, []).append(True)
        if route.method == "POST" and commits:
            before = SeenRevision.parse(http_request.headers.get("cookie", "").encode("latin-1"))
            request.set_seen(response, _seen_after(commits, before))
        is_use_due = request.session is not None and request.session.is_use_due
        # The computing process only reads; another page of the session is asked for soon.
        if is_use_due and not site.store.is_read_only:
            sessions.record_after(response, site, request.session_secret)
        return response

    async def endpoint(http_request: Request) -> Response:
        importance = _importance(site, http_request, is_for_crowds=route.is_for_crowds)
        if not site.threads.admits(importance):
            # Before the form is read.
            raise Overloaded
        form = await _read_form(http_request, route) if route.method == "POST" else FormData()
        run = copy_context().run
        # Forms of a tournament wait for its lock.
        scope_id = _tournament_in(http_request) if route.method == "POST" else 0
        response: Response = await site.threads.submit(
            importance, run, answer, http_request, form, scope_id=scope_id
        )
        if http_request.headers.get("prefer") == WITHOUT_PAGE:
            _stop_redirect(response)
        return response

    return endpoint


def _acted_on_duty(request: PageRequest, commits: Sequence[Commit]) -> bool:
    """Whether these commits changed a running tournament, and the sender may keep its scores."""
    if request.session is None and request.device is None:
        return False
    for commit in commits:
        for tournament_id, number in commit.tournament_revisions.items():
            # What was just committed is in memory.
            changed = request.site.store.snapshots.get(tournament_id, Revision(number, commit.stamp))
            if changed is not None and changed.tournament.status == "started":
                return access.may_score(request.caller, changed.tournament)
    return False


def note_commit(commit: Commit) -> None:
    """Note a commit of the form that this thread answers, where it answers one."""
    commits = _COMMITS.get()
    if commits is not None:
        commits.append(commit)


def _seen_after(commits: Sequence[Commit], before: SeenRevision | None) -> SeenRevision:
    """The state after these commits, of a tournament where the browser has seen a change of that alone."""
    raised = {scope_id: commit for commit in commits for scope_id in commit.tournament_revisions}
    if len(raised) == 1 and (before is None or before.scope_id in raised):
        ((tournament_id, commit),) = raised.items()
        return SeenRevision(tournament_id, commit.tournament_revisions[tournament_id], commit.stamp)
    if before is None and len(commits) == 1:
        return SeenRevision(0, commits[0].world_revision, commits[0].stamp)
    # No single transaction stands for several, maybe on several nodes: every node asks.
    return SeenRevision(0, 0, 0)


def _stop_redirect(response: Response) -> None:
    """Let the answer name the page that it leads to, so that a script need not wait for it (RFC 7240)."""
    if response.status_code == 303:
        response.status_code = 204
        del response.headers["content-length"]
        response.headers["preference-applied"] = WITHOUT_PAGE


def _tournament_in(http_request: Request) -> int:
    """The id in the address of a page of a tournament; 0 in any other."""
    word = http_request.path_params.get(TOURNAMENT, "")
    return int(word) if word.isascii() and word.isdigit() and len(word) < 20 else 0


def _answer_page(request: PageRequest, route: PageRoute) -> Response:
    if request.session is None and request.device is None and not route.for_guests:
        return _require_sign_in(request, route)
    if request.session is not None and request.session.owes_two_step and not _is_open_without_code(route):
        return _demand_two_step(route)
    # A guest cookie created for this request cannot have been in the form.
    token, expected = request.field("csrf").encode(), request.csrf.encode()
    is_csrf_valid = route.method != "POST" or hmac.compare_digest(token, expected)
    try:
        if is_csrf_valid:
            is_hidden = route.for_admins and not request.caller.is_admin
            return not_found_page() if is_hidden else route.handler(request)
        # Another session has started since; the form is shown for review before it is sent.
        if route.rerender and request.is_same_origin:
            return route.rerender(request, FORM_RESTORED)
        return _stale_form_page()
    except NotFound:
        return not_found_page()


# Where an account turns it on; nothing else opens before, where the site demands it.
TWO_STEP = "/account/two-step"


def _is_open_without_code(route: PageRoute) -> bool:
    """Whether the page is open to an account that has to turn two-step sign-in on first."""
    if route.path.startswith((TWO_STEP, "/account/sign-out")):
        return True
    is_for_strangers = route.method == "GET" or route.is_for_crowds or route.path.startswith("/account/")
    return route.for_guests and is_for_strangers


def _demand_two_step(route: PageRoute) -> Response:
    if route.method == "GET":
        return redirect(f"{TWO_STEP}?said=demanded")
    sentence = "This site demands two-step sign-in. Turn it on at your account, then send this again."
    return message_page(403, "Not sent yet", sentence)


def _require_sign_in(request: PageRequest, route: PageRoute) -> Response:
    """Ask for a sign-in first; a form sent from one of our pages is carried along."""
    if request.inactive_device is not None:
        form = request.form if request.is_same_origin else None
        return request.render_inactive_device(request.inactive_device, form)
    if route.rerender is not None and request.is_same_origin:
        packed = request.form.pack()
        return request.render_sign_in({"kept": packed, "kept_path": request.path} if packed else {}, 401)
    parameters = {"said": "over"} if request.session_secret else {}
    if route.method == "GET" and route.path != "/account":
        query = urlencode(request.query)
        parameters["next"] = f"{request.path}?{query}" if query else request.path
    return redirect(f"{SIGN_IN}?{urlencode(parameters, safe='/')}" if parameters else SIGN_IN)


def _is_same_origin(site: Site, http_request: Request) -> bool:
    """Whether the browser says that the request comes from one of our pages."""
    headers = http_request.headers
    if "sec-fetch-site" in headers:
        return headers["sec-fetch-site"] == "same-origin"
    ours = {site.base_url.rstrip("/"), f"{http_request.url.scheme}://{headers.get('host', '')}"}
    return headers.get("origin") in ours


def _importance(site: Site, http_request: Request, *, is_for_crowds: bool) -> Importance:
    """The importance of a request for a page, as far as its cookies tell."""
    session, device = site.cookie_name(SESSION), site.cookie_name(f"{DEVICE}_")
    secrets = [
        value for name, value in http_request.cookies.items() if name == session or name.startswith(device)
    ]
    if any(secret in site.known_cookies for secret in secrets):
        return Importance.SCOREKEEPER if http_request.method == "POST" else Importance.WRITER
    if is_for_crowds:
        return Importance.WRITER
    return Importance.READER if any(secrets) else Importance.VISITOR


def _find_device(site: Site, route: PageRoute, http_request: Request) -> tuple[KnownDevice | None, str]:
    """The browser's device in the tournament of the path, and its secret."""
    secret = ""
    if route.for_devices:
        name = device_cookie_name(http_request.path_params["tournament_id"])
        secret = http_request.cookies.get(site.cookie_name(name), "")
    if not secret:
        return None, ""
    with site.store.read() as db:
        return users_reads.find_device(db, secret), secret


def _build_page_request(
    site: Site, route: PageRoute, http_request: Request, form: FormData, find_page: PageFinder
) -> PageRequest:
    cookies, path_ids = http_request.cookies, http_request.path_params
    secret = cookies.get(site.cookie_name(SESSION), "")
    session = None
    if secret:
        with site.store.read() as db:
            limit = sessions.idle_limit(site)
            session = accounts_reads.find_signed_in_user(db, secret, site.now(), limit)
    known, device_secret = _find_device(site, route, http_request)
    is_usable = (
        known is not None and known.is_usable and path_ids["tournament_id"] == str(known.device.tournament_id)
    )
    headers = dict(http_request.headers.raw)
    return PageRequest(
        site=site,
        client_address=site.proxies.client_address(http_request.scope, headers),
        base_url=site.find_base_url(headers) or site.base_url,
        ids=dict(path_ids),
        path=http_request.url.path,
        query=dict(http_request.query_params),
        form=form,
        session_secret=secret,
        browser_secret=cookies.get(site.cookie_name(BROWSER), ""),
        guest_secret=cookies.get(site.cookie_name(GUEST), "") or tokens.new_cookie_secret(site.dice),
        session=session,
        find_page=find_page,
        is_same_origin=_is_same_origin(site, http_request),
        device=known if is_usable else None,
        inactive_device=None if is_usable else known,
        device_secret=device_secret if is_usable else "",
        user_agent=http_request.headers.get("user-agent", ""),
    )


async def _read_form(http_request: Request, route: PageRoute) -> FormData:
    """The fields of a form. Raises FormTooLarge, at once where the form says that it is."""
    declared = http_request.headers.get("content-length", "0")
    if declared.isdecimal() and len(declared) < 20 and int(declared) > route.bytes_max:
        raise FormTooLarge
    body = bytearray()
    async for chunk in http_request.stream():
        body += chunk
        if len(body) > route.bytes_max:
            raise FormTooLarge
    content_type = http_request.headers.get("content-type", "").encode("latin-1", "replace")
    if route.takes_file and multipart.is_multipart(content_type):
        return _form_with_file(bytes(body), content_type)
    if http_request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM_TYPE:
        return FormData()
    try:
        pairs = parse_qsl(
            body.decode("utf-8", "replace"),
            keep_blank_values=True,
            errors="replace",
            max_num_fields=route.fields_max,
        )
    except ValueError as error:
        raise FormTooLarge from error
    return FormData(tuple(pairs))


def _form_with_file(body: bytes, content_type: bytes) -> FormData:
    try:
        parts = multipart.read_form(body, content_type)
    except Invalid:
        return FormData()
    file = next((part.content for part in parts if part.is_file), b"")
    return FormData(tuple((part.name, part.text) for part in parts if not part.is_file), file)


def _stale_form_page() -> Response:
    return message_page(
        419,
        "This form can no longer be sent",
        "The page was open for too long, was left by signing in or out, or your browser keeps no cookies."
        " Nothing was changed. Open your account and try again.",
    )
