"""A tournament as it was read, compared with how it is now: for services whose events have no numbers."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from silverball_client.errors import Refused
from silverball_client.events import Event, Payload
from silverball_client.exchange import Session, Steps
from silverball_client.operations.tournaments import TournamentsResource
from silverball_wire.events import (
    ArenasAdded,
    ArenasChanged,
    GamesDeleted,
    PlayersAdded,
    PlayersChanged,
    RoundsDeleted,
    SinglePlayerGamesDeleted,
)
from silverball_wire.games import Game
from silverball_wire.rounds import Round
from silverball_wire.singleplayer import SinglePlayerGame
from silverball_wire.tournaments import Tournament

# In place of a player or an arena that an event has named without saying how it is now.
ANNOUNCED = None
# These are announced by the change that moves them: `user_ids` of games follow from the claims of players.
SILENT_FIELDS = frozenset({"updated_at", "players", "arenas", "user_ids"})


@dataclass
class Snapshot:
    """What is known of a tournament, by id."""

    tournament: Tournament
    players: dict[int, Any] = field(default_factory=dict)
    arenas: dict[int, Any] = field(default_factory=dict)
    rounds: dict[int, Any] = field(default_factory=dict)
    games: dict[int, Any] = field(default_factory=dict)
    single_player_games: dict[int, Any] = field(default_factory=dict)

    def take(self, data: Payload) -> None:
        """Take what an event has said."""
        match data:
            case Tournament():
                self.tournament = data
            case Game():
                self.games[data.game_id] = data
            case Round():
                self.rounds[data.round_id] = data
            case SinglePlayerGame():
                self.single_player_games[data.single_player_game_id] = data
            case GamesDeleted():
                _drop(self.games, data.game_ids)
            case RoundsDeleted():
                _drop(self.rounds, data.round_ids)
            case SinglePlayerGamesDeleted():
                _drop(self.single_player_games, data.single_player_game_ids)
            case PlayersAdded() | PlayersChanged():
                self.players.update(dict.fromkeys(data.player_ids, ANNOUNCED))
            case ArenasAdded() | ArenasChanged():
                self.arenas.update(dict.fromkeys(data.arena_ids, ANNOUNCED))
            case _:
                pass

    def changes_to(self, current: "Snapshot", tournament_id: int) -> Iterator[Event]:
        """Return the events that lead from here to the other snapshot, in the order of the feed."""
        if not is_same(self.tournament, current.tournament):
            yield _event("TournamentUpdated", current.tournament)
        players = (self.players, current.players, PlayersAdded, PlayersChanged, "player_ids")
        arenas = (self.arenas, current.arenas, ArenasAdded, ArenasChanged, "arena_ids")
        for before, after, added, changed, ids in (players, arenas):
            yield from _roster_changes(before, after, tournament_id, added, changed, ids)
        games = ("Game", self.games, current.games, GamesDeleted, "game_ids")
        single = ("SinglePlayerGame", self.single_player_games, current.single_player_games)
        single_deleted = (SinglePlayerGamesDeleted, "single_player_game_ids")
        rounds = ("Round", self.rounds, current.rounds, RoundsDeleted, "round_ids")
        for name, before, after, deleted, ids in (games, (*single, *single_deleted), rounds):
            gone = tuple(sorted(before.keys() - after.keys()))
            if gone:
                yield _ids_event(deleted, tournament_id, ids, gone)
            for key in sorted(after):
                if key not in before or not is_same(before[key], after[key]):
                    yield _event(f"{name}CreatedOrUpdated", after[key])


def _roster_changes(
    before: Mapping[int, Struct | None],
    after: Mapping[int, Struct],
    tournament_id: int,
    added_kind: Callable[..., Any],
    changed_kind: Callable[..., Any],
    ids: str,
) -> Iterator[Event]:
    added = tuple(sorted(after.keys() - before.keys()))
    known = {key: item for key, item in before.items() if item is not ANNOUNCED}
    gone = known.keys() - after.keys()
    differing = {key for key in known.keys() & after.keys() if not is_same(known[key], after[key])}
    if added:
        yield _ids_event(added_kind, tournament_id, ids, added)
    if gone or differing:
        yield _ids_event(changed_kind, tournament_id, ids, tuple(sorted(gone | differing)))


def _ids_event(kind: Callable[..., Any], tournament_id: int, ids: str, values: tuple[int, ...]) -> Event:
    data = kind(tournament_id=tournament_id, **{ids: values})
    return _event(type(data).__name__, data)


def _event(name: str, data: Any) -> Event:
    return Event(name=name, data=data, json=msgspec.json.encode(data).decode())


def _drop(known: dict[int, Any], keys: tuple[int, ...]) -> None:
    for key in keys:
        known.pop(key, None)


def is_same(before: Struct, after: Struct) -> bool:
    """Whether two answers agree in all that both of them have: lists leave out parts that events have."""
    return type(before) is type(after) and all(
        name in SILENT_FIELDS
        or UNSET in (old := getattr(before, name), new := getattr(after, name))
        or old == new
        for name in before.__struct_fields__
    )


def snapshot_steps(session: Session, tournament_id: int) -> Steps[Snapshot]:
    """Read the tournament with its players, arenas, rounds and games."""
    resource = TournamentsResource
    read = resource.get.describe(None, tournament_id, include_players=True, include_arenas=True)
    tournament = yield from session.steps(read)
    rounds = yield from session.steps(resource.rounds.describe(None, tournament_id))
    games = yield from session.steps(resource.games.describe(None, tournament_id))
    single = yield from _single_player_games(session, tournament_id)
    return Snapshot(
        tournament=tournament,
        players={player.player_id: player for player in tournament.players or ()},
        arenas={arena.arena_id: arena for arena in tournament.arenas or ()},
        rounds={each.round_id: each for each in rounds},
        games={game.game_id: game for game in games},
        single_player_games={game.single_player_game_id: game for game in single},
    )


def _single_player_games(session: Session, tournament_id: int) -> Steps[list[SinglePlayerGame]]:
    found: list[SinglePlayerGame] = []
    request = TournamentsResource.single_player_games.describe(None, tournament_id)
    page, has_next = 1, True
    while has_next:
        try:
            read = yield from session.page_steps(request, page)
        except Refused:
            # The format has none.
            return []
        found += read.items
        page, has_next = page + 1, read.has_next
    return found
