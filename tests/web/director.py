"""A director who runs a tournament through the forms of the console, without scripts."""

from typing import Any
from urllib.parse import urlencode

import msgspec

from silverball.rules.model.tournament import Tournament
from silverball.rules.registry import FORMATS
from silverball.service.core import loaded
from silverball.service.players import reads as players
from silverball.store.database.engine import Store
from web import page_forms
from web.page_forms import PageForm
from web.visitor import EMAIL, PASSWORD, Visitor, an_account

FORM_TYPE = {"content-type": "application/x-www-form-urlencoded"}
HERE = {"sec-fetch-site": "same-origin"}


class Director:
    """A signed-in organizer with one tournament; forms must succeed, except in `refused`."""

    def __init__(self, store: Store, visitor: Visitor, *, role: str = "organizer") -> None:
        self.store = store
        self.visitor = visitor
        self.user_id = an_account(store, name="Olga Ramp", role=role)
        self.tournament_id = 0
        visitor.sign_in(EMAIL, PASSWORD)

    @property
    def at(self) -> str:
        return f"/t/{self.tournament_id}/run"

    # Reading

    def page(self, path: str = "") -> str:
        """The HTML of a page of the console, which must exist."""
        answer = self.visitor.get(path if path.startswith("/run") else self.at + path)
        assert answer.status_code == 200, (path, answer.status_code, answer.text)
        return answer.text

    def forms(self, path: str = "") -> dict[str, PageForm]:
        return page_forms.forms_on(self.page(path))

    def tournament(self) -> Tournament:
        """The tournament as it is stored now."""
        with self.store.read() as db:
            return loaded.load_tournament(db, self.tournament_id)

    # Sending forms

    def post(self, form: PageForm, **fields: Any) -> Any:
        """Send a form filled with these fields, and return the answer."""
        sent = urlencode(form.filled(**fields))
        return self.visitor.post(form.action, content=sent, headers={**FORM_TYPE, **HERE})

    def send(self, form_id: str, path: str = "", **fields: Any) -> str:
        """Send the form with this id, which must succeed; returns the path that it leads to."""
        found = self.forms(path)
        assert form_id in found, (form_id, sorted(found))
        answer = self.post(found[form_id], **fields)
        assert answer.status_code == 303, (form_id, answer.status_code, page_forms.alerts_on(answer.text))
        to: str = answer.headers["location"]
        after = self.visitor.get(to)
        assert after.status_code == 200, (to, after.status_code)
        return to

    def refused(self, form_id: str, path: str = "", **fields: Any) -> tuple[int, str]:
        """Send a form that must be refused; returns the status and the sentences."""
        answer = self.post(self.forms(path)[form_id], **fields)
        assert answer.status_code >= 400, (form_id, answer.status_code)
        return answer.status_code, " ".join(page_forms.alerts_on(answer.text))

    # Running a tournament

    def create(self, type_: str, **settings: Any) -> None:
        """Create a tournament with these settings and the defaults of the form."""
        fields = {f"set_{key}": value for key, value in settings.items()}
        to = self.send("new", f"/run/new?type={type_}", name=f"Night of {type_}", **fields)
        self.tournament_id = int(to.split("/")[2])

    def fill(self, players: int, machines: int) -> None:
        """Add players and machines by name."""
        self.send("people", names="\n".join(f"Player {n + 1}" for n in range(players)))
        if machines:
            self.send("machine", names="\n".join(f"Machine {n + 1}" for n in range(machines)))

    def start(self, players: int = 8, machines: int = 6) -> None:
        self.fill(players, machines)
        self.send("start")
        assert self.tournament().status == "started"

    def play(self, type_: str = "group_matchplay", players: int = 8, **settings: Any) -> Any:
        """Start a tournament and open its first round; returns the first game."""
        self.create(type_, **settings)
        self.start(players)
        self.send("round-open")
        return self.open_games()[0]

    def game(self, game: Any) -> Any:
        """The game as it is now."""
        return next(each for each in self.tournament().games if each.game_id == game.game_id)

    def open_games(self) -> list[Any]:
        return [game for game in self.tournament().games if game.status == "started" and not game.is_bye]

    def finish(self, game: Any, *order: int) -> None:
        """Record a game: the first of two by one tap, a larger one by places."""
        players = order or tuple(sorted(game.player_ids))
        if len(players) == 2:
            self.send(f"result-{game.game_id}", first=players[0])
            return
        places: dict[str, Any] = {f"place_{player_id}": n + 1 for n, player_id in enumerate(players[:-1])}
        self.send(f"result-{game.game_id}", **places)

    def finish_all(self) -> int:
        """Record all open games, the lower player id first; returns how many there were."""
        games = self.open_games()
        for game in games:
            self.finish(game)
        return len(games)

    def open_attempts(self) -> list[Any]:
        """The open single player games, those of the first round first."""
        night = self.tournament()
        waiting = [game for game in night.single_player_games if game.status != "completed"]
        order = {round_.round_id: round_.round_index for round_ in night.rounds}
        return sorted(
            waiting, key=lambda attempt: (order.get(attempt.round_id, 0), attempt.single_player_game_id)
        )

    def is_over(self) -> bool:
        return FORMATS[self.tournament().type].is_over(self.tournament())

    def is_last(self, round_id: int) -> bool:
        """Whether the end condition is met."""
        newest = self.tournament().newest_round
        return newest is not None and newest.round_id == round_id

    def setting(self, key: str) -> Any:
        """A setting by its wire key."""
        return msgspec.to_builtins(self.tournament().settings)[key]

    def standings(self) -> list[tuple[int, int]]:
        """Position and player, best first."""
        night = self.tournament()
        return [(row.position, row.player_id) for row in FORMATS[night.type].rank(night)]

    def name(self, player_id: int) -> str:
        """A player's name."""
        with self.store.read() as db:
            return players.find_player(db, player_id, None).name
