"""Prize money from the console to the public page and the file."""

from silverball.store.database.engine import Store
from web.director import Director
from web.page_forms import text_of
from web.public_visitor import PublicVisitor
from web.visitor import Visitor

FORM = {"entryFee": "10", "federationFee": "1,00", "houseShare": "10 %", "currency": "sek", "rounding": "1"}


def test_an_organizer_shares_the_pot_pays_it_out_and_publishes_it(store: Store, director: Director) -> None:
    game = director.play("matchplay", players=4)
    status, sentence = director.refused("prize-form", "/prizes", **FORM, shares="60\n30\n11")
    assert (status, "The shares sum to 101 %. They must sum to 100 %." in sentence) == (422, True)
    director.send("prize-form", "/prizes", **FORM, shares="60\n30\n10")
    director.finish_all()
    assert "Prizes are paid out once the tournament is finished." in director.page("/prizes")
    director.send("complete", "/standings")
    winner = game.player_ids[0]
    page = director.page("/prizes")
    # 40.00 without 4.00 for the federation and 3.60 for the house are 32.40.
    for text in ("40.00 SEK", "4.00", "3.60", "Payouts", "Payouts as CSV"):
        assert text in page
    form = next(name for name in director.forms("/prizes") if name.startswith("paid-"))
    director.send(form, "/prizes")
    page = director.page("/prizes")
    assert "by <bdi>Olga Ramp</bdi>" in page
    assert "Take back" in page
    assert " was paid " in director.page("/journal")
    passer = PublicVisitor(store)
    at = f"/t/{director.tournament_id}"
    assert "Prize money" not in passer.page(at)
    director.send("prize-form", "/prizes", published="on")
    public = passer.page(at)
    assert "Prize money" in public
    assert "by <bdi>Olga Ramp</bdi>" not in public
    passer.close()
    file = director.visitor.get(f"{at}/run/prizes/csv")
    assert file.headers["content-type"].startswith("text/csv")
    assert "Player 1" in file.text or str(winner) in file.text
    with Visitor(store) as guest:
        assert guest.get(f"{at}/run/prizes/csv").status_code in (302, 303, 401, 403)


def test_a_player_paid_before_the_places_changed_is_named_with_the_prize_of_now(director: Director) -> None:
    game = director.play("matchplay", players=2)
    director.send("prize-form", "/prizes", **FORM, shares="100")
    first, second = game.player_ids
    director.finish(game, first, second)
    director.send("complete", "/standings")
    director.send(f"paid-{first}", "/prizes")
    assert "Paid before the places changed" not in director.page("/prizes")
    director.send("reopen", "/standings")
    director.send("adjusting", f"/player?player={second}", pointsAdjustment="5")
    director.send("complete", "/standings")
    text = text_of(director.page("/prizes"))
    assert f"{director.name(first)} was paid 16.00 SEK, and would have no prize now" in text
    director.send(f"unpaid-{first}", "/prizes")
    assert "Paid before the places changed" not in director.page("/prizes")
    director.send(f"paid-{second}", "/prizes")
