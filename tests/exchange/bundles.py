"""Bundles for tests: real nights, the demo's invented ones, and one with every part."""

import json
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

from golden import load
from silverball.cli.demo import BUNDLES
from silverball.exchange.bundle import file as bundle_file
from silverball.exchange.bundle.file import ImportedBundle
from silverball.store.engine import Store

NOW = datetime(2026, 3, 5, 19, 30, tzinfo=UTC)
NIGHTS = tuple(sorted((load.FOLDER.parent / "knockouts").glob("*.json")))
INVENTED = tuple(sorted(set(BUNDLES.glob("*.json")) - {BUNDLES / path.name for path in NIGHTS}))
# Ids that identify the elements of a list.
KEYS = ("suggestionId", "gameId", "singlePlayerGameId", "cardId", "queueId", "roundId", "bankId", "playerId")


def read_bundle(path: Path) -> Any:
    return json.loads(path.read_bytes())


def import_bundle(store: Store, content: Any, **how: Any) -> ImportedBundle:
    """Import a bundle in a transaction of its own."""
    name = content.name if isinstance(content, Path) else "test.json"
    data = content.read_bytes() if isinstance(content, Path) else json.dumps(content).encode()
    file = bundle_file.parse(data, name)
    with store.write() as transaction:
        return bundle_file.import_bundle(transaction, file, now=NOW, dice=Random(7), **how)


def export_bundle(store: Store, tournament_id: int) -> Any:
    with store.read() as db:
        return json.loads(bundle_file.export_bundle(db, tournament_id))


def find_losses(original: Any, exported: Any, path: str = "$") -> list[str]:
    """The JSON paths where `exported` differs from `original`; lists of items are compared by id."""
    if isinstance(original, dict) and isinstance(exported, dict):
        missing = [f"{path}.{key}" for key in original if key not in exported]
        return missing + [
            lost
            for key in original
            if key in exported
            for lost in find_losses(original[key], exported[key], f"{path}.{key}")
        ]
    if isinstance(original, list) and isinstance(exported, list) and len(original) == len(exported):
        key = _id_key(original)
        pairs = zip(_sort_by_key(original, key), _sort_by_key(exported, key), strict=True)
        return [
            lost for n, (item, other) in enumerate(pairs) for lost in find_losses(item, other, f"{path}[{n}]")
        ]
    return [] if original == exported and isinstance(original, bool) == isinstance(exported, bool) else [path]


def _id_key(items: list[Any]) -> str | None:
    first = items[0] if items else None
    if not isinstance(first, dict):
        return None
    keys = (*KEYS, "arenaId", "userId")
    return next((key for key in keys if key in first), None)


def _sort_by_key(items: list[Any], key: str | None) -> list[Any]:
    return items if key is None else sorted(items, key=lambda item: int(item[key]))


def real_night(name: str) -> Any:
    """A real night by the number that its file name starts with."""
    return read_bundle(next(path for path in NIGHTS if path.name.startswith(name)))


USER = {
    "userId": 501,
    "name": "Olga Ramp",
    "ifpaId": 4711,
    "role": "organizer",
    "flag": "se",
    "location": "Harbour Town",
    "pronouns": "she",
    "initials": "OR",
    "ratingsOptOut": True,
    "avatar": None,
    "banner": None,
    "tournamentAvatar": None,
    "createdAt": "2020-02-03T04:05:06.700000Z",
}
SERIES = {
    "seriesId": 601,
    "name": "Winter League",
    "status": "active",
    "organizerId": 501,
    "test": False,
    "removedResults": -3,
    "playoffsCutoffs": [{"index": 0, "value": 2, "cumulative": 2, "text": "Final", "color": None}],
    "scoring": "custom",
    "estimatedTgp": 4,
    "scoringCustom": {"points": [5, 3, 1]},
}
LOCATION = {
    "locationId": 602,
    "name": "The Drain",
    "organizerId": 501,
    "status": "active",
    "address": "Quay 4",
    "lat": 57.5,
    "lng": 12,
    "pinballmapId": 9,
    "scorbitVenueId": None,
    "scorbitVenueUuid": None,
}
EVENT = {
    "eventId": 603,
    "organizerId": 501,
    "locationId": 602,
    "name": "Silver Weekend",
    "status": "active",
    "contactEmail": "hello@silverball.test",
    "startUtc": "2026-03-05T19:30:00.000000Z",
    "startLocal": "2026-03-05 20:30:00",
    "endUtc": None,
    "endLocal": None,
    "registrationUtc": None,
    "registrationLocal": None,
    "timezone": "Europe/Stockholm",
    "layout": None,
    "layoutOrder": None,
    "description": None,
    "descriptionCollapse": None,
    "descriptionPreviewHtml": None,
    "descriptionHtml": None,
    "banner": None,
    "isFavorite": None,
}
RSVP = {
    "tournamentId": 700,
    "seriesId": None,
    "userId": 501,
    "status": "active",
    "type": "public",
    "selfCheckinStatus": "inactive",
    "hasSelfCheckin": False,
    "requestEmail": True,
    "requestPhone": False,
    "playerLimit": 24,
    "hasWaitlist": True,
    "publicList": True,
    "showDescription": 1,
    "custom1": None,
    "custom2": None,
    "custom3": None,
    "openAtUtc": None,
    "openAtLocal": None,
    "closeAtUtc": None,
    "closeAtLocal": None,
    "timezone": None,
}


def _player(player_id: int, claimed_by: int | None = None, **part: Any) -> dict[str, Any]:
    return {
        "playerId": player_id,
        "name": f"Player {player_id}",
        "ifpaId": None,
        "status": "active",
        "organizerId": 501,
        "claimedBy": claimed_by,
        "labels": ["guest"],
        "labelColor": "blue",
        "tournamentPlayer": {
            "status": "active",
            "seed": None,
            "pointsAdjustment": 0,
            "subscription": None,
            "labels": [],
            "labelColor": None,
            **part,
        },
    }


def _arena(arena_id: int, **part: Any) -> dict[str, Any]:
    return {
        "arenaId": arena_id,
        "name": f"Machine {arena_id}",
        "status": "active",
        "opdbId": "G4ODR-MDXEy",
        "categoryId": 4,
        "organizerId": 501,
        "labels": [],
        "labelColor": None,
        "tournamentArena": {"status": "active", "preferred": True, "bestGameBlocked": False, **part},
    }


def _game(
    game_id: int, round_id: int, players: list[int], points: list[Any], **values: Any
) -> dict[str, Any]:
    return {
        "gameId": game_id,
        "roundId": round_id,
        "tournamentId": 700,
        "challengeId": None,
        "arenaId": 801,
        "bankId": None,
        "index": 0,
        "set": 0,
        "playerIdAdvantage": players[0],
        "scorekeeperId": 502,
        "status": "completed",
        "startedAt": "2026-03-05T19:31:00.000000Z",
        "duration": 600,
        "bye": False,
        "scorbitId": "abc",
        "scorbitLog": None,
        "scorbitVerified": True,
        "resultCountMismatch": True,
        "playerIds": players,
        "userIds": [None] * len(players),
        "resultPositions": players,
        "resultPoints": points,
        "resultScores": ["9007199254740993", None][: len(players)],
        **values,
    }


def _attempt(attempt_id: int, **values: Any) -> dict[str, Any]:
    return {
        "singlePlayerGameId": attempt_id,
        "arenaId": 801,
        "playerId": 901,
        "scorekeeperId": None,
        "status": "completed",
        "points": "12.50",
        "score": 11_396_549_120,
        "bestGame": True,
        "index": 0,
        "duration": None,
        "createdAt": "2026-03-05T19:31:00.000000Z",
        "updatedAt": "2026-03-05T19:32:00.000000Z",
        "voided": False,
        "scorbitId": None,
        "scorbitLog": None,
        "scorbitVerified": False,
        "tournamentId": 700,
        **values,
    }


def full_bundle() -> dict[str, Any]:
    """A started knockout with every part that a bundle can have, whether or not its format needs it."""
    on_card = [_attempt(1201, cardId=1101), _attempt(1202, cardId=1101, index=1, arenaId=802, points="3.00")]
    bank = {"bankId": 604, "name": "Bank A", "status": "active", "organizerId": 501, "arenaIds": [802, 801]}
    keeper = {**USER, "userId": 502, "name": "Sam Tilt", "role": "player"}
    # Through JSON, so that no two members share a list.
    built = json.dumps(
        {
            "tournament": {
                "tournamentId": 700,
                "name": "Thursday Strikes",
                "status": "started",
                "type": "knockout",
                "startUtc": "2026-03-05T19:30:00.000000Z",
                "startLocal": "2026-03-05 20:30:00",
                "endUtc": None,
                "endLocal": None,
                "completedAt": None,
                "createdAt": "2026-03-01 10:00:00",
                "updatedAt": "2026-03-05 20:00:00",
                "organizerId": 501,
                "locationId": 602,
                "seriesId": 601,
                "description": "Everything in it.",
                "pointsMap": [[1], [1, 0], [1, 0, 0], [1, 0, 0]],
                "tiebreakerPointsMap": [["0.50"], ["0.50", "0.00"]],
                "pointsMapCustom": {"type": "matchplay", "3P": ["7", "5", "1"], "4P": ["7", "5", "3", "1"]},
                "primaryConfigSettings": [],
                "prizePool": {
                    "type": "standard",
                    "private": False,
                    "bounties": [],
                    "currency": "kr",
                    "rounding": 1,
                    "distributions": [
                        {
                            "pool": [{"extra": None, "adjustment": None, "percentage": 50.5}],
                            "title": "Main",
                            "percentage": 100,
                        }
                    ],
                    "fixedAddition": 0,
                    "fixedReduction": 0,
                    "perPlayerAddition": 5,
                    "perPlayerReduction": 0,
                },
                "test": True,
                "timezone": "Europe/Stockholm",
                "scorekeeping": "user",
                "link": "https://silverball.test/",
                "linkedTournamentId": 699,
                "estimatedTgp": 8.5,
                "motdText": "Be kind.",
                "motdColor": "orange",
                "motdExpiration": None,
                "managers": [{"name": "Pat"}],
                "organizer": USER,
                "location": LOCATION,
                "event": EVENT,
                "shortcut": {"shortcutId": 605, "slug": "thursday"},
                "linkedTournaments": [
                    {
                        "tournamentId": 699,
                        "name": "Qualifier",
                        "type": "matchplay",
                        "organizerId": 77,
                        "status": "completed",
                        "linkType": "qualifying",
                        "linkIndex": None,
                        "test": False,
                    }
                ],
                "rsvpConfiguration": RSVP,
                "entryConfiguration": {
                    "limited": True,
                    "automaticEntries": 2,
                    "price": 5,
                    "currency": "kr",
                    "bundles": [{"entries": 7, "price": 20}],
                },
                "seeding": "manual",
                "pairing": None,
                "knockoutStrikeCount": 2,
                "byes": "full",
                "playoffsCutoffs": [
                    {"index": 0, "value": 2, "cumulative": 2, "text": "Final", "color": "green"}
                ],
                "players": [
                    _player(901, 502, seed=2, pointsAdjustment=0.5, scoreAdjustment=-2),
                    _player(902, 503, seed=1, status="inactive"),
                    _player(903, subscription="paid"),
                ],
                "arenas": [_arena(801, labels=["loud"], labelColor="red"), _arena(802, amazingRaceSeed=1)],
            },
            "rounds": [
                {
                    "roundId": 1002,
                    "tournamentId": 700,
                    "arenaId": 801,
                    "score": 5_000_000_000,
                    "index": 0,
                    "name": "Round 1",
                    "status": "started",
                    "duration": None,
                    "createdAt": "2026-03-05 19:30:30Z",
                    "completedAt": None,
                    "size": 3,
                    "description": "The first.",
                }
            ],
            "games": [
                _game(1301, 1002, [901, 902], ["1.00", "0.00"], userIds=[502, 504], bankId=604),
                _game(
                    1302,
                    1002,
                    [903],
                    ["1.00"],
                    bye=True,
                    set=9999,
                    index=None,
                    arenaId=None,
                    startedAt=None,
                    duration=None,
                    scorekeeperId=None,
                ),
                _game(
                    1303,
                    0,
                    [902, 903],
                    [None, None],
                    status="started",
                    resultPositions=[None, None],
                    playerIdAdvantage=None,
                    duration=None,
                    resultScores=[None, None],
                    suggestions=[
                        {
                            "suggestionId": 1401,
                            "gameId": 1303,
                            "roundId": 0,
                            "tournamentId": 700,
                            "playerId": 902,
                            "userId": 503,
                            "results": [902, 903],
                            "arenaId": None,
                            "scores": {"902": 5, "903": None},
                            "scorbitData": None,
                            "partial": False,
                        }
                    ],
                ),
            ],
            "singlePlayerGames": [_attempt(1203, roundId=1002, score=None, voided=True), *on_card],
            "cards": [
                {
                    "cardId": 1101,
                    "tournamentId": 700,
                    "playerId": 901,
                    "status": "completed",
                    "bestGame": True,
                    "createdAt": "2026-03-05T19:31:00.000000Z",
                    "updatedAt": "2026-03-05T19:32:00.000000Z",
                    "voided": False,
                    "singlePlayerGames": on_card,
                    "singlePlayerGameIds": [1201, 1202],
                    "arenaIds": [801, 802],
                    "pointsList": [12.5, 3],
                }
            ],
            "queues": [
                {
                    "queueId": 1501,
                    "tournamentId": 700,
                    "arenaId": 801,
                    "roundId": 1002,
                    "playerId": 903,
                    "index": 0,
                    "createdAt": "2026-03-05T19:40:00.000000Z",
                    "completedAt": "2026-03-05T19:45:00.000000Z",
                }
            ],
            "banks": [bank],
            "series": SERIES,
            "scorekeepers": [keeper],
        }
    )
    content: dict[str, Any] = json.loads(built)
    return content
