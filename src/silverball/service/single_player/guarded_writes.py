"""Results of single player games entered on a page, which may have been open for a while."""

import hashlib

from silverball.kit.errors import Conflict
from silverball.rules.mechanics import attempts
from silverball.rules.model.tournament import SinglePlayerGame
from silverball.service.core import access, commands
from silverball.service.core.calls import Write
from silverball.service.single_player import writes
from silverball.service.single_player.writes import ReplacedAttemptResult

REVISION_LETTERS = 16


class AttemptAlreadyRecorded(Conflict):
    """The single player game got another result after the page was opened."""

    sentence = (
        "This game of {player} has another result by now: somebody was quicker. Nothing was changed."
        " Correct it under Results if it is wrong."
    )


class AttemptFromPage(ReplacedAttemptResult, frozen=True, kw_only=True):
    """A result, and the revision of the game on the page that it was entered on; empty for any."""

    seen: str = ""


def attempt_revision(game: SinglePlayerGame) -> str:
    """A short text that changes with the machine, the state and the result of a single player game."""
    shown = (game.status, game.arena_id, game.score, game.points, game.rolls, game.is_voided)
    return hashlib.sha256(repr(shown).encode()).hexdigest()[:REVISION_LETTERS]


def record_single_player_game(call: Write[AttemptFromPage]) -> None:
    """Record a result. Raises AttemptAlreadyRecorded when the page was out of date."""
    before = _current_attempt(call)
    writes.record_single_player_game(call)
    is_outdated = call.body.seen not in ("", attempt_revision(before))
    if is_outdated and attempt_revision(_current_attempt(call)) != attempt_revision(before):
        raise AttemptAlreadyRecorded(player=before.player_id)


def _current_attempt(call: Write[AttemptFromPage]) -> SinglePlayerGame:
    tournament = commands.load_tournament(call, access.may_score)
    return attempts.find_attempt(tournament, call.ids[writes.SINGLE_PLAYER_GAME])
