"""A client that keeps a tournament up to date from its feed alone, and compares itself with a fresh read.

    mirror = Mirror(store, tournament_id)
    ... something is written ...
    mirror.follow()

It begins with a snapshot over REST, applies what is announced with the follow-ups of the interface
(resolve-unknown, the games of a round, the queues), and must then equal what REST says. It reads
without a token, because the feed has no viewer either. Left out: `updatedAt` of the tournament, which
moves with everything; arenas inside games, which are compared when the game is announced.
"""

import threading
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

import build
from silverball import app
from silverball.kit.http import endpoints as http
from silverball.settings import Settings
from silverball.store.database.engine import Store
from silverball.store.tournament import announcements
from silverball.store.tournament.announcements import Announcement
from silverball_wire.events import EVENTS

Json = Any
PARTS = (
    "includeBanks",
    "includeScorekeepers",
    "includeLocation",
    "includeEntryConfiguration",
    "includeRsvpConfiguration",
    "includeLinkedTournaments",
    "includeShortcut",
    "includeSeries",
)
RESOLVED_AT_ONCE = 25
# In place of events: the channel started anew, and everything was read again.
ANEW = "(anew)"
QUEUE_OF = {
    "best_game": ("/queues", "data"),
    "card_best_game": ("/queues", "data"),
    "frenzy": ("/frenzy", "queue"),
    "amazingrace": ("/amazing-race", "queues"),
}
# Part -> the name of its id.
KEYS = {
    "players": "playerId",
    "arenas": "arenaId",
    "rounds": "roundId",
    "games": "gameId",
    "single": "singlePlayerGameId",
    "cards": "cardId",
}
MODELS = {
    "RoundCreatedOrUpdated": "rounds",
    "GameCreatedOrUpdated": "games",
    "SinglePlayerGameCreatedOrUpdated": "single",
    "CardCreatedOrUpdated": "cards",
}
ITEMS = {"games": "/games", "single": "/single-player-games", "cards": "/cards"}
DELETIONS = {
    "RoundsDeleted": ("rounds", "roundIds"),
    "GamesDeleted": ("games", "gameIds"),
    "SinglePlayerGamesDeleted": ("single", "singlePlayerGameIds"),
    "CardsDeleted": ("cards", "cardIds"),
}
RESOLVED = {
    "PlayersAdded": ("players", "playerIds"),
    "PlayersChanged": ("players", "playerIds"),
    "ArenasAdded": ("arenas", "arenaIds"),
    "ArenasChanged": ("arenas", "arenaIds"),
}


class Mirror:
    """The state that a follower of one channel has."""

    def __init__(self, store: Store, tournament_id: int) -> None:
        self.store = store
        self.tournament_id = tournament_id
        self._api = app.build_api(store, Settings(base_url=build.BASE_URL, public_read=True))
        self.seen: list[Announcement] = []
        # Tests of concurrent requests follow from several threads.
        self._lock = threading.Lock()
        self.known = self.fresh()
        head = self._head()
        self.epoch, self.seq = head.epoch, head.seq

    # Reading

    def get(self, path: str) -> tuple[int, Json]:
        """One anonymous read below the tournament."""
        route, _, query = f"/api/tournaments/{self.tournament_id}{path}".partition("?")
        got = app.answer_request(self._api, http.Request(method="GET", path=route, query=query.encode()))
        return got.status, msgspec.json.decode(got.body)

    def read(self, path: str) -> Json:
        status, answer = self.get(path)
        assert status == 200, (path, status, answer)
        return answer

    def fresh(self) -> dict[str, Json]:
        """All parts as REST returns them now."""
        flags = "&".join(f"{part}=true" for part in (*PARTS, "includePlayers", "includeArenas"))
        tournament = self.read(f"?{flags}")["data"]
        players, arenas = tournament.pop("players"), tournament.pop("arenas")
        return {
            "tournament": _steady(tournament),
            "players": _keyed("players", players),
            "arenas": _keyed("arenas", arenas),
            "rounds": _keyed("rounds", self.read("/rounds")["data"]),
            "games": _keyed("games", self.read("/games")["data"]),
            "single": _keyed("single", self._pages("/single-player-games")),
            "cards": _keyed("cards", self._pages("/cards")),
            "queue": self._queue(tournament["type"]),
        }

    def _pages(self, path: str) -> list[Json]:
        items: list[Json] = []
        page = 1
        while True:
            answer = self.read(f"{path}?voided=true&limit=500&page={page}")
            items += answer["data"]
            if page >= answer["meta"]["last_page"]:
                return items
            page += 1

    def _queue(self, kind: str) -> list[Json]:
        if kind not in QUEUE_OF:
            return []
        path, member = QUEUE_OF[kind]
        waiting = self.read(path)[member]
        if isinstance(waiting, dict):
            waiting = [spot for entries in waiting.values() for spot in entries]
        return sorted(waiting, key=lambda spot: int(spot["queueId"]))

    def _head(self) -> announcements.ChannelHead:
        with self.store.read() as db:
            head = announcements.channel_head(db, self.tournament_id)
        assert head is not None
        return head

    # Following

    def follow(self) -> list[str]:
        """Apply the announcements since the last call, compare, and return the names of the events."""
        with self._lock:
            return self._follow()

    def _follow(self) -> list[str]:
        head = self._head()
        if head.epoch != self.epoch:
            self.known, self.epoch, self.seq = self.fresh(), head.epoch, head.seq
            return [ANEW]
        with self.store.read() as db:
            events = announcements.load_since(db, self.tournament_id, self.epoch, self.seq, 100_000)
        assert [event.seq for event in events] == list(range(self.seq + 1, head.seq + 1)), (
            "a gap in the channel"
        )
        self.seq = head.seq
        self.seen += events
        for event in events:
            self._apply(event.name, self._checked(event))
        self._compare_items(events)
        fresh = self.fresh()
        for part, current in fresh.items():
            assert self.known[part] == current, (part, [event.name for event in events])
        return [event.name for event in events]

    def _checked(self, event: Announcement) -> Json:
        """The payload, which must be of the published shape and fit the limit of the protocol."""
        assert len(event.data.encode()) <= 256_000
        msgspec.json.decode(event.data, type=EVENTS[event.name])
        data = msgspec.json.decode(event.data)
        assert data["tournamentId"] == self.tournament_id
        return data

    def _apply(self, name: str, data: Json) -> None:
        if name == "TournamentUpdated":
            self.known["tournament"] = _steady(data)
        elif name in MODELS:
            kind = MODELS[name]
            item = {key: value for key, value in data.items() if kind != "games" or key != "arena"}
            self.known[kind][data[KEYS[kind]]] = item
        elif name in DELETIONS:
            kind, member = DELETIONS[name]
            for key in data[member]:
                del self.known[kind][key]
        elif name in RESOLVED:
            kind, member = RESOLVED[name]
            self._resolve(kind, data[member])
            if kind == "players":
                self._derive_accounts()
        else:
            assert name == "QueueChanged", name
            self._requeue(data)

    def _resolve(self, kind: str, keys: Sequence[int]) -> None:
        for start in range(0, len(keys), RESOLVED_AT_ONCE):
            some = keys[start : start + RESOLVED_AT_ONCE]
            ids = ",".join(map(str, some))
            resolved = _keyed(kind, self.read(f"/{kind}/resolve-unknown?{kind}={ids}")["data"])
            for key in some:
                self.known[kind].pop(key, None)
            self.known[kind].update(resolved)

    def _derive_accounts(self) -> None:
        """Let the games name the accounts that have claimed their players now."""
        players = self.known["players"]
        for game in self.known["games"].values():
            game["userIds"] = [
                players[player_id]["claimedBy"] if player_id in players else user_id
                for player_id, user_id in zip(game["playerIds"], game["userIds"], strict=True)
            ]

    def _requeue(self, data: Json) -> None:
        if "queues" not in data:
            self.known["queue"] = self._queue(self.known["tournament"]["type"])
            return
        place = (data["arenaId"], data["roundId"])
        others = [spot for spot in self.known["queue"] if (spot["arenaId"], spot["roundId"]) != place]
        self.known["queue"] = sorted([*others, *data["queues"]], key=lambda spot: int(spot["queueId"]))

    def _compare_items(self, events: Iterable[Announcement]) -> None:
        """Check that the newest event of each game and card equals the answer of its route."""
        newest = {
            (event.name, self._key(event)): event for event in events if MODELS.get(event.name) in ITEMS
        }
        for (name, key), event in newest.items():
            status, answer = self.get(f"{ITEMS[MODELS[name]]}/{key}")
            if status == 200:
                assert msgspec.json.decode(event.data) == answer["data"]

    def _key(self, event: Announcement) -> int:
        return int(msgspec.json.decode(event.data)[KEYS[MODELS[event.name]]])


def _keyed(kind: str, items: Sequence[Json]) -> dict[int, Json]:
    return {item[KEYS[kind]]: item for item in items}


def _steady(tournament: Json) -> Json:
    return {key: value for key, value in tournament.items() if key != "updatedAt"}
