"""Standings."""

from typing import Any, Literal

from msgspec import UNSET, UnsetType

from silverball_wire.base import Day, Instant, Wire
from silverball_wire.values import Number


class CountedCard(Wire, frozen=True, kw_only=True):
    """A card that counts for a standing. Source: wire.yaml StandingsRow."""

    card_id: int
    points: str | Number | None
    """Points of the card."""
    count: int
    """Number of games on the card."""


class PaceBubble(Wire, frozen=True, kw_only=True):
    """The next target of a pace match play, and the points still missing. Source: formats 14.6."""

    target: Number
    """Points that the bar asks for after the next round."""
    needed: Number
    """Points that the player still needs for it."""


class Standing(Wire, frozen=True, kw_only=True):
    """An entrant's standing; only `drawnByLot` may be absent. Source: formats 13.1."""

    player_id: int
    position: int
    points: str | Number | None
    """Points as text with two decimals; a number in frenzies and brackets; null without any."""
    points_with_tiebreaker: str | Number | None
    """Points with the part that a tiebreak game added; null without one."""
    games_played: int | None
    """Number of games played; null in brackets."""
    entries_played: int | None
    """Number of entries used up, in best game; 0 in other formats, null in brackets."""
    entries_available: int | None
    """Number of entries left, in best game; 0 in other formats, null in brackets."""
    strike_count: int | None
    """Number of strikes; 0 outside of knockouts, null in brackets."""
    cards_counted: tuple[CountedCard, ...] | None
    """Cards that count, in card best game; null elsewhere."""
    adjustment: Number | None
    """Points that the organizer gave or, below 0, took; null in brackets."""
    frenzy_wins: int | None
    """Number of wins, in a frenzy; null elsewhere."""
    frenzy_losses: int | None
    """Number of losses, in a frenzy; null elsewhere."""
    points_list: tuple[str | Number | None, ...] | None
    """Points of the counted results, best first; null in formats without such a list."""
    tiebreakers: tuple[str | Number, ...] | None
    """Values compared in turn among equal points, the points first; null in brackets."""
    active_games: tuple[int | dict[str, Any], ...]
    """Ids of the started games of the player; other services send the games."""
    active_game_color: str | None
    """Color that marks a player with a started game; null without one."""
    on_pace_bubble: PaceBubble | None
    """Next target of a pace match play that the player may miss; null when they are safe."""
    on_cutoff_bubble: bool | None
    cutoff_bubble_color: str | None
    on_cutoff_bubble2: bool | None
    manual_tiebreaker_group: int | None
    drawn_by_lot: bool | UnsetType = UNSET
    """`true` for a player whose order among tied players was drawn by lot; absent otherwise."""


# One object per player: `playerId`, sometimes `name`, and a count under each id or position.
CountRow = dict[str, int | str | None]


class MatchplayStats(Wire, frozen=True, kw_only=True):
    """The number of games played. Source: samples/stats-matchplay.json."""

    avg_games_per_player: Number
    """Number of games of a player, on average."""
    total_games: int
    """Number of games in the tournament."""


class RoundStats(Wire, frozen=True, kw_only=True):
    """The duration of a round. Source: samples/stats-rounds.json."""

    round_id: int
    tournament_id: int
    index: int
    name: str
    duration: int | None
    created_at: str | None
    completed_at: str | None
    game_count: int
    """Number of games in the round."""


class ArenaStats(Wire, frozen=True, kw_only=True):
    """The duration of games on an arena. Source: samples/stats-arenas.json."""

    arena_id: int
    name: str
    game_count: int
    """Number of completed games on the arena."""
    avg_duration: Number | None
    """Length of a game in seconds, on average; null before the first one."""
    min_duration: int | None
    """Length of the shortest game in seconds; null before the first one."""
    max_duration: int | None
    """Length of the longest game in seconds; null before the first one."""


class PlayerStats(Wire, frozen=True, kw_only=True):
    """Counts of each player's places, arenas and opponents. Source: samples/stats-players.json."""

    position_counts: tuple[CountRow, ...]
    """Number of places by player."""
    arena_counts: tuple[CountRow, ...]
    """Number of games of each player by arena."""
    opponent_counts: tuple[CountRow, ...]
    """Number of games of each player by opponent."""


class MatchStats(Wire, frozen=True, kw_only=True):
    """A player's games and wins against an opponent. Source: interface.md 2, row 27."""

    player_id: int
    opponent_id: int
    games: int
    """Number of games that both played in."""
    wins: int
    losses: int


class BestGameStats(Wire, frozen=True, kw_only=True):
    """The numbers of played and voided games and cards. Source: samples/stats-bestgame.json."""

    game_count: int
    """Number of valid games."""
    voided_count: int
    """Number of voided games."""
    card_count: int
    """Number of valid cards."""
    voided_card_count: int
    """Number of voided cards."""


class ArenaSummary(Wire, frozen=True, kw_only=True):
    """The number of games on an arena. Source: interface 4.6, samples/summary-arenas.json."""

    tournament_id: int
    user_id: int
    """Id of the organizer's account."""
    arena_id: int
    tournament_date: Day
    games: int
    """Number of games of several players."""
    single_player_games: int
    """Number of single player games."""
    total_games: int
    opdb_group: str | None
    opdb_id: str | None


class PlayerArenaSummary(ArenaSummary, frozen=True, kw_only=True):
    """A player's results on an arena. Source: interface 4.6, samples/summary-player-arenas.json."""

    player_id: int
    wins: int
    losses: int


class MatchSummary(Wire, frozen=True, kw_only=True):
    """A player's results against an opponent on an arena. Source: samples/summary-matches.json."""

    tournament_id: int
    user_id: int
    """Id of the organizer's account."""
    arena_id: int
    player_id: int
    opponent_id: int
    tournament_date: Day
    games: int
    """Number of games that both played in."""
    wins: int
    losses: int
    opdb_group: str | None
    opdb_id: str | None


LeftOutReason = Literal["no-number", "below-half", "did-not-play"]


class EventResult(Wire, frozen=True, kw_only=True):
    """A player of the event, and whether they are in the file unless somebody decides otherwise."""

    player_id: int
    name: str
    ifpa_id: int | None
    """Federation number; null when it is unknown or hidden."""
    position: int | None
    """Place in the event, from 1, counting everybody; null for a player who never played."""
    finalist: bool
    """Whether the place comes from the final."""
    ticked: bool
    """Whether the player is in the file when no players are named."""
    reasons: tuple[LeftOutReason, ...]
    """What is to be known of the player: who has no number is in the file by name alone, who did not play
    has no place, and who played fewer than half of the qualifying is not ticked."""


EventCheckKind = Literal["number-twice", "likely-double", "same-name", "no-number", "left-early"]


class EventCheck(Wire, frozen=True, kw_only=True):
    """A sentence about some players, to look at before the results are sent."""

    kind: EventCheckKind
    """`number-twice` keeps back the file: a federation number stands in it twice."""
    player_ids: tuple[int, ...]
    """Ids of the players that it is about."""
    text: str
    """The sentence with their names."""


class SentChange(Wire, frozen=True, kw_only=True):
    """A player whose place is another one than that which was sent."""

    player_id: int
    name: str
    sent: int
    """Place that was sent."""
    now: int | None
    """Place in the event now; null for a player who has none any more."""


class SentResults(Wire, frozen=True, kw_only=True):
    """Results as they were sent to the federation, and the places that differ now."""

    sent_at: Instant | None
    """When the results were noted as sent; null where they were not."""
    changes: tuple[SentChange, ...]
    """Players whose place differs, by the place that was sent; empty while the event is not finished."""


class EventResults(Wire, frozen=True, kw_only=True):
    """Results of a qualifying with the final of its best, of a tournament without one, or of a series."""

    tournament_id: int | None
    """Id of the tournament that all players began with; null for a series."""
    finals_id: int | None
    """Id of the final that decides the first places; null when there is none."""
    series_id: int | None
    name: str
    womens: bool | UnsetType = UNSET
    """True for an event of the women's ranking; absent otherwise."""
    results: tuple[EventResult, ...]
    """Every player once, by place; erased people have none."""
    checks: tuple[EventCheck, ...]
    """What to look at before the results are sent; empty when all is well."""
    text: str
    """Lines of place, name and federation number, with tabs between, of the players in the file.

    The place is `position`, whoever is in the file; empty where a number stands in it twice.
    """
