"""One player, or one game, for whoever reads the code on paper: where to play now, and how it ended."""

from starlette.responses import Response

from silverball.kit.errors import NotFound
from silverball.kit.routing import path_id
from silverball.service.games import reads as games
from silverball.service.standings import reads as standings
from silverball.service.tournaments.reads import parts
from silverball.store import announcements
from silverball.web import reporting
from silverball.web.console import setup
from silverball.web.reporting import Reporting
from silverball.web.visit import Visit, page, see

WHO = parts.PartsQuery(include_players=True, include_arenas=True)
PLAYER = "/t/{tournament_id}/players/{player_id}"
GAME = "/t/{tournament_id}/games/{game_id}"
# The part of a player's page that changes.
NOW = "now"


@page("GET", PLAYER, for_guests=True)
def one_player(visit: Visit) -> Response:
    return _player(visit, _of_player(visit) if reporting.code_of(visit) else None)


def _player_again(visit: Visit, _sentence: str) -> Response:
    return _player(visit, reporting.again(visit, _of_player(visit)))


@page("POST", PLAYER + "/report", for_guests=True, again=_player_again)
def report_for_player(visit: Visit) -> Response:
    """The result of a game that the player of the code plays in."""
    held = _of_player(visit)
    refused = reporting.done(visit, held)
    if refused is None:
        return see(reporting.back(held, visit.path.removesuffix("/report")))
    return _player(visit, refused)


@page("GET", PLAYER + "/report", for_guests=True)
def player_report_opened(visit: Visit) -> Response:
    """Reloading or bookmarking what a form answered is not an error."""
    tournament_id, player_id = _ids(visit, "player_id")
    return see(f"/t/{tournament_id}/players/{player_id}")


def _of_player(visit: Visit) -> Reporting:
    tournament_id, player_id = _ids(visit, "player_id")
    return reporting.read(visit, tournament_id, player_id=player_id)


def _player(visit: Visit, held: Reporting | None) -> Response:
    tournament_id, player_id = _ids(visit, "player_id")
    with visit.site.store.read() as db:
        tournament = parts.one(db, tournament_id, WHO, None)
        people = {one.player_id: one for one in tournament.players or ()}
        if player_id not in people:
            raise NotFound("Player", player_id)
        query = games.TournamentGamesQuery(player=player_id)
        played = [one for one in games.of_tournament(db, tournament_id, query) if not one.bye]
        place = standings.of_players(db, tournament_id, [player_id]).get(player_id)
        head = announcements.head(db, tournament_id)
    # One template is the page, the other what is asked for when something happened.
    template = "print/now.html" if visit.query.get("part") == NOW else "print/player.html"
    return reporting.shown(
        visit,
        template,
        held,
        is_followed=tournament.status != "completed",
        head=head,
        here=reporting.back(held, visit.path.removesuffix("/report")),
        t=tournament,
        at=f"/t/{tournament_id}",
        who=people[player_id],
        people={one.player_id: one.name for one in people.values()},
        arenas={one.arena_id: one.name for one in tournament.arenas or ()},
        now=[one for one in played if one.status == "started"],
        done=[one for one in reversed(played) if one.status == "completed"],
        place=place,
        title_of=setup.title_of,
        report=f"/t/{tournament_id}/players/{player_id}/report",
    )


@page("GET", GAME, for_guests=True)
def one_game(visit: Visit) -> Response:
    return _game(visit, _of_game(visit))


def _game_again(visit: Visit, _sentence: str) -> Response:
    return _game(visit, reporting.again(visit, _of_game(visit)))


@page("POST", GAME + "/report", for_guests=True, again=_game_again)
def report_for_game(visit: Visit) -> Response:
    """The result of the game of the code."""
    held = _of_game(visit)
    refused = reporting.done(visit, held)
    if refused is None:
        return see(reporting.back(held, visit.path.removesuffix("/report")))
    return _game(visit, refused)


@page("GET", GAME + "/report", for_guests=True)
def game_report_opened(visit: Visit) -> Response:
    """Reloading or bookmarking what a form answered is not an error."""
    tournament_id, game_id = _ids(visit, "game_id")
    return see(f"/t/{tournament_id}/games/{game_id}")


def _of_game(visit: Visit) -> Reporting:
    tournament_id, game_id = _ids(visit, "game_id")
    return reporting.read(visit, tournament_id, game_id=game_id)


def _game(visit: Visit, held: Reporting) -> Response:
    tournament_id, game_id = _ids(visit, "game_id")
    game = held.game(game_id)
    if game is None:
        raise NotFound("Game", game_id)
    at = f"/t/{tournament_id}"
    report = f"{at}/games/{game_id}/report"
    return reporting.shown(visit, "print/game.html", held, at=at, game=game, report=report)


def _ids(visit: Visit, name: str) -> tuple[int, int]:
    return path_id("tournament_id", visit.ids["tournament_id"]), path_id(name, visit.ids[name])
