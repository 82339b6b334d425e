"""The golden samples, and the published shape of each. Source: observed answers, made anonymous."""

import json
from pathlib import Path
from typing import Any

from silverball_wire.arenas import Arena, Location
from silverball_wire.base import Wire
from silverball_wire.federation import WpprEstimate
from silverball_wire.games import Game, GameSummary, Leg
from silverball_wire.occasions import Occasion
from silverball_wire.pages import Data, Page, SimplePage
from silverball_wire.players import Club, Player
from silverball_wire.queues import ArenaQueues, BestGameSummaryRow, FrenzyState
from silverball_wire.ratings import HeadToHead, Rating, RatingBundle, RatingRevision
from silverball_wire.rounds import GameNote, MaxMatchplayState, Round
from silverball_wire.series import Series, SeriesListItem, SeriesStats
from silverball_wire.singleplayer import Card, RecordedGame, SinglePlayerGame
from silverball_wire.standings import (
    ArenaStats,
    ArenaSummary,
    BestGameStats,
    MatchplayStats,
    MatchSummary,
    PlayerArenaSummary,
    PlayerStats,
    RoundStats,
    Standing,
)
from silverball_wire.tournaments import ActivityLog, Tournament
from silverball_wire.users import User, UserBundle

FOLDER = Path(__file__).parent
KNOCKOUTS = tuple(sorted(path.stem for path in (FOLDER / "knockouts").glob("*.json")))


class ObservedComparison(Wire, frozen=True, kw_only=True):
    """A comparison as it was observed; `records` is an array by the interface (interface.md 2, row 3)."""

    ratings: tuple[Rating, ...]
    records: dict[str, tuple[HeadToHead, ...]]


SHAPES: dict[str, Any] = {
    # Never observed; the shape is ours.
    "activity-logs": Page[ActivityLog],
    "arenas-list": Page[Arena],
    "bgsummary": tuple[BestGameSummaryRow, ...],
    "card-single": Data[Card],
    "cards": Page[Card],
    "clubs": Data[Club],
    "events": Data[Occasion],
    "events-list": Page[Occasion],
    "frenzy": FrenzyState,
    # Never observed; the shape is ours.
    "game-corrected": RecordedGame,
    # Never observed; the shape is ours.
    "game-notes": Data[tuple[GameNote, ...]],
    "game-legs": Data[tuple[Leg, ...]],
    "game-single": Data[Game],
    "games-edge-cases": Data[tuple[Game, ...]],
    # The observed list is reduced; ours carries whole games (test_samples).
    "games-global": Page[GameSummary],
    "games-tournament-scoped": Data[tuple[Game, ...]],
    "locations-list": Page[Location],
    "ifpa-rating-history": Page[RatingRevision],
    "max-matchplay": MaxMatchplayState,
    "queues": ArenaQueues,
    "ratings-by-user": RatingBundle,
    "ratings-compare": ObservedComparison,
    "resolve-arenas-scoped": Data[tuple[Arena, ...]],
    "resolve-players-global": Data[tuple[Player, ...]],
    "resolve-players-scoped": Data[tuple[Player, ...]],
    "resolve-users-global": Data[tuple[User, ...]],
    "rounds": Data[tuple[Round, ...]],
    "search-users": Page[User],
    "series": Data[Series],
    "series-list": Page[SeriesListItem],
    "series-stats": SeriesStats,
    "series-stats-attendance": Data[tuple[Player, ...]],
    "single-player-game-single": Data[SinglePlayerGame],
    "single-player-games": Page[SinglePlayerGame],
    "single-player-top-scores": Data[tuple[SinglePlayerGame, ...]],
    "standings": tuple[Standing, ...],
    "standings-edge-cases": tuple[Standing, ...],
    "stats-arenas": tuple[ArenaStats, ...],
    "stats-bestgame": BestGameStats,
    "stats-matchplay": MatchplayStats,
    "stats-players": PlayerStats,
    "stats-rounds": tuple[RoundStats, ...],
    "summary-arenas": Page[ArenaSummary],
    "summary-matches": Page[MatchSummary],
    "summary-player-arenas": Page[PlayerArenaSummary],
    "tournament-series-expansions": Data[Tournament],
    "tournaments-played": SimplePage[Tournament],
    "user": UserBundle,
    "wppr-estimator": WpprEstimate,
}


def sample_names() -> list[str]:
    """Every sample beside this file."""
    return sorted(path.stem for path in (FOLDER / "samples").glob("*.json"))


def sample(name: str) -> bytes:
    """One observed answer."""
    return (FOLDER / "samples" / f"{name}.json").read_bytes()


def knockout(name: str) -> bytes:
    """One whole knockout night, as a bundle."""
    return (FOLDER / "knockouts" / f"{name}.json").read_bytes()


def additions(name: str) -> set[str]:
    """The places where our answer says more than the sample does."""
    listed: dict[str, list[str]] = json.loads((FOLDER / "additions.json").read_text())
    return set(listed.get(name, ()))


def differences(observed: Any, ours: Any, path: str = "") -> dict[str, str]:
    """How two JSON values differ: path -> `added`, `missing` or the two values.

    An added key of an object is the only difference a client does not notice.
    """
    if isinstance(observed, dict) and isinstance(ours, dict):
        found: dict[str, str] = {}
        for key in observed.keys() | ours.keys():
            place = f"{path}.{key}".lstrip(".")
            if key not in observed:
                found[place] = "added"
            elif key not in ours:
                found[place] = "missing"
            else:
                found |= differences(observed[key], ours[key], place)
        return found
    if isinstance(observed, list) and isinstance(ours, list) and len(observed) == len(ours):
        found = {}
        for observed_item, our_item in zip(observed, ours, strict=True):
            found |= differences(observed_item, our_item, f"{path}[]")
        return found
    # True == 1 == 1.0 in Python, but not for clients of typed languages.
    same = type(observed) is type(ours) and observed == ours
    return {} if same else {path: f"{observed!r} became {ours!r}"}
