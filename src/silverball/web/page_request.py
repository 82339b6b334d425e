"""One request for a page, with its account or device known and its form checked.

A page is a plain function that runs in a worker thread:

    @page("POST", "/account/tokens")
    def create_token(request: PageRequest) -> Response: ...

A form is checked against the CSRF token of its session, device or guest cookie before the page runs
(`page_endpoint.py`).
"""

from collections.abc import Callable, Mapping
from string import Formatter
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from msgspec import Struct, field
from starlette.responses import RedirectResponse, Response

from silverball.kit.edge.backend import SEEN_COOKIE, SEEN_SECONDS, SeenRevision
from silverball.kit.http.router import parse_path_id
from silverball.kit.security import tokens
from silverball.service.accounts.reads import SignedInUser
from silverball.service.core import access
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.users.reads import KnownDevice
from silverball.web import forms
from silverball.web.forms import FormData
from silverball.web.site import Site, message_page, render
from silverball.web.visitors import DEVICE

FIELDS_MAX = 50
# Forms hold less, but for those with a file of 1 MB or what was read of one.
FORM_BYTES_MAX, FILE_FORM_BYTES_MAX = 64 * 1024, 1_200_000
# The cookies of a visitor, and of a browser that signed in before.
GUEST, BROWSER = "guest", "browser"
SIGN_IN = "/account/sign-in"
# Notices that an address asks for with `?said=`; other words are ignored.
SIGN_IN_NOTICES = {
    "out": "You are signed out.",
    "over": "Your session is over. Sign in again.",
    "recovered": "The new password is set. Sign in with it.",
}
FORM_KEPT = (
    "You were signed out in the meantime. Sign in again: what you entered is kept, and you can look at it"
    " before it is sent."
)
FORM_TOO_LONG = (
    "You were signed out in the meantime, and what you entered is too long to be kept here. Sign in on"
    " another page of this site, then go back in your browser to what you entered and send it again."
)
FORM_RESTORED = (
    "This has not been sent yet: you were signed out in the meantime. Look at it and send it again."
)


class PageRequest(Struct, frozen=True):
    """A request for a page, read and checked."""

    site: Site
    # A proxy on this machine is trusted to say where the request came from.
    client_address: str
    # Where links begin.
    base_url: str
    ids: dict[str, str]
    path: str
    query: dict[str, str]
    form: FormData
    session_secret: str
    guest_secret: str
    # Of the cookie that a browser keeps after its first sign-in; empty without.
    browser_secret: str
    session: SignedInUser | None
    find_page: "PageFinder"
    # Whether the browser says that the form was on one of our pages.
    is_same_origin: bool = False
    # The scorekeeper's device, which takes precedence over the account.
    device: KnownDevice | None = None
    # A device that may not act here, or not any more.
    inactive_device: KnownDevice | None = None
    device_secret: str = ""
    user_agent: str = ""
    # The session's new secret at the end, where it got one while the form was answered.
    renewed_secrets: list[str] = field(default_factory=list)

    @property
    def account(self) -> SignedInUser:
        """The signed-in account; only for pages that are closed to guests."""
        assert self.session is not None
        return self.session

    @property
    def caller(self) -> AuthenticatedCaller:
        """The device, or the account with the highest ability of its role."""
        if self.device is not None:
            return access.device_caller(self.device.device)
        account = self.account
        ability = access.HIGHEST_ABILITY[account.role]
        return AuthenticatedCaller(user_id=account.user_id, role=account.role, ability=ability)

    @property
    def csrf(self) -> str:
        """The CSRF token of the device, the session, or the guest's cookie."""
        if self.device_secret:
            return tokens.digest(f"form {self.device_secret}")
        return self.session.csrf if self.session else tokens.digest(self.guest_secret)

    @property
    def host(self) -> str:
        """The name of the site's host, as links begin with it."""
        return urlsplit(self.base_url).hostname or ""

    @property
    def page_number(self) -> int:
        """The page of a list that the address asks for; 1 where that is no number up to 999."""
        text = self.query.get("page", "1")
        return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) <= 3 else 1

    def path_id(self, name: str) -> int:
        """The id of this name in the path. Raises NotFound when it is no valid id."""
        return parse_path_id(name, self.ids[name])

    def field(self, name: str) -> str:
        return self.form.value(name)

    def render(self, template: str, status: int = 200, **context: Any) -> Response:
        """A page with this request's account, device and CSRF token."""
        return render(
            template,
            status,
            csrf=self.csrf,
            signed_in=self.session,
            device=self.device,
            new_key=lambda: tokens.new_cookie_secret(self.site.dice),
            **context,
        )

    def render_sign_in(
        self, hidden_fields: Mapping[str, str], status: int = 200, fault: str | None = None
    ) -> Response:
        """The sign-in form; the hidden fields say how to go on afterwards."""
        notice = FORM_KEPT if hidden_fields.get("kept") else SIGN_IN_NOTICES.get(self.query.get("said", ""))
        if status == 401 and not hidden_fields:
            notice = FORM_TOO_LONG
        response = self.render(
            "sign_in.html",
            status,
            email=self.field("email"),
            fault=fault,
            notice=notice,
            hidden_fields=hidden_fields,
            mails_passwords=self.site.ask_for_recovery is not None,
        )
        self.set_cookie(response, GUEST, self.guest_secret, None)
        return response

    def render_inactive_device(self, known: KnownDevice, form: FormData | None = None) -> Response:
        """The page for a device that may not act here; it can send its form again from there."""
        status, title, sentence = _inactive_device_message(known, self.ids.get("tournament_id", ""))
        fields = [] if form is None else [pair for pair in form.pairs if pair[0] != forms.CSRF]
        return self.render(
            "devices/over.html",
            status,
            title=title,
            sentence=sentence,
            is_revoked=known.is_revoked,
            hidden_fields=fields,
            path=self.path,
            live=f"/t/{known.device.tournament_id}",
        )

    def set_cookie(self, response: Response, name: str, value: str, seconds: int | None) -> None:
        """Set one of our cookies; without seconds it lasts until the browser is closed."""
        response.set_cookie(
            self.site.cookie_name(name),
            value,
            max_age=seconds,
            path="/",
            secure=self.site.is_https,
            httponly=True,
            samesite="lax",
        )

    def set_seen(self, response: Response, seen: SeenRevision) -> None:
        """Let the pages that the browser asks for next be at least as new as this state, on any node."""
        response.set_cookie(
            f"__Host-{SEEN_COOKIE}" if self.site.is_https else SEEN_COOKIE,
            seen.cookie,
            max_age=SEEN_SECONDS,
            secure=self.site.is_https,
            httponly=True,
            samesite="lax",
        )

    def delete_cookie(self, response: Response, name: str) -> None:
        self.set_cookie(response, name, "", 0)


class PageRoute(Struct, frozen=True):
    """A page: method, path, and the function that answers."""

    method: str
    path: str
    handler: Callable[[PageRequest], Response]
    for_guests: bool = False
    # Whether devices of the tournament in the path may use it, too.
    for_devices: bool = False
    fields_max: int = FIELDS_MAX
    # Shows the submitted form again with a sentence; it must change nothing.
    rerender: Callable[[PageRequest, str], Response] | None = None
    # Whether a crowd of guests sends the form at once, so that it waits for its turn as a write does.
    is_for_crowds: bool = False
    # Whether the page is there for administrators only.
    for_admins: bool = False
    # Where the address of the form leads when it is opened as a page; empty when another page is there.
    opens: str = ""
    # Whether the page is there with a slash at its end, too.
    has_slash_twin: bool = False
    # Whether the form may have a file, and is read as `multipart/form-data`, too.
    takes_file: bool = False

    @property
    def bytes_max(self) -> int:
        """The size of the largest form."""
        return FILE_FORM_BYTES_MAX if self.takes_file else FORM_BYTES_MAX

    def opened_form(self) -> "PageRoute":
        """The address of the form as a page: to reload or bookmark it is not an error."""
        names = [name for _, name, _, _ in Formatter().parse(self.opens) if name]

        def lead_on(request: PageRequest) -> Response:
            ids = {name: request.path_id(name) for name in names}
            return redirect(self.opens.format(**ids))

        return PageRoute("GET", self.path, lead_on, self.for_guests, self.for_devices)


# Finds the page at a method and path, and the ids in the path.
PageFinder: TypeAlias = Callable[[str, str], tuple[PageRoute, dict[str, str]] | None]


def page(
    method: str,
    path: str,
    *,
    for_guests: bool = False,
    for_devices: bool = False,
    fields_max: int = FIELDS_MAX,
    rerender: Callable[[PageRequest, str], Response] | None = None,
    is_for_crowds: bool = False,
    for_admins: bool = False,
    opens: str = "",
    takes_file: bool = False,
) -> Callable[[Callable[[PageRequest], Response]], PageRoute]:
    """Declare a page; a page that is closed to guests makes them sign in first."""
    return lambda handler: PageRoute(
        method,
        path,
        handler,
        for_guests,
        for_devices,
        fields_max,
        rerender,
        is_for_crowds,
        for_admins,
        opens,
        takes_file=takes_file,
    )


def redirect(path: str) -> Response:
    """A redirect that the browser follows with a GET."""
    return RedirectResponse(path, 303, {"cache-control": "no-store"})


def device_cookie_name(tournament_id: object) -> str:
    """The cookie that holds a browser's device secret for this tournament."""
    return f"{DEVICE}_{tournament_id}"


def _inactive_device_message(known: KnownDevice, tournament_id: str) -> tuple[int, str, str]:
    """Status, title and sentence for a device that may not act here."""
    name = known.tournament_name
    if tournament_id not in ("", str(known.device.tournament_id)):
        sentence = f"It keeps the scores of {name}, and of nothing else."
        return 403, "This link is for another tournament", sentence
    if known.is_revoked:
        sentence = (
            f"Its link to {name} was revoked. Ask the organizer for a new one, and open it in this browser."
        )
        return 410, "This device keeps no scores any more", sentence
    sentence = f"{name} is completed, and its results are final. If it is reopened, this device works again."
    return 410, "The tournament is over", sentence


def not_found_page() -> Response:
    return message_page(404, "Nothing is here", "This page or this thing does not exist, or no longer.")
