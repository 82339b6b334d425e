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
from silverball.store.database.engine import Store

FULL_BUNDLE = Path(__file__).parent / "full_bundle.json"
NOW = datetime(2026, 3, 5, 19, 30, tzinfo=UTC)
NIGHTS = tuple(sorted((load.FOLDER.parent / "knockouts").glob("*.json")))
INVENTED = tuple(sorted(set(BUNDLES.glob("*.json")) - {BUNDLES / path.name for path in NIGHTS}))
# Ids that identify the elements of a list.
KEYS = ("suggestionId", "gameId", "singlePlayerGameId", "cardId", "queueId", "roundId", "bankId", "playerId")
USER = {
    "userId": 501,
    "name": "Olga Ramp",
    "ifpaId": 4711,
    "role": "organizer",
    "flag": "se",
    "location": "Harbour Town",
    "pronouns": "they",
    "initials": "OR",
    "ratingsOptOut": True,
    "avatar": None,
    "banner": None,
    "tournamentAvatar": None,
    "createdAt": "2020-02-03T04:05:06.700000Z",
}


def read_bundle(path: Path) -> Any:
    return json.loads(path.read_bytes())


def parse_bundle(content: Any) -> bundle_file.BundleFile:
    """A bundle as it is read from a file."""
    if isinstance(content, Path):
        return bundle_file.parse(content.read_bytes(), content.name)
    return bundle_file.parse(json.dumps(content).encode(), "test.json")


def import_bundle(store: Store, content: Any, **options: Any) -> ImportedBundle:
    """Import a bundle in a transaction of its own."""
    file = parse_bundle(content)
    with store.write() as transaction:
        return bundle_file.import_bundle(transaction, file, now=NOW, dice=Random(7), **options)


def export_bundle(store: Store, tournament_id: int, **options: Any) -> Any:
    """The bundle with the seed of the draws, unless the options say otherwise."""
    with store.read() as db:
        return json.loads(bundle_file.export_bundle(db, tournament_id, **{"with_seed": True, **options}))


def derive_accounts(bundle: Any) -> None:
    """Let the games name the accounts that have claimed their players."""
    claims = {player["playerId"]: player["claimedBy"] for player in bundle["tournament"]["players"]}
    for game in bundle["games"]:
        game["userIds"] = [claims[player_id] for player_id in game["playerIds"]]


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


def full_bundle() -> dict[str, Any]:
    """A started knockout with every part that a bundle can have, whether or not its format needs it."""
    content: dict[str, Any] = read_bundle(FULL_BUNDLE)
    return content
