"""One player, or one game, for whoever reads the code on paper: where to play now, and how it ended."""

from starlette.responses import Response

from silverball.kit.errors import NotFound
from silverball.kit.http.router import parse_path_id
from silverball.service.games.reads import games
from silverball.service.parts import reads as parts
from silverball.service.standings import reads as standings
from silverball.store import announcements
from silverball.web.console import settings_form
from silverball.web.page_request import PageRequest, page, redirect
from silverball.web.public import reporting
from silverball.web.public.reporting import ReportPage

PARTS = parts.PartsQuery(include_players=True, include_arenas=True)
PLAYER_PATH = "/t/{tournament_id}/players/{player_id}"
GAME_PATH = "/t/{tournament_id}/games/{game_id}"
# The part of a player's page that changes.
NOW_PART = "now"


@page("GET", PLAYER_PATH, for_guests=True)
def player_page(visit: PageRequest) -> Response:
    return _render_player(visit, _load_for_player(visit) if reporting.submitted_code(visit) else None)


def _rerender_player(visit: PageRequest, _sentence: str) -> Response:
    return _render_player(visit, reporting.with_unsent_form(visit, _load_for_player(visit)))


@page("POST", PLAYER_PATH + "/report", for_guests=True, rerender=_rerender_player)
def report_for_player(visit: PageRequest) -> Response:
    """The result of a game that the player of the code plays in."""
    held = _load_for_player(visit)
    refused = reporting.submit_report(visit, held)
    if refused is None:
        return redirect(reporting.page_path(held, visit.path.removesuffix("/report")))
    return _render_player(visit, refused)


@page("GET", PLAYER_PATH + "/report", for_guests=True)
def player_report_opened(visit: PageRequest) -> Response:
    """Reloading or bookmarking what a form answered is not an error."""
    tournament_id, player_id = _path_ids(visit, "player_id")
    return redirect(f"/t/{tournament_id}/players/{player_id}")


def _load_for_player(visit: PageRequest) -> ReportPage:
    tournament_id, player_id = _path_ids(visit, "player_id")
    return reporting.load_report_page(visit, tournament_id, player_id=player_id)


def _render_player(visit: PageRequest, held: ReportPage | None) -> Response:
    tournament_id, player_id = _path_ids(visit, "player_id")
    with visit.site.store.read() as db:
        tournament = parts.find_tournament(db, tournament_id, PARTS, None)
        people = {one.player_id: one for one in tournament.players or ()}
        if player_id not in people:
            raise NotFound("Player", player_id)
        query = games.TournamentGamesQuery(player=player_id)
        played = [one for one in games.games_in_tournament(db, tournament_id, query) if not one.bye]
        place = standings.places_of_players(db, tournament_id, [player_id]).get(player_id)
        head = announcements.channel_head(db, tournament_id)
    # One template is the page, the other what is asked for when something happened.
    template = "print/now.html" if visit.query.get("part") == NOW_PART else "print/player.html"
    return reporting.render_report_page(
        visit,
        template,
        held,
        is_followed=tournament.status != "completed",
        head=head,
        here=reporting.page_path(held, visit.path.removesuffix("/report")),
        t=tournament,
        at=f"/t/{tournament_id}",
        who=people[player_id],
        people={one.player_id: one.name for one in people.values()},
        arenas={one.arena_id: one.name for one in tournament.arenas or ()},
        now=[one for one in played if one.status == "started"],
        done=[one for one in reversed(played) if one.status == "completed"],
        place=place,
        title_of=settings_form.format_title,
        report=f"/t/{tournament_id}/players/{player_id}/report",
    )


@page("GET", GAME_PATH, for_guests=True)
def game_page(visit: PageRequest) -> Response:
    return _render_game(visit, _load_for_game(visit))


def _rerender_game(visit: PageRequest, _sentence: str) -> Response:
    return _render_game(visit, reporting.with_unsent_form(visit, _load_for_game(visit)))


@page("POST", GAME_PATH + "/report", for_guests=True, rerender=_rerender_game)
def report_for_game(visit: PageRequest) -> Response:
    """The result of the game of the code."""
    held = _load_for_game(visit)
    refused = reporting.submit_report(visit, held)
    if refused is None:
        return redirect(reporting.page_path(held, visit.path.removesuffix("/report")))
    return _render_game(visit, refused)


@page("GET", GAME_PATH + "/report", for_guests=True)
def game_report_opened(visit: PageRequest) -> Response:
    """Reloading or bookmarking what a form answered is not an error."""
    tournament_id, game_id = _path_ids(visit, "game_id")
    return redirect(f"/t/{tournament_id}/games/{game_id}")


def _load_for_game(visit: PageRequest) -> ReportPage:
    tournament_id, game_id = _path_ids(visit, "game_id")
    return reporting.load_report_page(visit, tournament_id, game_id=game_id)


def _render_game(visit: PageRequest, held: ReportPage) -> Response:
    tournament_id, game_id = _path_ids(visit, "game_id")
    game = held.find_game(game_id)
    if game is None:
        raise NotFound("Game", game_id)
    at = f"/t/{tournament_id}"
    report = f"{at}/games/{game_id}/report"
    return reporting.render_report_page(visit, "print/game.html", held, at=at, game=game, report=report)


def _path_ids(visit: PageRequest, name: str) -> tuple[int, int]:
    return parse_path_id("tournament_id", visit.ids["tournament_id"]), parse_path_id(name, visit.ids[name])
