"""Another browser, in which nobody is signed in: it opens links, and reads codes from paper."""

import re
from typing import Any
from urllib.parse import urlencode

from sqlalchemy import select

from silverball.service.devices import reads
from silverball.store import tables
from silverball.store.engine import Store
from web.director import FORM_TYPE, HERE, Director
from web.page_forms import PageForm
from web.test_sheets import drawn
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
    """A started tournament with scorekeepers and an open round; the first of its games."""
    return director.play(type_, players, scorekeeping="user", **settings)


def become(tablet: Visitor, director: Director, name: str = NAME) -> str:
    """The tablet opens a new link; the path of the link."""
    link = a_link(director, name)
    answer = tablet.get(link)
    assert (answer.status_code, answer.headers["location"]) == (303, director.at)
    return link


def page_of(browser: Visitor, path: str, status: int = 200) -> str:
    answer = browser.get(path)
    assert answer.status_code == status, (path, answer.status_code, answer.text)
    return answer.text


def rows(store: Store) -> str:
    """Everything that is in the database, as one text."""
    with store.read() as db:
        return str([db.execute(select(table)).all() for table in tables.metadata.sorted_tables])


def codes(director: Director, sheet: str = "names") -> list[str]:
    """The addresses in new codes on a sheet, in order: they are known by how they are drawn."""
    director.send("codes-new", "/settings")
    return printed(director, sheet)


def printed(director: Director, sheet: str) -> list[str]:
    """The same, of the codes that there are."""
    with director.store.read() as db:
        made = reads.current_codes(db, 1)
    assert made is not None
    night = director.tournament()
    if sheet == "names":
        ids = [entrant.player_id for entrant in night.entrants]
        wanted = [f"/t/1/players/{player_id}?code={made.player_code(player_id)}" for player_id in ids]
    else:
        ids = [game.game_id for game in director.open_games()]
        wanted = [f"/t/1/games/{player_id}?code={made.game_code(player_id)}" for player_id in ids]
    assert all(CODE.fullmatch(player_id) for player_id in wanted)
    paths = re.findall(r'<path[^>]* d="([^"]+)"', page_of(director.visitor, f"/t/1/print/{sheet}"))
    assert {drawn(f"http://silverball.test{player_id}") for player_id in wanted} <= set(paths)
    return wanted


def code_of(director: Director, player_id: int) -> str:
    return next(path for path in codes(director) if f"/players/{player_id}?" in path)
