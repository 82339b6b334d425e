"""The feed of one process, put together: announcements, relay, hub and sockets."""

from silverball.feed.bus import bus_of
from silverball.feed.feed import Feed, limits_of, rules_of
from silverball.feed.hub import Hub
from silverball.feed.relay import Relay
from silverball.feed.stored import StoredLog
from silverball.settings import Settings
from silverball.store.engine import Store


class Broadcast:
    """Build it before the server, start it on the server's loop."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self.log = StoredLog(store)
        self.hub = Hub(self.log, self._watched)
        self.relay = Relay(self.log, self.hub, bus_of(settings, store))
        self.feed = Feed(self.hub, rules_of(settings), limits_of(settings))

    async def _watched(self, tournament_id: int) -> None:
        await self.relay.on_watched(tournament_id)

    def start(self) -> None:
        """Begin to publish what is committed."""
        self._store.after_commit.append(self.relay.committed)
        self.relay.start()
        self.feed.start()

    async def drain(self) -> None:
        """Let everybody go who waits or listens, the sockets one after the other."""
        self.relay.end_waiting()
        await self.feed.drain()

    async def close(self) -> None:
        """The end of `start`."""
        self._store.after_commit.remove(self.relay.committed)
        await self.relay.close()
        self.feed.close()
        self.log.close()
