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
from silverball.kit.http import Answer, Request
from silverball.kit.routing import path_id
from silverball.settings import Settings
from silverball.store import faults
from silverball.store.engine import Store
from silverball.web import site
from silverball.web.console import setup
from silverball.web.live import show, views
from silverball.web.live.show import Show
from silverball.web.live.views import VIEWS, Choice, View

LOG = logging.getLogger("silverball.web")
HTML = "text/html; charset=utf-8"
PATHS = tuple(VIEWS)
PATTERNS = {path: re.compile(path.replace("{tournament_id}", "([^/]+)")).fullmatch for path in PATHS}
REVALIDATED = b"no-cache"
# Whoever completes a tournament may reopen it: it may be a little behind, but not for a day.
AT_REST = b"public, max-age=300"
GUARDS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
)
ALONE = ((b"x-frame-options", b"DENY"), (b"cross-origin-opener-policy", b"same-origin"))
NOTHING = ("Nothing is here", "This tournament does not exist, or no longer.")
BUSY = ("One moment", "The database could not serve this just now. Try again in a moment.")
BROKEN = ("Something went wrong", "This is our fault and has been written down. Try again in a moment.")


@dataclass(frozen=True)
class Pages:
    """What answers `/t/{id}` and its companions."""

    store: Store
    base_url: str
    # The app that the pages use of the feed; none when every one is switched off.
    key: str
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def answer(self, request: Request) -> Answer:
        """The page, or the part of it that is asked for; never raises."""
        try:
            return self._answer(request)
        except NotFound:
            return said(404, *NOTHING)
        except Conflict as refused:
            return said(409, "This cannot be shown", refused.message)
        except Exception as error:  # the edge: whatever fails is told as a page
            is_passing = faults.is_passing(error)
            LOG.error("a public page failed", exc_info=error)
            return said(503, *BUSY) if is_passing else said(500, *BROKEN)

    def _answer(self, request: Request) -> Answer:
        path, word = next(
            (path, found[1]) for path, match in PATTERNS.items() if (found := match(request.path))
        )
        view = VIEWS[path]
        tournament_id = path_id("tournament_id", word)
        try:
            query = dict(parse_qsl(request.query.decode("latin-1"), max_num_fields=views.FIELDS_MAX))
        except ValueError:
            return said(
                400, "This address cannot be read", f"It has more than {views.FIELDS_MAX} parameters."
            )
        choice = views.chosen(view, query)
        if choice.part and choice.part not in view.parts + view.offered:
            raise NotFound("Part", choice.part)
        return self._shown(show.read(self.store, tournament_id, self.now()), path, view, choice)

    def _shown(self, shown: Show, path: str, view: View, choice: Choice) -> Answer:
        is_followed = view.never_rests or not shown.is_completed
        modules = view.modules if is_followed else ()
        text = site.text_of(
            "live/part.html" if choice.part else view.template,
            modules=modules,
            show=shown,
            night=shown.night,
            t=shown.tournament,
            view=path.rpartition("/")[2] if path.count("/") > 2 else "page",
            parts=(choice.part,) if choice.part else choice.shown,
            choice=choice,
            follows=views.FOLLOWS,
            is_followed=is_followed,
            key=self.key,
            base_url=self.base_url,
            at=f"/t/{shown.tournament.tournament_id}",
            version=version(),
            title_of=setup.title_of,
            plain=show.plain,
            gone_at=show.gone_at(shown.tournament.details.get("motd_expiration")),
        )
        headers = (
            (b"cache-control", REVALIDATED if is_followed else AT_REST),
            (b"content-security-policy", self._policy(view, modules).encode("latin-1")),
            *GUARDS,
            *(() if view.may_be_framed else ALONE),
        )
        return Answer(200, text.encode(), HTML, headers)

    def _policy(self, view: View, modules: tuple[str, ...]) -> str:
        """What the page may load and who may frame it."""
        policy = site.policy_following(self.base_url) if modules else site.POLICY
        return policy.replace("frame-ancestors 'none'", "frame-ancestors *") if view.may_be_framed else policy


def build(store: Store, settings: Settings) -> Pages:
    """The public pages over one database."""
    return Pages(store, settings.base_url, site.feed_key(settings))


def said(status: int, title: str, sentence: str) -> Answer:
    """A page that says one thing."""
    text = site.text_of("message.html", modules=(), title=title, sentence=sentence)
    headers = (
        (b"cache-control", b"no-store"),
        (b"content-security-policy", site.POLICY.encode()),
        *GUARDS,
        *ALONE,
    )
    return Answer(status, text.encode(), HTML, headers)


@cache
def version() -> str:
    """Changes with whatever these pages are made of: one that is of another version loads itself again."""
    templates = Path(site.__file__).parent / "templates"
    files = sorted([*templates.rglob("*.html"), *site.STATIC.iterdir()])
    return site.digest([silverball.__version__.encode(), *(file.read_bytes() for file in files)])
