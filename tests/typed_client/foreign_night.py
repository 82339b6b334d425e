"""A tournament of a service whose events have no numbers, as its answers; and following it to a point."""

import asyncio
import contextlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from golden.shapes import sample
from silverball_client import AsyncClient, Client, Quiet
from typed_client.scripted_service import Answer, answer, json_answer

TOURNAMENT_ID = 1
SECONDS_MAX = 60.0


def of_sample(name: str, /, **fields: Any) -> dict[str, Any]:
    """The first item of a golden sample, with other fields."""
    data = json.loads(sample(name))["data"]
    first: dict[str, Any] = data[0] if isinstance(data, list) else data
    return {**first, **fields}


def a_game(game_id: int, status: str = "started") -> dict[str, Any]:
    return of_sample("game-single", gameId=game_id, tournamentId=TOURNAMENT_ID, status=status)


def a_round(round_id: int, status: str = "started") -> dict[str, Any]:
    return of_sample("rounds", roundId=round_id, tournamentId=TOURNAMENT_ID, status=status)


def a_player(player_id: int, **fields: Any) -> dict[str, Any]:
    return of_sample("resolve-players-scoped", playerId=player_id, **fields)


def an_arena(arena_id: int, **fields: Any) -> dict[str, Any]:
    return of_sample("resolve-arenas-scoped", arenaId=arena_id, **fields)


def an_attempt(attempt_id: int, score: int) -> dict[str, Any]:
    own = {"singlePlayerGameId": attempt_id, "tournamentId": TOURNAMENT_ID, "score": score}
    return of_sample("single-player-game-single", **own)


@dataclass
class ForeignNight:
    """What the service knows now; `publish` brings its answers up to date."""

    name: str = "Thursday"
    players: list[dict[str, Any]] = field(default_factory=list)
    arenas: list[dict[str, Any]] = field(default_factory=list)
    rounds: list[dict[str, Any]] = field(default_factory=list)
    games: list[dict[str, Any]] = field(default_factory=list)
    attempts: list[dict[str, Any]] = field(default_factory=list)
    answers: dict[str, list[Answer]] = field(default_factory=dict)

    def publish(self) -> None:
        own = {"tournamentId": TOURNAMENT_ID, "name": self.name, "updatedAt": str(time.monotonic())}
        tournament = of_sample("tournament-series-expansions", **own)
        tournament |= {"players": self.players, "arenas": self.arenas}
        path = f"/api/tournaments/{TOURNAMENT_ID}"
        # A route of ours only; their refusals have no codes.
        self.answers[f"{path}/events"] = [answer(404, b'{"message": "Not found."}')]
        parts = {
            path: tournament,
            f"{path}/rounds": self.rounds,
            f"{path}/games": self.games,
            f"{path}/single-player-games": self.attempts,
        }
        self.answers.update({place: [json_answer({"data": data})] for place, data in parts.items()})


def follow_until(
    kind: str, base_url: str, is_enough: Callable[[list[Any]], bool], **options: Any
) -> list[Any]:
    """All that following brings, but quiet seconds, until it is enough. Raises AssertionError after long."""
    items: list[Any] = []
    until = time.monotonic() + SECONDS_MAX

    def take(item: Any) -> bool:
        if not isinstance(item, Quiet):
            items.append(item)
        assert time.monotonic() < until, items
        return is_enough(items)

    async def follow() -> None:
        async with (
            AsyncClient(base_url, **options) as client,
            contextlib.aclosing(client.follow_states(TOURNAMENT_ID)) as states,
        ):
            async for item in states:
                if take(item):
                    return

    if kind == "awaited":
        asyncio.run(follow())
        return items
    with Client(base_url, **options) as client:
        for item in client.follow_states(TOURNAMENT_ID):
            if take(item):
                break
    return items
