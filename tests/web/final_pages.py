"""The pages at the end of a bad night: every number on them counted again."""

from web import recounts
from web.bad_night import BadNight

SHARES = (40, 25, 15, 10, 5, 5)
FEE_CENTS = 1000


def numbers_agree(night: BadNight) -> None:
    """Assert that the standings show the numbers that were played, and the places that follow from them."""
    shown = {night.id_of(name): row for name, row in night.shown_standings().items()}
    numbers = recounts.recounted(night.tournament)
    assert {player_id: number for player_id, (_, number) in shown.items()} == numbers
    if night.tournament.type == "group_knockout":
        return
    shown_places = {player_id: place for player_id, (place, _) in shown.items()}
    drawn = {entrant.player_id for entrant in night.tournament.entrants if entrant.is_tie_drawn}
    best_is_least = night.tournament.type == "golf"
    counted = recounts.places(numbers, best_is_least=best_is_least)
    for player_id, place in counted.items():
        if player_id not in drawn:
            assert shown_places[player_id] == place
    # Those drawn share a number, and have the places from the one that they shared on.
    if drawn:
        first = min(counted[player_id] for player_id in drawn)
        assert sorted(shown_places[player_id] for player_id in drawn) == list(
            range(first, first + len(drawn))
        )


def prizes_are_paid(night: BadNight) -> None:
    """Share the pot by the places that are shown."""
    shown_places = {night.id_of(name): place for name, (place, _) in night.shown_standings().items()}
    paid = {night.id_of(name): cents for name, cents in night.share_prizes(SHARES).items()}
    assert paid == recounts.prizes(FEE_CENTS * len(night.tournament.entrants), SHARES, shown_places)
