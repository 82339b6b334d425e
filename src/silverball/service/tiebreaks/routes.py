"""Ties broken by a game or by hand, over HTTP."""

from silverball.kit.http.endpoints import post
from silverball.service.calls import Write
from silverball.service.tiebreaks import writes
from silverball.service.tiebreaks.writes import TiebreakRequest
from silverball_wire.games import Game
from silverball_wire.pages import Data
from silverball_wire.standings import Standing


@post("/api/tournaments/{tournament_id}/tiebreaks", body=TiebreakRequest, ability="manage", status=201)
def break_tie(call: Write[TiebreakRequest]) -> Data[tuple[Game, ...] | tuple[Standing, ...]]:
    """Open a tiebreak of `playerIds`; or set, `draw` or `forget` an `order`, and answer the standings."""
    return Data(data=writes.break_tie(call))
