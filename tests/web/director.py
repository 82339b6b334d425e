"""Somebody who runs a tournament through the console alone, form by form, as a browser without scripts."""

from typing import Any
from urllib.parse import urlencode

import msgspec

from silverball.rules.model.tournament import Tournament
from silverball.rules.registry import FORMATS
from silverball.service.core import enact
from silverball.service.players import reads as players
from silverball.store.engine import Store
from web import page_forms
from web.page_forms import PageForm
from web.visitor import EMAIL, PASSWORD, Visitor, an_account

FORM_TYPE = {"content-type": "application/x-www-form-urlencoded"}
HERE = {"sec-fetch-site": "same-origin"}


class Director:
    """Signs in, creates a tournament, and does what its forms offer; is never refused unless asked."""

    def __init__(self, store: Store, visitor: Visitor, *, role: str = "organizer") -> None:
        self.store = store
        self.visitor = visitor
        self.user_id = an_account(store, name="Olga Ramp", role=role)
        self.tournament_id = 0
        visitor.sign_in(EMAIL, PASSWORD)

    @property
    def at(self) -> str:
        return f"/t/{self.tournament_id}/run"

    # Looking

    def page(self, path: str = "") -> str:
        """A page of the console, which must be there."""
        answer = self.visitor.get(path if path.startswith("/run") else self.at + path)
        assert answer.status_code == 200, (path, answer.status_code, answer.text)
        return answer.text

    def forms(self, path: str = "") -> dict[str, PageForm]:
        return page_forms.forms_on(self.page(path))

    def tournament(self) -> Tournament:
        """What stands in the database now."""
        with self.store.read() as db:
            return enact.load_tournament(db, self.tournament_id)

    # Doing

    def post(self, form: PageForm, **fields: Any) -> Any:
        """Send a form filled with these fields; the answer, whatever it is."""
        sent = urlencode(form.filled(**fields))
        return self.visitor.post(form.action, content=sent, headers={**FORM_TYPE, **HERE})

    def send(self, form_id: str, path: str = "", **fields: Any) -> str:
        """Send the form with this id on a page; it is done, and the page that it leads to is there."""
        found = self.forms(path)
        assert form_id in found, (form_id, sorted(found))
        answer = self.post(found[form_id], **fields)
        assert answer.status_code == 303, (form_id, answer.status_code, page_forms.alerts_on(answer.text))
        to: str = answer.headers["location"]
        after = self.visitor.get(to)
        assert after.status_code == 200, (to, after.status_code)
        return to

    def refused(self, form_id: str, path: str = "", **fields: Any) -> tuple[int, str]:
        """Send a form and be refused: the status and the sentences; the page has the form again."""
        answer = self.post(self.forms(path)[form_id], **fields)
        assert answer.status_code >= 400, (form_id, answer.status_code)
        return answer.status_code, " ".join(page_forms.alerts_on(answer.text))

    # The night

    def create(self, type_: str, **settings: Any) -> None:
        """A new tournament with these settings; the others stay as the form has them."""
        fields = {f"set_{key}": value for key, value in settings.items()}
        to = self.send("new", f"/run/new?type={type_}", name=f"Night of {type_}", **fields)
        self.tournament_id = int(to.split("/")[2])

    def fill(self, players: int, machines: int) -> None:
        """Players and machines, as text."""
        self.send("people", names="\n".join(f"Player {n + 1}" for n in range(players)))
        if machines:
            self.send("machine", names="\n".join(f"Machine {n + 1}" for n in range(machines)))

    def start(self, players: int = 8, machines: int = 6) -> None:
        self.fill(players, machines)
        self.send("start")
        assert self.tournament().status == "started"

    def play(self, type_: str = "group_matchplay", players: int = 8, **settings: Any) -> Any:
        """A started tournament with its first round open; the first of its games."""
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
        """Every open game: the player with the lower id is better. How many there were."""
        games = self.open_games()
        for game in games:
            self.finish(game)
        return len(games)

    def open_attempts(self) -> list[Any]:
        """Single player games that wait, those of the first round first."""
        night = self.tournament()
        waiting = [game for game in night.single_player_games if game.status != "completed"]
        order = {round_.round_id: round_.round_index for round_ in night.rounds}
        return sorted(
            waiting, key=lambda attempt: (order.get(attempt.round_id, 0), attempt.single_player_game_id)
        )

    def is_over(self) -> bool:
        return FORMATS[self.tournament().type].is_over(self.tournament())

    def is_last(self, round_id: int) -> bool:
        """Whether this is the last round."""
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
