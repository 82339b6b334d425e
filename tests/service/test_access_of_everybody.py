"""Who may do what: thirteen identities, every operation, before, during and after a tournament.

Who may follow a tournament is in tests/feed/test_access_to_the_feed.py.

The rows come from the endpoint table: an operation that no policy names fails the build. Allowed means that
the answer is neither a 401 nor a 403, nor a 404 that hides somebody else's thing; it can still be a 409 or
a 422 about the thing itself.
"""

import asyncio
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import asgi
import build
from service.access_world import IDENTITIES, STATES, AccessWorld, Operation, ended_tokens, operations
from service.route_permissions import ADMINISTERED, MANAGED, OWN, READ_POSTS, SCORED, TABLE
from silverball import app
from silverball.settings import Settings
from silverball.store.database.engine import Store
from trials.figures import count_attempts

ACCOUNTS = frozenset(IDENTITIES) - {"nobody", "code", "kiosk"}
DEVICES = frozenset({"code", "kiosk"})
EVERYBODY = ACCOUNTS | DEVICES
ORGANIZER = frozenset({"owner", "admin"})
# Who runs the tournament; all but what is the owner's.
DIRECTORS = ORGANIZER | {"director"}
CREATORS = DIRECTORS | {"stranger"}
SCOREKEEPERS = DIRECTORS | {"kiosk", "keeper", "scorer"}
RUN_PATH = "/api/tournaments/{tournament_id}"
# Tokens that may write at all: all but the one that only reads.
WRITERS = ACCOUNTS - {"reader"}
# The two that have claimed the players of the game, and the printed code of the game.
PLAYERS_OF_THE_GAME = frozenset({"player", "hidden", "code"})
# Operations whose callers do not follow from the ability that they need.
EXCEPTIONS = {
    "GET /api/audit": frozenset({"admin"}),
    "GET /api/federation-numbers": frozenset({"admin"}),
    # Which reads of the organizer's own are allowed with any token of theirs.
    "GET /api/tournaments/{tournament_id}/journal": frozenset(
        {"reader", "scorer", "director", "owner", "admin"}
    ),
    "DELETE /api/tournaments/{tournament_id}": ORGANIZER,
    "PUT /api/tournaments/{tournament_id}/directors/{user_id}": ORGANIZER,
    "DELETE /api/tournaments/{tournament_id}/directors/{user_id}": ORGANIZER,
    "GET /api/tournaments/{tournament_id}/games/{game_id}/notes": SCOREKEEPERS | {"reader"},
    "GET /api/tournaments/{tournament_id}/games/{game_id}/earlier-cards": SCOREKEEPERS | {"reader"},
    # Any token of theirs shows organizers and directors what they see.
    "GET /api/tournaments/{tournament_id}/finals": DIRECTORS | {"reader", "scorer"},
    # Devices have no account.
    "GET /api/users/profile": ACCOUNTS,
    "PATCH /api/users/profile": WRITERS,
    "POST /api/tokens": WRITERS,
    # Other people's tokens are hidden from an admin too.
    "DELETE /api/tokens/{token_id}": frozenset({"scorer", "owner"}),
    # The token in the path is not the one that only reads.
    "POST /api/tokens/{token_id}/rotate": frozenset({"scorer", "owner"}),
    "POST /api/players/{player_id}/claim": WRITERS,
    # Nobody here has a claim to take back.
    "DELETE /api/players/{player_id}/claim": frozenset(),
    "POST /api/tournaments/{tournament_id}/games/{game_id}/suggestions": PLAYERS_OF_THE_GAME,
    "POST /api/tournaments/{tournament_id}/cards/{card_id}/void": SCOREKEEPERS | {"player"},
    # Scorekeepers too where the settings of the tournament say so.
    "POST /api/tournaments/{tournament_id}/max-matchplay/games": DIRECTORS,
}
# Codes and devices end with their tournament.
ENDED_WITH_THE_TOURNAMENT = DEVICES
OPERATIONS = operations()


def allowed(operation: Operation, state: str) -> frozenset[str]:
    """The identities that may do this to the organizer's object."""
    found = EXCEPTIONS[operation.name] if operation.name in EXCEPTIONS else _by_ability(operation)
    is_for_devices = operation.endpoint.is_write or operation.endpoint.path.endswith(
        ("/notes", "/earlier-cards")
    )
    if is_for_devices and state == "completed":
        return found - ENDED_WITH_THE_TOURNAMENT
    return found


def _by_ability(operation: Operation) -> frozenset[str]:
    path, method = operation.endpoint.path, operation.endpoint.method
    if method == "GET":
        return EVERYBODY if TABLE[path][1] == OWN else _running(path)
    if method == "POST" and path in READ_POSTS:
        return EVERYBODY
    if method in SCORED.get(path, "").split():
        return SCOREKEEPERS
    if method in ADMINISTERED.get(path, "").split():
        return frozenset({"admin"})
    assert method in MANAGED[path].split(), operation.name
    return _running(path) if "{" in path else CREATORS


def _running(path: str) -> frozenset[str]:
    """Who may change a thing of the organizer."""
    return DIRECTORS if path.startswith(RUN_PATH) else ORGANIZER


@pytest.fixture(scope="module")
def world(empty_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AccessWorld]:
    file = tmp_path_factory.mktemp("access") / "silverball.db"
    shutil.copy(empty_sqlite, file)
    made = AccessWorld(file)
    yield made
    made.close()


@pytest.mark.sample(40)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_who_may_do_it_is_what_its_row_says(world: AccessWorld, operation: Operation) -> None:
    unexpected = {}
    for state in STATES:
        may = allowed(operation, state)
        for identity in IDENTITIES:
            status = world.status(operation, identity, state)
            if identity == "nobody":
                is_right = status == 401
            elif identity in may:
                is_right = status < 500 and status not in (401, 403)
            else:
                is_right = status in (403, 404)
            if not is_right:
                unexpected[identity, state] = status
    assert unexpected == {}
    forbidden = sum(len(IDENTITIES) - len(allowed(operation, state)) for state in STATES)
    count_attempts("operations that the caller may not ask for", forbidden)


def test_an_ended_token_opens_nothing(store: Store) -> None:
    ended = ended_tokens(store)
    front_door = app.build(store, Settings(base_url=build.BASE_URL, rate_limit_per_minute=0))

    async def ask_everything() -> dict[str, int]:
        statuses = {}
        for operation in OPERATIONS:
            path = re.sub(r"\{\w+\}", "1", operation.endpoint.path)
            for name, token in ended.items():
                reply = await asgi.send(front_door, path, method=operation.endpoint.method, token=token)
                statuses[f"{operation.name} {name}"] = reply.status
        return statuses

    statuses = asyncio.run(ask_everything())
    assert {name: status for name, status in statuses.items() if status != 401} == {}
    count_attempts("operations with an ended token", len(statuses))
