"""Two tournaments of an occasion in one room: they share machines and people.

    room = Room(store, "group_matchplay", 24, "matchplay", 16, shared=12, machines=8)
    room.play(Random(7), rounds=3)

Robots record results in both over HTTP; after each of them nobody may be in two games at once.
"""

from datetime import timedelta
from random import Random
from typing import Any

from silverball.jobs.call_waiting import RoomCaller
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.journal.reads import verification
from silverball.store.database.engine import Store
from stories.hall import Hall, Json

SECONDS_PER_REQUEST = 20


class SteadyHall(Hall):
    """A hall whose clock stands still within a request, so that draws can be made again to the second."""

    def _clock(self) -> Any:
        return self.now

    def send(self, method: str, path: str, body: Any = None, *, by: AuthenticatedCaller | None = None) -> Any:
        self.now += timedelta(seconds=SECONDS_PER_REQUEST)
        return super().send(method, path, body, by=by)


class SharingHall(Hall):
    """A second tournament of the organizer of a hall, with players and machines of the first one."""

    # The clock of both is that of the first.
    now = property(lambda self: self.first.now)

    def __init__(
        self, first: Hall, kind: str, shared: list[str], others: list[str], *, name: str, **settings: Any
    ) -> None:
        self.store, self._api, self.organizer = first.store, first._api, first.organizer
        self.first, self.mirror = first, None
        created = self.send("POST", "/api/tournaments", {"name": name, "type": kind, **settings})
        self.tournament_id = created["data"]["tournamentId"]
        self.path = f"/api/tournaments/{self.tournament_id}"
        self.ids = {each: first.ids[each] for each in shared}
        if shared:
            self.post("/players", {"players": [{"playerId": first.ids[each]} for each in shared]})
        if others:
            added = self.post("/players", {"players": [{"name": each} for each in others]})["data"]
            self.ids |= {player["name"]: player["playerId"] for player in added}
        self.arenas = first.arenas
        self.post("/arenas", {"arenas": [{"arenaId": arena_id} for arena_id in self.arenas]})


class Room:
    """The two tournaments, `main` and `womens`, and what follows from one in the other."""

    def __init__(
        self,
        store: Store,
        kind: str,
        players: int,
        other_kind: str,
        other_players: int,
        *,
        shared: int,
        machines: int,
        settings: Json | None = None,
        other_settings: Json | None = None,
    ) -> None:
        names = [f"Ada{number}" for number in range(players)]
        self.main = SteadyHall(store, kind, " ".join(names), arenas=machines, **(settings or {}))
        others = [f"Bea{number}" for number in range(other_players - shared)]
        self.womens = SharingHall(
            self.main, other_kind, names[:shared], others, name="Women's", **(other_settings or {})
        )
        self.halls = (self.main, self.womens)
        self.store = store
        entries = [{"tournamentId": hall.tournament_id} for hall in self.halls]
        occasion = {"name": "Saturday", "startUtc": "2026-03-07T18:00:00Z", "tournaments": entries}
        self.occasion_id: int = self.main.send("POST", "/api/events", occasion)["data"]["eventId"]
        self.caller = RoomCaller(store, self.main._clock)

    def start(self) -> None:
        for hall in self.halls:
            hall.start()
            self.follow()

    def follow(self) -> None:
        """Do what the server does after each change, until nothing follows any more."""
        while self.caller.call_due():
            pass
        if self.main.mirror is not None:
            self.main.mirror.follow()
        self.require_nobody_twice()

    def playing(self, hall: Hall) -> list[Json]:
        """The open games that are played, by id: of several of a player the first one."""
        seated: set[int] = set()
        found = []
        for game in hall.open_games():
            if seated.isdisjoint(game["playerIds"]):
                found.append(game)
            seated.update(game["playerIds"])
        return [game for game in found if "waitingSince" not in game]

    def waiting(self, hall: Hall) -> list[Json]:
        """The open games that wait, by id."""
        return [game for game in hall.open_games() if "waitingSince" in game]

    def require_nobody_twice(self) -> None:
        """Nobody is in two games in play, and no machine is in two tournaments."""
        by_hall = [self.playing(hall) for hall in self.halls]
        seats = [player_id for games in by_hall for game in games for player_id in game["playerIds"]]
        assert len(seats) == len(set(seats)), sorted(each for each in seats if seats.count(each) > 1)
        machines = [{game["arenaId"] for game in games} - {None} for games in by_hall]
        assert not machines[0] & machines[1]

    def called(self, hall: Hall) -> set[int]:
        """Ids of the open games whose players were called."""
        return {each["gameId"] for each in hall.get("/timer")["data"]["calledGames"]}

    def finish_any(self, dice: Random) -> bool:
        """Record the result of a game in play, of either tournament; False when none is open."""
        games = [(hall, game) for hall in self.halls for game in self.playing(hall)]
        if not games:
            assert not any(hall.open_games() for hall in self.halls), "nobody plays, and games wait"
            return False
        hall, game = dice.choice(games)
        hall.finish(game, *dice.sample(hall.players_of(game), len(game["playerIds"])))
        self.follow()
        return True

    def play(self, dice: Random, *, rounds: int) -> None:
        """Play so many rounds in each; a round is opened as soon as the one before is over."""
        left = {hall.tournament_id: rounds for hall in self.halls}
        while True:
            for hall in self.halls:
                if left[hall.tournament_id] and not hall.open_games():
                    hall.post("/rounds", {})
                    left[hall.tournament_id] -= 1
                    self.follow()
            if not self.finish_any(dice) and not any(left.values()):
                return

    def require_clean(self) -> None:
        """Verify both tournaments, and make all their draws again."""
        for hall in self.halls:
            # No transaction of the product, in which a draw would hold up others.
            with self.store.engine.connect() as db:
                report = verification.verify_tournament(db, hall.tournament_id)
                remade = verification.verify_draws(db, hall.tournament_id)
            assert not report.faults, report.faults
            assert not remade.faults, remade.faults
            assert not [name for name in remade.not_remade if "round" in name], remade.not_remade
