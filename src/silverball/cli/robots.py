"""Robots that play a tournament of any format to its end, through the public interface and nothing else.

robot = Robot.create(client, plan, dice)
robot.fill(player_ids, arena_ids)
robot.start()
robot.play_out()

Dice are an argument. What a robot knows it has asked for: it may be stopped at any moment, and another
one goes on where it was.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any, Protocol

from silverball import app
from silverball.kit.http.api import Api
from silverball.kit.http.endpoints import Request
from silverball.service.access import AuthenticatedCaller

SOURCE = "robots"
# Nobody's night needs more actions; a robot that does goes in circles.
STEPS_MAX = 2000
PAGE_SIZE = 500
SCORES = range(100_000, 90_000_000, 10)
ROUNDS_ARE_OPENED = frozenset(
    {
        "knockout",
        "group_knockout",
        "matchplay",
        "group_matchplay",
        "pace_matchplay",
        "target",
        "group_bracket",
        "golf_bracket",
    }
)
SINGLE_PLAYER = frozenset({"golf", "golf_bracket", "best_game", "card_best_game", "bowling", "amazingrace"})
TIED_PATTERN = re.compile(r"Players ([\d, ]+) are tied")
Json = Any


class RequestRefused(Exception):
    """The service answered a robot with another status than success."""

    def __init__(self, status: int, message: str, asked: str) -> None:
        super().__init__(f"{asked}: {status} {message}")
        self.status = status
        self.message = message


class RobotClient(Protocol):
    """Whoever brings a robot's requests to the service."""

    def send(self, method: str, path: str, body: Json = None) -> Json:
        """The decoded answer. Raises Refused."""


@dataclass(frozen=True)
class InProcessClient:
    """Requests of one caller to the endpoints of this process, without a socket and without an allowance."""

    api: Api
    caller: AuthenticatedCaller

    def send(self, method: str, path: str, body: Json = None) -> Json:
        """The decoded answer. Raises Refused."""
        route, _, query = path.partition("?")
        sent = b"" if body is None else json.dumps(body).encode()
        request = Request(
            method=method, path=route, query=query.encode(), caller=self.caller, body=sent, source=SOURCE
        )
        got = app.answer_request(self.api, request)
        answer = json.loads(got.body)
        if got.status >= 300:
            said = answer.get("errors") or answer["message"]
            raise RequestRefused(got.status, str(said), f"{method} {path} {sent.decode()}")
        return answer


@dataclass
class SteppedClock:
    """A clock that only moves when it is told to; what plays by it takes no time."""

    moment: datetime

    def now(self) -> datetime:
        return self.moment

    def tick(self, seconds: int) -> None:
        self.moment += timedelta(seconds=seconds)


@dataclass(frozen=True, kw_only=True)
class TournamentPlan:
    """What a tournament is to be."""

    name: str
    type: str
    players: int = 8
    # Settings of the format by wire name, and whatever else a new tournament takes.
    settings: Mapping[str, Json] = field(default_factory=dict)
    # What players make of a night that has no end of its own: games of each player.
    games_each: int = 4


@dataclass
class Robot:
    """The organizer of one tournament, and everybody who plays in it."""

    client: RobotClient
    plan: TournamentPlan
    tournament_id: int
    dice: Random
    _pending_actions: list[Callable[[], object]] = field(default_factory=list)

    @classmethod
    def create(cls, client: RobotClient, plan: TournamentPlan, dice: Random) -> "Robot":
        """A robot with a new tournament."""
        body = {"name": plan.name, "type": plan.type, **plan.settings}
        made = client.send("POST", "/api/tournaments", body)["data"]
        return cls(client, plan, made["tournamentId"], dice)

    def add_members(self, player_ids: Sequence[int], arena_ids: Sequence[int]) -> None:
        """Players and arenas of the book take part."""
        self._send("POST", "/players", {"players": [{"playerId": one} for one in player_ids]})
        self._send("POST", "/arenas", {"arenas": [{"arenaId": one} for one in arena_ids]})

    def start(self) -> None:
        self._send("POST", "/start")

    def play_to_end(self, between: Callable[[], object] = lambda: None) -> None:
        """Every step to the end, and the tournament completed. `between` is called after each step."""
        for _ in range(STEPS_MAX):
            if not self.step():
                self.complete()
                return
            between()
        raise RuntimeError(f"{self.plan.name} has no end after {STEPS_MAX} steps.")

    def complete(self) -> None:
        self._send("POST", "/complete")

    def step(self) -> bool:
        """One sensible action; False when there is nothing left to do but to complete the tournament."""
        if not self._pending_actions:
            self._pending_actions = self._actions_waiting()
        if self._pending_actions:
            self._pending_actions.pop()()
            return True
        return self._advance()

    def _send(self, method: str, path: str, body: Json = None) -> Json:
        return self.client.send(method, f"/api/tournaments/{self.tournament_id}{path}", body)

    def _actions_waiting(self) -> list[Callable[[], object]]:
        """What waits for a result, in any order."""
        games = [one for one in self._games() if one["status"] == "started" and not one["bye"]]
        todo: list[Callable[[], object]] = [self._deferred(self._record_game, one) for one in games]
        if self.plan.type in SINGLE_PLAYER:
            waiting = [one for one in self._single_player_games() if one["status"] != "completed"]
            todo += [self._deferred(self._record_single_player_game, one) for one in waiting]
        self.dice.shuffle(todo)
        return todo

    @staticmethod
    def _deferred(act: Callable[[Json], object], thing: Json) -> Callable[[], object]:
        return lambda: act(thing)

    def _games(self) -> list[Json]:
        found: list[Json] = self._send("GET", "/games")["data"]
        return found

    def _single_player_games(self) -> list[Json]:
        found: list[Json] = self._send("GET", f"/single-player-games?limit={PAGE_SIZE}")["data"]
        return found

    def _record_game(self, game: Json) -> None:
        order = self.dice.sample(game["playerIds"], len(game["playerIds"]))
        self._send("PUT", f"/games/{game['gameId']}/result", {"resultPositions": order})

    def _record_single_player_game(self, one: Json) -> None:
        said = self._result_body(one)
        self._send("PATCH", f"/single-player-games/{one['singlePlayerGameId']}", said)

    def _result_body(self, one: Json) -> dict[str, Json]:
        """What happened in a single player game, in the words of its format."""
        if self.plan.type in {"golf", "golf_bracket"}:
            return {"strokes": self.dice.randint(1, 6)}
        if self.plan.type == "bowling":
            return {"rolls": self._rolls(is_last=one["index"] == self.plan.settings["golfDuration"] - 1)}
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
        """What comes when nothing waits for a result."""
        if self.plan.type in ROUNDS_ARE_OPENED:
            return self._request_next("/rounds")
        if self.plan.type == "max_matchplay":
            return self._request_next("/max-matchplay/games")
        if self.plan.type == "manual_matchplay":
            return self._create_free_game()
        if self.plan.type in {"best_game", "card_best_game"}:
            return self._record_next_score()
        # The other formats go on by themselves.
        return False

    def _request_next(self, path: str) -> bool:
        """Ask for what comes next; False when the service says that the tournament is over."""
        try:
            self._send("POST", path, {})
        except RequestRefused as refusal:
            tied = TIED_PATTERN.search(refusal.message)
            if tied is not None:
                self._send("POST", "/tiebreaks", {"playerIds": [int(one) for one in tied[1].split(",")]})
                return True
            if refusal.status == 409 and "is over" in refusal.message:
                return False
            raise
        return True

    def _create_free_game(self) -> bool:
        """A game of those who have played least; False when all have played enough."""
        player_ids, arena_ids = self._active_members()
        played = Counter(one for game in self._games() for one in game["playerIds"])
        if min(played[one] for one in player_ids) >= self.plan.games_each:
            return False
        self.dice.shuffle(player_ids)
        chosen = sorted(player_ids, key=lambda one: played[one])[: self.dice.randint(2, 4)]
        self._send("POST", "/games", {"playerIds": chosen, "arenaId": self.dice.choice(arena_ids)})
        return True

    def _record_next_score(self) -> bool:
        """A score of whoever has fewest, on an arena he has played least; False when all have enough."""
        player_ids, arena_ids = self._active_members()
        attempts = self._single_player_games()
        played = Counter(one["playerId"] for one in attempts)
        wanted = [(played[one], self.dice.random(), one) for one in player_ids]
        count, _, player_id = min(wanted)
        if count >= self.plan.games_each:
            return False
        seen = Counter(one["arenaId"] for one in attempts if one["playerId"] == player_id)
        self.dice.shuffle(arena_ids)
        arena_id = min(arena_ids, key=lambda one: seen[one])
        score = self.dice.choice(SCORES)
        self._send(
            "POST", "/single-player-games", {"playerId": player_id, "arenaId": arena_id, "score": score}
        )
        return True

    def has_queues(self) -> bool:
        """Whether anybody waits for a machine."""
        return bool(self._send("GET", "/queues")["data"])

    def queue_up(self, sizes: Sequence[int]) -> None:
        """So many players wait for the first machines; whoever came first begins to play."""
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
        shown = self._send("GET", "?includePlayers=true&includeArenas=true")["data"]
        players = [one["playerId"] for one in shown["players"] if _is_active(one, "tournamentPlayer")]
        arenas = [one["arenaId"] for one in shown["arenas"] if _is_active(one, "tournamentArena")]
        return players, arenas


def _is_active(one: Json, part: str) -> bool:
    return bool(one[part]["status"] == "active")
