"""Results entered on a page, which may have been open for a while, or sent long after they were entered."""

import hashlib
from typing import Annotated, Any

from msgspec import Meta

from silverball.kit.errors import Conflict
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Id
from silverball.kit.values import replace
from silverball.rules.mechanics import results
from silverball.rules.model.tournament import Game
from silverball.service.core import access, commands
from silverball.service.core.calls import Write
from silverball.service.games import writes
from silverball.service.games.bodies import EnteredResult, NewLeg, Players

REVISION_LETTERS = 16
# More games than any round has.
GAMES_TYPED_MAX = 300


class ResultAlreadyRecorded(Conflict):
    """The game got another result after the page was opened."""

    sentence = (
        "{game} has another result by now: somebody was quicker. Nothing was changed."
        " Correct it under Results if it is wrong."
    )


class GameChangedMeanwhile(Conflict):
    """The game got another machine or other players after the page was opened."""

    sentence = (
        "{game} was changed after this was entered: it has another machine or other players now."
        " Nothing was changed."
    )


class LegAlreadyRecorded(Conflict):
    """A single game was recorded or deleted after the page was opened."""

    sentence = (
        "{game} has {count} single games by now: somebody was quicker. Nothing was changed."
        " Look at the match, then record the next one."
    )


def game_revision(game: Game) -> str:
    """A short text that changes with the machine, the players, the state and the result of a game."""
    shown = (
        game.status,
        game.arena_id,
        sorted(game.player_ids),
        game.result_positions,
        game.finishing_order,
        game.result_points,
        game.result_scores,
        game.forfeited_by,
        [leg.finishing_order for leg in game.legs],
    )
    return hashlib.sha256(repr(shown).encode()).hexdigest()[:REVISION_LETTERS]


class LegFromPage(NewLeg, frozen=True, kw_only=True):
    """A single game, and its number in the match on the page that it was entered on."""

    number: int


def record_leg(call: Write[LegFromPage]) -> None:
    """Record the next single game. Raises LegAlreadyRecorded when the page was out of date."""
    game_id = call.ids[writes.GAME]
    game = results.find_game(commands.load_tournament(call, access.may_score), game_id)
    if len(game.legs) + 1 != call.body.number:
        raise LegAlreadyRecorded(game=game_id, count=len(game.legs))
    writes.record_leg(call)


class ResultFromPage(EnteredResult, frozen=True, kw_only=True):
    """A result, and the revision of the game on the page that it was entered on; empty for any."""

    seen: str = ""


class TypedResult(Body, frozen=True, kw_only=True):
    """The players of a game in finishing order, and its revision on the page."""

    game_id: Id
    result_positions: Annotated[Players, Meta(min_length=2)]
    seen: str = ""


class TypedRound(Body, frozen=True, kw_only=True):
    """Results of several games, as they are on a sheet of paper."""

    results: Annotated[tuple[TypedResult, ...], Meta(min_length=1, max_length=GAMES_TYPED_MAX)]


def record_round(call: Write[TypedRound]) -> None:
    """Record all these results, each as an action of its own, or none. Raises as `record_result`."""
    step: Write[Any] = call
    for typed in call.body.results:
        entered = ResultFromPage(result_positions=typed.result_positions, seen=typed.seen)
        record_result(replace(step, ids={**call.ids, writes.GAME: typed.game_id}, body=entered))


def record_result(call: Write[ResultFromPage]) -> None:
    """Record a result. Raises ResultAlreadyRecorded or GameChangedMeanwhile when the page was out of date."""
    game_id = call.ids[writes.GAME]
    before = results.find_game(commands.load_tournament(call, access.may_score), game_id)
    is_outdated = call.body.seen not in ("", game_revision(before))
    if is_outdated and before.status != "completed":
        raise GameChangedMeanwhile(game=game_id)
    writes.record_result(call)
    tournament = commands.load_tournament(call, access.may_score)
    after = next((game for game in tournament.games if game.game_id == game_id), None)
    # The same result again is no conflict.
    if is_outdated and after != before:
        raise ResultAlreadyRecorded(game=game_id)
