"""Devices without an account: opening their links, and reading printed codes."""

import re
from typing import Any
from urllib.parse import urlencode

from sqlalchemy import select

from silverball.service.users import reads as users_reads
from silverball.store import tables
from silverball.store.database.engine import Store
from web.director import FORM_TYPE, HERE, Director
from web.page_forms import PageForm
from web.test_sheets import qr_path
from web.visitor import Visitor

NAME = "Tablet at the bar"
LINK = re.compile(r"http://silverball\.test(/d\?link=[A-Za-z0-9]{40})\b")
CODE = re.compile(r"/t/1/(?:players|games)/\d+\?code=[A-Za-z0-9_-]{22}")


def post(browser: Visitor, form: PageForm, **fields: Any) -> Any:
    """Send a form as a browser does."""
    return browser.post(form.action, content=urlencode(form.filled(**fields)), headers={**FORM_TYPE, **HERE})


def a_link(director: Director, name: str = NAME) -> str:
    """The path of a new link."""
    answer = director.post(director.forms("/settings")["device"], name=name)
    assert answer.status_code == 201, answer.text
    found = LINK.search(answer.text)
    assert found is not None
    return found[1]


def a_night(director: Director, type_: str = "matchplay", players: int = 4, **settings: Any) -> Any:
    """Start a tournament with scorekeepers and an open round; returns its first game."""
    return director.play(type_, players, scorekeeping="user", **settings)


def become(tablet: Visitor, director: Director, name: str = NAME) -> str:
    """Open a new link on the tablet; returns the path of the link."""
    link = a_link(director, name)
    answer = tablet.get(link)
    assert (answer.status_code, answer.headers["location"]) == (303, director.at)
    return link


def page_of(browser: Visitor, path: str, status: int = 200) -> str:
    answer = browser.get(path)
    assert answer.status_code == status, (path, answer.status_code, answer.text)
    return answer.text


def rows(store: Store) -> str:
    """All rows of the database, as one text."""
    with store.read() as db:
        return str([db.execute(select(table)).all() for table in tables.metadata.sorted_tables])


def codes(director: Director, sheet: str = "codes") -> list[str]:
    """The addresses in new codes on a sheet, in order, checked against the drawn codes."""
    director.send("codes-new", "/settings")
    return printed(director, sheet)


def printed(director: Director, sheet: str) -> list[str]:
    """The addresses in the existing codes on a sheet, in order."""
    with director.store.read() as db:
        made = users_reads.current_codes(db, 1)
    assert made is not None
    night = director.tournament()
    if sheet == "codes":
        ids = [entrant.player_id for entrant in night.entrants]
        wanted = [f"/t/1/players/{player_id}?code={made.player_code(player_id)}" for player_id in ids]
    else:
        ids = [game.game_id for game in director.open_games()]
        wanted = [f"/t/1/games/{game_id}?code={made.game_code(game_id)}" for game_id in ids]
    assert all(CODE.fullmatch(path) for path in wanted)
    paths = re.findall(r'<path[^>]* d="([^"]+)"', page_of(director.visitor, f"/t/1/print/{sheet}"))
    base = "http://silverball.test"
    # The codes of a sheet share a mask.
    assert {qr_path(f"{base}{path}", like=f"{base}/t/1") for path in wanted} <= set(paths)
    return wanted


def code_of(director: Director, player_id: int) -> str:
    return next(path for path in codes(director) if f"/players/{player_id}?" in path)
