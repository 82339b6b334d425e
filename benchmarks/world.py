"""The tournament that is measured: 60 players, 9 rounds in groups of four, 135 games, with standings.

Everything is invented and drawn from a fixed seed, in the published wire shape.
"""

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

TOURNAMENT_ID = 501
PLAYERS = 60
ROUNDS = 9
START = datetime(2026, 2, 6, 19, 0, tzinfo=UTC)
POINTS = ("7.00", "5.00", "3.00", "1.00")
ORGANIZER_ID = 9001
ORGANIZER = {
    "userId": ORGANIZER_ID,
    "name": "Odd Kicker",
    "ifpaId": None,
    "role": "organizer",
    "flag": "",
    "location": "",
    "pronouns": "",
    "initials": "",
    "avatar": None,
    "banner": None,
    "tournamentAvatar": None,
    "createdAt": "2020-01-01T00:00:00.000000Z",
}


def _iso(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000000Z")


def bundle() -> dict[str, Any]:
    """The whole night as `silverball import bundle` reads it."""
    dice = Random(60)
    rounds, games = [], []
    players = [10_000 + n for n in range(PLAYERS)]
    arenas = [20_000 + n for n in range(24)]
    for index in range(ROUNDS):
        begun = START + timedelta(minutes=25 * index)
        rounds.append(_round(index, begun))
        dice.shuffle(players)
        machines = dice.sample(arenas, PLAYERS // 4)
        games += [
            _game(dice, index, group, players[group * 4 : group * 4 + 4], machines[group], begun)
            for group in range(PLAYERS // 4)
        ]
    return {
        "tournament": _tournament(sorted(players), arenas),
        "rounds": rounds,
        "games": games,
        "standings": _standings(sorted(players), games),
    }


def _round(index: int, begun: datetime) -> dict[str, Any]:
    return {
        "roundId": 30_000 + index,
        "tournamentId": TOURNAMENT_ID,
        "arenaId": None,
        "score": None,
        "index": index,
        "name": f"Round {index + 1}",
        "status": "completed",
        "duration": 1440,
        "createdAt": begun.strftime("%Y-%m-%d %H:%M:%SZ"),
        "completedAt": (begun + timedelta(minutes=24)).strftime("%Y-%m-%d %H:%M:%SZ"),
        "size": None,
        "description": None,
    }


def _game(
    dice: Random, index: int, group: int, players: list[int], arena_id: int, begun: datetime
) -> dict[str, Any]:
    finish = dice.sample(players, len(players))
    return {
        "gameId": 40_000 + index * 100 + group,
        "roundId": 30_000 + index,
        "tournamentId": TOURNAMENT_ID,
        "arenaId": arena_id,
        "bankId": None,
        "index": 0,
        "set": group,
        "playerIdAdvantage": None,
        "scorekeeperId": ORGANIZER_ID,
        "status": "completed",
        "startedAt": _iso(begun),
        "duration": dice.randint(400, 1400),
        "bye": False,
        "playerIds": players,
        "userIds": [None] * len(players),
        "resultPositions": finish,
        "resultPoints": [POINTS[finish.index(player)] for player in players],
        "resultScores": [None] * len(players),
    }


def _standings(players: list[int], games: list[dict[str, Any]]) -> list[dict[str, Any]]:
    totals = {
        player: sum(
            int(float(points))
            for game in games
            for player_id, points in zip(game["playerIds"], game["resultPoints"], strict=True)
            if player_id == player
        )
        for player in players
    }
    ordered = sorted(players, key=lambda player: (-totals[player], player))
    return [
        {
            "playerId": player,
            "position": 1 + sum(total > totals[player] for total in totals.values()),
            "points": f"{totals[player]}.00",
            "pointsWithTiebreaker": None,
            "gamesPlayed": ROUNDS,
            "entriesPlayed": 0,
            "entriesAvailable": 0,
            "strikeCount": 0,
            "cardsCounted": None,
            "adjustment": 0,
            "frenzyWins": None,
            "frenzyLosses": None,
            "pointsList": None,
            "tiebreakers": [f"{totals[player]}.00"],
            "activeGames": [],
            "activeGameColor": None,
            "onPaceBubble": None,
            "onCutoffBubble": None,
            "cutoffBubbleColor": None,
            "onCutoffBubble2": None,
            "manualTiebreakerGroup": None,
        }
        for player in ordered
    ]


def _tournament(players: list[int], arenas: list[int]) -> dict[str, Any]:
    return {
        "tournamentId": TOURNAMENT_ID,
        "name": "Sixty at the Silver Hall",
        "status": "completed",
        "type": "group_matchplay",
        "startUtc": _iso(START),
        "startLocal": "2026-02-06 20:00:00",
        "endUtc": _iso(START),
        "endLocal": "2026-02-06 20:00:00",
        "completedAt": _iso(START + timedelta(hours=4)),
        "createdAt": "2026-01-20 10:00:00",
        "updatedAt": "2026-02-06 23:00:00",
        "organizerId": ORGANIZER_ID,
        "locationId": None,
        "seriesId": None,
        "description": "Nine rounds in groups of four.",
        "pointsMap": [[7], [7, 1], [7, 4, 1], [7, 5, 3, 1]],
        "tiebreakerPointsMap": [
            ["0.50"],
            ["0.50", "0.00"],
            ["0.50", "0.25", "0.00"],
            ["0.50", "0.25", "0.12", "0.00"],
        ],
        "pointsMapCustom": None,
        "primaryConfigSettings": [],
        "prizePool": None,
        "motdText": None,
        "motdColor": None,
        "motdExpiration": None,
        "managers": [],
        "test": False,
        "timezone": "Europe/Stockholm",
        "scorekeeping": "user",
        "link": None,
        "linkedTournamentId": None,
        "estimatedTgp": None,
        "organizer": ORGANIZER,
        "seeding": "random",
        "firstRoundPairing": "random",
        "pairing": "balanced",
        "playerOrder": "balanced",
        "playerOrderOpen": "scorekeepers",
        "arenaAssignment": "balanced",
        "suggestions": "disabled",
        "duration": ROUNDS,
        "gamesPerRound": 1,
        "tiebreaker": "disabled",
        "scoring": "ifpa",
        "playoffsCutoffs": [],
        "players": [_player(player) for player in players],
        "arenas": [_arena(arena) for arena in arenas],
    }


def _player(player_id: int) -> dict[str, Any]:
    return {
        "playerId": player_id,
        "name": f"Flipper Number {player_id % 1000}",
        "ifpaId": 50_000 + player_id,
        "status": "active",
        "organizerId": ORGANIZER_ID,
        "claimedBy": None,
        "labels": [],
        "labelColor": None,
        "tournamentPlayer": {
            "status": "active",
            "seed": player_id % 1000 + 1,
            "pointsAdjustment": 0,
            "subscription": None,
            "labels": [],
            "labelColor": None,
        },
    }


def _arena(arena_id: int) -> dict[str, Any]:
    return {
        "arenaId": arena_id,
        "name": f"Machine {arena_id % 1000}",
        "status": "active",
        "opdbId": None,
        "categoryId": None,
        "organizerId": ORGANIZER_ID,
        "labels": [],
        "labelColor": None,
        "tournamentArena": {"status": "active"},
    }
