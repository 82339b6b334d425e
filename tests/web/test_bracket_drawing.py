"""Brackets as drawings: each match beside those that lead to it, lines, and the pages of a wall."""

import re

import pytest

from silverball.store.database.engine import Store
from silverball.web.live import bracket_tree
from silverball.web.live.bracket_tree import BracketColumn, BracketHalf, BracketLink, BracketSeat, MatchBox
from web.director import Director
from web.public_visitor import PublicVisitor

# Drawing a bracket needs no database.
one_database = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def ways(column: BracketColumn) -> list[tuple[int, int]]:
    return [(link.from_slot, link.to_slot) for link in column.links]


def a_column(count: int, title: str = "", *, is_over: bool = False) -> BracketColumn:
    """A round of two-player matches, each leading to half of its place."""
    seats = [
        BracketSeat(player_id=1, state="won" if is_over else ""),
        BracketSeat(player_id=2, state="out" if is_over else ""),
    ]
    boxes = [MatchBox(number=slot, title="", seats=seats, slot=slot) for slot in range(count)]
    links = [BracketLink(slot, slot // 2, is_over) for slot in range(count)]
    return BracketColumn(title, boxes, count, links)


@one_database
def test_two_matches_lead_to_one(director: Director) -> None:
    director.create("bracket")
    director.start(8)
    (half,) = bracket_tree.bracket_halves(director.tournament())
    assert [ways(column) for column in half.columns] == [
        [(0, 0), (1, 0), (2, 1), (3, 1)],
        [(0, 0), (1, 0)],
        [],
    ]
    # The games for places stand beside the drawing.
    assert [len(column.slots) for column in half.columns] == [4, 2, 1]
    assert [box.title for box in half.extra_boxes] == ["For fifth place", "For third place"]


@one_database
def test_every_other_round_of_the_losers_leads_straight_on(director: Director) -> None:
    director.create("double_bracket")
    director.start(8)
    losers = bracket_tree.bracket_halves(director.tournament())[1]
    assert [ways(column) for column in losers.columns] == [
        [(0, 0), (1, 1)],
        [(0, 0), (1, 0)],
        [(0, 0)],
        [],
    ]


@one_database
def test_a_bye_leaves_its_place_empty(director: Director) -> None:
    director.create("double_bracket")
    director.start(5)
    halves = {half.title: half for half in bracket_tree.bracket_halves(director.tournament())}
    first = halves["Losers"].columns[0]
    assert [slot is None for slot in first.slots].count(True) == first.slot_count - len(first.boxes)
    for half in halves.values():
        for column in half.columns:
            assert {box.slot for box in column.boxes if not box.is_extra} <= set(range(column.slot_count))


def test_a_line_leads_to_the_next_match_and_is_broken_until_it_is_decided() -> None:
    first = a_column(4)
    assert first.is_halved
    assert first.line_of_slot == dict.fromkeys(range(4), "goes open")
    assert first.reached_slots == {0, 1}
    assert a_column(2, is_over=True).line_of_slot == {0: "goes", 1: "goes"}
    straight = BracketColumn("", first.boxes, 4, [BracketLink(slot, slot) for slot in range(4)])
    assert not straight.is_halved
    assert straight.reached_slots == {0, 1, 2, 3}


def test_no_line_is_drawn_where_groups_meet_anew() -> None:
    crossed = BracketColumn("", a_column(4).boxes, 4, [BracketLink(0, 1), BracketLink(1, 0)])
    assert crossed.line_of_slot == {}
    assert crossed.reached_slots == set()


def test_a_large_bracket_is_cut_into_pages_that_fit_a_wall() -> None:
    columns = [a_column(count, f"{count}") for count in (32, 16, 8, 4, 2, 1)]
    pages = bracket_tree.wall_pages([BracketHalf("Bracket", columns)])
    sizes = [[column.slot_count for column in page.columns] for page in pages]
    assert sizes == [[8, 4, 2, 1]] * 4 + [[2, 1]]
    for page in pages:
        for column, following in zip(page.columns, page.columns[1:], strict=False):
            assert ways(column) == [(slot, slot // 2) for slot in range(column.slot_count)]
            assert max(link.to_slot for link in column.links) < following.slot_count


def test_a_wall_shows_the_pages_on_which_something_is_left_to_play() -> None:
    over, now = a_column(8, "Eight", is_over=True), a_column(4, "Four")
    halves = [BracketHalf("Winners", [over]), BracketHalf("Losers", [now])]
    assert [page.title for page in bracket_tree.wall_pages(halves)] == ["Losers"]
    assert [page.title for page in bracket_tree.wall_pages(halves[:1])] == ["Winners"]
    assert bracket_tree.wall_pages([]) == []


@one_database
def test_players_draw_the_lines_between_groups(director: Director) -> None:
    director.create("group_bracket", gamesPerRound=1, bracketSize=8, seeding="manual")
    director.start(8)
    director.send("round-open")
    (half,) = bracket_tree.bracket_halves(director.tournament())
    assert ways(half.columns[0]) == []
    director.finish_all()
    director.send("round-open")
    (half,) = bracket_tree.bracket_halves(director.tournament())
    assert ways(half.columns[0]) == [(0, 0), (1, 0)]


@one_database
def test_seeds_numbers_and_lines_are_on_the_page(store: Store, director: Director) -> None:
    director.create("bracket", seeding="manual")
    director.start(4)
    director.finish(director.open_games()[0])
    page = PublicVisitor(store).page(f"/t/{director.tournament_id}?part=tree")
    classes = re.findall(r'<li class="(slot[ \w]*)" id="m\d', page)
    assert classes == ["slot goes", "slot goes open", "slot goes open fed"]
    assert "Bracket, Semifinals, match </span>1" in page
    assert '<span class="seed"><span class="hidden">seed </span>4</span>' in page
    assert "Who takes it?" in page
    assert "For third place" in page
