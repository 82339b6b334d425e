"""The public pages of a tournament, the same for everybody, as bytes that the front door caches."""

import logging
import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from urllib.parse import parse_qsl

from msgspec import Struct

import silverball
from silverball.kit.errors import Conflict, Invalid, NotFound
from silverball.kit.http.endpoints import HttpResponse, Request
from silverball.kit.http.router import parse_path_id
from silverball.service.money import reads as money_reads
from silverball.service.rounds import reads as rounds_reads
from silverball.settings import Settings
from silverball.store.database import faults
from silverball.store.database.engine import Store
from silverball.store.database.faults import DatabaseUnavailable
from silverball.web import deciding_ties, qr_codes, site
from silverball.web.forms import format_title
from silverball.web.live import summary, tournament_view, views
from silverball.web.live.tournament_view import PublicTournament
from silverball.web.live.views import VIEWS, PublicView, ViewChoice
from silverball_wire.rounds import TournamentDraws

LOG = logging.getLogger("silverball.web")
HTML = "text/html; charset=utf-8"
PATTERNS = {
    path: re.compile(re.escape(path).replace(r"\{tournament_id\}", "([^/]+)")).fullmatch
    for path in views.PATHS
}
REVALIDATED = b"no-cache"
# A completed tournament may be reopened, so its page may be cached for minutes only, and by browsers
# only: a copy shared by a proxy would name people who have opted out since.
CACHED_WHEN_COMPLETED = b"private, max-age=300"
REFERRER_POLICY = (b"referrer-policy", b"same-origin")
NO_FRAMES = ((b"x-frame-options", b"DENY"), (b"cross-origin-opener-policy", b"same-origin"))
NOTHING_HERE = ("Nothing is here", "This tournament does not exist, or no longer.")
BUSY = ("One moment", "The database could not serve this just now. Try again in a moment.")
BROKEN = ("Something went wrong", "This is our fault and has been written down. Try again in a moment.")


def _parse_path(request_path: str) -> tuple[str, int]:
    """The path of a view, and the tournament's id. Raises NotFound when it is not a number."""
    path, word = next(
        (path, match[1]) for path, fullmatch in PATTERNS.items() if (match := fullmatch(request_path))
    )
    return path, parse_path_id("tournament_id", word)


class PublicPages(Struct, frozen=True):
    """Answers `/t/{id}` and the other public pages of a tournament."""

    store: Store
    base_url: str
    # The feed app that the pages use; empty when all are switched off.
    feed_key: str
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def answer(self, request: Request) -> HttpResponse:
        """The page, or the parts of it that were asked for; never raises."""
        try:
            return self._answer_request(request)
        except NotFound:
            return message_answer(404, *NOTHING_HERE)
        except Invalid as refusal:
            return message_answer(422, "This cannot be shown", refusal.text())
        except Conflict as refusal:
            return message_answer(409, "This cannot be shown", refusal.text())
        except Exception as error:  # the edge: every failure becomes a page
            is_transient = faults.is_transient(error)
            LOG.error("A public page failed.", exc_info=error)
            if isinstance(error, DatabaseUnavailable):
                return message_answer(503, BUSY[0], error.text())
            return message_answer(503, *BUSY) if is_transient else message_answer(500, *BROKEN)

    def _answer_request(self, request: Request) -> HttpResponse:
        path, tournament_id = _parse_path(request.path)
        if path not in VIEWS:
            return self._answer_summary(path, tournament_id, request.base_url or self.base_url)
        view = VIEWS[path]
        try:
            query = dict(parse_qsl(request.query.decode("latin-1"), max_num_fields=views.FIELDS_MAX))
        except ValueError:
            sentence = f"It has more than {views.FIELDS_MAX} parameters."
            return message_answer(400, "This address cannot be read", sentence)
        choice = views.parse_choice(view, query)
        for name in choice.asked:
            if name not in view.parts + view.optional_parts:
                raise NotFound("Part", name)
        shown = choice.asked or choice.parts
        public = tournament_view.load_public_tournament(
            self.store,
            tournament_id,
            self.now(),
            choice.at,
            with_worth=views.WORTH in shown,
            with_forecast=views.FORECAST in shown,
        )
        drawn = self._load_draws(tournament_id) if view.shows_draws else None
        return self._render(public, path, choice, request.base_url or self.base_url, drawn)

    def _answer_summary(self, path: str, tournament_id: int, base_url: str) -> HttpResponse:
        """The summary of a completed tournament, or its picture. Raises NotFound and Conflict."""
        public = tournament_view.load_public_tournament(self.store, tournament_id, self.now())
        policy = site.POLICY if path in summary.PICTURE_TYPES else site.POLICY_WITH_MODULES
        headers = (
            (b"cache-control", CACHED_WHEN_COMPLETED),
            (b"content-security-policy", policy.encode()),
            REFERRER_POLICY,
            *NO_FRAMES,
        )
        if path in summary.PICTURE_TYPES:
            picture = summary.draw_picture(public, path)
            return HttpResponse(200, picture, summary.PICTURE_TYPES[path], headers)
        text = site.render_text(
            "live/summary.html",
            modules=("share.js", "copy.js"),
            public=public,
            night=public.night,
            tournament=public.tournament,
            base_url=base_url,
            base_path=f"/t/{tournament_id}",
            format_title=format_title,
            points_text=site.points_text,
            **summary.load_context(public),
        )
        return HttpResponse(200, text.encode(), HTML, headers)

    def _load_draws(self, tournament_id: int) -> TournamentDraws:
        with self.store.read() as db:
            return rounds_reads.tournament_draws(db, tournament_id)

    def _render(
        self,
        public: PublicTournament,
        path: str,
        choice: ViewChoice,
        base_url: str,
        drawn: TournamentDraws | None,
    ) -> HttpResponse:
        view = VIEWS[path]
        tournament = public.tournament
        is_past = public.past_action is not None
        is_followed = not is_past and (view.is_always_live or not public.is_completed)
        modules = view.modules if is_followed else ()
        text = site.render_text(
            "live/parts.html" if choice.asked else view.template,
            modules=modules,
            public=public,
            night=public.night,
            tournament=tournament,
            view=path.rpartition("/")[2] if path.count("/") > 2 else "page",
            parts=choice.asked or choice.parts,
            choice=choice,
            drawn=drawn,
            follows=views.PART_EVENTS,
            computed_parts=(views.WORTH, views.FORECAST),
            is_followed=is_followed,
            feed_key=self.feed_key,
            base_url=base_url,
            base_path=f"/t/{tournament.tournament_id}",
            version=pages_version(),
            format_title=format_title,
            points_text=site.points_text,
            prize_text=money_reads.money_text,
            deciding=[] if is_past else deciding_ties.ties_on_page(public.night),
            qr_code=qr_codes.qr_code,
            motd_expires_at=tournament_view.motd_expires_at(tournament.details.get("motd_expiration")),
        )
        headers = (
            (b"cache-control", REVALIDATED if is_followed else CACHED_WHEN_COMPLETED),
            (b"content-security-policy", _page_policy(view, modules, base_url).encode("latin-1")),
            REFERRER_POLICY,
            *(() if view.may_be_framed else NO_FRAMES),
        )
        is_cacheable = not public.changes_without_revision
        return HttpResponse(200, text.encode(), HTML, headers, is_cacheable=is_cacheable)


def _page_policy(view: PublicView, modules: tuple[str, ...], base_url: str) -> str:
    """The content security policy of the page."""
    policy = site.feed_policy(base_url) if modules else site.POLICY
    return policy.replace("frame-ancestors 'none'", "frame-ancestors *") if view.may_be_framed else policy


def build(store: Store, settings: Settings) -> PublicPages:
    """The public pages of one database."""
    return PublicPages(store, settings.base_url, site.feed_app_key(settings))


def message_answer(status: int, title: str, sentence: str) -> HttpResponse:
    """A page with a title and one sentence."""
    text = site.render_text("message.html", modules=(), title=title, sentence=sentence)
    headers = (
        (b"cache-control", b"no-store"),
        (b"content-security-policy", site.POLICY.encode()),
        REFERRER_POLICY,
        *NO_FRAMES,
    )
    return HttpResponse(status, text.encode(), HTML, headers)


@cache
def pages_version() -> str:
    """A digest of templates and static files; pages of another version reload themselves."""
    templates = Path(site.__file__).parent / "templates"
    files = sorted([*templates.rglob("*.html"), *site.STATIC.iterdir()])
    return site.content_digest([silverball.__version__.encode(), *(file.read_bytes() for file in files)])
