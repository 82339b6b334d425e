"""A typed client of Silverball: `Client` returns answers, the methods of `AsyncClient` are awaited.

from silverball_client import Client

client = Client("http://127.0.0.1:8000", token)
for standing in client.tournaments.standings(42):
    print(standing.position, standing.player_id, standing.points)
"""

from msgspec import UNSET, UnsetType

from silverball_client.clients import AsyncClient, Client
from silverball_client.errors import (
    BadRequest,
    Conflict,
    Gone,
    Invalid,
    NoAnswer,
    NotAllowed,
    NotFound,
    Refused,
    ServerFault,
    SilverballError,
    TooManyRequests,
    Unauthenticated,
    UnexpectedAnswer,
)
from silverball_client.events import Connected, Disconnected, Event, Missed, Quiet
from silverball_client.exchange import VERSION

__version__ = VERSION
__all__ = [
    "UNSET",
    "AsyncClient",
    "BadRequest",
    "Client",
    "Conflict",
    "Connected",
    "Disconnected",
    "Event",
    "Gone",
    "Invalid",
    "Missed",
    "NoAnswer",
    "NotAllowed",
    "NotFound",
    "Quiet",
    "Refused",
    "ServerFault",
    "SilverballError",
    "TooManyRequests",
    "Unauthenticated",
    "UnexpectedAnswer",
    "UnsetType",
    "__version__",
]
