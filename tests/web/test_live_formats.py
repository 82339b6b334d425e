"""The public pages of every format: planned, running and completed, each part of each page."""

import re
from html import unescape

import pytest

from silverball.rules.registry import FORMATS
from silverball.store.database.engine import Store
from silverball.web.live.views import VIEWS
from web.director import Director
from web.page_forms import text_of
from web.public_visitor import PublicVisitor, parts_of
from web.test_every_format import NIGHTS
from web.visitor import Visitor

FIRST_LINE = re.compile(
    r'<span class="disc p1">1</span>\s*<span class="text"><span class="name"><bdi>(.*?)</bdi>'
)
FOLLOWED = "data-follow="


def look_at_everything(passer: PublicVisitor, tournament_id: int) -> dict[str, str]:
    """Check each page, and that each part is the same alone as on the page, and all come together."""
    seen = {}
    for path, view in VIEWS.items():
        at = path.format(tournament_id=tournament_id)
        everything = f"?show={','.join(view.optional_parts)}" if view.optional_parts else ""
        html = passer.page(at + everything)
        assert parts_of(html) == list(view.optional_parts or view.parts)
        for part in view.optional_parts or view.parts:
            alone = passer.page(f"{at}{everything}{'&' if everything else '?'}part={part}")
            assert parts_of(alone) == [part]
            assert alone.strip() in html
            seen[f"{view.template} {part}"] = text_of(alone)
        names = list(view.optional_parts or view.parts)[::-1]
        together = passer.page(f"{at}{everything}{'&' if everything else '?'}part={','.join(names)}")
        assert parts_of(together) == names
        # A page that is cached for everybody holds no secret.
        assert "csrf" not in html
        # The only form is the one that looks back, which is nobody's in particular.
        assert html.count("<form") == html.count(f'<form method="get" action="{at}">')
    return seen


@pytest.mark.sample(4)
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("type_", NIGHTS)
def test_every_part_of_every_page_follows_a_night_to_its_end(
    store: Store, visitor: Visitor, type_: str
) -> None:
    play, count, settings = NIGHTS[type_]
    director, passer = Director(store, visitor), PublicVisitor(store)
    director.create(type_, **settings)
    director.fill(players=8, machines=6)
    at = f"/t/{director.tournament_id}"
    seen = look_at_everything(passer, director.tournament_id)
    assert "Player 8" in seen["live/page.html now"]
    assert "Nobody has a place yet" in seen["live/page.html standings"]

    director.send("start")
    look_at_everything(passer, director.tournament_id)
    play(director, count)
    running = look_at_everything(passer, director.tournament_id)
    assert "Player 1" in running["live/wall.html standings"]
    assert FOLLOWED in passer.page(at)
    for round_ in director.tournament().rounds:
        assert round_.name in passer.text(f"{at}?round={round_.round_id}&part=rounds")

    director.send("complete", "/standings")
    done = look_at_everything(passer, director.tournament_id)
    assert "Final" in done["live/page.html head"]
    page = passer.page(at)
    assert FOLLOWED not in page
    assert "<script" not in page
    # A wall stays live, because the tournament may be reopened.
    assert FOLLOWED in passer.page(f"{at}/wall")

    best = [player_id for position, player_id in director.standings() if position == 1]
    names = {unescape(name) for name in FIRST_LINE.findall(page)}
    assert len(names) == len(best)
    assert all(name in done["live/embed.html now"] for name in names)
    passer.close()


def test_every_format_is_looked_at() -> None:
    assert set(NIGHTS) == set(FORMATS)
