"""One room for several tournaments: who and what is busy in another one, and whose turn comes first.

The tournaments of an occasion share machines and people. Each sees the games of the others as facts, and
holds or calls its own games only. A game that waits keeps its place in one line of all tournaments, by the
time since when it waits: whoever came later takes nothing that an earlier game waits for. So the first in
line waits for games in play alone, and nobody starves. Source: pages, section 2.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType

from silverball.kit.errors import Conflict
from silverball.kit.values import replace
from silverball.rules.model.changes import Change, GameChanged, PlayersCalled, tournament_changes
from silverball.rules.model.tournament import Game, Tournament

# A player of the book, an account or an arena: its kind and id.
Resource: TypeAlias = tuple[str, int]
# Since when a game waits, its tournament and its id: who is smaller comes first.
Turn: TypeAlias = tuple[datetime, int, int]
PLAYER, USER, ARENA = "player", "user", "arena"


class PlayerBusyElsewhere(Conflict):
    sentence = "{player} plays in another tournament of this room. Wait until that game is over."


class ArenaBusyElsewhere(Conflict):
    sentence = "{arena} is in use in another tournament of this room. Wait until it is free."


class RoomGame(Struct, frozen=True, kw_only=True):
    """A game that is played now, or waits until its players and its machine are free."""

    tournament_id: int
    player_ids: tuple[int, ...]
    arena_id: int | None
    resources: frozenset[Resource]
    # The game of two or more; None for a single player game, which has an id of its own.
    game: Game | None = None
    attempt_id: int | None = None
    # None while it is played.
    turn: Turn | None = None


class BusyElsewhere(Struct, frozen=True, kw_only=True):
    """The needs of the other tournaments of the room: resource -> games there, those in play first."""

    games: dict[Resource, list[RoomGame]] = msgspec.field(default_factory=dict)

    def at(self, resources: frozenset[Resource]) -> Iterator[RoomGame]:
        """The games elsewhere that need one of these."""
        for resource in sorted(resources & self.games.keys()):
            yield from self.games[resource]


def room_games(tournament: Tournament) -> list[RoomGame]:
    """The games of a tournament that need players and machines now, in the order of play.

    Of several open games of a group or a player it is the first one. A game on a machine out of order
    needs nobody until it goes on. Started single player games count outside of rounds, where they are
    begun one by one.
    """
    if tournament.status != "started":
        return []
    accounts = {entrant.player_id: entrant.user_id for entrant in tournament.entrants}
    in_service = {arena.arena_id for arena in tournament.lineup if arena.is_active}
    found: list[RoomGame] = []
    seated: set[int] = set()
    for game in sorted(tournament.open_games, key=_order_of_play):
        if game.is_bye or seated.intersection(game.player_ids):
            continue
        seated.update(game.player_ids)
        turn = None
        if not isinstance(game.waiting_since, UnsetType):
            if game.arena_id is not None and game.arena_id not in in_service:
                continue
            turn = (game.waiting_since, tournament.tournament_id, game.game_id)
        found.append(_room_game(tournament, game.player_ids, game.arena_id, accounts, game, turn))
    alone = [attempt for attempt in tournament.started_attempts if attempt.round_id is None]
    return found + [
        replace(
            _room_game(tournament, (attempt.player_id,), attempt.arena_id, accounts),
            attempt_id=attempt.single_player_game_id,
        )
        for attempt in alone
    ]


def _order_of_play(game: Game) -> tuple[bool, int, int]:
    return game.is_tiebreak, game.game_index or 0, game.game_id


def _room_game(
    tournament: Tournament,
    player_ids: tuple[int, ...],
    arena_id: int | None,
    accounts: dict[int, int | None],
    game: Game | None = None,
    turn: Turn | None = None,
) -> RoomGame:
    resources = {(PLAYER, player_id) for player_id in player_ids}
    resources |= {(USER, user_id) for player_id in player_ids if (user_id := accounts.get(player_id))}
    if arena_id is not None:
        resources.add((ARENA, arena_id))
    return RoomGame(
        tournament_id=tournament.tournament_id,
        player_ids=player_ids,
        arena_id=arena_id,
        resources=frozenset(resources),
        game=game,
        turn=turn,
    )


def busy_elsewhere(others: Sequence[Tournament]) -> BusyElsewhere:
    """The players and machines that the games of these tournaments need now."""
    games = [game for tournament in others for game in room_games(tournament)]
    found: dict[Resource, list[RoomGame]] = {}
    for game in sorted(games, key=lambda game: game.turn is not None):
        for resource in game.resources:
            found.setdefault(resource, []).append(game)
    return BusyElsewhere(games=found)


def busy_players(tournament: Tournament, elsewhere: BusyElsewhere) -> dict[int, RoomGame]:
    """Entrant -> the game elsewhere that they play, or wait for; the same player or the same account."""
    found = {}
    for entrant in tournament.entrants:
        resources: set[Resource] = {(PLAYER, entrant.player_id)}
        if entrant.user_id is not None:
            resources.add((USER, entrant.user_id))
        game = next(elsewhere.at(frozenset(resources)), None)
        if game is not None:
            found[entrant.player_id] = game
    return found


def busy_arenas(tournament: Tournament, elsewhere: BusyElsewhere) -> dict[int, RoomGame]:
    """Arena of the lineup -> the game elsewhere that is on it, or waits for it."""
    found = {}
    for arena in tournament.lineup:
        game = next(elsewhere.at(frozenset({(ARENA, arena.arena_id)})), None)
        if game is not None:
            found[arena.arena_id] = game
    return found


def with_busy_elsewhere(tournament: Tournament, elsewhere: BusyElsewhere) -> Tournament:
    """The tournament as its draws see it: with who and what is busy in the others."""
    players, arenas = busy_players(tournament, elsewhere), busy_arenas(tournament, elsewhere)
    state = replace(
        tournament.state,
        players_elsewhere=tuple(sorted(players)) or UNSET,
        arenas_elsewhere=tuple(sorted(arenas)) or UNSET,
    )
    return tournament if state == tournament.state else replace(tournament, state=state)


def is_held_up(own: RoomGame, turn: Turn, elsewhere: BusyElsewhere) -> bool:
    """Whether a game has to wait: for one in play elsewhere, or for one that has waited longer."""
    return any(other.turn is None or other.turn < turn for other in elsewhere.at(own.resources))


def settle_room(
    before: Tournament | None, after: Tournament, elsewhere: BusyElsewhere, now: datetime
) -> list[Change]:
    """Let games wait that came up by a change and cannot begin, and call those that can, longest first.

    Takes the tournament before and after the change; None where nothing changed in it. What was in play
    before goes on, and what waited keeps its turn. A single player game does not wait: raises Conflict when
    one begins whose player or machine is busy elsewhere.
    """
    earlier = [] if before is None else room_games(before)
    in_play = {_identity(game) for game in earlier if game.turn is None}
    turns = {game.turn[2]: game.turn[0] for game in earlier if game.turn is not None}
    held: list[Change] = []
    called: list[tuple[Turn, Game]] = []
    for own in room_games(after):
        game = own.game
        if game is None:
            if before is not None and _identity(own) not in in_play:
                _require_free_elsewhere(own, elsewhere)
            continue
        if own.turn is not None:
            if not is_held_up(own, own.turn, elsewhere):
                called.append((own.turn, game))
        elif before is not None and _identity(own) not in in_play:
            since = turns.get(game.game_id, now)
            if is_held_up(own, (since, after.tournament_id, game.game_id), elsewhere):
                held.append(GameChanged(game, replace(game, waiting_since=since)))
    return [*held, *_calls(after, [game for _, game in sorted(called, key=lambda due: due[0])], now)]


def _identity(own: RoomGame) -> tuple[int | None, int | None, frozenset[Resource]]:
    return (None if own.game is None else own.game.game_id), own.attempt_id, own.resources


def _require_free_elsewhere(own: RoomGame, elsewhere: BusyElsewhere) -> None:
    """Refuse a single player game whose player or machine is busy in another tournament."""
    for other in elsewhere.at(own.resources):
        if own.arena_id is not None and other.arena_id == own.arena_id:
            raise ArenaBusyElsewhere(arena=own.arena_id)
        raise PlayerBusyElsewhere(player=own.player_ids[0])


def _calls(tournament: Tournament, games: Sequence[Game], now: datetime) -> list[Change]:
    """The clocks of these games go on, and their players are called."""
    if not games:
        return []
    open_ids = {game.game_id for game in tournament.open_games}
    calls = {game_id: at for game_id, at in tournament.state.calls.items() if game_id in open_ids}
    state = replace(tournament.state, calls={**calls, **{game.game_id: now for game in games}})
    resumed: list[Change] = [GameChanged(game, clock_resumed(game, now)) for game in games]
    return [*resumed, *tournament_changes(PlayersCalled, tournament, state=state)]


def clock_resumed(game: Game, now: datetime) -> Game:
    """The game with its clock going on: it began later, by as long as it stood."""
    if isinstance(game.waiting_since, UnsetType):
        return game
    stood = max(now - game.waiting_since, timedelta())
    started_at = None if game.started_at is None else game.started_at + stood
    return replace(game, started_at=started_at, waiting_since=UNSET)


def waits_for(own: RoomGame, elsewhere: BusyElsewhere) -> RoomGame | None:
    """The game elsewhere that a waiting game waits for; None when it may begin."""
    if own.turn is None:
        return None
    turn = own.turn
    return next(
        (other for other in elsewhere.at(own.resources) if other.turn is None or other.turn < turn), None
    )
