"""Queues: entrants waiting for an arena."""

from silverball_wire.arenas import Arena
from silverball_wire.base import UNSET, Instant, UnsetType, Wire
from silverball_wire.games import Game
from silverball_wire.rounds import Round
from silverball_wire.singleplayer import SinglePlayerGame
from silverball_wire.values import EmptyList, Number


class QueueEntry(Wire, frozen=True, kw_only=True):
    """A place in a queue. Source: wire.yaml QueueEntry, formats 18."""

    queue_id: int
    tournament_id: int
    arena_id: int | None
    """Id of the arena waited for; null in a queue for any arena."""
    round_id: int | None
    """Id of the round waited in; null outside of an amazing race."""
    player_id: int
    index: int | None
    """Position in the queue, from 0, which is next; null when the game has started."""
    created_at: Instant | None
    completed_at: Instant | None


EntriesByArena = dict[int, tuple[QueueEntry, ...]]


class ArenaQueues(Wire, frozen=True, kw_only=True):
    """Queues by arena id; `[]` when all are empty. Source: samples/queues.json."""

    data: EntriesByArena | EmptyList
    """Places in the queues, by arena id; `[]` when all are empty."""
    busy_elsewhere: tuple[int, ...] | UnsetType = UNSET
    """Ids of waiting players who are busy in another tournament of the event: they keep their places, and the
    first who is not busy is up. Absent when there are none."""


class FrenzyState(Wire, frozen=True, kw_only=True):
    """Started games and the queue. Source: samples/frenzy.json."""

    games: tuple[Game, ...]
    """Started games."""
    queue: tuple[QueueEntry, ...]
    avg_queue_duration: Number | None
    """Seconds in the queue, on average; null before anybody left it."""


class AmazingRaceState(Wire, frozen=True, kw_only=True):
    """Rounds, their games and the player who is up in each. Source: interface.md 2, row 27."""

    rounds: tuple[Round, ...]
    """Rounds of the race, one for each arena."""
    games: tuple[SinglePlayerGame, ...]
    """Games of the current round."""
    queues: tuple[QueueEntry, ...]
    """Players who wait, the next one first."""


class BestGameSummaryRow(Wire, frozen=True, kw_only=True):
    """An arena with its queue and best score. Source: samples/bgsummary.json."""

    arena_id: int
    game_queue: tuple[QueueEntry, ...]
    """Places in the queue of the arena, the next player first."""
    game_duration: Number | None
    """Length of a game in seconds, on average; null before the first one."""
    best_score: int | None
    """Highest score on the arena; null before the first one."""
    highlighted_score: int | None
    """Score to beat for the last place that counts; null here."""


class BestGameDetails(Wire, frozen=True, kw_only=True):
    """An arena with its games and its queue. Source: wire.yaml BestGameDetails."""

    arena: Arena
    """The arena."""
    voided_game_count: int
    """Number of voided games on the arena."""
    single_player_games: tuple[SinglePlayerGame, ...]
    queue: tuple[QueueEntry, ...]
