"""Paper: a round for the wall, sheets to write results on, names with a code that a phone reads.

Everything on them is open to everybody, so no sign-in is needed to print them. What is printed by who
runs the tournament has codes with which its players report results.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from starlette.responses import Response

from silverball.kit.http.router import parse_path_id
from silverball.service.devices import reads as devices
from silverball.service.devices.reads import PrintedCodes
from silverball.service.games.reads import games
from silverball.service.parts import reads as parts
from silverball.service.rounds import reads as rounds
from silverball.web.console import settings_form
from silverball.web.page_request import PageRequest, page
from silverball.wire.games import Game
from silverball.wire.players import Player
from silverball.wire.rounds import Round
from silverball.wire.tournaments import Tournament

PARTS = parts.PartsQuery(include_players=True, include_arenas=True, include_location=True)
# A code this long still reads from paper when a corner of it is torn.
ERROR_LEVEL = "m"
# One takes some 9 ms to draw, and a list of names is opened again and again before it is printed.
CODES_CACHED_MAX = 1000


@dataclass(frozen=True)
class PrintSheets:
    """What the sheets of a tournament are made of."""

    tournament: Tournament
    rounds: Sequence[Round]
    # The one that is printed; None where there are no rounds.
    round: Round | None
    games: Sequence[Game]
    # What the printed codes hold beside the address; nothing for those who do not run the tournament.
    codes: PrintedCodes | None

    @property
    def players(self) -> dict[int, str]:
        return {one.player_id: one.name for one in self.tournament.players or ()}

    @property
    def arenas(self) -> dict[int, str]:
        return {one.arena_id: one.name for one in self.tournament.arenas or ()}

    @property
    def byes(self) -> list[str]:
        return [self.player_name(one.player_ids[0]) for one in self.games if one.bye and one.player_ids]

    @property
    def games_without_byes(self) -> list[Game]:
        """Everything that is a game of somebody against somebody."""
        return [one for one in self.games if not one.bye]

    @property
    def active_players(self) -> list[Player]:
        """Who takes part and has not left, by name."""
        entered = [(one, one.tournament_player) for one in self.tournament.players or ()]
        here = [one for one, entrant in entered if entrant and entrant.status == "active"]
        return sorted(here, key=lambda one: (one.name.casefold(), one.player_id))

    def player_path(self, who: Player) -> str:
        """Where the code of a player leads, below the tournament's address."""
        code = f"?code={self.codes.player_code(who.player_id)}" if self.codes else ""
        return f"/players/{who.player_id}{code}"

    def report_path(self, game: Game) -> str:
        """Where the code of a game leads; empty when there are no such codes."""
        if self.codes is None or game.status == "completed":
            return ""
        return f"/games/{game.game_id}?code={self.codes.game_code(game.game_id)}"

    def player_name(self, player_id: int) -> str:
        return self.players.get(player_id, f"Player {player_id}")

    def arena_name(self, arena_id: int | None) -> str:
        return "" if arena_id is None else self.arenas.get(arena_id, f"Arena {arena_id}")


@page("GET", "/t/{tournament_id}/print", for_guests=True)
def print_index(visit: PageRequest) -> Response:
    return _render_sheet(visit, "index")


@page("GET", "/t/{tournament_id}/print/round", for_guests=True)
def round_sheet(visit: PageRequest) -> Response:
    return _render_sheet(visit, "round")


@page("GET", "/t/{tournament_id}/print/scores", for_guests=True)
def score_sheets(visit: PageRequest) -> Response:
    return _render_sheet(visit, "scores")


@page("GET", "/t/{tournament_id}/print/names", for_guests=True)
def name_list(visit: PageRequest) -> Response:
    return _render_sheet(visit, "names")


def _render_sheet(visit: PageRequest, sheet: str) -> Response:
    paper = _load_sheets(visit)
    public = f"{visit.site.base_url.rstrip('/')}/t/{paper.tournament.tournament_id}"
    return visit.render(
        f"print/{sheet}.html",
        paper=paper,
        t=paper.tournament,
        at=f"/t/{paper.tournament.tournament_id}",
        public=public,
        code=qr_code,
        title_of=settings_form.format_title,
    )


def _load_sheets(visit: PageRequest) -> PrintSheets:
    """The tournament, and the round that was asked for, or the newest one."""
    tournament_id = parse_path_id("tournament_id", visit.ids["tournament_id"])
    with visit.site.store.read() as db:
        tournament = parts.find_tournament(db, tournament_id, PARTS, None)
        known = rounds.rounds_in_tournament(db, tournament_id)
        wanted = visit.query.get("round", "")
        chosen = next((one for one in known if str(one.round_id) == wanted), known[0] if known else None)
        query = games.TournamentGamesQuery(round=None if chosen is None else str(chosen.round_id))
        found = games.games_in_tournament(db, tournament_id, query)
        codes = devices.current_codes(db, tournament_id) if _can_see_codes(visit, tournament) else None
    if chosen is None:
        # Without rounds only what is being played is worth a sheet.
        found = tuple(one for one in found if one.status == "started")
    in_order = sorted(found, key=lambda one: (one.set, one.index or 0, one.game_id))
    return PrintSheets(tournament, known, chosen, in_order, codes)


def _can_see_codes(visit: PageRequest, tournament: Tournament) -> bool:
    """Whether the visitor may hand out what opens more than everybody sees."""
    if visit.session is None:
        return False
    return visit.caller.is_admin or visit.account.user_id == tournament.organizer_id


@lru_cache(maxsize=CODES_CACHED_MAX)
def qr_code(address: str) -> str:
    """The address as a picture that a phone reads: an element of the page, without styles or scripts."""
    import segno

    return segno.make(address, error=ERROR_LEVEL, micro=False).svg_inline(
        border=2, omitsize=True, svgclass=None, lineclass=None
    )
