"""What every page is handed: the database, the clock, the templates."""

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.responses import HTMLResponse

from silverball.feed import handshake
from silverball.kit.edge.write_requests import WriteRequests
from silverball.settings import Settings
from silverball.store.engine import Store
from silverball.web.sign_in_throttle import SignInLimiter

if TYPE_CHECKING:
    import jinja2

    from silverball.web.page_request import PageRoute

STATIC = Path(__file__).parent / "static"
# Nothing from elsewhere; no script either, except on a page that has modules of ours.
POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self';"
    " frame-ancestors 'none'; base-uri 'none'"
)
POLICY_WITH_MODULES = f"{POLICY}; script-src 'self'; connect-src 'self'"
HOST = re.compile(r"[\w.:\[\]-]+", re.ASCII)


@dataclass(frozen=True)
class Site:
    """The pages of one process."""

    store: Store
    settings: Settings
    now: Callable[[], datetime]
    dice: Random
    sign_in_limiter: SignInLimiter
    # How what a form asks for is done: one transaction, once for each key.
    writing: WriteRequests
    # The page of ours at this address and the ids in it: (method, path).
    find_page: "Callable[[str, str], tuple[PageRoute, dict[str, str]] | None]"

    @property
    def base_url(self) -> str:
        return self.settings.base_url

    @property
    def is_https(self) -> bool:
        return self.base_url.startswith("https://")

    def cookie_name(self, name: str) -> str:
        """A cookie's full name; under https a browser lets nobody else set or widen it."""
        return f"__Host-silverball_{name}" if self.is_https else f"silverball_{name}"


def render(
    template: str, status: int = 200, *, modules: tuple[str, ...] = (), **context: Any
) -> HTMLResponse:
    """A page that no cache keeps: it may show secrets, and its forms are signed for one visitor.

    `modules` are files in `static/`; a page without any may run no script.
    """
    text = render_text(template, modules=modules, **context)
    policy = POLICY_WITH_MODULES if modules else POLICY
    return HTMLResponse(text, status, {"cache-control": "no-store", "content-security-policy": policy})


def feed_policy(base_url: str) -> str:
    """The policy of a page that follows the feed."""
    host = urlsplit(base_url).netloc
    # Older browsers do not take a socket to be of the page's own origin.
    return POLICY_WITH_MODULES + (f" ws://{host} wss://{host}" if HOST.fullmatch(host) else "")


def feed_app_key(settings: Settings) -> str:
    """The first app of the feed that pages of this server may use; none when every one is switched off."""
    apps = handshake.parse_apps(settings.apps, settings.app_origins).values()
    usable = (one for one in apps if one.is_enabled)
    return next((one.key for one in usable if not one.origins or settings.base_url in one.origins), "")


def render_text(template: str, **context: Any) -> str:
    """A template filled in."""
    return _templates().get_template(template).render(**context)


def message_page(status: int, title: str, sentence: str) -> HTMLResponse:
    """A page that says one thing and shows a way on."""
    return render("message.html", status, title=title, sentence=sentence)


def static_url(file: str) -> str:
    """A static file's address; it changes with its content, so browsers may keep it for good."""
    return f"/static/{file}?v={_file_version(file)}"


@cache
def static_urls() -> frozenset[str]:
    """Every static file's address with the content that this process has."""
    return frozenset(static_url(file.name) for file in STATIC.iterdir())


@cache
def _file_version(file: str) -> str:
    return content_digest([(STATIC / file).read_bytes()])


def content_digest(contents: Iterable[bytes]) -> str:
    """Changes with what is in them."""
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
    )
    templates.filters["moment"] = _format_moment
    templates.filters["iso"] = _format_iso
    templates.globals["static"] = static_url
    return templates


def _format_moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _format_iso(at: datetime) -> str:
    """A moment for programs."""
    return f"{at:%Y-%m-%dT%H:%M:%S}Z"
