"""A tap in a row changes what the row showed, or nothing; Undo is for whoever entered the result."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silverball.web.row_revisions import AFTER, is_outdated
from web.director import Director
from web.page_forms import forms_on
from web.scorekeeper_devices import a_night, become, page_of, post
from web.visitor import Visitor

OTHER_KEY = "another-key-of-another-device-1"
SHOWN_OTHERWISE = "changed by somebody else"


def refused(director: Director, form: Any, sentence: str = SHOWN_OTHERWISE) -> None:
    """Send a form that a page showed earlier, as another device does: it must change nothing."""
    before = director.tournament()
    answer = director.post(form, key=OTHER_KEY)
    assert answer.status_code == 409, answer.status_code
    assert sentence in answer.text
    assert director.tournament() == before


def test_of_two_who_move_a_player_back_the_second_is_refused(director: Director) -> None:
    director.create("frenzy")
    director.start(8, 2)
    first, second, *_ = sorted(director.tournament().waiting_spots, key=lambda spot: spot.queue_index or 0)
    forms = director.forms()
    director.send(f"frenzy-end-{first.queue_id}")
    refused(director, forms[f"frenzy-end-{first.queue_id}"])
    # Who stood before them is behind them now: that is no reason.
    assert director.post(forms[f"frenzy-out-{second.queue_id}"]).status_code == 303
    refused(director, forms["frenzy-games"])


def test_check_in_and_payment_change_what_the_door_showed(director: Director) -> None:
    director.create("matchplay")
    director.send("terms", "/door", fee="10")
    director.fill(2, 0)
    player_id = director.tournament().entrants[0].player_id
    forms = director.forms("/door")
    here, cash = forms[f"here-{player_id}"], forms[f"cash-{player_id}"]
    assert director.post(here).status_code == 303
    refused(director, here)
    # Who is here has nothing to do with what was paid.
    assert director.post(cash).status_code == 303
    refused(director, cash)
    refund = director.forms("/door")[f"refund-{player_id}"]
    assert director.post(refund).status_code == 303
    refused(director, refund)


def test_a_machine_is_put_out_of_order_once(director: Director) -> None:
    director.play("matchplay")
    arena_id = director.tournament().lineup[0].arena_id
    form = director.forms("/arenas")[f"broken-{arena_id}"]
    assert director.post(form).status_code == 303
    refused(director, form)


def test_a_result_is_taken_back_in_its_row_until_it_is_another_one(director: Director) -> None:
    game = director.play("matchplay")
    keep = f"?part=play&keep=game-{game.game_id}"
    director.finish(game)
    form = director.forms(keep)[f"result-undo-{game.game_id}"]
    assert director.post(form).status_code == 303
    assert director.game(game).status == "started"
    # A row that still shows the result takes nothing back.
    refused(director, form, "another result by now")
    director.finish(game, *sorted(game.player_ids, reverse=True))
    refused(director, form, "another result by now")


def test_a_device_takes_back_its_own_results_alone(director: Director, tablet: Visitor) -> None:
    first = a_night(director, "matchplay", 8)
    second, *_ = [game for game in director.open_games() if game.game_id != first.game_id]
    become(tablet, director)
    forms = forms_on(page_of(tablet, director.at))
    assert post(tablet, forms[f"result-{first.game_id}"], first=first.player_ids[0]).status_code == 303
    director.finish(second)
    rows = page_of(tablet, f"{director.at}?part=play&keep=game-{first.game_id},game-{second.game_id}")
    own = forms_on(rows)[f"result-undo-{first.game_id}"]
    # The organizer's result has no Undo on the tablet; a form made up for it is refused.
    assert f"result-undo-{second.game_id}" not in forms_on(rows)
    answer = post(tablet, own, game_id=second.game_id, seen="", key=OTHER_KEY)
    assert (answer.status_code, director.game(second).status) == (409, "completed")
    assert "Somebody else entered the result" in answer.text
    assert post(tablet, own).status_code == 303
    assert director.game(first).status == "started"


def test_what_somebody_else_entered_is_changed_with_what_was_entered(
    director: Director, tablet: Visitor
) -> None:
    game = a_night(director, "matchplay", 4)
    become(tablet, director)
    form = forms_on(page_of(tablet, director.at))[f"result-{game.game_id}"]
    winner, loser = game.player_ids
    assert post(tablet, form, first=winner).status_code == 303
    row = director.page(f"?part=play&keep=game-{game.game_id}")
    assert f"result-undo-{game.game_id}" not in row
    assert f"/correct?game={game.game_id}&amp;order={winner}.{loser}" in row


def test_strokes_are_taken_back_in_their_row(director: Director) -> None:
    director.create("golf")
    director.start(4, 2)
    attempt, *_ = director.open_attempts()
    key = attempt.single_player_game_id
    director.send(f"attempt-{key}", strokes=3)
    form = director.forms(f"?part=play&keep=play-{key}")[f"attempt-undo-{key}"]
    assert director.post(form).status_code == 303
    assert attempt in director.open_attempts()
    refused(director, form, "another result by now")


def test_done_rows_stay_where_they_are_and_new_ones_come_after(director: Director) -> None:
    director.play("matchplay", 8)
    first, second, third, fourth = [game.game_id for game in director.open_games()]
    director.finish(director.open_games()[1])
    shown = director.page(f"?part=play&keep=game-{third},game-{second},game-{first}")
    places = [shown.index(f'id="game-{key}"') for key in (third, second, first, fourth)]
    assert places == sorted(places)
    # A page that is loaded anew shows what is open.
    assert f'id="game-{second}"' not in director.page()
    assert director.visitor.get(f"{director.at}?keep=game-{'9' * 99},play-x,,'--").status_code == 200


@pytest.mark.parametrize(
    ("seen", "current", "is_stale"),
    [
        ("", "here", False),
        ("here", "", False),
        ("here", "nothing", True),
        ("here", "here", False),
        (AFTER + "1 2", AFTER + "2", False),
        (AFTER + "1 2", AFTER + "1 2 3", True),
        (AFTER, AFTER + "7", True),
    ],
)
def test_a_row_is_stale_when_it_shows_something_else(seen: str, current: str, is_stale: bool) -> None:
    assert is_outdated(seen, current) == is_stale


@given(st.sets(st.integers(1, 9)), st.sets(st.integers(1, 9)))
def test_a_place_in_a_queue_is_stale_once_somebody_came_before_it(before: set[int], now: set[int]) -> None:
    texts = [AFTER + " ".join(map(str, sorted(spots))) for spots in (before, now)]
    assert is_outdated(*texts) == bool(now - before)
