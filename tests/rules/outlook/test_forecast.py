"""What was certain stays so until something is changed: hand-checked cases."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from rules.night import NOON, Night, a_night
from rules.outlook import finished_nights
from silverball.kit.values import replace
from silverball.rules.commands import games as game_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model.settings import Band
from silverball.rules.outlook.forecast import CertainFacts, assumptions_of, broken_assumption, certain_facts
from silverball.rules.planning.nights import CertainBy
from silverball.rules.registry import FORMATS

TWO_GO_ON = (Band(index=0, value=2, cumulative=2, text="", color=None),)


def facts_of(night: Night, before: CertainFacts | None = None, minutes: int = 0) -> CertainFacts:
    earlier = None if before is None else finished_nights.stored_and_loaded(before)
    at = NOON + timedelta(minutes=minutes)
    return certain_facts(night.tournament, FORMATS[night.tournament.type], earlier, at)


def with_settings(night: Night, **changed: Any) -> Night:
    settings = msgspec.structs.replace(night.tournament.settings, **changed)
    return Night(replace(night.tournament, settings=settings))


def withdrawn(facts: CertainFacts) -> set[tuple[int, str, str, str]]:
    return {
        (each.claim.player_id, each.claim.goal, each.claim.fact, each.reason) for each in facts.withdrawals
    }


def last_round() -> tuple[Night, list[int]]:
    """Ann, Bea, Cid and Dot have 7, 5, 3 and 1 points, and the last game is open."""
    night = a_night("group_matchplay", players=4, duration=2, playoffs_cutoffs=TWO_GO_ON)
    night.start()
    (game,) = night.open_round()
    players = list(game.player_ids)
    night.record_order(game, *players)
    night.open_round()
    return night, players


def test_who_was_out_stays_out_when_the_last_ones_fall_together() -> None:
    night = a_night("knockout", players=4, knockout_strike_count=1, playoffs_cutoffs=TWO_GO_ON)
    night.start()
    for game in night.open_round():
        night.record_order(game, *game.player_ids)
    night.complete_round()
    two_left = facts_of(night)
    out = {claim for claim in two_left.claims if claim.fact == "out"}
    assert len({claim.player_id for claim in out}) == 2
    (game,) = night.open_round()
    night.record_order(game, *game.player_ids)
    night.complete_round()
    over = facts_of(night, two_left)
    assert out <= set(over.claims)
    assert over.withdrawals == ()


def test_a_result_settles_places_without_withdrawing_them() -> None:
    night, (ann, bea, cid, dot) = last_round()
    before = facts_of(night)
    assert {claim.place for claim in before.claims} == {1, 2}
    night.record_order(night.open_games()[0], dot, cid, bea, ann)
    after = facts_of(night, before)
    assert after.withdrawals == ()
    assert not any(claim.fact == "place" for claim in after.claims)


def test_an_adjustment_withdraws_what_no_longer_follows_and_only_that() -> None:
    night, (ann, _, _, dot) = last_round()
    before = facts_of(night)
    night.adjust(dot, 4)
    # Dot has 5, as many as Bea.
    night_now = facts_of(night, before, minutes=5)
    assert withdrawn(night_now) == set()
    night.adjust(dot, 9)
    # Dot has 10 and can end with 17.
    later = facts_of(night, night_now, minutes=10)
    assert (ann, "win", "place", "adjusted") in withdrawn(later)
    assert {each.withdrawn_at for each in later.withdrawals} == {NOON + timedelta(minutes=10)}
    # It is on the list until it follows again.
    again = facts_of(night, later, minutes=15)
    assert withdrawn(again) == withdrawn(later)
    night.adjust(dot, 0)
    assert withdrawn(facts_of(night, again, minutes=20)) & {(ann, "win", "place", "adjusted")} == set()


def test_a_result_that_is_taken_back_withdraws_what_it_had_settled() -> None:
    night, (ann, bea, cid, dot) = last_round()
    (last,) = night.open_games()
    night.record_order(last, ann, bea, cid, dot)
    decided = facts_of(night)
    assert {(claim.player_id, claim.fact) for claim in decided.claims if claim.goal == "win"} >= {
        (ann, "clinched"),
        (dot, "out"),
    }
    night.clear(night.game(last.game_id))
    assert (ann, "win", "clinched", "corrected") in withdrawn(facts_of(night, decided))


def test_a_change_of_the_settings_is_a_reason_and_a_switch_is_none() -> None:
    night, (ann, bea, cid, dot) = last_round()
    night.record_order(night.open_games()[0], ann, bea, cid, dot)
    decided = facts_of(night)
    longer = facts_of(with_settings(night, duration=9), decided)
    assert (ann, "win", "clinched", "settings") in withdrawn(longer)
    assert facts_of(with_settings(night, forecast=True), decided).withdrawals == ()


def last_round_of_pairs() -> tuple[Night, list[int]]:
    """Ann and Cid have a point, Bea and Dot none; the last games, Ann-Cid and Bea-Dot, are open."""
    night = a_night("matchplay", players=4, duration=2, playoffs_cutoffs=TWO_GO_ON)
    night.start()
    first, second = night.open_round()
    (ann, bea), (cid, dot) = first.player_ids, second.player_ids
    night.record_order(first, ann, bea)
    night.record_order(second, cid, dot)
    night.open_round()
    if not {ann, cid} <= set(night.game_with(ann).player_ids):
        meets = next(each for each in night.game_with(ann).player_ids if each != ann)
        night.apply(game_commands.swap_players(night.tournament, meets, cid))
    return night, [ann, bea, cid, dot]


def test_a_swap_withdraws_what_hung_on_the_pairing() -> None:
    night, (ann, bea, cid, dot) = last_round_of_pairs()
    before = facts_of(night)
    # Whoever wins Ann-Cid has 2 points alone.
    assert {(claim.player_id, claim.fact) for claim in before.claims if claim.goal == "win"} == {
        (ann, "place"),
        (cid, "place"),
        (bea, "out"),
        (dot, "out"),
    }
    night.apply(game_commands.swap_players(night.tournament, cid, dot))
    # Bea can beat Cid while Dot beats Ann: then all have a point.
    after = facts_of(night, before)
    assert {each for each in withdrawn(after) if each[1] == "win"} == {
        (ann, "win", "place", "pairing"),
        (cid, "win", "place", "pairing"),
        (bea, "win", "out", "pairing"),
        (dot, "win", "out", "pairing"),
    }
    assert not any(claim.goal == "win" for claim in after.claims)


def test_a_round_that_is_drawn_again_withdraws_what_hung_on_it() -> None:
    night, (_, bea, _, _) = last_round_of_pairs()
    before = facts_of(night)
    assert night.tournament.newest_round is not None
    night.apply(tournament_commands.delete_round(night.tournament, night.tournament.newest_round.round_id))
    assert (bea, "win", "out", "pairing") in withdrawn(facts_of(night, before))


def test_who_is_taken_out_of_a_game_and_seated_elsewhere_changes_the_pairing() -> None:
    night, (ann, bea, cid, _) = last_round_of_pairs()
    before = facts_of(night)
    game = night.game_with(ann)
    # Cid has a bye instead, and Ann no game.
    night.apply(game_commands.remove_player(night.tournament, game.game_id, ann))
    without = facts_of(night, before)
    assert (ann, "win", "place", "pairing") in withdrawn(without)
    assert (cid, "win", "clinched") in {(each.player_id, each.goal, each.fact) for each in without.claims}
    bye = night.game_with(cid)
    night.apply(game_commands.add_player(night.tournament, bye.game_id, ann, night.dice(), night.now))
    again = facts_of(night, without)
    assert (cid, "win", "clinched", "pairing") in withdrawn(again)
    assert (bea, "win", "out") in {(each.player_id, each.goal, each.fact) for each in again.claims}


def test_the_order_of_play_is_no_pairing() -> None:
    night, (ann, *_) = last_round_of_pairs()
    before = facts_of(night)
    game = night.game_with(ann)
    night.apply(game_commands.change_order(night.tournament, game.game_id, game.player_ids[::-1]))
    after = facts_of(night, before)
    assert (set(after.claims), after.withdrawals) == (set(before.claims), ())


def test_who_joined_and_left_again_between_two_forecasts_is_no_secret() -> None:
    night, (ann, bea, cid, dot) = last_round()
    night.record_order(night.open_games()[0], ann, bea, cid, dot)
    decided = facts_of(night)
    night.join(77, points_adjustment=Decimal(30))
    night.leave(77)
    assert (ann, "win", "clinched", "joined") in withdrawn(facts_of(night, decided))


def test_who_is_out_stays_out_when_the_settings_or_others_change() -> None:
    night = a_night("knockout", players=4, knockout_strike_count=1, playoffs_cutoffs=TWO_GO_ON)
    night.start()
    for game in night.open_round():
        night.record_order(game, *game.player_ids)
    night.complete_round()
    out = {claim for claim in facts_of(night).claims if claim.fact == "out"}
    (game,) = night.open_round()
    night.record_order(game, *game.player_ids)
    night.complete_round()
    over = facts_of(night)
    night.adjust(game.player_ids[0], -1)
    assert out <= set(facts_of(night, over).claims)


@pytest.mark.parametrize(
    "kind", [form.type for form in FORMATS.values() if form.planning.certain_by is not CertainBy.NOTHING]
)
def test_a_forecast_that_was_stored_and_loaded_is_no_change(kind: str) -> None:
    form = FORMATS[kind]
    night = a_night(kind, players=8)
    if "playoffs_cutoffs" in form.settings.__struct_fields__:
        night = with_settings(night, playoffs_cutoffs=TWO_GO_ON)
    night.start()
    loaded = finished_nights.stored_and_loaded(facts_of(night))
    assert broken_assumption(loaded.assumptions, assumptions_of(night.tournament, form)) is None


def test_the_formats_with_the_setting_are_those_in_which_something_can_be_certain() -> None:
    with_setting = {form.type for form in FORMATS.values() if "forecast" in form.settings.__struct_fields__}
    certain = {form.type for form in FORMATS.values() if form.planning.certain_by is not CertainBy.NOTHING}
    assert with_setting == certain
