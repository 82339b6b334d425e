"""Commands that break ties: a tiebreak game, or an order set by the organizer. Source: formats, section 13.4.

The values of tiebreak games (0.50, 0.25, 0.12, 0.00) and the manual order rank after all automatic criteria;
neither changes points, strikes or statistics. Each function returns changes or refuses.
"""

from collections.abc import Sequence
from datetime import datetime
from random import Random
from typing import Literal, TypeAlias

from msgspec import UNSET, Struct, UnsetType

from silverball.kit.errors import Conflict, Invalid, Sentence
from silverball.kit.values import replace
from silverball.rules.commands import games as game_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.drawing.groups import GROUP_SIZE, PAIR_SIZE
from silverball.rules.mechanics import shared_room
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change, EntrantChanged, GameChanged, changes_between
from silverball.rules.model.settings_protocols import playoff_bands_of
from silverball.rules.model.tournament import Entrant, Game, Tournament
from silverball.rules.ranking import standing

# More would not all get points of their own between 0.50 and 0.00.
TIEBREAK_PLAYERS_MAX = 48


Reason: TypeAlias = Literal["first", "cut", "prize", "round"]


class DecidingTie(Struct, frozen=True):
    """Players who share a place, and what depends on their order.

    It is the `first` place, a `cut` through their places, a `prize` that differs between them, or the next
    `round`, which waits for them.
    """

    position: int
    player_ids: tuple[int, ...]
    reason: Reason


class PlayersNotTied(Conflict):
    sentence = "These players do not share a place that a tiebreak can decide."


class TiebreakIsOpen(Conflict):
    sentence = "Tiebreak {game} is open. Record its result, or delete it first."


class NotTheTiedPlayers(Conflict):
    sentence = "Name all players who share one place of the standings, and nobody else."


def open_tiebreak(tournament: Tournament, player_ids: Sequence[int], now: datetime) -> list[Change]:
    """Open a tiebreak between tied players; its result is recorded as any other.

    More than four play several games, whose scores are compared as one game's; not in group brackets.
    It is in the open round, or outside of any when none is open; a golf bracket makes a hole for each
    player. Raises Invalid for wrong players, Conflict when they are not tied or play a tiebreak already.
    """
    tournament_commands.require_started(tournament)
    _require_known_players(tournament, player_ids)
    most = most_players(tournament)
    if len(player_ids) > most:
        sentence = f"A tiebreak here has at most {most} players. Order the others by hand, or draw."
        raise Invalid({"playerIds": [sentence]})
    if not any(set(player_ids) <= set(tie) for tie in tied_groups(tournament)):
        raise PlayersNotTied
    for game in tournament.games:
        if game.is_tiebreak and game.status == "started" and set(game.player_ids) & set(player_ids):
            raise TiebreakIsOpen(game=game.game_id)
    return tournament_commands.format_of(tournament).open_tiebreak(tournament, player_ids, now)


def most_players(tournament: Tournament) -> int:
    """How many players a tiebreak may have."""
    is_group_bracket = tournament_commands.format_of(tournament).group_stages is not None
    return GROUP_SIZE if is_group_bracket else TIEBREAK_PLAYERS_MAX


def set_manual_order(tournament: Tournament, player_ids: Sequence[int]) -> list[Change]:
    """Order all players who share a place, best first.

    A new order replaces the old one. Raises Invalid for wrong players, Conflict unless they are exactly
    the players who share a place.
    """
    _require_whole_tie(tournament, player_ids)
    return _store_order(tournament, player_ids, UNSET)


def _require_whole_tie(tournament: Tournament, player_ids: Sequence[int]) -> None:
    tournament_commands.require_started(tournament)
    _require_known_players(tournament, player_ids)
    without = _without_orders(tournament, player_ids)
    rows = tournament_commands.format_of(without).rank(without)
    listed = standing.members_by_position({row.player_id: row.position for row in rows}).values()
    shared = [set(tie) for tie in tied_groups(without)]
    if not any(set(player_ids) == set(members) and set(members) in shared for members in listed):
        raise NotTheTiedPlayers


def draw_order(tournament: Tournament, player_ids: Sequence[int], dice: Random) -> list[Change]:
    """Order all players who share a place by lot, stored as an order that was drawn.

    Raises as `set_manual_order` does.
    """
    drawn = dice.sample(sorted(player_ids), len(player_ids))
    _require_whole_tie(tournament, drawn)
    return _store_order(tournament, drawn, True)


def next_draw_name(tournament: Tournament) -> str:
    """The name of the next draw among tied players."""
    return f"tie {max((entrant.tie_group or 0 for entrant in tournament.entrants), default=0) + 1}"


def clear_manual_order(tournament: Tournament, player_ids: Sequence[int]) -> list[Change]:
    """Clear the manual order of these players, who share their place again."""
    tournament_commands.require_started(tournament)
    _require_known_players(tournament, player_ids)
    changes: list[Change] = []
    for player_id in player_ids:
        entrant = tournament.entrant_by_id[player_id]
        changes += changes_between(EntrantChanged, entrant, _unordered(entrant))
    return changes


def tied_groups(tournament: Tournament) -> list[tuple[int, ...]]:
    """The groups of players whom a tiebreak may separate: by format, else all who share a place."""
    form = tournament_commands.format_of(tournament)
    if form.tied_groups is not None:
        return form.tied_groups(tournament)
    placed = {row.player_id: row.position for row in form.rank(tournament)}
    return [members for members in standing.members_by_position(placed).values() if len(members) > 1]


def _unordered(entrant: Entrant) -> Entrant:
    return replace(entrant, tie_group=None, tie_place=None, is_tie_drawn=UNSET)


def deciding_ties(tournament: Tournament) -> list[DecidingTie]:
    """The ties that decide something as it stands: the first place, a cut, prizes, or who goes on.

    Best place first. Source: pages, section 2, "Ties that decide".
    """
    tied = tied_groups(tournament)
    if not tied:
        return []
    form = tournament_commands.format_of(tournament)
    placed = {row.player_id: row.position for row in form.rank(tournament)}
    shared = {frozenset(members) for members in standing.members_by_position(placed).values()}
    cuts = [cutoff.last_place for cutoff in standing.parse_cutoffs(playoff_bands_of(tournament.settings))]
    found: dict[frozenset[int], DecidingTie] = {}
    for tie in tied:
        members = frozenset(tie)
        position = min(placed.get(player_id, len(placed)) for player_id in tie)
        # A format with its own ties lists those first that somebody waits for; they need share no place.
        is_awaited = members not in shared or tied.count(tie) > 1
        # In the first matches of a bracket nobody has a place yet.
        reason = _reason(tournament, position, len(tie), cuts) if position else None
        if members not in found and (reason or is_awaited):
            found[members] = DecidingTie(max(position, 1), tie, reason or "round")
    return sorted(found.values(), key=lambda each: each.position)


def _reason(tournament: Tournament, position: int, count: int, cuts: Sequence[int]) -> Reason | None:
    """The thing that a tie of so many players on this place decides; None for nothing."""
    last = position + count - 1
    if any(position <= cut < last for cut in cuts):
        return "cut"
    if position == 1:
        return "first"
    shares = () if tournament.prizes is None else tournament.prizes.shares
    own = [shares[place - 1] if place <= len(shares) else 0 for place in range(position, last + 1)]
    return "prize" if len(set(own)) > 1 else None


def _store_order(
    tournament: Tournament, player_ids: Sequence[int], is_drawn: bool | UnsetType
) -> list[Change]:
    entrants = [tournament.entrant_by_id[player_id] for player_id in player_ids]
    groups = {entrant.tie_group for entrant in entrants}
    number = max((entrant.tie_group or 0 for entrant in tournament.entrants), default=0) + 1
    if len(groups) == 1 and None not in groups:
        # The same players in a new order.
        number = entrants[0].tie_group or number
    changes: list[Change] = []
    for place, entrant in enumerate(entrants, start=1):
        ordered = replace(entrant, tie_group=number, tie_place=place, is_tie_drawn=is_drawn)
        changes += changes_between(EntrantChanged, entrant, ordered)
    return changes


def _without_orders(tournament: Tournament, player_ids: Sequence[int]) -> Tournament:
    """The tournament without the manual order of these players."""

    def freed(entrant: Entrant) -> Entrant:
        is_named = entrant.player_id in player_ids
        return _unordered(entrant) if is_named else entrant

    return replace(tournament, entrants=tuple(freed(entrant) for entrant in tournament.entrants))


def _require_known_players(tournament: Tournament, player_ids: Sequence[int]) -> None:
    for player_id in player_ids:
        tournament_commands.find_entrant(tournament, player_id)
        if player_ids.count(player_id) > 1:
            raise Invalid({"playerIds": [Sentence("{player} is named twice.", player=player_id)]})
    if len(player_ids) < PAIR_SIZE:
        raise Invalid({"playerIds": ["A tie needs at least two players."]})


# Commands on open games whose machine is out of order: wait, start over elsewhere, or settle.
# Source: formats, section 7; pages, section 2.


def wait(tournament: Tournament, game_id: int, now: datetime) -> list[Change]:
    """Stop the clock of an open game until its machine is back; no change when it stands already."""
    game = game_commands.find_open_game(tournament, game_id)
    if game.waiting_since is not UNSET:
        return []
    return [GameChanged(game, replace(game, waiting_since=now))]


def resume(tournament: Tournament, game_id: int, now: datetime) -> list[Change]:
    """Let the clock of a game go on; no change when it runs."""
    return resume_clock(game_commands.find_open_game(tournament, game_id), now)


def resume_clock(game: Game, now: datetime) -> list[Change]:
    """The clock of a game goes on: it began later, by as long as it stood."""
    return changes_between(GameChanged, game, shared_room.clock_resumed(game, now))


def start_over(
    tournament: Tournament, game_id: int, arena_id: int | None, dice: Random, now: datetime
) -> list[Change]:
    """Move an open game to another arena, or to one that is drawn, where it begins again.

    Raises Conflict when no other arena is free, and for one that is taken or out of service.
    """
    changes = (
        game_commands.redraw_arena(tournament, game_id, dice)
        if arena_id is None
        else game_commands.change_arena(tournament, game_id, arena_id)
    )
    moved = game_commands.find_open_game(apply_changes(tournament, changes), game_id)
    again = replace(moved, started_at=now, waiting_since=UNSET)
    game = game_commands.find_open_game(tournament, game_id)
    return changes_between(GameChanged, game, again)
