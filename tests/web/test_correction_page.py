"""A wrong result that is found later, corrected through the console."""

from decimal import Decimal
from typing import Any

import pytest

from silverball.rules.model.tournament import Game
from silverball.service.journal.reads import verification
from web.director import Director
from web.public_visitor import PublicVisitor

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def play_round(director: Director) -> list[Game]:
    """The games of the open round, each won by its first player, and the next round opened."""
    games = director.open_games()
    for game in games:
        director.finish(game, *game.player_ids)
    director.send("round-open")
    return games


def verified(director: Director) -> list[object]:
    with director.store.read() as db:
        return list(verification.verify_tournament(db, director.tournament_id).faults)


def test_a_result_of_an_earlier_round_is_corrected_after_a_look_at_what_changes(director: Director) -> None:
    director.play("matchplay")
    (game, *_) = play_round(director)
    winner, loser = game.player_ids
    page = f"/correct?game={game.game_id}"
    to = director.send("right", page, first=loser)
    assert to == f"{director.at}{page}&order={loser}.{winner}"
    preview = to.removeprefix(director.at)
    shown = director.page(preview)
    assert "What changes" in shown
    assert "1.00 → 0.00" in shown
    assert "0.00 → 1.00" in shown
    # Nothing is stored yet, and not without a reason.
    assert director.game(game).result_positions[0] == winner
    assert director.refused("correct", preview) == (
        422,
        "Give the reason of the correction: the journal keeps it.",
    )
    assert director.send("correct", preview, reason="The cards were swapped.") == f"{director.at}/results"
    assert director.game(game).result_points == (Decimal(0), Decimal(1))
    assert "A result was corrected. Reason: The cards were swapped." in director.page("/journal")
    assert verified(director) == []
    # Whom it moved sees it, until it is taken back.
    live, own = f"/t/{director.tournament_id}", f"/t/{director.tournament_id}/players/{loser}"
    guest = PublicVisitor(director.store)
    assert "corrected, was 5" in guest.page(live)
    assert "A result was corrected. Your place was 5 before." in director.visitor.get(own).text
    director.send("undo")
    assert director.game(game).result_positions[0] == winner
    assert verified(director) == []
    assert "corrected" not in guest.page(live)
    guest.close()


def test_who_is_back_in_gets_the_strikes_of_missed_rounds_and_who_is_out_leaves(director: Director) -> None:
    director.play("group_knockout", knockoutStrikeCount="1", knockoutFourPlayerStrikes="1")
    game = director.open_games()[0]
    first, *middle, last = game.player_ids
    for other in director.open_games():
        director.finish(other, *other.player_ids)
    director.send("round-open")
    turned: dict[str, Any] = {
        f"place_{player_id}": n for n, player_id in enumerate([last, *middle, first], start=1)
    }
    preview = director.send("right", f"/correct?game={game.game_id}", **turned).removeprefix(director.at)
    shown = director.page(preview)
    assert "Out by it:" in shown
    assert "Back in:" in shown
    form = director.forms(preview)["correct"]
    assert form.boxes["takeOut"] == [str(first)]
    director.send("correct", preview, reason="Read from the wrong end.", takeOut=[first])
    assert first not in {player_id for found in director.open_games() for player_id in found.player_ids}
    assert verified(director) == []


def test_a_score_is_corrected_too(director: Director) -> None:
    director.create("golf")
    director.start()
    attempt = director.tournament().single_player_games[0]
    key = attempt.single_player_game_id
    director.send(f"exact-{key}", f"/attempt?attempt={key}", strokes=5)
    page = f"/correct?attempt={key}"
    assert page in director.page(f"/attempt?attempt={key}")
    shown = director.page(f"{page}&strokes=3")
    assert "5.00 → 3.00" in shown
    director.send("correct", f"{page}&strokes=3", reason="Counted twice.")
    assert director.tournament().single_player_games[0].points == 3
    assert verified(director) == []


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("?game=999999", "No such game"),
        ("?attempt=none", "No such game"),
        ("", "No such game"),
        ("?game={game}&order=1.1", "order"),
        ("?game={game}&order=nobody", "order"),
        ("?game={game}&order={same}", "same"),
    ],
)
def test_what_cannot_be_corrected_is_said_in_a_sentence(
    director: Director, query: str, sentence: str
) -> None:
    director.play("matchplay")
    (game, *_) = play_round(director)
    same = ".".join(map(str, game.player_ids))
    shown = director.page("/correct" + query.format(game=game.game_id, same=same))
    assert sentence in shown
    assert "Save the correction" not in shown


def test_a_bracket_asks_for_no_points_of_missed_rounds(director: Director) -> None:
    """Its places follow from its games alone, so the form would be refused; nor are points adjusted."""
    director.create("bracket")
    director.start(5)
    game = next(game for game in director.open_games() if len(game.player_ids) == 2)
    winner, loser = game.player_ids
    director.finish(game, winner, loser)
    preview = director.send("right", f"/correct?game={game.game_id}", first=loser).removeprefix(director.at)
    assert "Back in:" in director.page(preview)
    assert "missed-" not in director.page(preview)
    director.send("correct", preview, reason="The cards were swapped.")
    assert director.game(game).result_positions == (loser, winner)
    assert "adjusting" not in director.forms(f"/player?player={winner}")


def test_another_order_of_an_earlier_round_goes_to_its_correction_filled_in(director: Director) -> None:
    director.play("group_matchplay")
    (game, *_) = play_round(director)
    page = f"/game?game={game.game_id}"
    forms = director.forms(page)
    # Nothing is offered that could only be refused.
    assert not {f"result-{game.game_id}", f"scores-{game.game_id}", f"clear-{game.game_id}"} & set(forms)
    order = game.player_ids[::-1]
    places = {f"place_{player_id}": place for place, player_id in enumerate(order, start=1)}
    to = director.send("right", page, **places).removeprefix(director.at)
    assert to == f"/correct?game={game.game_id}&order={'.'.join(map(str, order))}"
    filled = dict(director.forms(to)["right"].filled())
    assert [filled[f"place-{player_id}"] for player_id in order] == [
        str(place) for place in range(1, len(order) + 1)
    ]
    assert "What changes" in director.page(to)
    assert director.send("correct", to, reason="Read from the wrong end.") == f"{director.at}/results"
    assert director.game(game).result_positions == order


@pytest.mark.parametrize("way", ["first", "score", "forfeit"])
def test_a_result_that_comes_too_late_is_refused_with_the_button_to_its_correction(
    director: Director, way: str
) -> None:
    director.play("matchplay")
    game = director.open_games()[0]
    winner, loser = game.player_ids
    forms = director.forms(f"/game?game={game.game_id}")
    form_id, fields = {
        "first": (f"result-{game.game_id}", {"first": loser}),
        "score": (f"scores-{game.game_id}", {f"score_{winner}": "1,000", f"score_{loser}": "2,000"}),
        "forfeit": (f"forfeit-{game.game_id}", {"forfeit": winner}),
    }[way]
    play_round(director)
    answer = director.post(forms[form_id], **fields)
    assert answer.status_code == 409
    link = f"{director.at}/correct?game={game.game_id}&amp;order={loser}.{winner}"
    assert f'<a class="way" href="{link}" data-instead>Correct the result</a>' in answer.text
    # What could only be refused again is not offered.
    assert "data-renewal" not in answer.text


def test_a_correction_knows_the_entry_of_the_device_that_it_settles(director: Director) -> None:
    director.play("matchplay")
    (game, *_) = play_round(director)
    winner, loser = game.player_ids
    page = f"/correct?game={game.game_id}&order={winner}.{loser}&entry=Key_1-2"
    preview = director.send("right", page, first=loser).removeprefix(director.at)
    assert preview.endswith(f"order={loser}.{winner}&entry=Key_1-2")
    assert dict(director.forms(preview)["correct"].filled())["entry"] == "Key_1-2"


def test_a_refusal_leads_to_the_page_where_it_can_be_done(director: Director) -> None:
    director.create("matchplay")
    assert "start" not in director.forms()
    assert "codes-new" not in director.forms("/settings")
    director.start(4)
    director.send("round-open")
    game = director.open_games()[0]
    stale = director.forms(f"/game?game={game.game_id}")[f"result-{game.game_id}"]
    director.finish_all()
    director.send("complete", "/standings")
    answer = director.post(stale, first=game.player_ids[0])
    assert answer.status_code == 409
    assert f'<a class="way" href="{director.at}/' in answer.text
    assert "Finishing order" not in director.page(f"/game?game={game.game_id}")


def test_strokes_that_come_second_lead_to_their_correction(director: Director) -> None:
    director.create("golf")
    director.start()
    key = director.tournament().single_player_games[0].single_player_game_id
    stale = director.forms(f"/attempt?attempt={key}")[f"exact-{key}"]
    director.send(f"exact-{key}", f"/attempt?attempt={key}", strokes=5)
    answer = director.post(stale, strokes=3, key="another-key")
    assert answer.status_code == 409
    assert f'{director.at}/correct?attempt={key}&amp;strokes=3"' in answer.text
