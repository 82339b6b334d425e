"""Robots that play a tournament of any format to its end, through the public interface alone.

robot = Robot.create(client, plan, dice)
robot.fill(player_ids, arena_ids)
robot.start()
robot.play_out()

Dice are an argument. A robot stores no state of the tournament, so after an interruption another robot
can continue.
"""

import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, Protocol

import msgspec
from msgspec import Struct, field

from silverball import app
from silverball.kit.http.api import Api
from silverball.kit.http.endpoints import Request
from silverball.rules.families.group_stages import AdvancingPlaceTied
from silverball.rules.format import Format, PlayKind, ResultUnit
from silverball.rules.model.refusals import AllRoundsPlayed
from silverball.rules.registry import FORMATS
from silverball.service.core.access import AuthenticatedCaller

SOURCE = "robots"
# No tournament needs more actions; a robot that does is in a loop.
STEPS_MAX = 2000
PAGE_SIZE = 500
SCORES = range(100_000, 90_000_000, 10)
ID_PATTERN = re.compile(r"\d+")
Json = Any


class RequestRefused(Exception):
    """The service answered a robot with another status than success."""

    def __init__(self, status: int, message: str, request: str, code: str = "") -> None:
        super().__init__(f"{request}: {status} {message}")
        self.status = status
        self.message = message
        self.code = code


class RobotClient(Protocol):
    """A robot's connection to the service."""

    def send(self, method: str, path: str, body: Json = None) -> Json:
        """The decoded answer. Raises RequestRefused."""


class InProcessClient(Struct, frozen=True):
    """A client that calls the endpoints of this process directly, without a socket and a rate limit."""

    api: Api
    caller: AuthenticatedCaller

    def send(self, method: str, path: str, body: Json = None) -> Json:
        """The decoded answer. Raises RequestRefused."""
        route, _, query = path.partition("?")
        sent = b"" if body is None else json.dumps(body).encode()
        request = Request(
            method=method, path=route, query=query.encode(), caller=self.caller, body=sent, source=SOURCE
        )
        response = app.answer_request(self.api, request)
        answer = json.loads(response.body)
        if response.status >= 300:
            reason = answer.get("errors") or answer["message"]
            request_text = f"{method} {path} {sent.decode()}"
            raise RequestRefused(response.status, str(reason), request_text, answer.get("code", ""))
        return answer


class Clock(Protocol):
    """The time at which a robot's requests are answered."""

    def now(self) -> datetime: ...


class WallClock:
    """The clock on the wall."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class SteppedClock(Struct):
    """A clock that moves only on request, so that playing takes no time."""

    moment: datetime

    def now(self) -> datetime:
        return self.moment

    def tick(self, seconds: int) -> None:
        self.moment += timedelta(seconds=seconds)


class TournamentPlan(Struct, frozen=True, kw_only=True):
    """The format, size and settings of a tournament."""

    name: str
    type: str
    players: int = 8
    # Settings of the format and other fields of a new tournament, by wire name.
    settings: Mapping[str, Json] = msgspec.field(default_factory=dict)
    # Games per player, for formats without an end of their own.
    games_each: int = 4


class Robot(Struct):
    """The organizer and all players of one tournament."""

    client: RobotClient
    plan: TournamentPlan
    tournament_id: int
    dice: Random
    _pending_actions: list[Callable[[], object]] = field(default_factory=list)

    @classmethod
    def create(cls, client: RobotClient, plan: TournamentPlan, dice: Random) -> "Robot":
        """Create a tournament, and return its robot."""
        body = {"name": plan.name, "type": plan.type, **plan.settings}
        created = client.send("POST", "/api/tournaments", body)["data"]
        return cls(client, plan, created["tournamentId"], dice)

    def add_members(self, player_ids: Sequence[int], arena_ids: Sequence[int]) -> None:
        """Add players and arenas of the book to the tournament."""
        self._send("POST", "/players", {"players": [{"playerId": player_id} for player_id in player_ids]})
        self._send("POST", "/arenas", {"arenas": [{"arenaId": arena_id} for arena_id in arena_ids]})

    def start(self) -> None:
        """Start the tournament, and place its holes or frames on arenas."""
        self._send("POST", "/start")
        if self._format.play is PlayKind.HOLES:
            arena_ids = self._active_members()[1]
            waiting = [each for each in self._send("GET", "/rounds")["data"] if each["arenaId"] is None]
            for round_, arena_id in zip(reversed(waiting), itertools.cycle(arena_ids), strict=False):
                self._send("PATCH", f"/rounds/{round_['roundId']}", {"arenaId": arena_id})

    def play_to_end(self, between: Callable[[], object] = lambda: None) -> None:
        """Play to the end and complete the tournament. `between` is called after each step."""
        for _ in range(STEPS_MAX):
            if not self.step():
                self.complete()
                return
            between()
        raise RuntimeError(f"{self.plan.name} has no end after {STEPS_MAX} steps.")

    def complete(self) -> None:
        self._send("POST", "/complete")

    def step(self) -> bool:
        """Do one sensible action; False when only the completion is left."""
        if not self._pending_actions:
            self._pending_actions = self._actions_waiting()
        if self._pending_actions:
            self._pending_actions.pop()()
            return True
        return self._advance()

    def _send(self, method: str, path: str, body: Json = None) -> Json:
        return self.client.send(method, f"/api/tournaments/{self.tournament_id}{path}", body)

    def _actions_waiting(self) -> list[Callable[[], object]]:
        """Actions that record the missing results, in random order."""
        games = [game for game in self._games() if game["status"] == "started" and not game["bye"]]
        todo: list[Callable[[], object]] = [self._deferred(self.record_game, game) for game in games]
        if self._format.attempts is not None:
            waiting = [game for game in self._single_player_games() if game["status"] != "completed"]
            todo += [self._deferred(self._record_single_player_game, game) for game in waiting]
        self.dice.shuffle(todo)
        return todo

    @staticmethod
    def _deferred(action: Callable[[Json], object], game: Json) -> Callable[[], object]:
        return lambda: action(game)

    def _games(self) -> list[Json]:
        games: list[Json] = self._send("GET", "/games")["data"]
        return games

    def _single_player_games(self) -> list[Json]:
        games: list[Json] = self._send("GET", f"/single-player-games?limit={PAGE_SIZE}")["data"]
        return games

    def record_game(self, game: Json) -> None:
        order = self.dice.sample(game["playerIds"], len(game["playerIds"]))
        self._send("PUT", f"/games/{game['gameId']}/result", {"resultPositions": order})

    def _record_single_player_game(self, game: Json) -> None:
        self._send("PATCH", f"/single-player-games/{game['singlePlayerGameId']}", self._result_body(game))

    def _result_body(self, game: Json) -> dict[str, Json]:
        """A random result of a single player game, in the unit of its format."""
        if self._format.result_unit is ResultUnit.STROKES:
            return {"strokes": self.dice.randint(1, 6)}
        if self._format.result_unit is ResultUnit.ROLLS:
            return {"rolls": self._rolls(is_last=game["index"] == self.plan.settings["golfDuration"] - 1)}
        return {"score": self.dice.choice(SCORES)}

    def _rolls(self, *, is_last: bool) -> list[int]:
        first = self.dice.randint(4, 10)
        if not is_last:
            return [first] if first == 10 else [first, self.dice.randint(0, 10 - first)]
        second = self.dice.randint(0, 10 if first == 10 else 10 - first)
        is_filled = first == 10 or first + second == 10
        left = 10 - second if first == 10 and second < 10 else 10
        return [first, second, *([self.dice.randint(0, left)] if is_filled else [])]

    def _advance(self) -> bool:
        """Continue when no result is missing; False when the tournament is over."""
        form = self._format
        if form.has_match_requests:
            return self._request_next("/max-matchplay/games")
        if form.can_open_rounds and form.free_games is None:
            return self._request_next("/rounds")
        if form.free_games is not None and form.free_games.create is not None and not form.has_clock:
            return self._create_free_game()
        if form.play is PlayKind.SCORES:
            return self._record_next_score()
        # The other formats continue by themselves.
        return False

    @property
    def _format(self) -> Format:
        return FORMATS[self.plan.type]

    def _request_next(self, path: str) -> bool:
        """Request the next round or games; False when the service says that the tournament is over."""
        try:
            self._send("POST", path, {})
        except RequestRefused as refusal:
            if refusal.code == AdvancingPlaceTied.code:
                # The interface names the tied players in its sentence only.
                tied_ids = [int(number) for number in ID_PATTERN.findall(refusal.message)]
                self._send("POST", "/tiebreaks", {"playerIds": tied_ids})
                return True
            if refusal.code == AllRoundsPlayed.code:
                return False
            raise
        return True

    def _create_free_game(self) -> bool:
        """Create a game of the players with the fewest games; False when all have played enough."""
        player_ids, arena_ids = self._active_members()
        played = Counter(player_id for game in self._games() for player_id in game["playerIds"])
        if min(played[player_id] for player_id in player_ids) >= self.plan.games_each:
            return False
        self.dice.shuffle(player_ids)
        chosen = sorted(player_ids, key=lambda player_id: played[player_id])[: self.dice.randint(2, 4)]
        self._send("POST", "/games", {"playerIds": chosen, "arenaId": self.dice.choice(arena_ids)})
        return True

    def _record_next_score(self) -> bool:
        """Record a score of the player with the fewest; False when all have enough."""
        player_ids, arena_ids = self._active_members()
        attempts = self._single_player_games()
        played = Counter(attempt["playerId"] for attempt in attempts)
        candidates = [(played[candidate], self.dice.random(), candidate) for candidate in player_ids]
        count, _, player_id = min(candidates)
        if count >= self.plan.games_each:
            return False
        plays = Counter(attempt["arenaId"] for attempt in attempts if attempt["playerId"] == player_id)
        self.dice.shuffle(arena_ids)
        arena_id = min(arena_ids, key=lambda candidate: plays[candidate])
        score = self.dice.choice(SCORES)
        self._send(
            "POST", "/single-player-games", {"playerId": player_id, "arenaId": arena_id, "score": score}
        )
        return True

    def has_queues(self) -> bool:
        """Whether players wait for a machine."""
        return bool(self._send("GET", "/queues")["data"])

    def queue_up(self, sizes: Sequence[int]) -> None:
        """Queue this many players for each of the first machines, and start the very first player."""
        player_ids, arena_ids = self._active_members()
        waiting = iter(self.dice.sample(player_ids, sum(sizes)))
        first: int | None = None
        for arena_id, size in zip(arena_ids, sizes, strict=False):
            for _ in range(size):
                body = {"playerId": next(waiting), "arenaId": arena_id}
                queue_id = self._send("POST", "/queues", body)["data"]["queueId"]
                first = first or queue_id
        self._send("POST", f"/queues/{first}/start", {})

    def _active_members(self) -> tuple[list[int], list[int]]:
        """Ids of the active players and arenas."""
        tournament = self._send("GET", "?includePlayers=true&includeArenas=true")["data"]
        players = [each["playerId"] for each in tournament["players"] if _is_active(each, "tournamentPlayer")]
        arenas = [each["arenaId"] for each in tournament["arenas"] if _is_active(each, "tournamentArena")]
        return players, arenas


def _is_active(item: Json, part: str) -> bool:
    return bool(item[part]["status"] == "active")
