"""The estimate of a tournament's points. Source: ratings, B; interface, section 1."""

from decimal import Decimal
from typing import Any

import pytest

import build
from silverball.jobs.compute_forecasts import NightSimulator
from silverball.rules.planning import event
from silverball.rules.planning.answers import BEING_COMPUTED
from silverball.rules.planning.open_play import IFPA_DECIDES
from silverball.service.outlook.reads import worth
from silverball.store import tables
from silverball.store.database.engine import Store

READER = build.caller(1)
MATCHPLAY: dict[str, Any] = {"type": "matchplay", "settings": {"duration": 5, "gamesPerRound": 1}}


def ask(store: Store, tournament_id: int, query: str = "") -> Any:
    path = f"/api/tournaments/{tournament_id}/estimate{query}"
    status, answered, _ = build.do(store, "GET", path, by=READER)
    assert status == 200, answered
    return answered


def enter(store: Store, night: build.Night, count: int, *, first_id: int = 1, **values: Any) -> None:
    """Enter players with a federation record; their rank and rating add nothing unless given."""
    for number in range(first_id, first_id + count):
        build.a_federation_record(
            store, number, f"Player {number}", **{"rank": 2000 + number, "rating": 1000.0, **values}
        )
        player_id = build.a_player(store, night.organizer_id, name=f"Player {number}", ifpa_id=number)
        add(store, night, player_id)


def add(store: Store, night: build.Night, player_id: int) -> None:
    night.player_ids.append(player_id)
    where = {"tournament_id": night.tournament_id, "player_id": player_id}
    build.row(store, tables.entrant, **where, place=len(night.player_ids))


def add_hidden(store: Store, night: build.Night, **record: Any) -> None:
    build.a_federation_record(store, 700, "Hidden", **record)
    user_id = build.a_user(store, name="Hidden", ifpa_id=700, profile_opt_out=True)
    add(store, night, build.a_player(store, night.organizer_id, name="Hidden", claimed_by=user_id))


def finals_of_the_best(store: Store, qualifying: build.Night, count: int) -> build.Night:
    """Finals in fours, three games a round, that a qualifying's first players go on to."""
    finals = build.a_tournament(
        store,
        players=0,
        status="planned",
        type="group_bracket",
        settings={"bracketSize": count, "gamesPerRound": 3},
        organizer_id=qualifying.organizer_id,
    )
    for player_id in qualifying.player_ids[:count]:
        add(store, finals, player_id)
    link(store, qualifying, finals, "playoff")
    return finals


def rank(store: Store, night: build.Night, positions: list[int]) -> None:
    for player_id, position in zip(night.player_ids, positions, strict=True):
        where = {"tournament_id": night.tournament_id, "player_id": player_id}
        build.row(store, tables.standing, **where, position=position, points=Decimal(0), row={})


def link(store: Store, source: build.Night, target: build.Night, link_type: str) -> None:
    build.row(
        store,
        tables.tournament_link,
        tournament_id=source.tournament_id,
        place=0,
        linked_tournament_id=target.tournament_id,
        link_type=link_type,
        shown={},
    )


def a_night(store: Store, count: int, **values: Any) -> build.Night:
    night = build.a_tournament(store, players=0, **values)
    enter(store, night, count)
    return night


def test_a_planned_night_is_worth_its_players_so_far_by_its_rounds(store: Store) -> None:
    night = a_night(store, 20, status="planned", **MATCHPLAY)
    found = ask(store, night.tournament_id)
    # Twenty rated players are 10 points; five rounds head to head are 20 %.
    assert {name: found[name] for name in found if name not in {"points", "notes"}} == {
        "meaningfulGames": 5,
        "tgp": 20,
        "capped": False,
        "baseValue": 10,
        "ratingValue": 0,
        "rankValue": 0,
        "wpprValue": 10,
        "value": 2,
    }
    assert found["notes"][0] == ("Worth 2.0 points to the winner. One more round would make it 2.4.")
    assert [row["position"] for row in found["points"]] == list(range(1, 21))
    # ratings, B.4 with N 20, R 20 and V 2.
    assert [row["points"] for row in found["points"][:3]] == [2, 1.11, 0.74]


def test_strength_is_added_and_every_number_says_where_it_comes_from(store: Store) -> None:
    night = build.a_tournament(store, players=0, status="planned", **MATCHPLAY)
    enter(store, night, 1, rank=146, rating=1432.69)
    enter(store, night, 3, first_id=2)
    add(store, night, build.a_player(store, night.organizer_id, name="Stranger"))
    found = ask(store, night.tournament_id)
    assert found["ratingValue"] == 0.08037734375000005
    assert found["rankValue"] == 0.4049227672351303
    assert found["wpprValue"] == 2 + 0.08037734375000005 + 0.4049227672351303
    notes = " ".join(found["notes"])
    assert "By the federation's rule: 5 rounds" in notes
    assert "published formulas, with the federation's records of 2026-" in notes
    assert "1 player has no federation record here" in notes


def test_the_last_round_below_the_limit_promises_nothing_above_it(store: Store) -> None:
    settings = {"duration": 25, "gamesPerRound": 1}
    night = a_night(store, 20, status="planned", type="matchplay", settings=settings)
    found = ask(store, night.tournament_id)
    assert (found["tgp"], found["capped"]) == (100, False)
    assert found["notes"][0] == "Worth 10.0 points to the winner."
    longer = a_night_again(store, night, {"duration": 30, "gamesPerRound": 1})
    assert (longer["tgp"], longer["capped"]) == (100, True)


def a_night_again(store: Store, night: build.Night, settings: dict[str, Any]) -> Any:
    other = build.a_tournament(store, players=0, status="planned", type="matchplay", settings=settings)
    for player_id in night.player_ids:
        add(store, other, player_id)
    return ask(store, other.tournament_id)


@pytest.mark.parametrize(
    ("query", "tgp"), [("?balls=1", 6), ("?balls=2", 13), ("?balls=3", 20), ("?hours=9", 20)]
)
def test_games_of_one_and_two_balls_count_less(store: Store, query: str, tgp: int) -> None:
    night = a_night(store, 4, status="planned", **MATCHPLAY)
    assert ask(store, night.tournament_id, query)["tgp"] == tgp


@pytest.mark.parametrize("query", ["?balls=0", "?balls=eleven", "?hours=-1", "?hours=99999"])
def test_impossible_balls_and_hours_are_refused_by_name(store: Store, query: str) -> None:
    night = a_night(store, 2, status="planned", **MATCHPLAY)
    path = f"/api/tournaments/{night.tournament_id}/estimate{query}"
    status, answered, _ = build.do(store, "GET", path, by=READER)
    assert (status, list(answered["errors"])) == (422, [query[1:6]])


def test_an_unknown_tournament_is_not_found(store: Store) -> None:
    status, answered, _ = build.do(store, "GET", "/api/tournaments/99/estimate", by=READER)
    assert (status, answered["message"]) == (404, "No query results for model [App\\Models\\Tournament] 99")


def test_a_simulated_number_is_being_computed_until_the_job_has_run(store: Store) -> None:
    night = a_night(store, 8, status="planned", type="knockout", settings={"knockoutStrikeCount": 2})
    first = ask(store, night.tournament_id)
    assert (first["meaningfulGames"], first["tgp"], first["value"], first["points"]) == (None, None, None, [])
    assert BEING_COMPUTED in first["notes"]
    assert first["wpprValue"] == 4
    job = NightSimulator(store, lambda: build.NOW)
    assert job.simulate_next()
    assert not job.simulate_next()
    found = ask(store, night.tournament_id)
    # tgp.json: one loser of two, 8 players, 2 strikes: 6.09 games.
    assert found["meaningfulGames"] == pytest.approx(6.09, rel=0.015)
    assert found["tgp"] == 24
    assert any("10,000 simulated nights" in note for note in found["notes"])


def test_a_stored_outcome_is_not_computed_again(store: Store) -> None:
    night = a_night(store, 4, status="planned", type="knockout", settings={"knockoutStrikeCount": 1})
    for _again in range(2):
        ask(store, night.tournament_id)
    (wanted,) = store.wanted_nights.waiting()
    assert NightSimulator(store, lambda: build.NOW).simulate_next()
    store.wanted_nights.add(wanted.key, wanted)
    with store.read() as db:
        before = db.execute(tables.simulated_night.select()).all()
    assert NightSimulator(store).simulate_next()
    with store.read() as db:
        assert db.execute(tables.simulated_night.select()).all() == before


def a_planned_frenzy(store: Store, *, first_id: int, machines: int) -> build.Night:
    settings = {"frenzyDuration": 120}
    night = build.a_tournament(store, players=0, arenas=0, status="planned", type="frenzy", settings=settings)
    enter(store, night, 8, first_id=first_id)
    for place in range(machines):
        where = {"tournament_id": night.tournament_id, "arena_id": build.an_arena(store, night.organizer_id)}
        build.row(store, tables.lineup_arena, **where, place=place)
    return night


def test_a_planned_frenzy_is_predicted_by_the_machines_that_it_has(store: Store) -> None:
    without = ask(store, a_planned_frenzy(store, first_id=1, machines=0).tournament_id)
    assert without["tgp"] is None
    assert "With machines" in " ".join(without["notes"])
    found = ask(store, a_planned_frenzy(store, first_id=101, machines=2).tournament_id)
    # Two of four pairs play at once: half of 9.80 matches, half of which count.
    assert found["meaningfulGames"] == pytest.approx(2.45, abs=0.01)
    assert any("about 4.9 matches" in note and note.startswith("Ours") for note in found["notes"])


def test_a_format_without_a_rule_has_the_value_of_its_field_and_says_why_no_more(store: Store) -> None:
    night = a_night(store, 6, status="planned", type="amazingrace", settings={})
    found = ask(store, night.tournament_id)
    assert (found["tgp"], found["value"], found["wpprValue"], found["points"]) == (None, None, 3, [])
    assert IFPA_DECIDES in found["notes"]


def test_somebody_hidden_adds_what_they_add_in_sums_rounded_to_halves(store: Store) -> None:
    night = build.a_tournament(store, players=0, status="planned", **MATCHPLAY)
    enter(store, night, 3, rank=300, rating=1500.0)
    add_hidden(store, night, rank=1, rating=2000.0)
    found = ask(store, night.tournament_id)
    # Three times 0.1172 and 0.3906 for the ratings, three times 0.2525 and 1.4598 for the ranks.
    assert (found["baseValue"], found["ratingValue"], found["rankValue"]) == (2, 0.5, 2)
    assert (found["wpprValue"], found["value"]) == (4.5, 1)
    assert all(row["points"] * 2 == int(row["points"] * 2) for row in found["points"])
    assert worth.HIDDEN in found["notes"]
    assert "700" not in str(found)


def test_two_sums_do_not_tell_the_rank_of_somebody_hidden(store: Store) -> None:
    answers = []
    for rank_shown in (140, 150):
        night = build.a_tournament(store, players=0, status="planned", **MATCHPLAY)
        enter(store, night, 3, first_id=rank_shown, rank=300)
        build.a_federation_record(store, 1000 + rank_shown, "Hidden", rank=rank_shown, rating=1300.0)
        user_id = build.a_user(store, name="Hidden", ifpa_id=1000 + rank_shown, profile_opt_out=True)
        add(store, night, build.a_player(store, night.organizer_id, name="Hidden", claimed_by=user_id))
        answers.append(ask(store, night.tournament_id))
    assert answers[0] == answers[1]


def test_a_completed_night_counts_what_was_played_and_shares_places(store: Store) -> None:
    night = a_night(store, 4, status="completed", completed_at=build.NOW, **MATCHPLAY)
    for index in range(2):
        round_id = build.a_round(store, night.tournament_id, index=index, status="completed")
        for at in (0, 2):
            pair = night.player_ids[at : at + 2]
            build.a_game(
                store,
                night.tournament_id,
                pair,
                round_id=round_id,
                set_number=at // 2,
                status="completed",
                points=[1, 0],
                positions=pair,
            )
    rank(store, night, [1, 2, 2, 4])
    found = ask(store, night.tournament_id)
    # Two of the five planned rounds were played.
    assert (found["meaningfulGames"], found["tgp"]) == (2, 8)
    assert [row["position"] for row in found["points"]] == [1, 2, 4]
    assert any("from the record: 2 rounds" in note for note in found["notes"])


def test_a_qualifying_and_its_playoffs_are_one_event_asked_from_either(store: Store) -> None:
    qualifying = a_night(store, 16, status="planned", type="matchplay", settings={"duration": 7})
    finals = finals_of_the_best(store, qualifying, 8)
    link(store, finals, qualifying, "qualifying")
    found = ask(store, qualifying.tournament_id)
    # Seven games head to head, and two rounds of three in fours: 28 + 48 %.
    assert (found["meaningfulGames"], found["tgp"]) == (19, 76)
    assert len(found["points"]) == 16
    assert worth.ONE_EVENT in found["notes"]
    assert ask(store, finals.tournament_id) == found


def test_a_qualifying_that_most_pass_counts_nothing(store: Store) -> None:
    qualifying = a_night(store, 7, status="planned", type="matchplay", settings={"duration": 7})
    finals_of_the_best(store, qualifying, 4)
    found = ask(store, qualifying.tournament_id)
    assert (found["meaningfulGames"], found["tgp"]) == (6, 24)
    assert any("More than half of the field goes on" in note for note in found["notes"])


def test_nobody_and_too_few_are_said(store: Store) -> None:
    empty = build.a_tournament(store, players=0, status="planned", **MATCHPLAY)
    assert worth.NO_PLAYERS in ask(store, empty.tournament_id)["notes"]
    pair = a_night(store, 2, status="planned", **MATCHPLAY)
    assert event.TOO_FEW in ask(store, pair.tournament_id)["notes"]
