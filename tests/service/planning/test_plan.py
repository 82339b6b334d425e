"""The night planner over HTTP."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update

import build
from silverball.jobs.compute_forecasts import NightSimulator
from silverball.rules.registry import FORMATS
from silverball.store import tables
from silverball.store.database.engine import Store

PATH = "/api/plan"
EVENING = {"players": 24, "machines": 12, "start": "2026-03-05T19:00", "closes": "2026-03-05T23:00"}


def plan(store: Store, sent: Any, by: int) -> Any:
    status, body, _ = build.do(store, "POST", PATH, sent, by=by)
    assert status == 200, body
    return body["data"]


def options(planned: Any, type_: str) -> dict[str, Any]:
    return {option["label"]: option for option in planned["options"] if option["type"] == type_}


def play_nights(store: Store, organizer_id: int, count: int, minutes: int, **values: Any) -> list[int]:
    """Store completed nights of three rounds of two fours; each game is so long."""
    made = []
    for number in range(count):
        begins = build.NOW - timedelta(days=number + 1)
        night = build.a_tournament(
            store,
            players=8,
            organizer_id=organizer_id,
            type="group_matchplay",
            status="completed",
            settings={"duration": 3},
            completed_at=begins + timedelta(minutes=3 * minutes),
            **values,
        )
        made.append(night.tournament_id)
        for index in range(3):
            opened = begins + timedelta(minutes=index * minutes)
            closed = opened + timedelta(minutes=minutes)
            round_id = build.a_round(
                store, night.tournament_id, index, created_at=opened, completed_at=closed, status="completed"
            )
            for group, four in enumerate((night.player_ids[:4], night.player_ids[4:])):
                build.a_game(
                    store,
                    night.tournament_id,
                    four,
                    round_id=round_id,
                    arena_id=night.arena_ids[group],
                    set_number=group,
                    status="completed",
                    started_at=opened,
                    duration_seconds=minutes * 60,
                )
    return made


def test_a_plan_has_every_format_with_its_end_and_says_where_it_comes_from(store: Store) -> None:
    planned = plan(store, EVENING, build.a_user(store))
    assert {option["type"] for option in planned["options"]} == set(FORMATS)
    seven = options(planned, "matchplay")["7 rounds"]
    assert seven["settings"] == {"duration": 7}
    assert (seven["pace"], seven["nights"], seven["note"]) == ("defaults", 0, None)
    assert seven["expectedMinutes"] < seven["latestMinutes"]
    assert "2026-03-05T19:00:00" < seven["expectedEnd"] < seven["latestEnd"]
    assert seven["fits"] == (seven["latestEnd"] <= "2026-03-05T23:00:00")
    (manual,) = options(planned, "manual_matchplay").values()
    assert (manual["expectedMinutes"], manual["fits"]) == (None, None)
    assert manual["note"] == "You make every game: it ends when you close it."
    assert planned["simulatedNights"] == 200


def test_each_choice_says_what_it_is_worth_and_by_which_rule(store: Store) -> None:
    planned = plan(store, EVENING, build.a_user(store))
    # 7 games are 28 %, and 24 rated players add 0.5 each. Source: ratings, B.1 and B.3.
    assert options(planned, "matchplay")["7 rounds"]["worth"] == {
        "meaningfulGames": 7,
        "tgp": 28,
        "capped": False,
        "baseValue": 12,
        "value": 3.36,
        "source": "rule",
        "simulatedNights": 0,
        "notes": ["By the federation's rule: 7 rounds of 1 game, each worth 1."],
    }
    # Games in fours count twice.
    assert options(planned, "group_matchplay")["8 rounds"]["worth"]["tgp"] == 64
    # 23 opponents met twice are more than a full tournament.
    everybody = options(planned, "double_round_robin")["Everybody in one group"]["worth"]
    assert (everybody["tgp"], everybody["capped"], everybody["value"]) == (100, True, 12)


@pytest.mark.parametrize(
    ("type_", "reason"),
    [
        ("manual_matchplay", "The organizer makes every game."),
        ("bowling", "No published rule counts the meaningful games of pinbowling."),
        (
            "amazingrace",
            "Two readings of the rules of 2026 on amazing races are published",
        ),
    ],
)
def test_a_choice_without_a_rule_has_no_number_and_says_why(store: Store, type_: str, reason: str) -> None:
    for option in options(plan(store, EVENING, build.a_user(store)), type_).values():
        worth = option["worth"]
        assert (worth["meaningfulGames"], worth["tgp"], worth["value"]) == (None, None, None)
        assert (worth["source"], worth["baseValue"]) == (None, 12)
        assert reason in " ".join(worth["notes"])


def test_the_matches_of_a_frenzy_are_predicted_and_said_to_be_ours(store: Store) -> None:
    found = options(plan(store, EVENING, build.a_user(store)), "frenzy")
    worths = [option["worth"] for option in found.values()]
    assert [worth["source"] for worth in worths] == ["ours"] * len(worths)
    # The longer the clock runs, the more matches there are.
    games = [worth["meaningfulGames"] for worth in worths]
    assert games == sorted(games)
    assert games[0] > 0
    assert "each of 12 minutes by our defaults" in worths[0]["notes"][0]


def test_a_simulated_worth_is_being_computed_until_the_job_has_run(store: Store) -> None:
    user_id = build.a_user(store)
    wanted = {"players": 8, "machines": 4, "types": ["knockout"]}
    waiting = options(plan(store, wanted, user_id), "knockout")["3 strikes"]["worth"]
    assert (waiting["source"], waiting["value"], waiting["simulatedNights"]) == ("computing", None, 0)
    job = NightSimulator(store, lambda: build.NOW)
    while job.simulate_next():
        pass
    for option in options(plan(store, wanted, user_id), "knockout").values():
        found = option["worth"]
        assert (found["source"], found["simulatedNights"]) == ("simulation", 10_000)
        assert found["tgp"] == int(found["meaningfulGames"] * 4)
        assert found["value"] == pytest.approx(4 * found["tgp"] / 100)
        assert "10,000 simulated nights" in found["notes"][0]


def test_what_cannot_be_played_is_worth_nothing(store: Store) -> None:
    planned = plan(store, {"players": 129, "machines": 12, "types": ["bracket"]}, build.a_user(store))
    assert {option["worth"] for option in planned["options"]} == {None}
    assert all("at most 128 players" in option["note"] for option in planned["options"])


def test_the_base_has_a_limit_and_two_players_are_too_few(store: Store) -> None:
    user_id = build.a_user(store)
    wanted = {"machines": 12, "types": ["matchplay"]}
    large = options(plan(store, wanted | {"players": 80}, user_id), "matchplay")["5 rounds"]["worth"]
    assert (large["baseValue"], large["value"]) == (32, 6.4)
    pair = options(plan(store, wanted | {"players": 2}, user_id), "matchplay")["5 rounds"]["worth"]
    assert pair["notes"][0] == "The federation needs at least three players (published rule)."


def test_a_group_bracket_is_planned_in_the_size_that_holds_the_players(store: Store) -> None:
    wanted = {"players": 24, "machines": 12, "types": ["group_bracket"]}
    four = options(plan(store, wanted, build.a_user(store)), "group_bracket")["4 games in a round"]
    assert four["settings"] == {"gamesPerRound": 4, "bracketSize": 24}
    assert four["worth"]["notes"][0].startswith("By the federation's rule for 24 players")


def test_no_more_games_count_than_a_player_may_play(store: Store) -> None:
    wanted = {"players": 24, "machines": 12, "types": ["best_game"]}
    planned = options(plan(store, wanted, build.a_user(store)), "best_game")
    games = {label: option["worth"]["meaningfulGames"] for label, option in planned.items()}
    assert games == {"5 games each": 5, "10 games each": 10, "15 games each": 12}


def test_the_same_question_has_the_same_answer(store: Store) -> None:
    user_id = build.a_user(store)
    assert plan(store, EVENING, user_id) == plan(store, EVENING, user_id)


def test_a_plan_writes_nothing_and_keeps_no_answer(store: Store) -> None:
    user_id = build.a_user(store)
    status, _, _ = build.do(store, "POST", PATH, EVENING, by=user_id, key="k" * 20)
    assert status == 200
    with store.read() as db:
        assert db.execute(select(func.count()).select_from(tables.idempotency)).scalar_one() == 0


@pytest.mark.both_databases
def test_five_nights_of_the_club_replace_the_defaults(store: Store) -> None:
    organizer_id = build.a_user(store)
    play_nights(store, organizer_id, 4, minutes=40)
    wanted = {"players": 8, "machines": 2, "types": ["group_matchplay"]}
    usual = options(plan(store, wanted, organizer_id), "group_matchplay")["4 rounds"]
    assert (usual["pace"], usual["nights"]) == ("defaults", 0)
    play_nights(store, organizer_id, 1, minutes=40)
    own = options(plan(store, wanted, organizer_id), "group_matchplay")["4 rounds"]
    assert (own["pace"], own["nights"]) == ("nights", 5)
    assert own["expectedMinutes"] == pytest.approx(160, abs=8)
    assert own["expectedEnd"] is None
    # Nights of strangers say nothing; those of the club do.
    stranger = build.a_user(store)
    assert options(plan(store, wanted, stranger), "group_matchplay")["4 rounds"]["nights"] == 0
    club_id = build.row(store, tables.club, user_id=organizer_id, name="The Tilters")
    member = build.a_user(store, club_id=club_id)
    assert options(plan(store, wanted, member), "group_matchplay")["4 rounds"]["nights"] == 0
    with store.write() as transaction:
        users = tables.user
        joined = users.update().where(users.c.user_id == organizer_id).values(club_id=club_id)
        transaction.connection.execute(joined)
    assert options(plan(store, wanted, member), "group_matchplay")["4 rounds"]["nights"] == 5


@pytest.mark.both_databases
def test_the_line_is_as_late_for_nights_without_arenas(store: Store) -> None:
    with_arenas, without = build.a_user(store), build.a_user(store)
    play_nights(store, with_arenas, 5, 25)
    made = play_nights(store, without, 5, 25)
    with store.write() as transaction:
        own = tables.game.c.tournament_id.in_(made)
        transaction.connection.execute(update(tables.game).where(own).values(arena_id=None))
    asked = {"players": 8, "machines": 2, "types": ["group_matchplay"]}
    lines = [
        options(plan(store, asked, each), "group_matchplay")["4 rounds"]["latestMinutes"]
        for each in (with_arenas, without)
    ]
    assert lines[0] == lines[1] > 1.15 * 4 * 25


def test_tests_and_nights_that_end_later_say_nothing(store: Store) -> None:
    organizer_id = build.a_user(store)
    play_nights(store, organizer_id, 5, minutes=40, test=True)
    wanted = {"players": 8, "machines": 2, "types": ["group_matchplay"]}
    assert options(plan(store, wanted, organizer_id), "group_matchplay")["4 rounds"]["nights"] == 0
    play_nights(store, organizer_id, 5, minutes=40)
    status, body, _ = build.do(
        store, "POST", PATH, wanted, by=organizer_id, now=build.NOW - timedelta(days=2)
    )
    assert status == 200
    assert options(body["data"], "group_matchplay")["4 rounds"]["nights"] == 0


@pytest.mark.parametrize(
    ("sent", "field", "sentence"),
    [
        (
            {"players": 8, "machines": 0},
            "machines",
            "Without machines nothing can be played. Give at least 1.",
        ),
        ({"players": 8}, "machines", "Say how many machines there are, or which arenas."),
        ({"players": 10_000, "machines": 8}, "players", "A plan takes at most 500 players, not 10000."),
        ({"players": 1, "machines": 8}, "players", "A night needs at least 2 players."),
        ({"machines": 8}, "players", "The players field is required."),
        ({"players": "many", "machines": 8}, "players", "The players field must be an integer."),
        ({"players": 8, "machines": 900}, "machines", "A plan takes at most 500 machines, not 900."),
        (
            EVENING | {"closes": "2026-03-05T18:00"},
            "closes",
            "The room closes before the night begins. Give a later time.",
        ),
        (
            EVENING | {"closes": "2027-03-05T18:00"},
            "closes",
            "The room closes more than 7 days after the start.",
        ),
        (
            EVENING | {"closes": "2026-03-05T23:00Z"},
            "closes",
            "Give both times with a time zone, or both without.",
        ),
        (
            EVENING | {"start": "tonight"},
            "start",
            "This is no day and time. Write it as in 2026-03-05T19:30.",
        ),
        (
            EVENING | {"start": "9999-12-31T23:00", "closes": None},
            "start",
            "This is no day and time. Write it as in 2026-03-05T19:30.",
        ),
        (
            {"players": 8, "machines": 2, "closes": "2026-03-05T23:00"},
            "start",
            "Give the start too, to compare it with when the room closes.",
        ),
        ({"players": 8, "machines": 2, "types": ["chess"]}, "types", "There is no format called chess."),
    ],
)
def test_the_impossible_is_refused_with_a_sentence(
    store: Store, sent: dict[str, Any], field: str, sentence: str
) -> None:
    status, body, _ = build.do(store, "POST", PATH, sent, by=build.a_user(store))
    assert (status, body["errors"]) == (422, {field: [sentence]})


def test_a_plan_needs_a_token(store: Store) -> None:
    assert build.do(store, "POST", PATH, EVENING)[0] == 401
