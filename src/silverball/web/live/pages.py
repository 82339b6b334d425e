"""The public pages of a tournament, answered without a visitor: finished bytes for the front door to keep."""

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from urllib.parse import parse_qsl

import silverball
from silverball.kit.errors import Conflict, NotFound
from silverball.kit.http.endpoints import HttpResponse, Request
from silverball.kit.http.router import parse_path_id
from silverball.settings import Settings
from silverball.store import faults
from silverball.store.engine import Store
from silverball.web import site
from silverball.web.console import settings_form
from silverball.web.live import tournament_view, views
from silverball.web.live.tournament_view import PublicTournament
from silverball.web.live.views import VIEWS, PublicView, ViewChoice

LOG = logging.getLogger("silverball.web")
HTML = "text/html; charset=utf-8"
PATHS = tuple(VIEWS)
PATTERNS = {path: re.compile(path.replace("{tournament_id}", "([^/]+)")).fullmatch for path in PATHS}
REVALIDATED = b"no-cache"
# Whoever completes a tournament may reopen it: it may be a little behind, but not for a day.
CACHED_WHEN_COMPLETED = b"public, max-age=300"
SECURITY_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
)
NO_FRAMES = ((b"x-frame-options", b"DENY"), (b"cross-origin-opener-policy", b"same-origin"))
NOTHING_HERE = ("Nothing is here", "This tournament does not exist, or no longer.")
BUSY = ("One moment", "The database could not serve this just now. Try again in a moment.")
BROKEN = ("Something went wrong", "This is our fault and has been written down. Try again in a moment.")


@dataclass(frozen=True)
class PublicPages:
    """What answers `/t/{id}` and its companions."""

    store: Store
    base_url: str
    # The app that the pages use of the feed; none when every one is switched off.
    feed_key: str
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def answer(self, request: Request) -> HttpResponse:
        """The page, or the part of it that is asked for; never raises."""
        try:
            return self._answer_request(request)
        except NotFound:
            return message_answer(404, *NOTHING_HERE)
        except Conflict as refused:
            return message_answer(409, "This cannot be shown", refused.message)
        except Exception as error:  # the edge: whatever fails is told as a page
            is_passing = faults.is_transient(error)
            LOG.error("a public page failed", exc_info=error)
            return message_answer(503, *BUSY) if is_passing else message_answer(500, *BROKEN)

    def _answer_request(self, request: Request) -> HttpResponse:
        path, word = next(
            (path, found[1]) for path, match in PATTERNS.items() if (found := match(request.path))
        )
        view = VIEWS[path]
        tournament_id = parse_path_id("tournament_id", word)
        try:
            query = dict(parse_qsl(request.query.decode("latin-1"), max_num_fields=views.FIELDS_MAX))
        except ValueError:
            return message_answer(
                400, "This address cannot be read", f"It has more than {views.FIELDS_MAX} parameters."
            )
        choice = views.parse_choice(view, query)
        if choice.part and choice.part not in view.parts + view.optional_parts:
            raise NotFound("Part", choice.part)
        return self._render(
            tournament_view.load_public_tournament(self.store, tournament_id, self.now()), path, view, choice
        )

    def _render(
        self, shown: PublicTournament, path: str, view: PublicView, choice: ViewChoice
    ) -> HttpResponse:
        is_followed = view.is_always_live or not shown.is_completed
        modules = view.modules if is_followed else ()
        text = site.render_text(
            "live/part.html" if choice.part else view.template,
            modules=modules,
            show=shown,
            night=shown.night,
            t=shown.tournament,
            view=path.rpartition("/")[2] if path.count("/") > 2 else "page",
            parts=(choice.part,) if choice.part else choice.parts,
            choice=choice,
            follows=views.PART_EVENTS,
            is_followed=is_followed,
            key=self.feed_key,
            base_url=self.base_url,
            at=f"/t/{shown.tournament.tournament_id}",
            version=pages_version(),
            title_of=settings_form.format_title,
            plain=tournament_view.points_text,
            gone_at=tournament_view.motd_expires_at(shown.tournament.details.get("motd_expiration")),
        )
        headers = (
            (b"cache-control", REVALIDATED if is_followed else CACHED_WHEN_COMPLETED),
            (b"content-security-policy", self._policy(view, modules).encode("latin-1")),
            *SECURITY_HEADERS,
            *(() if view.may_be_framed else NO_FRAMES),
        )
        return HttpResponse(200, text.encode(), HTML, headers)

    def _policy(self, view: PublicView, modules: tuple[str, ...]) -> str:
        """What the page may load and who may frame it."""
        policy = site.feed_policy(self.base_url) if modules else site.POLICY
        return policy.replace("frame-ancestors 'none'", "frame-ancestors *") if view.may_be_framed else policy


def build(store: Store, settings: Settings) -> PublicPages:
    """The public pages over one database."""
    return PublicPages(store, settings.base_url, site.feed_app_key(settings))


def message_answer(status: int, title: str, sentence: str) -> HttpResponse:
    """A page that says one thing."""
    text = site.render_text("message.html", modules=(), title=title, sentence=sentence)
    headers = (
        (b"cache-control", b"no-store"),
        (b"content-security-policy", site.POLICY.encode()),
        *SECURITY_HEADERS,
        *NO_FRAMES,
    )
    return HttpResponse(status, text.encode(), HTML, headers)


@cache
def pages_version() -> str:
    """Changes with whatever these pages are made of: one that is of another version loads itself again."""
    templates = Path(site.__file__).parent / "templates"
    files = sorted([*templates.rglob("*.html"), *site.STATIC.iterdir()])
    return site.content_digest([silverball.__version__.encode(), *(file.read_bytes() for file in files)])
