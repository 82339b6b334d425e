"""The parts that all pages share: database, clock, templates, static files."""

import hashlib
import re
import threading
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cache
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from msgspec import Struct
from starlette.responses import HTMLResponse

from silverball.feed import feed
from silverball.kit.edge.idempotency import IdempotencyKeyMalformed, IdempotencyKeyReused
from silverball.kit.edge.proxies import FindBaseUrl, TrustedProxies
from silverball.kit.edge.work_queue import WorkQueue
from silverball.kit.edge.write_requests import WriteRequests
from silverball.kit.errors import Names, Refusal, Words
from silverball.kit.http import refusals
from silverball.kit.security import tokens
from silverball.service.sheets.sources import ListSource, ReadList, read_list
from silverball.settings import Settings
from silverball.store.database.engine import Store
from silverball.web import icons
from silverball.web.sign_in_throttle import HourlyLimiter, SignInLimiter
from silverball.web.visitors import cookie_name

COOKIES_MAX = 10_000


class KnownCookies:
    """Tells, without the database, people who were here lately from those who make up a cookie.

    It decides only whom an overloaded server refuses first, so a cookie that has ended since does no harm.
    """

    def __init__(self) -> None:
        # Digests of the secrets, the one that was added last at the end.
        self._digests: dict[str, None] = {}
        # Pages are answered in threads.
        self._lock = threading.Lock()

    def add(self, secret: str) -> None:
        """Remember a valid cookie, in place of the oldest one when there are too many."""
        digest = tokens.digest(secret)
        with self._lock:
            self._digests.pop(digest, None)
            while len(self._digests) >= COOKIES_MAX:
                del self._digests[next(iter(self._digests))]
            self._digests[digest] = None

    def __contains__(self, secret: str) -> bool:
        return tokens.digest(secret) in self._digests


# More different keys in a minute do not pass.
KEYS_MAX = 1_000


class OncePerMinute:
    """Lets each key pass once a minute, so that being refused for nothing writes next to nothing."""

    def __init__(self) -> None:
        self._minute = 0
        self._keys: set[str] = set()
        # Pages are answered in threads.
        self._lock = threading.Lock()

    def passes(self, key: str, now: datetime) -> bool:
        """Return whether this is the key's first time in the minute; never above the limit of keys."""
        minute = int(now.timestamp()) // 60
        with self._lock:
            if minute != self._minute:
                self._minute = minute
                self._keys.clear()
            if key in self._keys or len(self._keys) >= KEYS_MAX:
                return False
            self._keys.add(key)
            return True


if TYPE_CHECKING:
    import jinja2
    import markupsafe

STATIC = Path(__file__).parent / "static"
# Nothing from other sites, and no script except on a page that declares its modules.
POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self';"
    " frame-ancestors 'none'; base-uri 'none'"
)
POLICY_WITH_MODULES = f"{POLICY}; script-src 'self'; connect-src 'self'"
# With every answer that a browser shows as a page.
HEADERS = {
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
# An e-mail that somebody typed, and the address that their request came from.
AskForRecovery = Callable[[str, str], None]
HOST = re.compile(r"[\w.:\[\]-]+", re.ASCII)


class Site(Struct, frozen=True):
    """The shared parts of all pages in one process."""

    store: Store
    settings: Settings
    now: Callable[[], datetime]
    dice: Random
    sign_in_limiter: SignInLimiter
    proxies: TrustedProxies
    # Refused attempts that cost nothing are logged once a minute for each address.
    refusals: OncePerMinute
    # Runs a form's write in one transaction, once for each idempotency key.
    writes: WriteRequests
    # Finds the URL that links on a page begin with, where it follows the request.
    find_base_url: FindBaseUrl
    # The threads that answer pages, and the cookies of people who are refused last.
    threads: WorkQueue
    known_cookies: KnownCookies
    recovery_limiter: HourlyLimiter
    mail_limiter: HourlyLimiter
    # Has a link to a new password mailed, by address typed and address of the browser; None without SMTP.
    ask_for_recovery: AskForRecovery | None = None
    # Writes down that an account's data was downloaded, by account and address of the browser.
    note_download: Callable[[int, str], None] = lambda _user_id, _address: None
    # Reads a pasted list or a file of people.
    read_list: Callable[[ListSource], ReadList] = read_list

    @property
    def base_url(self) -> str:
        return self.settings.base_url

    @property
    def is_https(self) -> bool:
        return self.base_url.startswith("https://")

    def cookie_name(self, name: str) -> str:
        """A cookie's full name."""
        return cookie_name(name, is_https=self.is_https)


def render(
    template: str, status: int = 200, *, modules: tuple[str, ...] = (), **context: Any
) -> HTMLResponse:
    """A page that is never cached: it may show secrets, and its forms are signed for one visitor.

    `modules` are files in `static/`; a page without modules may run no script.
    """
    text = render_text(template, modules=modules, **context)
    policy = POLICY_WITH_MODULES if modules else POLICY
    return HTMLResponse(text, status, {"cache-control": "no-store", "content-security-policy": policy})


def feed_policy(base_url: str) -> str:
    """The content security policy of a page that follows the feed."""
    host = urlsplit(base_url).netloc
    # Older browsers do not count a websocket as the page's own origin.
    return POLICY_WITH_MODULES + (f" ws://{host} wss://{host}" if HOST.fullmatch(host) else "")


def feed_app_key(settings: Settings) -> str:
    """The key of the first feed app open to our own pages; empty when all are switched off."""
    apps = feed.parse_apps(settings.apps, settings.app_origins).values()
    enabled = (app for app in apps if app.is_enabled)
    return next((app.key for app in enabled if not app.origins or settings.base_url in app.origins), "")


def render_text(template: str, **context: Any) -> str:
    """A template filled in, as text."""
    return icons.with_symbols(_templates().get_template(template).render(**context), template)


def message_page(status: int, title: str, sentence: str) -> HTMLResponse:
    """A page with a title, one sentence and links to go on."""
    return render("message.html", status, title=title, sentence=sentence)


def static_url(file: str) -> str:
    """A static file's URL. It changes with the content, so browsers may cache it forever."""
    return f"/static/{file}?v={_file_version(file)}"


@cache
def static_urls() -> frozenset[str]:
    """The URLs of all static files as this process has them."""
    return frozenset(static_url(file.name) for file in STATIC.iterdir())


@cache
def _file_version(file: str) -> str:
    return content_digest([(STATIC / file).read_bytes()])


def content_digest(contents: Iterable[bytes]) -> str:
    """A short digest that changes with the contents."""
    return hashlib.sha256(b"\n".join(contents)).hexdigest()[:12]


@cache
def _templates() -> "jinja2.Environment":
    import jinja2

    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("silverball.web"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # The files do not change while this runs; asking for their times would cost more than a page.
        auto_reload=False,
    )
    templates.filters["moment"] = _format_moment
    templates.filters["night_time"] = _format_night_time
    templates.filters["night_day"] = _format_night_day
    templates.filters["points"] = points_text
    templates.filters["iso"] = _format_iso
    templates.globals["static"] = static_url
    return templates


def _format_moment(at: datetime) -> "markupsafe.Markup":
    """A moment that no line end divides."""
    import markupsafe

    return markupsafe.Markup('<span class="moment">{}</span>').format(f"{at:%Y-%m-%d %H:%M} UTC")


def points_text(points: object) -> str:
    """Points without decimals that say nothing: `12`, `7.5`; empty when there are none."""
    text = "" if points is None else str(points)
    return text.rstrip("0").rstrip(".") if "." in text else text


def _format_night_time(local: str) -> str:
    """A local time of the interface as a person says it: `Fri 27 Nov, 19:30`."""
    return f"{datetime.fromisoformat(local[:16]):%a %-d %b, %H:%M}"


def _format_night_day(local: str) -> str:
    """The day of a night: `27 Nov 2026`."""
    return f"{datetime.fromisoformat(local[:16]):%-d %b %Y}"


def _format_iso(at: datetime) -> str:
    """An aware time in ISO 8601."""
    return f"{at:%Y-%m-%dT%H:%M:%S}Z"


# Pages say machine where the interface says arena.
PAGE_WORDS: Words = MappingProxyType({"an arena": "a machine", "arena": "machine", "arenas": "machines"})


def refusal_text(refusal: Refusal, names: Names | None = None) -> str:
    """The refusal's sentence in the words of pages, with names in place of ids where there are some."""
    return refusal.text(words=PAGE_WORDS) if names is None else refusal.text(names, PAGE_WORDS)


def status_for(refusal: Refusal) -> int:
    """The status of the page that shows the form again."""
    return refusals.status_for(type(refusal))


def needs_new_key(refusal: Refusal) -> bool:
    """Whether the form's idempotency key was refused, so that the form cannot be sent with it again."""
    return isinstance(refusal, IdempotencyKeyMalformed | IdempotencyKeyReused)
