"""What was certain stays so until something is changed: hand-checked cases."""

from datetime import timedelta
from typing import Any

import msgspec

from rules.night import NOON, Night, a_night
from silverball.kit.values import replace
from silverball.rules.model.settings import Band
from silverball.rules.outlook.forecast import CertainFacts, Forecast, certain_facts
from silverball.rules.planning.nights import CertainBy
from silverball.rules.registry import FORMATS

TWO_GO_ON = (Band(index=0, value=2, cumulative=2, text="", color=None),)


def published(facts: CertainFacts) -> Forecast:
    return Forecast(
        chances=None,
        rated_ids=(),
        nights_simulated=0,
        claims=facts.claims,
        withdrawals=facts.withdrawals,
        assumptions=facts.assumptions,
    )


def facts_of(night: Night, before: CertainFacts | None = None, minutes: int = 0) -> CertainFacts:
    earlier = None if before is None else published(before)
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


def test_the_formats_with_the_setting_are_those_in_which_something_can_be_certain() -> None:
    with_setting = {form.type for form in FORMATS.values() if "forecast" in form.settings.__struct_fields__}
    certain = {form.type for form in FORMATS.values() if form.planning.certain_by is not CertainBy.NOTHING}
    assert with_setting == certain
