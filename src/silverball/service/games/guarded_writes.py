"""Results entered on a page, which may have been open for a while."""

from silverball.kit.errors import Conflict
from silverball.rules.mechanics import results
from silverball.service import access
from silverball.service.calls import Write
from silverball.service.core import commands
from silverball.service.games import writes as games
from silverball.service.games.bodies import EnteredResult, NewLeg


class ResultAlreadyRecorded(Conflict):
    """The game got its result after the page was opened."""

    sentence = (
        "{game} has another result by now: somebody was quicker. Nothing was changed."
        " Correct it under Results if it is wrong."
    )


class LegAlreadyRecorded(Conflict):
    """A single game was recorded or deleted after the page was opened."""

    sentence = (
        "{game} has {count} single games by now: somebody was quicker. Nothing was changed."
        " Look at the match, then record the next one."
    )


class LegFromPage(NewLeg, frozen=True, kw_only=True):
    """A single game, and its number in the match on the page that it was entered on."""

    number: int


def record_leg(call: Write[LegFromPage]) -> None:
    """Record the next single game. Raises LegAlreadyRecorded when the page was out of date."""
    game_id = call.ids[games.GAME]
    game = results.find_game(commands.load_tournament(call, access.may_score), game_id)
    if len(game.legs) + 1 != call.body.number:
        raise LegAlreadyRecorded(game=game_id, count=len(game.legs))
    games.record_leg(call)


class ResultFromPage(EnteredResult, frozen=True, kw_only=True):
    """A result, and whether the game was open on the page that it was entered on."""

    was_open: bool = False


def record_result(call: Write[ResultFromPage]) -> None:
    """Record a result. Raises ResultAlreadyRecorded when a stale page would replace another one."""
    game_id = call.ids[games.GAME]
    before = results.find_game(commands.load_tournament(call, access.may_score), game_id)
    games.record_result(call)
    tournament = commands.load_tournament(call, access.may_score)
    after = next((game for game in tournament.games if game.game_id == game_id), None)
    if call.body.was_open and before.status == "completed" and after != before:
        raise ResultAlreadyRecorded(game=game_id)
