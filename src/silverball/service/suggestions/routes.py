"""Results that players report over HTTP: reported, approved, declined."""

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import delete, post
from silverball.service.calls import Write
from silverball.service.games.bodies import ReportedResult
from silverball.service.suggestions import writes
from silverball_wire.games import Game
from silverball_wire.pages import Data

SUGGESTION = "/api/tournaments/{tournament_id}/suggestions/{suggestion_id}"


@post(
    "/api/tournaments/{tournament_id}/games/{game_id}/suggestions",
    body=ReportedResult,
    ability="score",
    status=201,
)
def suggest_result(call: Write[ReportedResult]) -> Data[Game]:
    """Report the result of a game as one of its players; answers the game with the report."""
    return Data(data=writes.suggest_result(call))


@post(SUGGESTION + "/approve", ability="score")
def approve_suggestion(call: Write[Body]) -> Data[Game]:
    """Make a reported result the result of the game."""
    return Data(data=writes.approve_suggestion(call))


@delete(SUGGESTION, ability="score")
def decline_suggestion(call: Write[Body]) -> Data[Game]:
    """Decline a reported result."""
    return Data(data=writes.decline_suggestion(call))
