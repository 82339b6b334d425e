"""Results that players send in: made, approved, declined."""

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import delete, post
from silverball.service.calls import Write
from silverball.service.games.bodies import ReportedResult
from silverball.service.suggestions import writes
from silverball.wire.games import Game
from silverball.wire.pages import Data

SUGGESTION = "/api/tournaments/{tournament_id}/suggestions/{suggestion_id}"


@post(
    "/api/tournaments/{tournament_id}/games/{game_id}/suggestions",
    body=ReportedResult,
    ability="score",
    status=201,
)
def suggest_result(call: Write[ReportedResult]) -> Data[Game]:
    """A player of the game says how it ended; answers the game with what was sent in."""
    return Data(data=writes.suggest_result(call))


@post(SUGGESTION + "/approve", ability="score")
def approve_suggestion(call: Write[Body]) -> Data[Game]:
    """What a player sent in becomes the result of the game."""
    return Data(data=writes.approve_suggestion(call))


@delete(SUGGESTION, ability="score")
def decline_suggestion(call: Write[Body]) -> Data[Game]:
    """What a player sent in counts no more."""
    return Data(data=writes.decline_suggestion(call))
