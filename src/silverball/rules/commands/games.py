"""Commands on single games: order, arena, players, games made and deleted by hand.

Each function returns changes or refuses. Source: formats, sections 7, 8, 14.7 and 20.
"""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from random import Random

from silverball.kit.errors import Conflict, Invalid, NotFound, Refusal, Sentence
from silverball.kit.values import replace
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.drawing import arenas
from silverball.rules.drawing.groups import PAIR_SIZE
from silverball.rules.families import drawn_rounds
from silverball.rules.format import CountedIn, Rounds
from silverball.rules.mechanics import free_games, lineups, match_results, results, rounds
from silverball.rules.mechanics.match_results import NotPlayedInLegs
from silverball.rules.model import outcome as outcomes
from silverball.rules.model import settings_protocols
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import (
    Change,
    GameChanged,
    GameCorrected,
    GameDeleted,
    GameOpened,
    SuggestionDecided,
    SuggestionMade,
    changes_between,
)
from silverball.rules.model.outcome import GameOutcome
from silverball.rules.model.tournament import Game, Leg, Round, Suggestion, Tournament
from silverball.rules.scoring import point_maps, strikes


class ByeCannotChange(Conflict):
    sentence = "{game} is a bye. Nothing about it can be changed."


class GameHasResult(Conflict):
    sentence = "{game} has a result. Delete the result, then change the game."


class NoOtherArenaFree(Conflict):
    sentence = "No other arena is free. Wait until a game ends, or add an arena."


class ArenasNotUsed(Conflict):
    sentence = "This tournament is played without arenas. Change its arena assignment first."


class PlayerNotPlaying(Conflict):
    sentence = "{player} does not play in this tournament now. Bring the player in first."


class PlayerHasThisBye(Conflict):
    sentence = "{player} has this bye. Name another player."


class PlayerAlreadyInGame(Conflict):
    sentence = "{player} is in {game} already."


class GameIsFull(Conflict):
    sentence = "{game} has {room} players already. Choose a smaller group."


class GroupsAreFixed(Conflict):
    sentence = "The groups of this tournament stay as they are. Record that the player gives up the game."


class DrawnGameNotDeletable(Conflict):
    sentence = "Games of a drawn round are not deleted one by one. Delete the round instead."


class GameNotDrawn(Conflict):
    sentence = "{game} was not drawn in a round. Delete it instead."


class PlayersFollowFromResults(Conflict):
    sentence = "The players of {game} follow from results. Record a forfeit instead."


class GameNotInOpenRound(Conflict):
    sentence = "{game} is not in the open round. Only games of the open round can be changed."


class PlayerNotInOpenRound(Conflict):
    sentence = "{player} is in no game of the open round. Only players of games are swapped."


class GroupHasResult(Conflict):
    sentence = "{game} has a result. Delete the result before you move players."


class PlayerAlreadyInRound(Conflict):
    sentence = "{player} is in {game} of {round} already."


class GamesMadeByFormat(Conflict):
    sentence = "The games of this tournament are not created by hand: they follow from its format."


def find_open_game(tournament: Tournament, game_id: int) -> Game:
    """An open game. Raises NotFound, and Conflict for a completed game or a bye."""
    tournament_commands.require_started(tournament)
    game = results.find_game(tournament, game_id)
    if game.is_bye:
        raise ByeCannotChange(game=game_id)
    if game.status == "completed":
        raise GameHasResult(game=game_id)
    return game


def change_order(tournament: Tournament, game_id: int, player_ids: Sequence[int]) -> list[Change]:
    """Change the playing order of an open game; slot 0 plays first. Raises Invalid for other players."""
    game = find_open_game(tournament, game_id)
    if sorted(player_ids) != sorted(game.player_ids):
        sentence = Sentence(
            "Name the players of {game}, each once: {players}.", game=game_id, players=game.player_ids
        )
        raise Invalid({"playerIds": [sentence]})
    # What was counted of a match moves with its players.
    points = tuple(game.result_points[game.player_ids.index(player_id)] for player_id in player_ids)
    after = replace(results.with_players(game, tuple(player_ids)), result_points=points)
    return changes_between(GameChanged, game, after)


def change_arena(tournament: Tournament, game_id: int, arena_id: int | None) -> list[Change]:
    """Change the arena of an open game, or remove it for now.

    Raises Conflict where no arenas are used and for an arena that is taken or out of service.
    """
    game = find_open_game(tournament, game_id)
    _require_arenas(tournament)
    if arena_id is not None:
        lineups.require_playable_arena(tournament, arena_id, len(game.player_ids), game)
    return changes_between(GameChanged, game, lineups.game_on_arena(game, arena_id))


def redraw_arena(tournament: Tournament, game_id: int, dice: Random) -> list[Change]:
    """Draw another arena for an open game, of least cost and not the present one.

    Raises Conflict when no other arena is free. Source: formats, section 7.
    """
    game = find_open_game(tournament, game_id)
    _require_arenas(tournament)
    arena_id = lineups.draw_other_arena(tournament, game, dice)
    if arena_id is None:
        raise NoOtherArenaFree
    return [GameChanged(game, lineups.game_on_arena(game, arena_id))]


def _require_arenas(tournament: Tournament) -> None:
    if settings_protocols.arena_assignment(tournament.settings, default="manual") == "disabled":
        raise ArenasNotUsed


def swap_players(tournament: Tournament, player_id: int, other_id: int) -> list[Change]:
    """Swap two players of the newest round, in every game of their groups; one of them may have the bye.

    Raises Conflict when one of the games has a result or one of the players is in no game.
    """
    own_group = _unplayed_group_of_player(tournament, player_id)
    other_group = _unplayed_group_of_player(tournament, other_id)
    if own_group[0] in other_group:
        sentence = Sentence("{players} are in the same group already.", players=(player_id, other_id))
        raise Invalid({"playerIds": [sentence]})
    if own_group[0].is_bye and other_group[0].is_bye:
        sentence = Sentence("{players} both have a bye.", players=(player_id, other_id))
        raise Invalid({"playerIds": [sentence]})
    into = {player_id: other_id, other_id: player_id}
    games = [game for game in (*own_group, *other_group) if not game.is_bye]
    seats = [tuple(into.get(seat, seat) for seat in game.player_ids) for game in games]
    byes = [game for game in (*own_group, *other_group) if game.is_bye]
    return [
        *(GameChanged(bye, _bye_of(bye, into[bye.player_ids[0]])) for bye in byes),
        *_reseat_games(tournament, list(zip(games, seats, strict=True))),
    ]


def _bye_of(bye: Game, player_id: int) -> Game:
    """The bye of another player."""
    return replace(
        bye,
        player_ids=(player_id,),
        result_positions=(player_id,),
        advantage_id=None if bye.advantage_id is None else player_id,
    )


def add_player(
    tournament: Tournament, game_id: int, player_id: int, dice: Random, now: datetime
) -> list[Change]:
    """Add a player to a group of the open round that has room, or to the player with a bye.

    A bye becomes as many games as the round has; the new player's own bye goes. Raises Conflict when the
    group is full or has a result, or when the player is out or plays elsewhere in the round. Source:
    formats, section 20.
    """
    tournament_commands.require_started(tournament)
    game = results.find_game(tournament, game_id)
    if player_id not in tournament_commands.format_of(tournament).playing_ids(tournament):
        raise PlayerNotPlaying(player=player_id)
    if _has_games_by_hand(tournament):
        return _join_games(tournament, [find_open_game(tournament, game_id)], player_id)
    round_ = _require_open_round(tournament, game)
    own_bye = _own_bye(tournament, round_, player_id)
    gone: list[Change] = [] if own_bye is None else [GameDeleted(own_bye)]
    if game.is_bye:
        if own_bye == game:
            raise PlayerHasThisBye(player=player_id)
        # A player whose opponent left during the round has finished it.
        _own_bye(tournament, round_, game.player_ids[0])
        return [*gone, *_turn_bye_into_games(tournament, game, player_id, dice, now)]
    return [*gone, *_join_games(tournament, _unplayed_group(tournament, game), player_id)]


def _join_games(tournament: Tournament, group: Sequence[Game], player_id: int) -> list[Change]:
    """Put the player in the last slot of these games. Raises Conflict when there is no room."""
    first = group[0]
    room = tournament_commands.format_of(tournament).players_per_game
    if player_id in first.player_ids:
        raise PlayerAlreadyInGame(player=player_id, game=first.game_id)
    if len(first.player_ids) >= room:
        raise GameIsFull(game=first.game_id, room=room)
    for game in group:
        if game.arena_id is not None:
            lineups.require_large_enough(tournament, game.arena_id, len(game.player_ids) + 1)
    return _reseat_games(tournament, [(game, (*game.player_ids, player_id)) for game in group])


def _reseat_games(tournament: Tournament, seats: Sequence[tuple[Game, tuple[int, ...]]]) -> list[Change]:
    """Seat other players in open games; suggestions for them are discarded."""
    changes: list[Change] = []
    for game, player_ids in seats:
        changes += [
            *_discard_suggestions(tournament, game),
            GameChanged(game, results.with_players(game, player_ids)),
        ]
    return changes


def remove_player(tournament: Tournament, game_id: int, player_id: int) -> list[Change]:
    """Remove a player from an open game and from the other open games of the group in the round.

    A game of four continues with three, scored as one of three; the opponent in a game of two gets a bye
    worth full points. Raises Conflict for games outside rounds that would have one player left.
    Source: formats, section 20.
    """
    game = find_open_game(tournament, game_id)
    if player_id not in game.player_ids:
        raise Invalid({"playerId": [Sentence("{player} is not in {game}.", player=player_id, game=game_id)]})
    if _has_games_by_hand(tournament) and len(game.player_ids) > PAIR_SIZE:
        group = [game]
    else:
        _require_open_round(tournament, game)
        if not tournament_commands.format_of(tournament).can_leave:
            raise GroupsAreFixed
        group = [each for each in lineups.games_of_group(tournament, game) if each.status == "started"]
    if len(game.player_ids) == PAIR_SIZE:
        return _give_bye_to_opponent(tournament, group, player_id)
    left = [tuple(seat for seat in each.player_ids if seat != player_id) for each in group]
    return _reseat_games(tournament, list(zip(group, left, strict=True)))


def create_game(
    tournament: Tournament,
    player_ids: Sequence[int],
    arena_id: int | None,
    *,
    dice: Random,
    now: datetime,
) -> list[Change]:
    """Create a game of chosen players, in formats that allow it. Source: formats, 14.7."""
    tournament_commands.require_started(tournament)
    free = tournament_commands.format_of(tournament).free_games
    if free is None or free.create is None:
        raise GamesMadeByFormat
    return free.create(tournament, player_ids, arena_id, dice, now)


def delete_game(tournament: Tournament, game_id: int, dice: Random, now: datetime) -> list[Change]:
    """Delete a tiebreak game or a game outside drawn rounds, with the consequences.

    Raises Conflict for a game of a drawn round.
    """
    tournament_commands.require_started(tournament)
    game = results.find_game(tournament, game_id)
    free = tournament_commands.format_of(tournament).free_games
    if game.is_tiebreak:
        tournament_commands.require_correctable(tournament, game)
        changes = free_games.delete_game(tournament, game)
        # What the tiebreak had decided is open again.
        cleared = tournament_commands.format_of(tournament).result_cleared
        return [*changes, *cleared(apply_changes(tournament, changes), game)]
    if free is None:
        raise DrawnGameNotDeletable
    return free.delete(tournament, game, dice, now)


def delete_bye(tournament: Tournament, bye: Game) -> list[Change]:
    """Delete the bye of a player who was never there."""
    return [*_discard_suggestions(tournament, bye), GameDeleted(bye)]


def _discard_suggestions(tournament: Tournament, game: Game) -> list[Change]:
    """Discard the suggestions for a game whose players change."""
    return [
        SuggestionDecided(suggestion)
        for suggestion in tournament.suggestions
        if suggestion.game_id == game.game_id
    ]


def _has_games_by_hand(tournament: Tournament) -> bool:
    """Whether the organizer creates the games of this tournament."""
    free = tournament_commands.format_of(tournament).free_games
    return free is not None and free.create is not None


def _require_open_round(tournament: Tournament, game: Game) -> Round:
    """The open round that a game was drawn in. Raises Conflict for any other game."""
    form = tournament_commands.format_of(tournament)
    if form.free_games is not None:
        raise GameNotDrawn(game=game.game_id)
    if form.rounds is not Rounds.OPENED or game.is_tiebreak:
        raise PlayersFollowFromResults(game=game.game_id)
    newest = tournament.newest_round
    if newest is None or game.round_id != newest.round_id or newest.status != "started":
        raise GameNotInOpenRound(game=game.game_id)
    return newest


def _unplayed_group_of_player(tournament: Tournament, player_id: int) -> list[Game]:
    """The games of a player's group in the open round, or their bye. Raises Conflict for a result."""
    tournament_commands.require_started(tournament)
    newest = tournament.newest_round
    games = tournament.games_by_round.get(newest.round_id, ()) if newest is not None else ()
    own = [game for game in games if player_id in game.player_ids and not game.is_tiebreak]
    # Who has a game and a bye in one round lost an opponent during it: the game is meant.
    for game in sorted(own, key=lambda game: game.is_bye):
        _require_open_round(tournament, game)
        return [game] if game.is_bye else _unplayed_group(tournament, game)
    raise PlayerNotInOpenRound(player=player_id)


def _unplayed_group(tournament: Tournament, game: Game) -> list[Game]:
    group = lineups.games_of_group(tournament, game)
    for each in group:
        if each.status == "completed":
            raise GroupHasResult(game=each.game_id)
    return group


def _own_bye(tournament: Tournament, round_: Round, player_id: int) -> Game | None:
    """The player's bye in the round. Raises Conflict for a player in one of its games."""
    own: Game | None = None
    for game in tournament.games_by_round.get(round_.round_id, ()):
        if player_id in game.player_ids and not game.is_tiebreak:
            if not game.is_bye:
                raise PlayerAlreadyInRound(player=player_id, game=game.game_id, round=round_.name)
            own = game
    return own


def _turn_bye_into_games(
    tournament: Tournament, bye: Game, player_id: int, dice: Random, now: datetime
) -> list[Change]:
    """Turn a bye into the games of a group of two, on free arenas unless the organizer chooses."""
    games = tournament.games_by_round.get(bye.round_id, ())
    set_number = max((game.set_number for game in games if not game.is_bye), default=-1) + 1
    has_advantage = tournament_commands.format_of(tournament).players_per_game == PAIR_SIZE
    seats = (*bye.player_ids, player_id)
    assignment = settings_protocols.arena_assignment(tournament.settings, default="manual")
    is_drawn = assignment not in {"manual", "disabled"}
    made: list[Game] = []
    for index in range(drawn_rounds.games_per_round(tournament)):
        # The bye itself becomes the first game.
        new_id = bye.game_id if index == 0 else -index
        new = rounds.new_game(new_id, seats, now=now, has_advantage=has_advantage)
        new = replace(new, round_id=bye.round_id, set_number=set_number, game_index=index)
        arena_id = _draw_arena(tournament, new, made, dice) if is_drawn else None
        made.append(replace(new, arena_id=arena_id))
    return [GameChanged(bye, made[0]), *(GameOpened(new) for new in made[1:])]


def _draw_arena(tournament: Tournament, game: Game, made: Sequence[Game], dice: Random) -> int | None:
    """An arena that no other game of the group has."""
    others = [game for game in tournament.games if not game.is_bye]
    return lineups.draw_other_arena(replace(tournament, games=(*others, *made)), game, dice)


def _give_bye_to_opponent(tournament: Tournament, group: Sequence[Game], player_id: int) -> list[Change]:
    """Give the opponent one bye worth all open games of the group, added to an existing one."""
    first = group[0]
    other = next(seat for seat in first.player_ids if seat != player_id)
    assert first.round_id is not None
    bye = rounds.bye_game(first.game_id, other, first.round_id, _full_points(tournament) * len(group))
    changes: list[Change] = [*_discard_suggestions(tournament, first), GameChanged(first, bye)]
    for had in tournament.games_by_round[first.round_id]:
        if had.is_bye and had.player_ids == bye.player_ids:
            total = (had.result_points[0] or Decimal(0)) + (bye.result_points[0] or Decimal(0))
            more = GameChanged(had, replace(had, result_points=(total,)))
            changes = [*free_games.delete_game(tournament, first), more]
    for each in group[1:]:
        changes += free_games.delete_game(tournament, each)
    return changes


def _full_points(tournament: Tournament) -> Decimal:
    """The points of a full bye for one game; in strike formats: no strike."""
    if tournament_commands.format_of(tournament).counted_in is CountedIn.STRIKES:
        return strikes.NO_STRIKE
    return point_maps.bye_points(tournament.points_map or (), "full")


# Commands on the single games of a match: recorded one by one, they say how the match stands.
# Source: formats, section 14.10.


def add_leg(
    tournament: Tournament, game_id: int, leg: Leg, by: int | None, dice: Random, now: datetime
) -> list[Change]:
    """Record the next single game of a match.

    Raises Invalid for other players and strange arenas, Conflict when the match is decided, was counted
    without its single games, or is no match of several games.
    """
    game = _find_match(tournament, game_id)
    _check_leg(tournament, game, leg)
    return _record_legs(tournament, game, (*game.legs, replace(leg, recorded_at=now)), by, dice, now)


def change_leg(
    tournament: Tournament, game_id: int, number: int, leg: Leg, by: int | None, dice: Random, now: datetime
) -> list[Change]:
    """Correct a single game, counted from 1; `leg` replaces it. Raises NotFound, and as `add_leg` does."""
    game = _find_match(tournament, game_id)
    at = _index_of_leg(game, number)
    _check_leg(tournament, game, leg)
    return _record_legs(tournament, game, (*game.legs[:at], leg, *game.legs[at + 1 :]), by, dice, now)


def delete_leg(
    tournament: Tournament, game_id: int, number: int, by: int | None, dice: Random, now: datetime
) -> list[Change]:
    """Delete a single game, counted from 1; the later ones move up. Raises NotFound."""
    game = _find_match(tournament, game_id)
    at = _index_of_leg(game, number)
    return _record_legs(tournament, game, (*game.legs[:at], *game.legs[at + 1 :]), by, dice, now)


def find_leg(tournament: Tournament, game_id: int, number: int) -> Leg:
    """A single game of a match, counted from 1. Raises NotFound."""
    game = results.find_game(tournament, game_id)
    return game.legs[_index_of_leg(game, number)]


def expected_arena_id(tournament: Tournament, game: Game) -> int | None:
    """The arena of the next single game, if nobody says another one.

    The next one of the match's bank; without a bank the first game is on the match's own arena, and
    later ones are wherever the players choose.
    """
    bank = next((bank for bank in tournament.banks if bank.bank_id == game.bank_id), None)
    if bank is not None:
        drawable = arenas.DrawableBank(bank.bank_id, bank.arena_ids)
        return arenas.bank_arenas(drawable, len(game.legs) + 1)[-1]
    return None if game.legs else game.arena_id


def _find_match(tournament: Tournament, game_id: int) -> Game:
    tournament_commands.require_started(tournament)
    game = results.find_game(tournament, game_id)
    if not match_results.is_played_in_legs(tournament, game):
        raise NotPlayedInLegs(game=game_id)
    return game


def _index_of_leg(game: Game, number: int) -> int:
    if not 1 <= number <= len(game.legs):
        raise NotFound("Leg", number)
    return number - 1


def _check_leg(tournament: Tournament, game: Game, leg: Leg) -> None:
    if sorted(leg.finishing_order) != sorted(game.player_ids):
        sentence = Sentence(
            "Name both players of {game}, the winner first: {players}.",
            game=game.game_id,
            players=game.player_ids,
        )
        raise Invalid({"resultPositions": [sentence]})
    lineup_ids = {arena.arena_id for arena in tournament.lineup}
    if leg.arena_id is not None and leg.arena_id not in lineup_ids:
        sentence = Sentence("{arena} is not in this tournament. Add it first.", arena=leg.arena_id)
        raise Invalid({"arenaId": [sentence]})


def _record_legs(
    tournament: Tournament, game: Game, legs: Sequence[Leg], by: int | None, dice: Random, now: datetime
) -> list[Change]:
    outcome = GameOutcome(game_id=game.game_id, legs=tuple(legs), recorded_by=by)
    return tournament_commands.record_result(tournament, outcome, dice, now)


# Commands on results suggested by players: approve, decline, detect contradictions.
# Source: formats, section 10.


SUGGESTIONS_MAX = 20
AUTOMATIC, DISABLED = "automatic", "disabled"


class SuggestionsNotTaken(Conflict):
    sentence = "This tournament takes no suggested results. Tell a scorekeeper or the organizer."


class TooManySuggestions(Conflict):
    sentence = "{game} has {count} suggestions already. Decide on them first."


class SuggestionIncomplete(Conflict):
    sentence = "The suggestion is not a whole result. Decline it and record the result."


def find_suggestion(tournament: Tournament, suggestion_id: int) -> Suggestion:
    """A suggestion of the tournament. Raises NotFound."""
    for suggestion in tournament.suggestions:
        if suggestion.suggestion_id == suggestion_id:
            return suggestion
    raise NotFound("Suggestion", suggestion_id)


def suggest_result(
    tournament: Tournament, outcome: GameOutcome, player_id: int | None, dice: Random, now: datetime
) -> list[Change]:
    """Suggest a result of a game; where suggestions are automatic the first one becomes the result.

    A later suggestion equal to the result changes nothing. Raises as recording the result would, and
    Conflict where suggestions are off or a game has too many of them.
    """
    tournament_commands.require_started(tournament)
    way = settings_protocols.suggestion_mode(tournament.settings)
    if way == DISABLED:
        raise SuggestionsNotTaken
    game = results.find_game(tournament, outcome.game_id)
    tournament_commands.require_correctable(tournament, game)
    stated = tournament_commands.record_result(tournament, outcome, dice, now)
    if game.status != "completed" and way == AUTOMATIC:
        return stated
    if game.status == "completed" and not _differs_from_result(game, stated):
        return []
    if sum(suggestion.game_id == game.game_id for suggestion in tournament.suggestions) >= SUGGESTIONS_MAX:
        raise TooManySuggestions(game=game.game_id, count=SUGGESTIONS_MAX)
    new = Suggestion(
        suggestion_id=-1,
        game_id=game.game_id,
        player_id=player_id,
        user_id=outcome.recorded_by,
        results=outcomes.derive_finishing_order(game, outcome),
        scores=dict(outcome.scores),
    )
    is_late = game.status == "completed"
    marked = changes_between(GameChanged, game, replace(game, has_mismatch=is_late))
    return [SuggestionMade(new), *marked]


def approve_suggestion(
    tournament: Tournament, suggestion_id: int, by: int | None, dice: Random, now: datetime
) -> list[Change]:
    """Record the suggested result; other suggestions for the game are settled with it."""
    tournament_commands.require_started(tournament)
    suggestion = find_suggestion(tournament, suggestion_id)
    changes = tournament_commands.record_result(tournament, _suggested_outcome(suggestion, by), dice, now)
    return changes or decline_suggestion(tournament, suggestion_id, dice, now)


def decline_suggestion(
    tournament: Tournament, suggestion_id: int, dice: Random, now: datetime
) -> list[Change]:
    """Discard a suggestion."""
    tournament_commands.require_started(tournament)
    suggestion = find_suggestion(tournament, suggestion_id)
    changes: list[Change] = [SuggestionDecided(suggestion)]
    rest = apply_changes(tournament, changes)
    game = results.find_game(rest, suggestion.game_id)
    others = [other for other in rest.suggestions if other.game_id == game.game_id]
    is_open = game.status != "completed"
    has_mismatch = not is_open and any(_is_mismatch(rest, game, other, dice, now) for other in others)
    return [*changes, *changes_between(GameChanged, game, replace(game, has_mismatch=has_mismatch))]


def _suggested_outcome(suggestion: Suggestion, by: int | None) -> GameOutcome:
    order = tuple(player_id for player_id in suggestion.results if player_id is not None)
    if len(order) != len(suggestion.results):
        raise SuggestionIncomplete
    return GameOutcome(
        game_id=suggestion.game_id, finishing_order=order, scores=suggestion.scores, recorded_by=by
    )


def _is_mismatch(
    tournament: Tournament, game: Game, suggestion: Suggestion, dice: Random, now: datetime
) -> bool:
    try:
        return _differs_from_result(
            game,
            tournament_commands.record_result(tournament, _suggested_outcome(suggestion, None), dice, now),
        )
    except Refusal:
        # What cannot be recorded any more is not what was recorded.
        return True


def _differs_from_result(game: Game, stated: Sequence[Change]) -> bool:
    """Whether these changes give the completed game another result; additional scores do not count."""
    for change in stated:
        if isinstance(change, GameCorrected) and change.before.game_id == game.game_id:
            after = change.after
            is_ordered = None not in after.result_positions
            if is_ordered and game.finishing_order and None in game.result_positions:
                # The result was counted; who suggests its winner agrees with it.
                return after.result_positions != game.finishing_order
            return after.result_points != game.result_points or (
                is_ordered and after.result_positions != game.result_positions
            )
    return False
