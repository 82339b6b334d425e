"""The feed of one process, put together: announcements, relay, hub and sockets."""

from silverball.feed.bus import create_bus
from silverball.feed.feed import Feed, limits_from_settings, rules_from_settings
from silverball.feed.hub import Hub
from silverball.feed.relay import Relay
from silverball.feed.stored_events import StoredEvents
from silverball.settings import Settings
from silverball.store.engine import Store


class FeedService:
    """Build it before the server, start it on the server's loop."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self.stored_events = StoredEvents(store)
        self.hub = Hub(self.stored_events, self._on_watched)
        self.relay = Relay(self.stored_events, self.hub, create_bus(settings, store))
        self.feed = Feed(self.hub, rules_from_settings(settings), limits_from_settings(settings))

    async def _on_watched(self, tournament_id: int) -> None:
        await self.relay.on_watched(tournament_id)

    def start(self) -> None:
        """Begin to publish what is committed."""
        self._store.after_commit.append(self.relay.on_commit)
        self.relay.start()
        self.feed.start()

    async def drain(self) -> None:
        """Let everybody go who waits or listens, the sockets one after the other."""
        self.relay.end_waiting()
        await self.feed.drain()

    async def close(self) -> None:
        """The end of `start`."""
        self._store.after_commit.remove(self.relay.on_commit)
        await self.relay.close()
        self.feed.close()
        self.stored_events.close()
