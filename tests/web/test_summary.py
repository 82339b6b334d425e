"""The summary of a completed tournament: its page, its picture, and what it counts."""

import io
from collections.abc import Iterator
from fractions import Fraction
from xml.etree import ElementTree

import pytest
from PIL import Image, ImageChops
from sqlalchemy import update

import hostile
from silverball.kit.values import replace
from silverball.rules.model.tournament import SinglePlayerGame
from silverball.service.core import loaded
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.web.live import summary
from stories.hall import Hall
from web.public_visitor import PublicVisitor

NAMES = "Ann Bea Cid Dot"


@pytest.fixture
def passer(store: Store) -> Iterator[PublicVisitor]:
    opened = PublicVisitor(store)
    yield opened
    opened.close()


def a_night(store: Store, *orders: str) -> Hall:
    """A group match play of four in one group, with a round for each finishing order."""
    hall = Hall(store, "group_matchplay", NAMES, arenas=1, duration=9)
    hall.start()
    for order in orders:
        hall.play_rounds(1, order)
    return hall


def test_a_small_night_is_summed_up(store: Store, passer: PublicVisitor) -> None:
    hall = a_night(store, "Ann Bea Cid Dot", "Dot Ann Bea Cid", "Dot Ann Cid Bea")
    at = f"/t/{hall.tournament_id}"
    for path in ("/summary", "/podium.svg", "/podium.png"):
        assert passer.get(at + path).status == 404
    assert f"{at}/summary" not in passer.page(at)
    hall.complete()
    assert f'href="{at}/summary"' in passer.page(at)
    text = passer.text(f"{at}/summary")
    # 7, 5, 3 and 1 points: Ann has 17, Dot 15, Bea 9, Cid 7. After the first round Dot was fourth.
    for sentence in ("Winner: Ann", "4 players, 3 games", "up 2 places to 2"):
        assert sentence in text
    assert "3 games" in text.partition("Machines played")[2]
    html = passer.page(f"{at}/summary")
    assert "Biggest move: <bdi>Dot</bdi>, up 2 places to 2" in html
    assert '<meta property="og:description" content="Ann won. ' in html
    assert f'<meta property="og:url" content="http://silverball.test{at}/summary">' in html
    for link in ("nights.atom", "calendar.ics", "/nights"):
        assert link in html
    hall.post("/reopen")
    assert passer.get(f"{at}/summary").status == 404


def test_the_picture_is_an_image_of_text_that_is_cached(store: Store, passer: PublicVisitor) -> None:
    hall = a_night(store, "Ann Bea Cid Dot")
    hall.complete()
    at = f"/t/{hall.tournament_id}/podium.svg"
    answer = passer.get(at)
    assert answer.headers["content-type"] == "image/svg+xml"
    assert answer.headers["cache-control"] == "private, max-age=300"
    assert passer.get(at, if_none_match=answer.headers["etag"]).status == 304
    texts = [element.text for element in ElementTree.fromstring(answer.body) if element.text]
    assert [name for name in texts if name in NAMES.split()] == ["Ann", "Bea", "Cid"]


@pytest.mark.sample(20)
@pytest.mark.parametrize(
    "name", [*hostile.PAYLOADS, "</text><script>alert(1)</script>", 'a" onload="b', "\x00\x08"]
)
def test_hostile_names_are_text_in_the_picture(name: str) -> None:
    texts = summary.podium_texts(name, [(1, name, "7"), (1, "B" * 500, "7")], name)
    root = ElementTree.fromstring(summary.draw_svg(name, texts))
    assert {element.tag.rpartition("}")[2] for element in root.iter()} == {"svg", "rect", "text"}
    assert summary.shorten(name, summary.NAME_LETTERS_MAX) in [element.text or "" for element in root]
    assert max(len(element.text or "") for element in root) <= summary.TITLE_LETTERS_MAX
    assert picture_of(summary.draw_png(texts)).size == (summary.WIDTH, summary.HEIGHT)


def picture_of(content: bytes) -> Image.Image:
    """The picture, read whole."""
    with Image.open(io.BytesIO(content), formats=["PNG"]) as opened:
        opened.load()
        return opened


def lit_columns(picture: Image.Image, top: int, bottom: int) -> tuple[int, int]:
    """The first and the last column that is not ground, between these rows."""
    ground = Image.new("RGB", picture.size, summary.GROUND)
    box = ImageChops.difference(picture, ground).crop((0, top, summary.WIDTH, bottom)).getbbox()
    assert box is not None
    return box[0], box[2]


def test_the_picture_is_also_a_png_that_services_preview(store: Store, passer: PublicVisitor) -> None:
    hall = a_night(store, "Ann Bea Cid Dot")
    hall.complete()
    at = f"/t/{hall.tournament_id}"
    answer = passer.get(f"{at}/podium.png")
    assert answer.headers["content-type"] == "image/png"
    assert passer.get(f"{at}/podium.png", if_none_match=answer.headers["etag"]).status == 304
    picture = picture_of(answer.body)
    # Title, three rows and the footer are drawn, each between the margins; between them is ground.
    for top, bottom in ((50, 130), (200, 250), (310, 360), (420, 470), (560, 600)):
        first, last = lit_columns(picture, top, bottom)
        assert first + 3 >= summary.MARGIN, (top, first)
        assert last <= summary.WIDTH - summary.MARGIN + 3, (top, last)
    page = passer.page(f"{at}/summary")
    assert f'<meta property="og:image" content="http://silverball.test{at}/podium.png">' in page
    assert f'href="{at}/podium.png"' in page


@pytest.mark.parametrize("name", ["W" * 32, "Åke Ängström", "Щука", "山田太郎" * 8, "עברית", "🎱🎱"])
def test_no_name_leaves_the_png(name: str) -> None:
    texts = summary.podium_texts(name, [(1, name, "1000"), (2, name, "7")], name)
    # With the fonts of this machine, and with none.
    for files in (summary.FONT_FILES, ()):
        picture = picture_of(summary.draw_png(texts, files))
        assert lit_columns(picture, 0, summary.HEIGHT)[1] <= summary.WIDTH - summary.MARGIN + 3


def test_a_name_of_markup_is_text_on_the_page(store: Store, passer: PublicVisitor) -> None:
    hall = a_night(store, "Ann Bea Cid Dot")
    hall.complete()
    with store.write() as transaction:
        named = update(tables.player).values(name='"><script>alert(1)</script>')
        transaction.connection.execute(named)
    html = passer.page(f"/t/{hall.tournament_id}/summary")
    assert "<script>alert" not in html
    assert "&lt;script&gt;" in html


@pytest.mark.parametrize(
    ("scores", "best"),
    [
        # Median 20: 100 is five times that.
        ({1: [10, 20, 100]}, (1, 100, Fraction(5))),
        # Two scores make no median; the machine with three decides, though 900 is higher.
        ({1: [10, 900], 2: [10, 20, 30]}, (2, 30, Fraction(3, 2))),
        # Of an even number the median is the middle of two: 25.
        ({1: [10, 20, 30, 50]}, (1, 50, Fraction(2))),
        ({1: [0, 0, 5]}, None),
        ({}, None),
    ],
)
def test_the_best_game_is_farthest_above_the_median_of_its_machine(
    store: Store, scores: dict[int, list[int]], best: tuple[int, int, Fraction] | None
) -> None:
    hall = a_night(store)
    with store.read() as db:
        tournament = loaded.load_tournament(db, hall.tournament_id)
    pairs = [(arena_id, score) for arena_id, listed in scores.items() for score in listed]
    attempts = tuple(
        SinglePlayerGame(
            single_player_game_id=n, player_id=n, status="completed", arena_id=arena_id, score=score
        )
        for n, (arena_id, score) in enumerate(pairs)
    )
    found = summary.find_best_game(replace(tournament, single_player_games=attempts))
    assert (found and (found.arena_id, found.score, found.times_median)) == best
