"""Games outside drawn rounds, made by hand, by a schedule or by a queue."""

from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal
from random import Random

from msgspec import Struct

from silverball.kit.errors import Invalid, Sentence
from silverball.kit.values import replace
from silverball.rules.drawing import order
from silverball.rules.drawing.groups import GROUP_SIZE, PAIR_SIZE
from silverball.rules.mechanics import lineups, results, rounds
from silverball.rules.model import settings_protocols
from silverball.rules.model.changes import Change, GameDeleted, GameOpened, SuggestionDecided
from silverball.rules.model.part_index import lowest_id
from silverball.rules.model.tournament import Game, Round, Tournament

NO_POINTS = Decimal(0)

CreateGame = Callable[[Tournament, Sequence[int], int | None, Random, datetime], list[Change]]
DeleteGame = Callable[[Tournament, Game, Random, datetime], list[Change]]
ClearResult = Callable[[Tournament, Game], list[Change]]


def always(_tournament: Tournament) -> bool:
    """Say yes, whatever the state of the tournament."""
    return True


class FreeGameRules(Struct, frozen=True, kw_only=True):
    """The actions on games outside rounds in a format; all take a started tournament.

    `create` takes the players in the order given, and an arena or None; `delete` deletes a game for
    good; `clear` clears its result.
    """

    # None where the format makes its games itself.
    create: CreateGame | None = None
    # Whether the organizer makes games under the settings of this tournament.
    can_create: Callable[[Tournament], bool] = always
    delete: DeleteGame
    clear: ClearResult = lambda _tournament, game: results.clear_game(game)


def delete_game(tournament: Tournament, game: Game) -> list[Change]:
    """Delete a game with the suggestions for it."""
    suggestions = [suggestion for suggestion in tournament.suggestions if suggestion.game_id == game.game_id]
    return [*(SuggestionDecided(suggestion) for suggestion in suggestions), GameDeleted(game)]


def create_by_hand(
    tournament: Tournament,
    player_ids: Sequence[int],
    arena_id: int | None,
    *,
    in_round: Round | None,
    positions: dict[int, int],
    dice: Random,
    now: datetime,
) -> list[Change]:
    """Start a game of two to four chosen players, in a round or outside of any.

    Without a playing order (`disabled`) the players start in the order given. Raises Invalid for wrong
    players or a wrong arena. Source: formats, section 14.7.
    """
    check_players(tournament, player_ids)
    if arena_id is not None:
        lineups.require_playable_arena(tournament, arena_id, len(player_ids))
    player_order = settings_protocols.player_order(tournament.settings, default="disabled")
    seats = tuple(player_ids)
    if player_order != order.DISABLED:
        ranks = {entrant.player_id: entrant.seed_rank or 0 for entrant in tournament.entrants}
        facts = order.OrderFacts(lineups.slot_counts(tournament), ranks, positions)
        seats = order.draw_first_order(player_order, seats, facts, dice)
    game = rounds.new_game(next_game_id(tournament), seats, now=now, arena_id=arena_id)
    if in_round is None:
        return [GameOpened(game)]
    games = tournament.games_by_round.get(in_round.round_id, ())
    set_number = max((each.set_number for each in games if not each.is_bye), default=-1) + 1
    return [GameOpened(replace(game, round_id=in_round.round_id, set_number=set_number, game_index=0))]


def next_game_id(tournament: Tournament) -> int:
    """The next negative id for a game made in this action."""
    return lowest_id(tournament.games, "game_id") - 1


def check_players(tournament: Tournament, player_ids: Sequence[int]) -> None:
    """Require two to four different active players. Raises Invalid."""
    if not PAIR_SIZE <= len(player_ids) <= GROUP_SIZE:
        raise Invalid({"playerIds": [f"A game needs two to four players, not {len(player_ids)}."]})
    for player_id in player_ids:
        if player_ids.count(player_id) > 1:
            raise Invalid({"playerIds": [Sentence("{player} is named twice.", player=player_id)]})
        if player_id not in tournament.active_ids:
            raise Invalid(
                {"playerIds": [Sentence("{player} does not play in this tournament now.", player=player_id)]}
            )
