"""Entries: bought, given, refunded; never fewer than are used up. Source: formats, section 19."""

import pytest

from silverball.kit.errors import Conflict, NotFound, Refusal, WrongFormat
from silverball.kit.values import replace
from silverball.rules.commands import sign_ups
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import opposite_changes
from silverball.rules.model.tournament import Card, Entrant, Purchase, SinglePlayerGame, Tournament
from silverball.rules.registry import FORMATS


def qualifying(kind: str = "best_game", *, used: int = 0, bought: int = 3) -> Tournament:
    games = tuple(
        SinglePlayerGame(single_player_game_id=n + 1, player_id=1, status="completed", card_id=1)
        for n in range(2 if kind == "card_best_game" else used)
    )
    cards = tuple(Card(card_id=n + 1, player_id=1, status="completed") for n in range(used))
    return Tournament(
        tournament_id=1,
        type=kind,
        status="started",
        settings=FORMATS[kind].settings(),
        entrants=(Entrant(player_id=1, entries_bought=bought),),
        single_player_games=games,
        cards=cards if kind == "card_best_game" else (),
        has_entry_limits=True,
    )


def purchase(quantity: int, type_: str = "regular", player_id: int = 1) -> Purchase:
    return Purchase(entry_id=-1, player_id=player_id, type=type_, quantity=quantity)  # type: ignore[arg-type]  # as above


@pytest.mark.parametrize("kind", ["best_game", "card_best_game"])
@pytest.mark.parametrize(
    ("used", "refund", "is_fine"), [(0, 3, True), (1, 2, True), (1, 3, False), (3, 1, False)]
)
def test_no_more_is_refunded_than_is_left(kind: str, used: int, refund: int, is_fine: bool) -> None:
    before = qualifying(kind, used=used)
    if not is_fine:
        with pytest.raises(Conflict, match=f"has {3 - used} unused entries"):
            sign_ups.record_purchase(before, purchase(-refund, "refund"))
        return
    made = sign_ups.record_purchase(before, purchase(-refund, "refund"))
    after = apply_changes(before, made)
    assert after.entrants[0].entries_bought == 3 - refund
    assert apply_changes(after, opposite_changes(made)) == before


@pytest.mark.parametrize(
    ("tournament", "player_id", "refusal"),
    [
        (qualifying(), 2, NotFound),
        (replace(qualifying(), status="completed"), 1, Conflict),
        (replace(qualifying(), type="matchplay"), 1, WrongFormat),
    ],
)
def test_entries_that_cannot_be_are_refused(
    tournament: Tournament, player_id: int, refusal: type[Refusal]
) -> None:
    with pytest.raises(refusal):
        sign_ups.record_purchase(tournament, purchase(1, player_id=player_id))
