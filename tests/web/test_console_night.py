"""Running a tournament through forms: arrivals and departures, broken machines, ties."""

import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, update

import build
from silverball.exchange import opdb
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.revisions import revisions
from silverball.web import next_step, site
from silverball.web.console.actions import ACTIONS
from web import page_forms
from web.director import Director
from web.visitor import EMAIL, PASSWORD, Visitor

# The interface has the same writes, and its stories run on both databases.
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def test_the_undo_bar_takes_back_the_last_action(director: Director) -> None:
    game = director.play("matchplay")
    director.send(f"result-{game.game_id}", first=game.player_ids[0])
    director.send("undo")
    assert director.game(game).status == "started"
    director.send("undo")
    assert director.tournament().rounds == ()


def test_an_undo_that_came_too_late_says_so(director: Director) -> None:
    director.play("matchplay")
    stale = director.forms()["undo"]
    director.send("undo")
    answer = director.post(stale, key="another")
    assert answer.status_code == 409
    assert "Only the newest action can be undone" in page_forms.alerts_on(answer.text)[0]


def test_a_known_name_adds_the_player_of_the_book(store: Store, director: Director) -> None:
    bo = build.a_player(store, director.user_id, name="Bo Larkin")
    director.create("matchplay")
    director.send("people", names=" bo larkin \r\nCleo Marsh\n\n")
    ids = [entrant.player_id for entrant in director.tournament().entrants]
    assert ids[0] == bo
    assert len(ids) == 2
    assert director.refused("people", names="Bo Larkin") == (
        422,
        "Bo Larkin is in the tournament already. Take the line out.",
    )
    # Who may be another is shown first: a name twice, in the list or in the book, and one that is too long.
    twice = director.post(director.forms()["people"], names="1. Dov <dov@pins.example>\n2. Dov")
    assert "Dov is in row 1, too. One person twice, or two?" in page_forms.text_of(twice.text)
    build.a_player(store, director.user_id, name="Edie Frost")
    build.a_player(store, director.user_id, name="EDIE FROST")
    which = director.post(director.forms()["people"], names="Edie Frost")
    assert "2 players called Edie Frost" in page_forms.text_of(which.text)
    assert "Enter a name" in director.refused("people", names=" ")[1]
    long = director.post(director.forms()["people"], names="Gus\n\nHana\nVisible" + 99 * "x")
    assert "more than 100 characters" in page_forms.text_of(long.text)
    assert [answer.status_code for answer in (twice, which, long)] == [422, 422, 422]
    assert len(director.tournament().entrants) == 2
    with_fault = director.refused("people", names="Hana" + 99 * "x", mayBeList=None)
    assert with_fault[1].startswith(f"Name 1 of the list, “Hana{36 * 'x'}”")


def test_a_list_sent_again_on_purpose_leaves_out_who_is_in_already(store: Store, director: Director) -> None:
    ids = [build.a_player(store, director.user_id, name=name) for name in ("Ada Quill", "Bo Larkin")]
    director.create("matchplay")
    director.send("people", names="Bo Larkin")
    director.send("people", names="Bo Larkin\nCleo Marsh", skipsPresent="on")
    entered = [entrant.player_id for entrant in director.tournament().entrants]
    assert [director.name(player_id) for player_id in entered] == ["Bo Larkin", "Cleo Marsh"]
    # All are in: nothing is added, and nothing is refused.
    director.send("people", names="Bo Larkin", skipsPresent="on")
    director.send("people", names="Ada Quill", skipsPresent="on")
    assert sorted(entrant.player_id for entrant in director.tournament().entrants)[:2] == ids
    assert len(director.tournament().entrants) == 3


def test_players_are_found_by_part_of_a_name_and_by_a_former_tournament(
    store: Store, director: Director
) -> None:
    build.a_player(store, director.user_id, name="Åsa Hölm")
    build.a_player(store, director.user_id, name="Bo Larkin", status="inactive")
    stranger = build.a_user(store, name="Ines Corva", role="organizer")
    build.a_player(store, stranger, name="Asa Elsewhere")
    director.create("matchplay")
    found = director.forms("?q=asa")["pick"]
    director.send("pick", "?q=asa", playerId=found.boxes["playerId"])
    former = director.tournament_id
    assert len(director.tournament().entrants) == 1
    assert "pick" not in director.forms("?q=larkin")
    director.create("knockout")
    director.send("pick", f"?former={former}")
    assert len(director.tournament().entrants) == 1


def test_who_was_unticked_stays_unticked(store: Store, director: Director) -> None:
    director.create("matchplay")
    director.send("people", names="Ada Quill\nBo Larkin\nCleo Marsh")
    former = director.tournament_id
    director.create("knockout")
    offered = director.forms(f"?former={former}")["pick"].boxes["playerId"]
    assert len(offered) == 3
    director.send("pick", f"?former={former}", playerId=offered[:2])
    # A second tap on the button adds nobody.
    assert "pick players" in director.refused("pick", f"?former={former}")[1]
    assert len(director.tournament().entrants) == 2


def test_a_draw_is_previewed_for_those_who_came_while_the_page_was_made(
    store: Store, director: Director
) -> None:
    director.create("matchplay")
    director.fill(8, 4)
    path = f"/api/tournaments/{director.tournament_id}/players"
    late: list[str] = []

    def clock() -> datetime:
        # Whoever makes the page asks for the time between reading the tournament and drawing.
        late.append(f"Late {len(late)}")
        body = {"players": [{"name": late[-1]}]}
        assert build.do(store, "POST", path, body, by=director.user_id, now=build.NOW)[0] == 201
        return build.NOW

    with Visitor(store, clock=clock) as hasty:
        hasty.cookies.update(director.visitor.cookies)
        answer = hasty.get(director.at)
    assert answer.status_code == 200
    assert len(director.tournament().entrants) == 8 + len(late) > 10


def test_arenas_of_the_book_are_all_ticked_at_first(store: Store, director: Director) -> None:
    for n in range(3):
        build.an_arena(store, director.user_id, name=f"Machine {n}")
    director.create("matchplay")
    director.send("lineup")
    assert len(director.tournament().lineup) == 3
    director.send("machine", names="Meteor Shower\nThe Lighthouse")
    assert len(director.tournament().lineup) == 5
    with store.read() as db:
        owned = db.execute(select(func.count()).select_from(tables.arena)).scalar_one()
    assert owned == 5


def test_a_machine_of_the_book_is_taken_before_another_is_written(store: Store, director: Director) -> None:
    known = build.an_arena(store, director.user_id, name="Godzilla", opdb_id="G1-M001")
    build.an_arena(store, director.user_id, name="Comet", status="inactive")
    for _ in range(2):
        director.create("matchplay")
        director.send("machine", names="godzilla\nStatic Garden")
        assert known in [arena.arena_id for arena in director.tournament().lineup]
    with store.read() as db:
        assert db.execute(select(func.count()).select_from(tables.arena)).scalar_one() == 3
    again = director.post(director.forms()["machine"], names="Godzilla\nDragon Alley")
    assert again.status_code == 409
    assert "Godzilla is in the lineup already. A second one?" in page_forms.alerts_on(again.text)[0]
    assert len(director.tournament().lineup) == 2
    second = director.post(page_forms.forms_on(again.text)["machine"], secondOnes="on")
    assert second.status_code == 303
    assert len(director.tournament().lineup) == 4


def test_a_machine_of_the_database_comes_with_its_id(store: Store, director: Director) -> None:
    raw = {"entries": [{"opdbId": f"G1-M00{n}", "name": f"Comet {n}"} for n in range(3)]}
    with store.write() as transaction:
        opdb.import_machines(transaction, opdb.parse_machines(raw))
    director.create("matchplay")
    found = director.forms("?machine=comet")["found"].boxes["opdbId"]
    assert found == ["G1-M000", "G1-M001", "G1-M002"]
    director.send("found", "?machine=comet", opdbId=found[1:])
    with store.read() as db:
        rows = db.execute(select(tables.arena.c.name, tables.arena.c.opdb_id)).all()
    assert [tuple(row) for row in rows] == [("Comet 1", "G1-M001"), ("Comet 2", "G1-M002")]
    form = director.forms("?machine=comet")["found"]
    unknown = director.post(form, opdbId="G9-M999")
    assert unknown.status_code == 422
    assert "not in the machine database" in page_forms.alerts_on(unknown.text)[0]
    assert len(director.tournament().lineup) == 2


def test_the_preview_shows_the_draw_that_is_made(director: Director) -> None:
    director.create("group_matchplay")
    director.fill(8, 4)
    shown_before = draw_lines(director.page())
    director.send("start")
    assert draw_lines(director.page("/draw")) == shown_before
    director.send("round-open", "/draw")
    night = director.tournament()
    groups = [len(game.player_ids) for game in night.games]
    assert groups == [4, 4]
    for game in night.games:
        names = {director.name(player_id) for player_id in game.player_ids}
        assert any(names <= set(line) for line in shown_before)


def draw_lines(html: str) -> list[tuple[str, ...]]:
    """The names on each line of the draw on a page."""
    listed = html.partition('<ul class="draw">')[2].partition("</ul>")[0]
    lines = [page_forms.text_of(line) for line in listed.split("<li>")[1:]]
    return [tuple(name.strip() for name in line.replace(" on ", ",").split(",")) for line in lines]


def test_a_round_is_drawn_again_with_other_dice(director: Director) -> None:
    director.play("matchplay", players=16)
    before = {frozenset(game.player_ids) for game in director.open_games()}
    director.send("round-delete")
    director.send("round-redraw", "/draw")
    assert {frozenset(game.player_ids) for game in director.open_games()} != before


def test_a_knockout_takes_late_players_with_strikes_and_lets_people_go(director: Director) -> None:
    director.play("knockout")
    director.finish_all()
    director.send("people", "/players", names="Late Larkin", strikes=1)
    late = director.tournament().entrants[-1]
    assert late.points_adjustment == 1
    director.send("leave", f"/player?player={late.player_id}")
    assert not director.tournament().entrants[-1].is_active
    director.send("return", f"/player?player={late.player_id}")
    director.send("adjusting", f"/player?player={late.player_id}", pointsAdjustment="-1,00")
    assert director.tournament().entrants[-1].points_adjustment == -1
    director.send("player-out", f"/player?player={late.player_id}")
    assert len(director.tournament().entrants) == 8


def test_a_broken_machine_sends_its_games_elsewhere(director: Director) -> None:
    game = director.play("matchplay")
    director.send(f"broken-{game.arena_id}", "/arenas")
    director.send(f"ruling-{game.game_id}", "/arenas", ruling="startOver")
    assert director.game(game).arena_id != game.arena_id
    director.send(f"fixed-{game.arena_id}", "/arenas")
    assert all(arena.is_active for arena in director.tournament().lineup)


def test_a_game_is_changed_before_its_result(director: Director) -> None:
    game = director.play("matchplay")
    page = f"/game?game={game.game_id}"
    other = director.open_games()[1]
    director.send(f"swap-{game.game_id}", page, playerId=game.player_ids[0], withPlayerId=other.player_ids[0])
    assert other.player_ids[0] in director.game(game).player_ids
    director.send(f"redraw-{game.game_id}", page)
    assert director.game(game).arena_id != game.arena_id
    free = next(
        arena.arena_id
        for arena in director.tournament().lineup
        if arena.arena_id not in {other.arena_id for other in director.open_games()}
    )
    director.send(f"arena-{game.game_id}", page, arenaId=free)
    assert director.game(game).arena_id == free
    first, second = director.game(game).player_ids
    places = {f"place_{first}": 2, f"place_{second}": 1}
    director.send(f"order-{game.game_id}", page, **places)
    assert director.game(game).player_ids == (second, first)


def test_a_no_show_forfeits_or_leaves_the_game(director: Director) -> None:
    game = director.play("matchplay")
    absent = game.player_ids[1]
    director.send(f"forfeit-{game.game_id}", f"/game?game={game.game_id}", forfeit=absent)
    assert director.game(game).forfeited_by == absent


def test_a_group_goes_on_as_three(director: Director) -> None:
    game = director.play()
    absent = game.player_ids[0]
    page = f"/game?game={game.game_id}"
    director.send(f"unseat-{game.game_id}", page, player_id=absent)
    assert director.game(game).player_ids == game.player_ids[1:]
    director.send(f"seat-{game.game_id}", page, playerId=absent)
    assert set(director.game(game).player_ids) == set(game.player_ids)


def test_a_result_is_entered_as_scores_or_as_strikes(director: Director) -> None:
    game = director.play("group_knockout")
    page = f"/game?game={game.game_id}"
    strikers = list(game.player_ids[2:])
    director.send(f"strikes-{game.game_id}", page, strike=strikers)
    assert [int(points) for points in director.game(game).result_points] == [1, 1, 0, 0]
    scores = {f"score_{player_id}": f"{n + 1},000,000" for n, player_id in enumerate(game.player_ids)}
    director.send(f"scores-{game.game_id}", page, **scores)
    assert director.game(game).result_scores == (1_000_000, 2_000_000, 3_000_000, 4_000_000)
    assert [int(points) for points in director.game(game).result_points] == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("places", "sentence"),
    [
        (("", "", "", ""), "Choose a place"),
        (("1", "", "", ""), "is missing"),
        (("1", "1", "2", ""), "same place"),
        (("1", "1", "2", "3"), "same place"),
    ],
)
def test_an_incomplete_result_is_refused_by_name_and_stays_on_the_page(
    director: Director, places: tuple[str, ...], sentence: str
) -> None:
    game = director.play(players=4)
    given = {f"place_{player_id}": place for player_id, place in zip(game.player_ids, places, strict=True)}
    answer = director.post(director.forms()[f"result-{game.game_id}"], **given)
    assert answer.status_code == 422
    (alert,) = page_forms.alerts_on(answer.text)
    assert sentence in alert
    assert "Player" in alert or sentence != "is missing"
    form = page_forms.forms_on(answer.text)[f"result-{game.game_id}"]
    assert tuple(form.value(f"place-{player_id}") for player_id in game.player_ids) == places
    assert director.game(game).status == "started"


def test_a_tie_is_drawn_on_purpose(director: Director) -> None:
    director.play("matchplay", tiebreaker="none", duration=1)
    for game in director.open_games():
        director.finish(game, *game.player_ids)
    drawn = next(name for name in director.forms("/standings") if name.startswith("draw-tie-"))
    assert "100 % at most" in director.page("/standings")
    director.send(drawn, "/standings")
    assert [entrant.tie_place for entrant in director.tournament().entrants].count(1) == 1


def test_a_tie_is_broken_by_a_game_or_by_hand_and_playoffs_follow(director: Director) -> None:
    director.play("matchplay", tiebreaker="none", duration=1)
    director.finish_all()
    ties = [name for name in director.forms("/standings") if name.startswith("tie-")]
    assert len(ties) == 2
    status, sentence = director.refused("playoffs", "/standings", type="bracket", players=2)
    assert status == 409
    assert "Tied at the cutoff" in sentence
    tied = director.forms("/standings")[ties[0]].boxes["playerId"]
    director.send(ties[0], "/standings", playerId=tied)
    (game,) = director.open_games()
    assert game.is_tiebreak
    director.finish(game, *game.player_ids)
    other = director.forms("/standings")[f"order-{ties[1]}"]
    players = [value for name, value in other.fields if name == "of"]
    places: dict[str, Any] = {f"place_{player_id}": n + 1 for n, player_id in enumerate(players)}
    director.send(f"order-{ties[1]}", "/standings", **places)
    assert sorted(position for position, _ in director.standings()) == list(range(1, 9))
    director.send("forget", "/standings")
    to = director.send("playoffs", "/standings", type="bracket", players=2, name="The Final")
    assert to != director.at
    director.tournament_id = int(to.split("/")[2])
    assert [entrant.player_id for entrant in director.tournament().entrants] == list(game.player_ids[:2])


def test_playoffs_from_a_band_and_by_name(director: Director) -> None:
    director.play(playoffsCutoffs="4 A final\n4 B final")
    director.finish_all()
    first = director.forms("/standings")["playoffs"]
    assert first.options["band"] == ["0", "1", ""]
    named = [str(player_id) for _, player_id in director.standings()[:4]]
    to = director.send("playoffs", "/standings", type="group_bracket", playerId=named)
    director.tournament_id = int(to.split("/")[2])
    assert {str(entrant.player_id) for entrant in director.tournament().entrants} == set(named)


def test_the_settings_are_changed_and_what_is_fixed_is_said(director: Director) -> None:
    director.create("group_matchplay")
    director.send("edit", "/settings", name="Renamed", set_duration=5, motdText="Pizza at nine")
    night = director.tournament()
    assert (night.details["name"], night.details["motd_text"]) == ("Renamed", "Pizza at nine")
    assert director.setting("duration") == 5
    director.start()
    status, sentence = director.refused("edit", "/settings", set_gamesPerRound=2, name="Again")
    assert (status, sentence) == (
        409,
        "The games per round can be changed only before the start. Undo the start first.",
    )
    director.send("edit", "/settings", set_duration=6)
    assert director.setting("duration") == 6


def test_a_planned_tournament_can_be_deleted(director: Director) -> None:
    director.create("matchplay")
    assert director.send("delete", "/settings") == "/run"
    assert director.visitor.get(director.at).status_code == 404


def test_queues_are_run_from_the_console(director: Director) -> None:
    director.create("best_game", useQueues="on", suggestions="disabled")
    director.start(4, 2)
    night = director.tournament()
    arena_id = night.lineup[0].arena_id
    first, second, *_ = [entrant.player_id for entrant in night.entrants]
    for player_id in (first, second):
        director.send("queue", playerId=player_id, arenaId=arena_id)
    first_spot, second_spot = director.tournament().waiting_spots
    director.send(f"queue-move-{first_spot.queue_id}")
    director.send(f"queue-start-{second_spot.queue_id}")
    (begun,) = [game for game in director.tournament().single_player_games if game.status == "started"]
    assert begun.player_id == second
    director.send(f"queue-leave-{first_spot.queue_id}")
    assert director.tournament().waiting_spots == ()
    director.send(f"block-{arena_id}", "/arenas")
    director.send(f"queue-{arena_id}", "/arenas")
    machine = director.tournament().lineup[0]
    assert (machine.is_blocked, machine.is_queue_closed) == (True, True)
    director.send("entries", f"/player?player={first}", quantity=3)
    assert director.tournament().entrant_by_id[first].entries_bought == 3


def test_a_race_is_run_past_the_bar(director: Director) -> None:
    director.create("amazingrace")
    director.start(4, 3)
    first, second, third, _ = director.open_attempts()
    for game, score in ((first, 100), (second, 300)):
        director.send(f"attempt-{game.single_player_game_id}", score=score)
    director.send(f"advance-{third.single_player_game_id}")
    night = director.tournament()
    passed = next(
        game
        for game in night.single_player_games
        if game.single_player_game_id == third.single_player_game_id
    )
    assert passed.is_advanced
    spot = night.waiting_spots[-1]
    round_ = night.round_by_id[spot.round_id or 0]
    assert round_.status == "started"


def test_a_bank_is_taken_in_and_out(store: Store, director: Director) -> None:
    bank_id = build.row(store, tables.bank, organizer_id=director.user_id, name="Left wall")
    for place in range(2):
        arena_id = build.an_arena(store, director.user_id, name=f"Machine {place}")
        build.row(store, tables.bank_arena, bank_id=bank_id, arena_id=arena_id, place=place)
    director.create("matchplay", arenaAssignment="banks")
    director.send("bank", "/arenas", bank_id=bank_id)
    night = director.tournament()
    assert ([bank.bank_id for bank in night.banks], len(night.lineup)) == ([bank_id], 2)
    director.send(f"bank-out-{bank_id}", "/arenas")
    assert director.tournament().banks == ()


def test_a_reported_result_is_accepted_or_declined(store: Store, director: Director) -> None:
    game = director.play("matchplay", suggestions="restricted")
    player_id, other = game.player_ids
    user_id = build.a_user(store, name="Player With Account")
    path = f"/api/tournaments/{director.tournament_id}/games/{game.game_id}/suggestions"
    by = build.caller(user_id, ability="score")
    with store.write() as transaction:
        row = tables.player.c.player_id == player_id
        transaction.connection.execute(update(tables.player).where(row).values(claimed_by=user_id))
        revisions.raise_tournaments(transaction, [director.tournament_id])

    def suggest() -> str:
        body = {"resultPositions": [other, player_id]}
        assert build.do(store, "POST", path, body, by=by)[0] == 201
        (suggestion,) = director.tournament().suggestions
        return str(suggestion.suggestion_id)

    first = suggest()
    page = page_forms.text_of(director.page("?show=reported"))
    assert f"{director.name(player_id)} says: 1. {director.name(other)}" in page
    director.send(f"suggestion-out-{first}", "?show=reported")
    assert (director.tournament().suggestions, director.game(game).status) == ((), "started")
    director.send(f"suggestion-{suggest()}", "?show=reported")
    assert director.game(game).result_positions == (other, player_id)


def test_every_action_is_offered_by_a_form(database_url: str) -> None:
    templates = (Path(site.__file__).parent / "templates" / "console").glob("*.html")
    text = "".join(path.read_text(encoding="utf-8") for path in templates)
    offered = set(re.findall(r"forms\.(?:action_form|confirmed_form)\('([a-z-]+)'", text))
    # Forms that run one of two actions.
    offered |= set(re.findall(r"else '([a-z-]+)', '[a-z-]+'", text))
    # The form of what comes next.
    offered |= set(re.findall(r'action="([a-z-]+)"', Path(next_step.__file__).read_text(encoding="utf-8")))
    assert offered == set(ACTIONS)


def test_a_reopened_night_says_what_still_counts_for_ratings(director: Director) -> None:
    director.play("matchplay")
    director.send("complete", "/standings")
    before_saving = director.page("/standings")
    assert "ratings from that day on may move" in before_saving
    assert re.search(r"played after <span[^>]*>[-0-9: ]+ UTC</span> are not rated", before_saving)
    director.visitor.wait(days=8)
    director.visitor.sign_in(EMAIL, PASSWORD)
    assert "Games that are played from now on are not rated." in director.page("/standings")
    director.send("reopen", "/standings")
    assert "Games that are played from now on are not rated." in director.page("/results")
