"""Printed sheets: a round for the wall, sheets to write results on, names with QR codes.

Everybody may print them. Codes that report results are for the organizer only: on the sheets of games, and on
a slip for each player, never on the list for the door.
"""

from collections.abc import Sequence

from msgspec import Struct
from starlette.responses import Response

from silverball.service.games.reads import games
from silverball.service.rounds import reads as rounds
from silverball.service.tournaments.reads import parts
from silverball.service.users import reads as users_reads
from silverball.service.users.reads import PrintedCodes
from silverball.web.forms import format_title
from silverball.web.page_request import PageRequest
from silverball.web.qr_codes import qr_code
from silverball.web.site import message_page
from silverball_wire.games import Game
from silverball_wire.players import Player
from silverball_wire.rounds import Round
from silverball_wire.tournaments import Tournament

# Each code takes milliseconds to draw.
SHEETS_MAX = 1_000
PARTS = parts.PartsQuery(include_players=True, include_arenas=True, include_location=True)


class PrintSheets(Struct, frozen=True):
    """The data of a tournament's printed sheets."""

    tournament: Tournament
    rounds: Sequence[Round]
    # The round to print; None in a tournament without rounds.
    round: Round | None
    games: Sequence[Game]
    # Only for those who run the tournament.
    codes: PrintedCodes | None

    @property
    def players(self) -> dict[int, str]:
        return {player.player_id: player.name for player in self.tournament.players or ()}

    @property
    def arenas(self) -> dict[int, str]:
        return {arena.arena_id: arena.name for arena in self.tournament.arenas or ()}

    @property
    def byes(self) -> list[str]:
        """The names of the players with a bye."""
        return [self.player_name(game.player_ids[0]) for game in self.games if game.bye and game.player_ids]

    @property
    def games_without_byes(self) -> list[Game]:
        return [game for game in self.games if not game.bye]

    @property
    def active_players(self) -> list[Player]:
        """The players who take part and have not left, by name."""
        entered = [(player, player.tournament_player) for player in self.tournament.players or ()]
        active = [player for player, entrant in entered if entrant and entrant.status == "active"]
        return sorted(active, key=lambda player: (player.name.casefold(), player.player_id))

    def player_path(self, player: Player) -> str:
        """The path of a player's page below the tournament's, with the code; only where there are codes."""
        assert self.codes is not None
        return f"/players/{player.player_id}?code={self.codes.player_code(player.player_id)}"

    def report_path(self, game: Game) -> str:
        """The path of a game's page below the tournament's; empty without codes."""
        if self.codes is None or game.status == "completed":
            return ""
        return f"/games/{game.game_id}?code={self.codes.game_code(game.game_id)}"

    def player_name(self, player_id: int) -> str:
        return self.players.get(player_id, f"Player {player_id}")

    def arena_name(self, arena_id: int | None) -> str:
        return "" if arena_id is None else self.arenas.get(arena_id, f"Arena {arena_id}")


def render_sheet(request: PageRequest, name: str) -> Response:
    """One kind of sheets, for the round in the address or the newest one."""
    sheets = _load_sheets(request)
    count = max(len(sheets.active_players), len(sheets.games))
    if count > SHEETS_MAX and name != "index":
        sentence = f"At most {SHEETS_MAX} sheets are printed at once, and these are {count}."
        return message_page(422, "These are too many sheets", sentence)
    base_path = f"/t/{sheets.tournament.tournament_id}"
    return request.render(
        f"print/{name}.html",
        sheets=sheets,
        tournament=sheets.tournament,
        base_path=base_path,
        public_url=f"{request.base_url.rstrip('/')}{base_path}",
        qr_code=qr_code,
        format_title=format_title,
    )


def _load_sheets(request: PageRequest) -> PrintSheets:
    tournament_id = request.path_id("tournament_id")
    round_id = request.query.get("round", "")
    with request.site.store.read() as db:
        tournament = parts.find_tournament(db, tournament_id, PARTS, None)
        listed = rounds.rounds_in_tournament(db, tournament_id)
        newest = listed[0] if listed else None
        chosen = next((round_ for round_ in listed if str(round_.round_id) == round_id), newest)
        query = games.TournamentGamesQuery(round=None if chosen is None else str(chosen.round_id))
        in_round = games.games_in_tournament(db, tournament_id, query)
        codes = users_reads.current_codes(db, tournament_id) if _can_see_codes(request, tournament) else None
    if chosen is None:
        # Without rounds, only open games are worth a sheet.
        in_round = tuple(game for game in in_round if game.status == "started")
    in_order = sorted(in_round, key=lambda game: (game.set, game.index or 0, game.game_id))
    return PrintSheets(tournament, listed, chosen, in_order, codes)


def _can_see_codes(request: PageRequest, tournament: Tournament) -> bool:
    """Whether the account runs the tournament and so may print its codes."""
    if request.session is None:
        return False
    return request.caller.is_admin or request.account.user_id == tournament.organizer_id
