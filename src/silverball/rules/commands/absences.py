"""Commands on players who come late, sit out rounds or leave a game that is being played.

Each function returns changes or refuses. Source: formats, section 20.
"""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from random import Random

from msgspec import UnsetType

from silverball.kit.errors import Conflict
from silverball.kit.values import replace
from silverball.rules.commands import games as game_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change, EntrantChanged, GameChanged, changes_between
from silverball.rules.model.outcome import GameOutcome
from silverball.rules.model.settings import LateEntrySettings
from silverball.rules.model.tournament import Game, Tournament
from silverball.rules.pairing.groups import PAIR_SIZE

# What becomes of the open games of a player who leaves.
STAYS_IN, LAST_PLACE, GOES_ON = "keep", "last", "fewer"
# A player is in as many open games at once as a round has games for each group.
GAMES_MAX = 100


class AwayNeedsRounds(Conflict):
    sentence = (
        "Only in a tournament whose rounds are opened one by one can a player sit out rounds. "
        "Drop the player, and bring them back later."
    )


class LastPlacesOnly(Conflict):
    sentence = "{game} is a match of several games: record a forfeit instead."


def late_points(tournament: Tournament, *, is_seated: bool) -> Decimal:
    """Points, or strikes, of a late player for the rounds they missed; 0 where the settings give none.

    Each round that has been drawn is missed, but the open one by players who join a game of it.
    """
    settings = tournament.settings
    if tournament.status != "started" or not isinstance(settings, LateEntrySettings):
        return Decimal(0)
    points = settings.late_points
    missed = len(tournament.rounds) - (1 if is_seated else 0)
    return Decimal(0) if isinstance(points, UnsetType) else Decimal(points * max(missed, 0))


def send_away(
    tournament: Tournament,
    player_id: int,
    rounds: int,
    dice: Random,
    now: datetime,
    *,
    is_in_round: bool,
) -> list[Change]:
    """Let a player sit out so many rounds; with 0 they are drawn again. They come back by themselves.

    `is_in_round` counts the open round, whose game they have just left, as the first. Raises Conflict
    where no rounds are opened or nobody can leave.
    """
    tournament_commands.require_started(tournament)
    entrant = tournament_commands.find_entrant(tournament, player_id)
    if rounds == 0:
        return tournament_commands.set_active(tournament, player_id, is_active=True, dice=dice, now=now)
    form = tournament_commands.format_of(tournament)
    if not form.can_open_rounds:
        raise AwayNeedsRounds
    if not form.can_leave:
        raise tournament_commands.NobodyCanLeave
    left = rounds - 1 if is_in_round else rounds
    after = replace(entrant, is_active=left == 0, away_rounds=left)
    changes = changes_between(EntrantChanged, entrant, after)
    if entrant.is_active and not after.is_active:
        changes += form.roster_changed(apply_changes(tournament, changes), after, dice, now)
    return changes


def leave_open_games(
    tournament: Tournament, player_id: int, how: str, dice: Random, now: datetime
) -> list[Change]:
    """Take a player out of the games they are in, or give them the last place; no change without games."""
    if how == STAYS_IN or tournament.status != "started":
        return []
    changes: list[Change] = []
    current = tournament
    for _ in range(GAMES_MAX):
        game = next((game for game in current.open_games if _is_to_leave(game, player_id, how)), None)
        if game is None:
            break
        step = (
            give_last_place(current, game, player_id, dice, now)
            if how == LAST_PLACE
            else game_commands.remove_player(current, game.game_id, player_id)
        )
        current = apply_changes(current, step)
        changes += step
    return changes


def _is_to_leave(game: Game, player_id: int, how: str) -> bool:
    if player_id not in game.player_ids or game.is_tiebreak:
        return False
    return how != LAST_PLACE or player_id not in game.result_positions


def give_last_place(
    tournament: Tournament, game: Game, player_id: int, dice: Random, now: datetime
) -> list[Change]:
    """Give the last free place; the game is complete when one player is left for the first.

    The others play on, and the places of those who left stay in the game until it is recorded.
    """
    if tournament.settings.has_matches:
        raise LastPlacesOnly(game=game.game_id)
    gone = [player_id, *last_places(game)]
    others = [seat for seat in game.player_ids if seat not in gone]
    if len(others) < PAIR_SIZE:
        outcome = GameOutcome(game_id=game.game_id, finishing_order=(*others, *gone))
        return tournament_commands.record_result(tournament, outcome, dice, now)
    positions: Sequence[int | None] = [*(None for _ in others), *gone]
    return [GameChanged(game, replace(game, result_positions=tuple(positions)))]


def last_places(game: Game) -> list[int]:
    """The players of an open game who left it and have its last places, in their order."""
    if game.status == "completed":
        return []
    return [player_id for player_id in game.result_positions if player_id is not None]
