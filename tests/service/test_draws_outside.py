"""A long draw runs while no transaction is open, and is made again when the tournament changed meanwhile."""

from collections.abc import Callable, Sequence
from random import Random

import pytest

import build
import draw_guard
from silverball.rules.commands import clocks
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.ranking.standing import Standing
from silverball.store.database.engine import Store
from stories.hall import Hall

PLAYERS = "Ann Bea Cid Dot Eva Fay"


@pytest.fixture
def hall(store: Store, monkeypatch: pytest.MonkeyPatch) -> Hall:
    draw_guard.watch_draws(monkeypatch)
    started = Hall(store, "max_matchplay", PLAYERS, maxMatchplayDuration=3)
    started.start()
    return started


def test_the_guard_notices_a_draw_inside_a_transaction(hall: Hall, store: Store) -> None:
    with pytest.raises(draw_guard.DrawInTransaction), store.read():
        tournament_commands.open_round(None, Random(1), build.NOW)  # type: ignore[arg-type]  # it is not reached


def test_matches_are_drawn_outside(hall: Hall) -> None:
    assert len(hall.post("/max-matchplay/games")["data"]) == 3


def test_late_players_by_name_are_entered_once_under_the_ids_of_the_draw(hall: Hall, store: Store) -> None:
    added = hall.post("/players", {"players": [{"name": "Gus"}, {"name": "Hal"}]})["data"]
    assert [player["name"] for player in added] == ["Gus", "Hal"]
    assert len({player["playerId"] for player in added}) == 2
    listed = [player["name"] for player in hall.get("/players")["data"]]
    assert sorted(listed) == sorted([*PLAYERS.split(), "Gus", "Hal"])
    assert len(hall.post("/max-matchplay/games")["data"]) == 4


def overtake(hall: Hall, monkeypatch: pytest.MonkeyPatch, times: int) -> list[int]:
    """Change the tournament during the first draws; returns a list that grows with each draw."""
    draws: list[int] = []
    create: Callable[..., object] = clocks.create_matches

    def draw(*arguments: object) -> object:
        draws.append(1)
        if len(draws) <= times:
            hall.patch("", {"name": f"Night {len(draws)}"})
        return create(*arguments)

    monkeypatch.setattr(clocks, "create_matches", draw)
    return draws


@pytest.mark.parametrize("times", [1, 2])
def test_a_draw_that_was_overtaken_is_drawn_again(
    hall: Hall, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    draws = overtake(hall, monkeypatch, times)
    assert len(hall.post("/max-matchplay/games")["data"]) == 3
    assert len(draws) == times + 1


def test_a_draw_that_is_overtaken_three_times_is_refused(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    draws = overtake(hall, monkeypatch, 9)
    status, sentence = hall.refused("POST", "/max-matchplay/games")
    assert (status, len(draws)) == (409, 3)
    assert sentence.startswith("The tournament changed each time")


def test_arenas_of_a_running_frenzy_are_filled_outside(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    frenzy = Hall(store, "frenzy", "Ann Bea Cid Dot Eva Fay Gus Hal", arenas=1)
    frenzy.start()
    draw_guard.watch_draws(monkeypatch, draw_guard.LINEUP_DRAWS)
    more = [frenzy._machine(number) for number in (2, 3)]
    before = len(frenzy.get("/games")["data"])
    frenzy.post("/arenas", {"arenas": [{"arenaId": arena_id} for arena_id in more]})
    games = frenzy.get("/games")["data"]
    assert len(games) > before
    assert {game["arenaId"] for game in games if game["status"] == "started"} > set(more[:1])
    frenzy.patch(f"/arenas/{more[0]}", {"status": "inactive"})
    frenzy.patch(f"/arenas/{more[1]}", {"status": "inactive", "redraw": True})


def test_the_best_are_ranked_and_drawn_outside(hall: Hall) -> None:
    playoffs = hall.post("/playoffs", {"type": "knockout", "players": sorted(hall.ids.values())[:4]})["data"]
    assert playoffs["name"] == "Story of max_matchplay: playoffs"


def test_a_playoff_that_was_overtaken_is_drawn_again(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    seeded: list[str] = []
    seed_players = tournament_commands.seed_players

    def overtaken(rows: Sequence[Standing], dice: Random) -> list[int]:
        seeded.append("")
        if len(seeded) == 1:
            hall.patch("", {"name": "Another night"})
        return seed_players(rows, dice)

    monkeypatch.setattr(tournament_commands, "seed_players", overtaken)
    playoffs = hall.post("/playoffs", {"type": "knockout", "players": sorted(hall.ids.values())[:4]})["data"]
    assert (playoffs["name"], len(seeded)) == ("Another night: playoffs", 2)
