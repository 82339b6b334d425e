"""Ties broken by a game or by hand."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from silverball.kit.errors import Invalid
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Id
from silverball.rules.commands import tiebreaks as tiebreak_commands
from silverball.service.calls import Write
from silverball.service.core import commands
from silverball.service.games.reads import games
from silverball.service.standings import reads as standings
from silverball.wire.games import Game
from silverball.wire.standings import Standing

TOURNAMENT = "tournament_id"
PlayerIds = Annotated[tuple[Id, ...], Meta(min_length=1, max_length=1000)]


class TiebreakRequest(Body, frozen=True, kw_only=True):
    """A game of tied players, an order by hand, or the withdrawal of such an order."""

    player_ids: PlayerIds | UnsetType = UNSET
    """Ids of the tied players who play a tiebreak game."""
    order: PlayerIds | UnsetType = UNSET
    """Ids of the tied players in the order that the organizer decides, best first."""
    forget: PlayerIds | UnsetType = UNSET
    """Ids of tied players whose order by hand is withdrawn."""

    def __post_init__(self) -> None:
        if sum(field is not UNSET for field in (self.player_ids, self.order, self.forget)) != 1:
            raise Invalid({"playerIds": ["Send playerIds for a game, an order by hand, or whom to forget."]})


def break_tie(call: Write[TiebreakRequest]) -> tuple[Game, ...] | tuple[Standing, ...]:
    """Break the tie; returns the tiebreak games (none where holes decide) or the new standings."""
    tournament_id, body = call.ids[TOURNAMENT], call.body
    before = {game.game_id for game in commands.load_tournament(call).games}
    if not isinstance(body.player_ids, UnsetType):
        ids = body.player_ids
        after = commands.run_command(
            call, lambda tournament: tiebreak_commands.open_tiebreak(tournament, ids, call.now)
        )
        new_ids = [game.game_id for game in after.games if game.game_id not in before]
        return games.selected_games(call.db, tournament_id, new_ids)
    if not isinstance(body.order, UnsetType):
        order = body.order
        commands.run_command(call, lambda tournament: tiebreak_commands.set_manual_order(tournament, order))
    elif not isinstance(body.forget, UnsetType):
        forgotten = body.forget
        commands.run_command(
            call, lambda tournament: tiebreak_commands.clear_manual_order(tournament, forgotten)
        )
    return standings.tournament_standings(call.db, tournament_id)[0]
