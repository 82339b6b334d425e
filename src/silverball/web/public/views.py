"""Views without an account: the start page, a user's profile, a series, a player, a game."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import msgspec
from markupsafe import Markup
from msgspec import UNSET, Struct, UnsetType
from starlette.responses import Response

import silverball
from silverball.kit.errors import Conflict, NotAllowed, NotFound
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.format import PlayKind
from silverball.rules.mechanics import rounds
from silverball.rules.model.tournament import Tournament
from silverball.rules.ranking import series as series_rules
from silverball.service.core import loaded
from silverball.service.games.reads import corrections, games
from silverball.service.journal.texts import away_text
from silverball.service.rounds import reads as rounds_reads
from silverball.service.series import reads as series_reads
from silverball.service.standings.reads import standings, stats
from silverball.service.tournaments.reads import listing, parts
from silverball.service.tournaments.reads.listing import DatedTournament
from silverball.service.users import reads as users
from silverball.store.database.engine import Db
from silverball.store.tournament import announcements
from silverball.web import deciding_ties, next_step
from silverball.web.forms import FormState, format_title
from silverball.web.page_request import GUEST, PageRequest
from silverball.web.public import report_page
from silverball.web.public.report_page import ReportPage
from silverball.web.tournament_night import TournamentNight, load_room_view, player_names, public_night
from silverball_wire.players import EntrantPart, Player
from silverball_wire.tournaments import Tournament as WireTournament

# The sizes of a machine's name, by its longest word.
LETTER_STEPS = (6, 9, 12, 16)

# The state of a player in a running tournament, as their own page shows it.


class PlayerState(Struct, frozen=True, kw_only=True):
    """Where a player waits, whether they are out, and what the clocks say."""

    # The machine (None for the tournament's own queue) and the place in its line.
    waiting: Sequence[tuple[int | None, int]] = ()
    # Whether their results have put them out; someone who was dropped is not out in this sense.
    is_out: bool = False
    round_ends_at: datetime | None = None
    # Game -> when its players were last called.
    calls: Mapping[int, datetime] = msgspec.field(default_factory=dict)

    # Rounds that the player still sits out, 0 for the newest one; None when they are not away.
    away_rounds: int | None = None
    # Games whose clock stands still: their machine is out of order, or busy in another tournament, as may
    # be a player.
    waiting_ids: Sequence[int] = ()
    # Machines out of order, and the one of them whose queue the player was in when it was dissolved.
    broken_arena_ids: Collection[int] = ()
    dissolved_arena_id: int | None = None
    # Where they are busy in another tournament of the room: `on Godzilla in Main`.
    elsewhere: str = ""
    # What comes next in the night, for a player without a game: `6 more results, then round 5 can be drawn`.
    coming: str = ""
    # What decides the place, with its unit: `43 points`.
    figure: str = ""

    @property
    def away_text(self) -> str:
        """The absence as a sentence; empty when the player is there."""
        if self.away_rounds is None:
            return ""
        return f"You are {away_text(self.away_rounds)}, and back in the draw by yourself."

    def call_key(self, game_id: int) -> str:
        """A text that differs for each call to a game: the page rings when it is new."""
        called_at = self.calls.get(game_id)
        return str(game_id) if called_at is None else f"{game_id}-{called_at:%H%M%S}"


def load_player_state(db: Db, tournament_id: int, player_id: int, now: datetime) -> PlayerState:
    """The state of a player; an empty one in a tournament of an unknown format."""
    try:
        tournament = loaded.load_tournament(db, tournament_id)
    except Conflict:
        return PlayerState()
    broken = {arena.arena_id for arena in tournament.lineup if not arena.is_active}
    dissolved_id = rounds_reads.dissolved_queue(db, tournament_id, player_id) if broken else None
    night = public_night(db, tournament, now)
    own = next((row for row in night.standings if row.player_id == player_id), None)
    return PlayerState(
        waiting=_places_in_queues(tournament, player_id),
        broken_arena_ids=broken,
        dissolved_arena_id=dissolved_id if dissolved_id in broken else None,
        is_out=_is_out(tournament, player_id),
        round_ends_at=_own_end(tournament, player_id),
        away_rounds=_away_rounds(tournament, player_id),
        waiting_ids=tuple(game.game_id for game in tournament.open_games if game.waiting_since is not UNSET),
        calls=tournament.state.calls,
        elsewhere=load_room_view(db, tournament, None).places.get(player_id, ""),
        coming=_what_comes(night, player_id),
        figure="" if own is None else night.figure_text(own),
    )


def _what_comes(night: TournamentNight, player_id: int) -> str:
    """Why a player without a game waits; empty for those who play, and where all play at will."""
    tournament = night.tournament
    plays = any(player_id in game.player_ids for game in tournament.open_games)
    plays |= any(each.status != "completed" for each in tournament.attempts_by_player.get(player_id, ()))
    if plays or night.kind is PlayKind.SCORES or tournament.status != "started":
        return ""
    return next_step.next_step(night).line


def _places_in_queues(tournament: Tournament, player_id: int) -> list[tuple[int | None, int]]:
    lines: dict[tuple[int | None, int | None], list[int]] = {}
    for spot in tournament.waiting_spots:
        lines.setdefault((spot.arena_id, spot.round_id), []).append(spot.player_id)
    return [
        (arena_id, player_ids.index(player_id) + 1)
        for (arena_id, _), player_ids in lines.items()
        if player_id in player_ids
    ]


def _own_end(tournament: Tournament, player_id: int) -> datetime | None:
    """When the time of the player's own game is up, or that of the round while they play none."""
    game = next((game for game in tournament.open_games if player_id in game.player_ids), None)
    if game is None:
        return rounds.round_ends_at(tournament)
    return rounds.game_ends_at(tournament, game)


def _away_rounds(tournament: Tournament, player_id: int) -> int | None:
    entrant = tournament.entrant_by_id.get(player_id)
    if tournament.status != "started" or entrant is None or isinstance(entrant.away_rounds, UnsetType):
        return None
    return entrant.away_rounds


def _is_out(tournament: Tournament, player_id: int) -> bool:
    if tournament.status != "started" or player_id not in tournament.active_ids:
        return False
    return player_id not in tournament_commands.format_of(tournament).playing_ids(tournament)


# Values that a page shows again and again, such as the same points in many cells of a table.


class RenderedOnce(dict[Any, Markup]):
    """Value -> its markup, made by a macro when the value first comes."""

    def __init__(self, macro: Callable[[Any], Markup]) -> None:
        super().__init__()
        self._macro = macro

    def __missing__(self, value: Any) -> Markup:
        self[value] = rendered = self._macro(value)
        return rendered

    def join(self, values: Iterable[Any]) -> Markup:
        """Render the values, one after the other."""
        return Markup("".join(map(self.__getitem__, values)))  # noqa: S704  # a macro has escaped it


RUNNING_MAX = 50
NEXT_WITHIN = timedelta(days=366)
NEXT_MAX, PODIUMS_MAX, SERIES_MAX = 4, 3, 4
PLAYED_PER_PAGE = 25
ORGANIZED_MAX = 10
OPPONENTS_SHOWN_MAX = 10
SERIES_TOURNAMENTS_MAX = 100
FIRST_FORM = "first"
HISTORY_HIDDEN = "Which tournaments this user played is not shown: it is the user's own wish."
SERIES_SCORINGS = {
    "points": "The points of each night are added up.",
    "pingolf": "The strokes of each night are added up.",
}
SERIES_SCORED_BY_CURVE = "Each night gives points for the place in it."
# The part of a player's page that is loaded again when something changes.
NOW_PART = "now"
PLAYER_PARTS = parts.PartsQuery(include_players=True, include_arenas=True)


class Podium(Struct, frozen=True):
    """A completed night with places and names of the first three."""

    night: WireTournament
    places: Sequence[tuple[int, str]]


def render_home(request: PageRequest) -> Response:
    """The start page: what is played tonight, the next nights, the last podiums, series."""
    query = listing.TournamentQuery(status="started", limit=RUNNING_MAX)
    with request.site.store.read() as db:
        running = listing.tournaments_page(db, query, None)
        next_nights = _next_nights(db, request.site.now())
        context: dict[str, Any] = {
            "is_new": users.is_new_site(db),
            "podiums": _last_podiums(db),
            "series": series_reads.series_page(db, series_reads.SeriesQuery(), None).rows[:SERIES_MAX],
            "takes_sign_ups": bool(next_nights) and _takes_sign_ups(db, next_nights[0].tournament_id),
        }
    return request.render(
        "home.html",
        running=running.rows,
        running_total=running.total,
        next_nights=next_nights,
        **context,
        version=silverball.__version__,
        format_title=format_title,
    )


def _next_nights(db: Db, now: datetime) -> list[WireTournament]:
    """The nights that come, the next first; tests count nowhere."""
    # A night that begins late belongs to the day before.
    days = f"{now - timedelta(days=1):%Y-%m-%d};{now + NEXT_WITHIN:%Y-%m-%d}"
    query = listing.TournamentQuery(status="planned", date_interval=days, limit=listing.PER_PAGE_MAX)
    nights = [night for night in listing.tournaments_page(db, query, None).rows if not night.test]
    return nights[::-1][:NEXT_MAX]


def _takes_sign_ups(db: Db, tournament_id: int) -> bool:
    found = parts.find_tournament(db, tournament_id, parts.PartsQuery(include_rsvp_configuration=True), None)
    return isinstance(found.rsvp_configuration, Struct) and found.rsvp_configuration.status == "active"


def _last_podiums(db: Db) -> list[Podium]:
    """The newest completed nights with the first three places of each."""
    query = listing.TournamentQuery(status="completed", limit=4 * PODIUMS_MAX)
    nights = [night for night in listing.tournaments_page(db, query, None).rows if not night.test]
    podiums = []
    for night in nights[:PODIUMS_MAX]:
        best = [row for row in standings.decoded_standings(db, night.tournament_id) if row.position <= 3][:3]
        names = player_names(db, night.tournament_id, None)
        places = [(row.position, names.get(row.player_id, "Removed player")) for row in best]
        podiums.append(Podium(night, places))
    return podiums


def render_first_form(request: PageRequest, status: int = 200, fault: str = "") -> Response:
    """The form that creates the first account of a server."""
    form = FormState(FIRST_FORM, request.form, fault)
    response = request.render("first.html", status, form_state=form, form=FIRST_FORM)
    request.set_cookie(response, GUEST, request.guest_secret, None)
    return response


# A user's profile


def shows_profiles_to(request: PageRequest) -> bool:
    """Whether the visitor may see what the interface shows of a user: as there, guests only if it is open."""
    return request.session is not None or request.site.settings.is_open_to_readers


def render_profile(request: PageRequest, user_id: int) -> Response:
    """A user's profile; opt-outs hide the same from every visitor, a closed site all but the name."""
    with request.site.store.read() as db:
        if not shows_profiles_to(request):
            return request.render(
                "people/name.html",
                user=users.find_user(db, user_id, None),
                nights=listing.club_nights(db, user_id, "", 1).rows[:ORGANIZED_MAX],
                format_title=format_title,
            )
        bundle = users.user_bundle(db, user_id, None, with_ifpa=True, with_counts=True)
        context = {
            **_history_context(db, user_id, request),
            **_opponents_context(db, user_id, request),
            **_organized_context(db, user_id),
        }
    return request.render(
        "people/profile.html", bundle=bundle, user=bundle.user, format_title=format_title, **context
    )


def _history_context(db: Db, user_id: int, request: PageRequest) -> dict[str, Any]:
    """A page of the tournaments that the user played, with places; or why they are hidden."""
    number = _page_number(request)
    query = listing.TournamentQuery(played=user_id, limit=PLAYED_PER_PAGE, page=number)
    context = {"played": (), "places": {}, "history_hidden": "", "page": 1, "pages": 1, "played_total": 0}
    try:
        played = listing.tournaments_page(db, query, None)
    except NotAllowed:
        return {**context, "history_hidden": HISTORY_HIDDEN}
    tournament_ids = [tournament.tournament_id for tournament in played.rows]
    return {
        **context,
        "played": played.rows,
        "places": standings.places_of_user(db, user_id, tournament_ids),
        "page": number,
        "pages": max(1, -(-played.total // PLAYED_PER_PAGE)),
        "played_total": played.total,
    }


def _page_number(request: PageRequest) -> int:
    """The page of the list that was asked for; 1 when there can be no such page."""
    text = request.query.get("page", "1")
    return int(text) if text.isascii() and text.isdigit() and 1 <= len(text) <= 3 and int(text) > 0 else 1


def _opponents_context(db: Db, user_id: int, request: PageRequest) -> dict[str, Any]:
    """The user's most frequent opponents, and the opponent in the address."""
    opponents = stats.frequent_opponents(db, user_id, None)
    opponent_id = request.query.get("against", "")
    against = next((opponent for opponent in opponents if str(opponent.user_id) == opponent_id), None)
    return {
        "opponents": opponents,
        "opponents_shown": opponents[:OPPONENTS_SHOWN_MAX],
        "against": against,
        "was_asked": bool(opponent_id),
    }


def _organized_context(db: Db, user_id: int) -> dict[str, Any]:
    query = listing.TournamentQuery(owner=user_id, limit=ORGANIZED_MAX)
    organized = listing.tournaments_page(db, query, None)
    own_series = series_reads.series_page(db, series_reads.SeriesQuery(owner=user_id), None)
    return {"organized": organized.rows, "organized_total": organized.total, "series": own_series.rows}


# A series


def render_series(request: PageRequest, series_id: int) -> Response:
    """A series with its standings and its tournaments, oldest first."""
    with request.site.store.read() as db:
        details = series_reads.series_details(db, series_id, None)
        nights = _series_tournaments(db, series_id)
    points = _points_by_tournament(details.tournament_points)
    counted_nights = [night for night in nights if night.tournament_id in points]
    counted_points = {night.tournament_id: points[night.tournament_id] for night in counted_nights}
    dropped = series_rules.dropped_nights(
        counted_points,
        scoring=details.scoring or "points",
        removed_results=details.removed_results or 0,
    )
    decided = [night.tournament_id for night in counted_nights if night.status == "completed"]
    nights_left = sum(night.status != "completed" for night in nights)
    best_result = series_reads.best_result(details)
    player_ids = [standing.player_id for standing in details.standings]
    reachable: dict[int, Decimal] = {}
    if nights_left and best_result is not None:
        reachable = series_rules.reachable_points(
            [points[tournament_id] for tournament_id in decided],
            removed_results=details.removed_results or 0,
            nights_left=nights_left,
            best_result=best_result,
            player_ids=player_ids,
        )
    return request.render(
        "people/series.html",
        series=details,
        nights=nights,
        nights_left=nights_left,
        best_result=best_result,
        reachable=reachable,
        counted_nights=counted_nights,
        has_dropped=any(dropped.values()),
        rendered_once=RenderedOnce,
        cells=_series_cells(player_ids, counted_points, dropped),
        players={player.player_id: player for player in details.players},
        counted=_counted_text(details.removed_results or 0, len(details.tournament_points)),
        scoring=SERIES_SCORINGS.get(details.scoring or "points", SERIES_SCORED_BY_CURVE),
        format_title=format_title,
    )


class SeriesCell(NamedTuple):
    """The points of a player in a night of a series."""

    points: Any
    is_dropped: bool


def _series_cells(
    player_ids: Iterable[int],
    points: Mapping[int, Mapping[int, Any]],
    dropped: Mapping[int, Collection[int]],
) -> dict[int, list[SeriesCell | None]]:
    """Player id -> the player's cell of each night, None where they missed it, for these players."""
    cells: dict[int, list[SeriesCell | None]] = {player_id: [None] * len(points) for player_id in player_ids}
    for number, (tournament_id, of_night) in enumerate(points.items()):
        for player_id, earned in of_night.items():
            is_dropped = tournament_id in dropped.get(player_id, ())
            cells[player_id][number] = SeriesCell(earned, is_dropped)
    return cells


def _series_tournaments(db: Db, series_id: int) -> list[DatedTournament]:
    query = listing.TournamentQuery(series=series_id)
    rows = listing.dated_tournaments(db, query, limit=SERIES_TOURNAMENTS_MAX)
    return sorted(rows, key=lambda tournament: (tournament.start_utc, tournament.tournament_id))


def _points_by_tournament(points_map: Any) -> dict[int, dict[int, Any]]:
    """Tournament id -> player id -> points; the interface writes an empty map as a list."""
    return {
        tournament_id: dict(points) if points else {} for tournament_id, points in (points_map or {}).items()
    }


def _counted_text(removed: int, tournaments: int) -> str:
    """A sentence about the results that count; `removed` as in the series' settings."""
    if removed == 0:
        return "Every night counts."
    is_singular = abs(removed) == 1
    nights = "night" if is_singular else f"{abs(removed)} nights"
    if removed < 0:
        return f"The best {nights} of each player {'counts' if is_singular else 'count'}."
    verb = "does" if is_singular else "do"
    text = f"The worst {nights} of each player {verb} not count; a missed one is worth 0."
    if tournaments <= removed:
        return f"{text} So far every night counts: there are no more than that."
    if tournaments == removed + 1:
        return f"{text} So far that leaves only the best night of each."
    return text


# A player and a game of a tournament


def render_player(
    request: PageRequest, tournament_id: int, player_id: int, report: ReportPage | None
) -> Response:
    """A player's games and place in a tournament. Raises NotFound."""
    with request.site.store.read() as db:
        tournament = parts.find_tournament(db, tournament_id, PLAYER_PARTS, None)
        players = {player.player_id: player for player in tournament.players or ()}
        if player_id not in players:
            raise NotFound("Player", player_id)
        query = games.TournamentGamesQuery(player=player_id)
        state = load_player_state(db, tournament_id, player_id, request.site.now())
        played = [game for game in games.games_in_tournament(db, tournament_id, query) if not game.bye]
        place = standings.places_of_players(db, tournament_id, [player_id]).get(player_id)
        moved = corrections.corrected_places(db, tournament_id).get(player_id)
        head = announcements.channel_head(db, tournament_id)
    is_part = request.query.get("part") == NOW_PART
    base_path = f"/t/{tournament_id}"
    return report_page.render_report_page(
        request,
        "print/now.html" if is_part else "print/player.html",
        report,
        is_followed=tournament.status != "completed",
        head=head,
        page_path=report_page.page_path(report, request.path.removesuffix("/report")),
        tournament=tournament,
        base_path=base_path,
        player=players[player_id],
        names={player.player_id: player.name for player in players.values()},
        arenas={arena.arena_id: arena.name for arena in tournament.arenas or ()},
        open_games=[game for game in played if game.status == "started"],
        completed_games=[game for game in reversed(played) if game.status == "completed"],
        place=place,
        moved=moved if moved and place and moved.after == place.position else None,
        state=state,
        is_playing_on=_is_playing_on(players[player_id]),
        ordinal=deciding_ties.ordinal,
        letters_of=_letters_of,
        message=tournament.motd_text if tournament.status != "completed" else None,
        format_title=format_title,
        report_url=report_page.page_path(report, f"{base_path}/players/{player_id}/report"),
    )


def _letters_of(name: str) -> int | None:
    """The step of the longest word of a machine's name, in letters; None for longer ones."""
    longest = max((len(word) for word in name.split()), default=0)
    return next((step for step in LETTER_STEPS if longest <= step), None)


def _is_playing_on(player: Player) -> bool:
    """Whether further games may come for the player."""
    own = player.tournament_player
    return isinstance(own, EntrantPart) and own.status == "active"


def render_game(request: PageRequest, tournament_id: int, game_id: int, report: ReportPage) -> Response:
    """A game of a tournament. Raises NotFound."""
    game = report.find_game(game_id)
    if game is None:
        raise NotFound("Game", game_id)
    base_path = f"/t/{tournament_id}"
    return report_page.render_report_page(
        request,
        "print/game.html",
        report,
        base_path=base_path,
        game=game,
        report_url=report_page.page_path(report, f"{base_path}/games/{game_id}/report"),
    )
