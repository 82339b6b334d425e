"""The public pages of a tournament, as data: their parts, scripts and framing."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, urlencode

import msgspec
from msgspec import Struct

FIELDS_MAX = 20
PARAMETERS = frozenset(
    {"part", "parts", "round", "show", "top", "side", "ground", "theme", "at", "machine", "by"}
)
TOP_MAX = 500
# Longer numbers are no action of any journal.
ACTION_ID = re.compile(r"[0-9]{1,15}", re.ASCII)
TOP_OVERLAY = 8
# In the templates, where a page that is sent during an outage says how old it is.
PLACE_OF_DATE = b"<!-- as of -->"
# The parts that are computed only where they are shown.
WORTH = "worth"
FORECAST = "forecast"


class PublicView(Struct, frozen=True, kw_only=True):
    """A public page of a tournament; each part is a template of its name in live/."""

    template: str
    parts: tuple[str, ...]
    modules: tuple[str, ...] = ("parts.js",)
    # Parts to choose from with `?parts=` (or `?show=`); without it `parts` are shown.
    optional_parts: tuple[str, ...] = ()
    # Whether other sites may show it in a frame.
    may_be_framed: bool = False
    # Whether it follows the feed after the tournament is completed, too.
    is_always_live: bool = False
    # Whether it shows the tournament as it stood after an action of its journal, with `?at=`.
    looks_back: bool = False
    # Whether it shows how the rounds were drawn, which takes the whole journal.
    shows_draws: bool = False
    # Rows of the standings without `?top=`; 0 means all.
    top: int = 0


# Part -> prefixes of the feed events that may change it.
PART_EVENTS: Mapping[str, str] = {
    "head": "Tournament Round Queue",
    "now": "Tournament Players Arenas Round Game SinglePlayerGame Card Queue",
    "standings": "Tournament Players Round Game SinglePlayerGame Card",
    "tree": "Tournament Players Arenas Round Game SinglePlayerGame",
    "rounds": "Tournament Players Arenas Round Game SinglePlayerGame Card",
    "draws": "Tournament Round Game",
    "points": "Tournament Players Round Game SinglePlayerGame",
    "movers": "Tournament Players Round Game SinglePlayerGame Card",
    "third": "Tournament Players Arenas Round Game",
    WORTH: "Tournament Players Arenas",
    FORECAST: "Tournament Players Round Game SinglePlayerGame",
}


class ViewChoice(Struct, frozen=True):
    """The choices in the query of an address."""

    round_id: str = ""
    parts: tuple[str, ...] = ()
    # The parts that are asked for without the page around them; none for the whole page.
    asked: tuple[str, ...] = ()
    top: int = 0
    # The id of an action of the journal; None for the tournament as it is now.
    at: int | None = None
    options: Mapping[str, str] = msgspec.field(default_factory=dict)


VIEWS: Mapping[str, PublicView] = {
    "/t/{tournament_id}": PublicView(
        template="live/page.html",
        parts=("head", "tree", "standings", "now", FORECAST, "rounds", WORTH),
        looks_back=True,
        modules=("parts.js", "find.js", "me.js"),
    ),
    "/t/{tournament_id}/wall": PublicView(
        template="live/wall.html",
        parts=("head", "standings", "now", "movers", FORECAST),
        modules=("parts.js", "wall.js"),
        is_always_live=True,
    ),
    "/t/{tournament_id}/overlay": PublicView(
        template="live/overlay.html",
        parts=("head", "standings"),
        optional_parts=("head", "standings", "now", "movers", "third"),
        may_be_framed=True,
        is_always_live=True,
        top=TOP_OVERLAY,
    ),
    "/t/{tournament_id}/draws": PublicView(template="live/drawn.html", parts=("draws",), shows_draws=True),
    "/t/{tournament_id}/points": PublicView(template="live/by_round.html", parts=("points",)),
    "/t/{tournament_id}/embed": PublicView(
        template="live/embed.html", parts=("head", "now", "standings"), may_be_framed=True
    ),
}
# The summary of a completed tournament, and its pictures.
SUMMARY = "/t/{tournament_id}/summary"
PODIUM_SVG, PODIUM_PNG = "/t/{tournament_id}/podium.svg", "/t/{tournament_id}/podium.png"
PATHS = (*VIEWS, SUMMARY, PODIUM_SVG, PODIUM_PNG)


def meaningful_query(query: bytes) -> bytes:
    """The parameters that pages know, in order; tracking parameters must not multiply cached pages."""
    try:
        pairs = parse_qsl(query.decode("latin-1"), max_num_fields=FIELDS_MAX)
    except ValueError:
        # Too many parameters; the page answers with an error.
        return query
    parameters = {name: value for name, value in pairs if name in PARAMETERS}
    return urlencode(sorted(parameters.items())).encode()


def parse_choice(view: PublicView, query: Mapping[str, str]) -> ViewChoice:
    """The choices in a query, without unknown ones."""
    names = (query.get("parts") or query.get("show", "")).split(",")
    parts = tuple(name for name in dict.fromkeys(names) if name in view.optional_parts)
    top = query.get("top", "")
    is_number = top.isascii() and top.isdigit() and len(top) < 4
    at = query.get("at", "") if view.looks_back else ""
    asked = filter(None, query.get("part", "").split(","))
    return ViewChoice(
        round_id=query.get("round", ""),
        parts=parts or view.parts,
        asked=tuple(dict.fromkeys(asked)),
        top=min(int(top), TOP_MAX) if is_number else view.top,
        at=int(at) if ACTION_ID.fullmatch(at) else None,
        options={name: query[name] for name in ("side", "ground", "theme", "machine", "by") if name in query},
    )


def date_page(body: bytes, seconds: float, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> bytes:
    """A page with a note of the moment that it shows, so many seconds ago."""
    as_of = now() - timedelta(seconds=seconds)
    note = (
        f'<p class="said" role="status">The database cannot be reached. This is as of {as_of:%H:%M} UTC.</p>'
    )
    return body.replace(PLACE_OF_DATE, note.encode(), 1)
