"""The answers of the service that runs a tournament, kept up to date with what its events name."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from silverball.exchange.pull import reading
from silverball.exchange.pull.source import PullSource, SourceFault, ThingMissing
from silverball.rules.format import PlayKind
from silverball.rules.registry import FORMATS

Json = Any
# Things of a part that are read one by one; more of them are read as a list.
ITEMS_AT_ONCE = 2
PAGE_SIZE = 100
# Event -> part of a bundle, its path, and the id of a thing in it.
ITEM_EVENTS: Mapping[str, tuple[str, str, str]] = {
    "GameCreatedOrUpdated": ("games", "games", "gameId"),
    "SinglePlayerGameCreatedOrUpdated": (
        "singlePlayerGames",
        "single-player-games",
        "singlePlayerGameId",
    ),
    "CardCreatedOrUpdated": ("cards", "cards", "cardId"),
}
DELETION_EVENTS: Mapping[str, tuple[str, str]] = {
    "RoundsDeleted": ("rounds", "roundId"),
    "GamesDeleted": ("games", "gameId"),
    "SinglePlayerGamesDeleted": ("singlePlayerGames", "singlePlayerGameId"),
    "CardsDeleted": ("cards", "cardId"),
}
HEAD_EVENTS = frozenset(
    {"TournamentUpdated", "PlayersAdded", "PlayersChanged", "ArenasAdded", "ArenasChanged"}
)


class KnownParts(Struct):
    """A tournament there, as a bundle has it."""

    source: PullSource
    tournament_id: int
    raw: dict[str, Json] = field(default_factory=dict)
    # Whether the service knows single games of matches, as far as it was asked.
    has_legs: bool = True

    @property
    def path(self) -> str:
        return f"/api/tournaments/{self.tournament_id}"

    def read_everything(self) -> None:
        """Read all parts. Raises SourceFault."""
        before = self.raw
        self.raw = reading.read_parts(self.source, self.tournament_id)
        self._read_queues()
        games = before.get("games", ())
        self._read_legs([game for game in self.raw["games"] if game not in games], before.get("legs", ()))

    def read_named(self, events: Iterable[tuple[str, Json]]) -> None:
        """Read what these events name: everything when a round is new. Raises SourceFault."""
        self.source.begin_tournament()
        names: set[str] = set()
        items: dict[str, set[int]] = {}
        for name, data in events:
            names.add(name)
            if name == "RoundCreatedOrUpdated" and self._is_new_round(data):
                self.read_everything()
                return
            if name in DELETION_EVENTS:
                self._drop(*DELETION_EVENTS[name], data)
            elif name in ITEM_EVENTS:
                items.setdefault(name, set()).add(_id_in(data, ITEM_EVENTS[name][2]))
        if names & HEAD_EVENTS:
            self._read_head()
        if "RoundCreatedOrUpdated" in names:
            self.raw["rounds"] = self.source.read_list(f"{self.path}/rounds")
        for name, ids in items.items():
            self._read_items(*ITEM_EVENTS[name], ids)
        named = items.get("GameCreatedOrUpdated", set())
        changed = [game for game in self.raw["games"] if game.get("gameId") in named]
        self._read_legs(changed, self.raw.get("legs", ()))
        if "QueueChanged" in names or self._has_clock():
            self._read_queues()

    def read_standings(self) -> list[dict[str, Json]]:
        """Read the standings, which are compared and not taken. Raises SourceFault."""
        self.source.begin_tournament()
        return self.source.read_list(f"{self.path}/standings")

    def _is_new_round(self, data: Json) -> bool:
        known = {round_.get("roundId") for round_ in self.raw.get("rounds", ())}
        return _id_in(data, "roundId") not in known

    def _has_clock(self) -> bool:
        form = FORMATS.get(str(self.raw["tournament"].get("type")))
        return form is not None and form.has_clock

    def _read_head(self) -> None:
        before = self.raw["tournament"]
        self.raw["tournament"] = reading.read_head(self.source, self.tournament_id)
        self.raw.update(reading.repeated_parts(self.raw["tournament"]))
        if before.get("status") != self.raw["tournament"].get("status"):
            self.read_everything()

    def _drop(self, part: str, key: str, data: Json) -> None:
        gone = data.get(f"{key}s") if isinstance(data, dict) else None
        if isinstance(gone, list) and part in self.raw:
            self.raw[part] = [item for item in self.raw[part] if item.get(key) not in gone]

    def _read_items(self, part: str, path: str, key: str, ids: set[int]) -> None:
        if len(ids) > ITEMS_AT_ONCE:
            self.raw[part] = self._list(part, path, key)
            return
        for item_id in ids:
            others = [item for item in self.raw.get(part, ()) if item.get(key) != item_id]
            try:
                item = self.source.read_data(f"{self.path}/{path}/{item_id}")
            except ThingMissing:
                # Gone, or all of it is closed to us: the list tells which.
                self.raw[part] = self._list(part, path, key)
                return
            if not isinstance(item, dict) or item.get(key) != item_id:
                raise SourceFault(f"{self.source.name} answered another thing than it was asked for.")
            self.raw[part] = sorted([*others, item], key=lambda each: int(each[key]))

    def _list(self, part: str, path: str, key: str) -> list[dict[str, Json]]:
        if part == "games":
            return self.source.read_list(f"{self.path}/{path}")
        return list(self.source.read_pages(f"{self.path}/{path}?voided=1&limit={PAGE_SIZE}", key))

    def _read_legs(self, changed: Collection[Json], known: Iterable[dict[str, Json]]) -> None:
        """Read the single games of the matches that changed, a request each; those of others are known."""
        self.raw.pop("legs", None)
        if not (self.has_legs and reading.has_matches(self.raw["tournament"])):
            return
        read = reading.legs_of_games(self.source, self.path, changed)
        self.has_legs = read is not None
        others = [game.get("gameId") for game in self.raw["games"] if game not in changed]
        legs = [*(leg for leg in known if leg.get("gameId") in others), *(read or ())]
        if legs:
            self.raw["legs"] = legs

    def _read_queues(self) -> None:
        """Read who waits: every format has a place of its own for it."""
        tournament = self.raw["tournament"]
        if tournament.get("status") != "started":
            self.raw.pop("queues", None)
            return
        form = FORMATS.get(str(tournament.get("type")))
        if form is None:
            return
        if form.has_clock:
            self.raw["queues"] = reading.entries_of_all_queues(
                self.source.read(f"{self.path}/frenzy").get("queue")
            )
        elif form.play is PlayKind.RACE:
            self.raw["queues"] = reading.entries_of_all_queues(
                self.source.read(f"{self.path}/amazing-race").get("queues")
            )
        elif form.attempts is not None:
            self.raw["queues"] = reading.queue_entries(self.source, f"{self.path}/queues")


def _id_in(data: Json, key: str) -> int:
    """The id in the data of an event; 0 where it has none."""
    found = data.get(key) if isinstance(data, dict) else None
    return found if isinstance(found, int) and found > 0 else 0
