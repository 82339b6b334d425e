"""Rounds."""

from typing import Literal

from silverball_wire.base import UNSET, Instant, UnsetType, Wire
from silverball_wire.games import Game
from silverball_wire.values import GameStatus, Number


class Round(Wire, frozen=True, kw_only=True):
    """Games played at the same time, or a Pingolf hole. Source: interface 4.4, samples/rounds.json."""

    round_id: int
    tournament_id: int
    arena_id: int | None
    """Id of the arena of a hole, a frame or a race; null elsewhere."""
    score: Number | None
    """Target of a hole, or bar of a race; null elsewhere."""
    size: int | None
    """Number of groups; null when it is not known."""
    description: str | None
    # From 0.
    index: int
    name: str
    """Name of the round, such as `Round #1`."""
    status: GameStatus
    """`started`, or `completed`."""
    # Seconds.
    duration: int | None
    created_at: str
    completed_at: str | None


class DrawnRound(Wire, frozen=True, kw_only=True):
    """A round just drawn, with its games; in a dry run new ids are 0. Our addition."""

    data: Round
    """The round."""
    games: tuple[Game, ...]
    """Its games; in a dry run their ids are 0."""


# Shapes of what keeps a night on time: the round timer, and calls of players.


class CalledGame(Wire, frozen=True, kw_only=True):
    """An open game whose players were called to their machine."""

    game_id: int
    called_at: Instant
    """Time of the last call."""


class ExtendedGame(Wire, frozen=True, kw_only=True):
    """An open game that was given extra time."""

    game_id: int
    ends_at: Instant
    """Time at which this game runs out, after its round."""


class RoundTimer(Wire, frozen=True, kw_only=True):
    """The round timer, and the open games whose players were called. Ours, no source."""

    minutes: int | None
    """Minutes that a round may take; null without a timer."""
    round_id: int | None
    """Id of the open round that is timed; null when none is."""
    ends_at: Instant | None
    """Time at which the open round runs out; null when none is timed."""
    called_games: tuple[CalledGame, ...]
    """Open games whose players were called, by id."""
    extended_games: tuple[ExtendedGame, ...] | UnsetType = UNSET
    """Open games with extra time, by id; absent without any."""


# Notes on games, for directors and scorekeepers. Our addition.


NoteKind = Literal["malfunction", "warning", "yellow", "red", "disqualified", "zero", "slow", "other"]


class GameNote(Wire, frozen=True, kw_only=True):
    """A note on a game, which directors and scorekeepers see."""

    note_id: int
    """Id of the note."""
    tournament_id: int
    game_id: int
    player_id: int | None
    """Id of the player whom it is about; null for the whole game."""
    kind: NoteKind
    """Kind of ruling."""
    text: str
    """The note in words."""
    user_id: int | None
    """Id of the account that wrote it; null for a scorekeeper's device."""
    created_at: Instant


# How the rounds of a tournament were drawn. Our addition.


class SeedCommitment(Wire, frozen=True, kw_only=True):
    """A seed that draws come from: its hash from the beginning, itself once the tournament is completed."""

    action_id: int
    """Number of the action in the journal that committed to the seed."""
    committed_at: Instant
    """When that was, as ISO 8601 in UTC."""
    commitment: str
    """SHA-256 of the seed's text, in hex."""
    seed: str | None
    """The seed; null until the tournament is completed."""


class RoundDraw(Wire, frozen=True, kw_only=True):
    """How a round was drawn, and what was done to the draw by hand."""

    round_id: int
    name: str
    """Name of the round, such as `Round #1`."""
    drawn_at: Instant
    """When it was drawn, as ISO 8601 in UTC."""
    dry_runs: int
    """How often the draw was looked at before it was made."""
    redraws: int
    """How often other dice were asked for."""
    swaps: int
    """How often players of the drawn games were swapped by hand."""
    takes: int
    """How often the round was drawn and taken back before."""
    text: str
    """All of that in a person's words."""


class TournamentDraws(Wire, frozen=True, kw_only=True):
    """How a tournament was drawn."""

    commitments: tuple[SeedCommitment, ...]
    """The seeds, oldest first; none for a tournament that was drawn before commitments."""
    rounds: tuple[RoundDraw, ...]
    """The rounds that were drawn here, in order."""
    text: str
    """The source of all draws, in a person's words."""


class MaxMatchplayPlayer(Wire, frozen=True, kw_only=True):
    """A player's opponents and arenas so far. Source: samples/max-matchplay.json."""

    player_id: int
    game_count: int
    """Number of games played."""
    completed_time: int | None
    """When the last required game ended, in seconds since 1970; null before that."""
    arena_counts: dict[int, int]
    opponent_counts: dict[int, int]
    all_opponents: tuple[int, ...]
    """Ids of the opponents in the order of play."""


class MaxMatchplayState(Wire, frozen=True, kw_only=True):
    """Started games, players and games left to play. Source: samples/max-matchplay.json."""

    games: tuple[Game, ...]
    """Started games."""
    players: tuple[MaxMatchplayPlayer, ...]
    """The players, with what they have played so far."""
    remaining_games: int
    """Number of games that are left to play."""
    avg_game_duration: Number | None
    """Length of a game in seconds, on average; null before the first one."""
