"""The forecast over HTTP: computed beside the requests, and withdrawn when something is changed."""

import threading
from datetime import timedelta
from typing import Any

import pytest

import build
from silverball.jobs.compute_forecasts import Forecaster
from silverball.store.database.engine import Store
from silverball.store.tournament import forecasts
from stories.hall import Hall

ANY_READER = build.caller(1)
TWO_GO_ON = [{"index": 0, "value": 2, "cumulative": 2, "text": "TOP 2", "color": None}]


def a_night(store: Store, **settings: Any) -> Hall:
    """Four players in one group, two rounds of 7, 5, 3 and 1 points; the best two go on."""
    given = {"duration": 2, "playoffsCutoffs": TWO_GO_ON, "forecast": True, **settings}
    return Hall(store, "group_matchplay", "Ann Bea Cid Dot", **given)


def shown(hall: Hall) -> Any:
    return hall.send("GET", f"{hall.path}/forecast", by=ANY_READER)["data"]


def computed(hall: Hall) -> Any:
    """The forecast once it counts everything; asking makes it due."""
    shown(hall)
    hall.pass_time(hours=1)
    assert Forecaster(hall.store, lambda: hall.now).compute_next()
    found = shown(hall)
    assert found["upToDate"]
    return found


def facts(hall: Hall, found: Any) -> set[tuple[str, str, str, int | None]]:
    return {
        (hall.name(row["playerId"]), fact["goal"], fact["fact"], fact["place"])
        for row in found["players"]
        for fact in row["facts"]
    }


def withdrawn(hall: Hall, found: Any) -> set[tuple[str, str, str, str]]:
    return {
        (hall.name(row["playerId"]), row["goal"], row["fact"], row["reason"]) for row in found["withdrawn"]
    }


def play_to_the_last_game(hall: Hall) -> Any:
    hall.start()
    hall.play_rounds(1, "Ann Bea Cid Dot")
    (last,) = hall.open_round()
    return last


def bring_together(hall: Hall, name: str, other: str) -> None:
    """Swap players of the newest round, so that these two meet."""
    game = next(game for game in hall.open_games() if name in hall.players_of(game))
    (mate,) = set(hall.players_of(game)) - {name}
    if mate != other:
        swap = {"playerId": hall.ids[mate], "withPlayerId": hall.ids[other]}
        hall.patch(f"/games/{game['gameId']}", {"swap": swap})


def rate(hall: Hall, name: str, rating: float, **values: Any) -> int:
    """Give the player to a new account with this rating, and return its id."""
    user_id = build.a_user(hall.store, name=name, **values)
    build.a_rating(hall.store, user_id=user_id, rating=rating, last_period="2026-03-01")
    path = f"/api/players/{hall.ids[name]}/claim"
    assert build.do(hall.store, "POST", path, by=user_id)[0] < 300
    assert build.do(hall.store, "PUT", path, {"userId": user_id}, by=hall.organizer)[0] == 200
    return user_id


def test_it_is_off_until_the_organizer_switches_it_on_in_the_middle_of_the_night(store: Store) -> None:
    hall = a_night(store, forecast=False)
    hall.start()
    refused = (403, "The organizer has not switched the forecast on.")
    assert hall.refused("GET", "/forecast") == refused
    hall.patch("", {"forecast": True})
    assert shown(hall)["notes"] == ["The forecast is being computed."]
    hall.patch("", {"forecast": False})
    assert hall.refused("GET", "/forecast") == refused


def test_a_format_that_ends_when_it_is_closed_has_no_such_setting(store: Store) -> None:
    hall = Hall(store, "frenzy", "Ann Bea")
    status, sentence = hall.refused("GET", "/forecast")
    assert (status, sentence) == (
        400,
        "A frenzy tournament has no forecast: it ends when its organizer closes it.",
    )
    assert hall.refused("PATCH", "", {"forecast": True})[0] == 422


def test_before_the_start_and_after_the_end_a_sentence_stands_in_its_place(store: Store) -> None:
    hall = a_night(store)
    assert (shown(hall)["players"], shown(hall)["notes"]) == ([], ["It has not begun."])
    hall.start()
    hall.play_rounds(2, "Ann Bea Cid Dot")
    hall.complete()
    assert (shown(hall)["players"], shown(hall)["notes"]) == ([], ["It is over."])
    assert store.wanted_forecasts.waiting() == []


def test_in_the_last_game_it_says_which_place_is_enough(store: Store) -> None:
    hall = a_night(store)
    play_to_the_last_game(hall)
    found = computed(hall)
    # By hand in tests/rules/outlook/test_certainty.py.
    assert facts(hall, found) == {
        ("Ann", "win", "place", 1),
        ("Ann", "cut", "place", 2),
        ("Bea", "cut", "place", 1),
    }
    assert (found["cutPosition"], found["nightsSimulated"]) == (2, 1000)
    assert sum(row["win"] for row in found["players"]) == pytest.approx(1, abs=0.01)
    assert sum(row["cut"] for row in found["players"]) == pytest.approx(2, abs=0.01)
    assert "1,000 simulated nights from how it stands; nobody has a rating here" in found["notes"][0]


@pytest.mark.both_databases
def test_what_is_certain_is_withdrawn_with_the_reason_after_an_adjustment(store: Store) -> None:
    hall = a_night(store)
    play_to_the_last_game(hall)
    computed(hall)
    hall.patch(f"/players/{hall.ids['Dot']}", {"pointsAdjustment": 9})
    found = computed(hall)
    # Dot has 10 now, as many as nobody else: 7, 5 and 3.
    assert ("Ann", "win", "place", 1) not in facts(hall, found)
    assert ("Ann", "win", "place", "adjusted") in withdrawn(hall, found)
    # What is true again is no longer withdrawn.
    hall.patch(f"/players/{hall.ids['Dot']}", {"pointsAdjustment": 0})
    again = computed(hall)
    assert ("Ann", "win", "place", 1) in facts(hall, again)
    assert ("Ann", "win", "place", "adjusted") not in withdrawn(hall, again)


@pytest.mark.both_databases
def test_a_swap_by_hand_withdraws_what_hung_on_the_pairing_and_nothing_else_does(store: Store) -> None:
    hall = Hall(store, "matchplay", "Ann Bea Cid Dot", duration=2, playoffsCutoffs=TWO_GO_ON, forecast=True)
    hall.start()
    leaders = [hall.players_of(game)[0] for game in hall.open_round()]
    others = [name for name in hall.ids if name not in leaders]
    hall.finish_all(" ".join([*leaders, *others]))
    hall.open_round()
    bring_together(hall, *leaders)
    before = computed(hall)
    # A new name is no reason, and neither is a forecast that was stored and loaded.
    hall.patch("", {"name": "Another name"})
    assert computed(hall)["withdrawn"] == []
    bring_together(hall, leaders[0], others[0])
    after = computed(hall)
    gone = {fact[:3] for fact in facts(hall, before) - facts(hall, after)}
    # The winner of the leaders' game would have had two points alone.
    assert {fact for _, goal, fact in gone if goal == "win"} == {"place", "out"}
    assert withdrawn(hall, after) == {(*fact, "pairing") for fact in gone}


def test_an_undone_result_withdraws_what_it_had_settled(store: Store) -> None:
    hall = a_night(store)
    last = play_to_the_last_game(hall)
    hall.finish(last, "Ann", "Bea", "Cid", "Dot")
    assert ("Ann", "win", "clinched", None) in facts(hall, computed(hall))
    hall.undo()
    assert ("Ann", "win", "clinched", "corrected") in withdrawn(hall, computed(hall))


def test_it_is_computed_once_per_revision_and_at_most_every_five_seconds(store: Store) -> None:
    hall = a_night(store)
    last = play_to_the_last_game(hall)
    shown(hall)
    began = hall.now
    forecaster = Forecaster(store, lambda: began)
    assert forecaster.compute_next()
    assert shown(hall)["upToDate"]
    assert not forecaster.compute_next()
    hall.finish(last, "Ann", "Bea", "Cid", "Dot")
    assert not shown(hall)["upToDate"]
    assert not forecaster.compute_next()
    too_soon = Forecaster(store, lambda: began + forecasts.EVERY - timedelta(milliseconds=1))
    assert not too_soon.compute_next()
    assert Forecaster(store, lambda: began + forecasts.EVERY).compute_next()
    assert shown(hall)["upToDate"]


def test_two_nodes_never_compute_the_same_forecast(store: Store) -> None:
    hall = a_night(store)
    play_to_the_last_game(hall)
    claimed: list[bool] = []
    barrier = threading.Barrier(2)

    def claim() -> None:
        barrier.wait(60)
        with store.write(quiet=True) as transaction:
            found = forecasts.claim_forecast(transaction.connection, hall.tournament_id, now=hall.now)
        claimed.append(found)

    nodes = [threading.Thread(target=claim) for _ in range(2)]
    for node in nodes:
        node.start()
    for node in nodes:
        node.join()
    assert sorted(claimed) == [False, True]
    # Whoever dies with it loses it.
    with store.write(quiet=True) as transaction:
        later = hall.now + forecasts.CLAIM_HOLDS
        assert forecasts.claim_forecast(transaction.connection, hall.tournament_id, now=later)


@pytest.mark.both_databases
def test_who_opts_out_of_ratings_counts_as_unrated_and_shows_no_number(store: Store) -> None:
    hall = a_night(store)
    rate(hall, "Dot", 3000.0, ratings_opt_out=True)
    rate(hall, "Bea", 1800.0)
    rate(hall, "Cid", 1200.0)
    hall.start()
    hall.open_round()
    found = computed(hall)
    rows = {hall.name(row["playerId"]): row for row in found["players"]}
    assert (rows["Dot"]["win"], rows["Dot"]["cut"]) == (None, None)
    assert found["players"][-1] == rows["Dot"]
    assert found["players"][0] == rows["Bea"]
    # Had the hidden rating counted, nobody else would have a chance.
    assert rows["Ann"]["win"] > 0.04
    assert "2 of 4 players have a rating here, the others count as their mean" in found["notes"][0]
    assert "Somebody here hides their rating" in found["notes"][1]


def test_an_opt_out_hides_the_number_at_once(store: Store) -> None:
    hall = a_night(store)
    user_id = rate(hall, "Dot", 1500.0)
    hall.start()
    hall.open_round()
    assert all(row["win"] is not None for row in computed(hall)["players"])
    hall.send(
        "PATCH", "/api/users/profile", {"ratingsOptOut": True}, by=build.caller(user_id, ability="manage")
    )
    assert [row["playerId"] for row in shown(hall)["players"] if row["win"] is None] == [hall.ids["Dot"]]


@pytest.mark.both_databases
def test_brackets_say_what_is_certain_and_have_no_chances(store: Store) -> None:
    hall = Hall(store, "bracket", "Ann Bea Cid Dot", forecast=True)
    hall.start()
    (game, *_) = hall.open_games()
    first, second = hall.players_of(game)
    hall.finish(game, first, second)
    found = computed(hall)
    assert (second, "win", "out", None) in facts(hall, found)
    assert found["nightsSimulated"] == 0
    assert all(row["win"] is None for row in found["players"])
    assert found["notes"][0].startswith("Chances are computed for match play")


def test_a_tournament_that_ended_meanwhile_is_forgotten(store: Store) -> None:
    hall = a_night(store)
    hall.start()
    hall.play_rounds(2, "Ann Bea Cid Dot")
    shown(hall)
    hall.complete()
    assert not Forecaster(store, lambda: hall.now).compute_next()
    assert store.wanted_forecasts.waiting() == []
