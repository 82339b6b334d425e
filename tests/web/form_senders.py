"""A director, a scorekeeper's device and a player with a printed code, who each send any form of a night."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from random import Random
from typing import Any
from urllib.parse import urlencode

from sqlalchemy import select, update

import build
import hostile
from service import stored_nights
from service.kept_night import KeptDatabase
from silverball.kit.security import tokens
from silverball.rules.model.tournament import Tournament
from silverball.service.core import loaded
from silverball.service.users import reads as users_reads
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.people import encryption
from silverball.web.console import views as console_views
from silverball.web.console.actions import ACTIONS
from web import page_forms
from web.director import FORM_TYPE, HERE
from web.page_forms import Fields, PageForm
from web.visitor import EMAIL, PASSWORD_HASH, Visitor

SENDERS = ("director", "device", "player")
FILLINGS = ("plausible", "empty", "wrong")
# What a form needs to be read at all.
KEPT_FIELDS = frozenset({"csrf", "key", "form", "page", "then"})
# What people type into fields that a page shows empty, by the beginning of their name.
TYPED = {
    "score": "1,000",
    "name": "Ada Quill",
    "text": "left early",
    "place": "1",
    "rolls": "7 2",
    "url": "https://example.org/hook",
}
WRONG = (
    *(
        "",
        "0",
        "-1",
        "9" * 19,
        "9" * 30,
        "1.5",
        "NaN",
        "on",
        "none",
        "\x00",
        "4 A\nx",
        "?round=1",
        "2026-02-30",
    ),
    *hostile.PAYLOADS,
)
DEVICE_ROW = {"name": "tablet", "created_at": build.NOW}


class FormSenders:
    """The three, in front of one night, and the forms that any of them sees."""

    def __init__(self, database: KeptDatabase, night: Tournament, stack: ExitStack) -> None:
        self._database, self._night = database, night
        self._visitors = {name: stack.enter_context(Visitor(database.store)) for name in SENDERS}
        self._at = f"/t/{night.tournament_id}"
        # The secret of the forms that each of them was sent.
        self._secrets: dict[str, str] = {}
        self.forms: list[PageForm] = []
        self._admit()
        self._open_round()
        self._players_page = self._page_of_a_player(database.store)
        self.forms = self._find_forms()
        database.keep()

    def statuses(self, dice: Random) -> Iterator[tuple[str, str, str, int]]:
        """The address of each form, who sends it how filled in, and the status of the answer."""
        for form in self.forms:
            for sender in SENDERS:
                for filling in FILLINGS:
                    status = self._status(sender, form, _filled(form, filling, self._ids, dice))
                    yield form.action, sender, filling, status

    def _status(self, sender: str, form: PageForm, fields: Fields) -> int:
        fields = [(name, value) for name, value in fields if name != "csrf"]
        sent = urlencode([*fields, ("csrf", self._secrets.get(sender, "guessed"))], errors="replace")
        visitor = self._visitors[sender]
        cookies = list(visitor.cookies.jar)
        answer = visitor.post(form.action, content=sent, headers={**FORM_TYPE, **HERE})
        if answer.status_code < 400 and self.forms:
            self._database.bring_back()
            # A form can take the device away from its browser.
            visitor.cookies.clear()
            for cookie in cookies:
                visitor.cookies.jar.set_cookie(cookie)
        return answer.status_code

    @property
    def _ids(self) -> Mapping[str, int]:
        """Ids of the night, by the field that names one."""
        night = self._night
        ids = {"player_id": night.entrants[0].player_id, "arena_id": night.lineup[0].arena_id}
        for name, parts in (
            ("game_id", night.games),
            ("round_id", night.rounds),
            ("single_player_game_id", night.single_player_games),
        ):
            if parts:
                ids[name] = getattr(_newest(parts), name)
        user = {"user_id": stored_nights.SCOREKEEPER_ID, "playerId": ids["player_id"]}
        return {**ids, **user, "arenaId": ids["arena_id"]}

    def _admit(self) -> None:
        """Sign the director in, make the tablet a device and print codes."""
        store, tournament_id = self._database.store, self._night.tournament_id
        store.forget()
        own = update(tables.user).where(tables.user.c.user_id == stored_nights.ORGANIZER_ID)
        secret = tokens.new_link_secret(Random(1))
        open_to_all = {"scorekeeping": "user", "suggestions": "restricted"}
        stored = tables.tournament.c.tournament_id == tournament_id
        with store.write() as transaction:
            db = transaction.connection
            settings = db.execute(select(tables.tournament.c.settings).where(stored)).scalar_one()
            settings |= {name: value for name, value in open_to_all.items() if name in settings}
            db.execute(update(tables.tournament).where(stored).values(settings=settings))
            db.execute(own.values(email=EMAIL, password_hash=PASSWORD_HASH, role="organizer"))
            printed = encryption.encrypt(db, tokens.new_link_secret(Random(2)))
        common = {**DEVICE_ROW, "tournament_id": tournament_id}
        build.row(store, tables.device, kind="scorekeeper", hash=tokens.digest(secret), **common)
        build.row(store, tables.device, kind="codes", secret=printed, **common)
        self._visitors["director"].sign_in_anew()
        self._visitors["device"].get(f"/d?link={secret}")

    def _open_round(self) -> None:
        """Open a round where the console offers it, so that there are games to report."""
        now = page_forms.forms_on(self._visitors["director"].get(f"{self._at}/run").text)
        form = now.get("round-open") or now.get("matches")
        if form is not None:
            self._remember_secret("director", form)
            self._status("director", form, form.fields)
        with self._database.store.read() as db:
            self._night = loaded.load_tournament(db, self._night.tournament_id)

    def _page_of_a_player(self, store: Store) -> str:
        """The page of somebody in an open game, with their printed code."""
        with store.read() as db:
            codes = users_reads.current_codes(db, self._night.tournament_id)
        assert codes is not None
        games = self._night.games
        player_id = _newest(games).player_ids[0] if games else self._night.entrants[0].player_id
        return f"{self._at}/players/{player_id}?code={codes.player_code(player_id)}"

    def _find_forms(self) -> list[PageForm]:
        """Each form that one of the three sees, and one of each action that no page of this night has."""
        ids = self._ids
        chosen = {
            "game": f"?game={ids.get('game_id')}",
            "correct": f"?game={ids.get('game_id')}",
            "attempt": f"?attempt={ids.get('single_player_game_id')}",
            "player": f"?player={ids['player_id']}",
        }
        console = [
            f"{self._at}/run/{view}".rstrip("/") + chosen.get(view, "") for view in console_views.VIEWS
        ]
        pages = {
            "director": [*console, f"{self._at}/sign-up"],
            "device": [f"{self._at}/run"],
            "player": [self._players_page],
        }
        found: dict[tuple[str, frozenset[str]], PageForm] = {}
        for sender, paths in pages.items():
            for path in paths:
                answer = self._visitors[sender].get(path)
                assert answer.status_code < 500, (sender, path)
                for form in page_forms.forms_on(answer.text).values():
                    self._remember_secret(sender, form)
                    if form.action.startswith(self._at) and form.method == "post":
                        found.setdefault((form.action, _shape(form)), form)
        shown = {action for action, _ in found}
        unseen = [f"{self._at}/run/do/{name}" for name in sorted(ACTIONS)]
        blank = [(name, str(value)) for name, value in ids.items()]
        return [*found.values(), *(PageForm(at, "post", at, blank) for at in unseen if at not in shown)]

    def _remember_secret(self, sender: str, form: PageForm) -> None:
        for name, value in form.fields:
            if name == "csrf":
                self._secrets[sender] = value


def _newest(parts: Sequence[Any]) -> Any:
    """The newest of these games, or rounds, that is open; the newest of all where none is."""
    return next((part for part in reversed(parts) if part.status == "started"), parts[-1])


def _shape(form: PageForm) -> frozenset[str]:
    """The names of the form's fields without their numbers, by which forms of many players are alike."""
    names = [*(name for name, _ in form.fields), *form.boxes, *(name for name, _ in form.buttons)]
    return frozenset(name.rstrip("0123456789") for name in names)


def _filled(form: PageForm, filling: str, ids: Mapping[str, int], dice: Random) -> Fields:
    """The fields as a browser sends them: with what people type, all empty, or with what nobody types."""
    names = dict.fromkeys([*(name for name, _ in form.fields), *form.boxes])
    buttons = [dice.choice(form.buttons)] if form.buttons else []
    if filling == "plausible":
        boxes = [(name, value) for name, values in form.boxes.items() for value in values[:4]]
        return [(name, value or _typed(name, ids)) for name, value in form.fields] + boxes + buttons
    kept = [pair for pair in form.fields if pair[0] in KEPT_FIELDS]
    others = [name for name in names if name not in KEPT_FIELDS]
    if filling == "empty":
        return kept + [(name, "") for name in others]
    # One of them as it was, at times, so that the fault is beyond the first field.
    before: dict[str, Any] = dict(form.fields)
    values = [(name, dice.choice((before.get(name, ""), dice.choice(WRONG)))) for name in others]
    return kept + values + [(name, dice.choice(WRONG)) for name, _ in buttons]


def _typed(name: str, ids: Mapping[str, int]) -> str:
    if name in ids:
        return str(ids[name])
    return next((value for start, value in TYPED.items() if name.startswith(start)), "")
