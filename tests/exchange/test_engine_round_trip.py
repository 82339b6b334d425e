"""A bundle holds all that play goes on from: every format, in the middle of a night and at its end."""

import re
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

import build
from exchange import bundles
from rules.night import a_night
from rules.test_corrections import ALL
from rules.verify import walked_nights
from service import stored_nights
from service.stored_nights import StoredNight
from silverball.exchange.bundle.checks import BrokenBundle
from silverball.rules.commands import clocks, roster
from silverball.rules.model.tournament import Tournament
from silverball.service.journal.reads import verification
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.tournament import snapshot

WALKS = 1
WALKS_SOAK = 30
STEPS = 18


def a_walked_night(store: Store, kind: str, seed: str) -> StoredNight:
    return walked_nights.random_night(
        ALL[kind], seed, steps=STEPS, prepare=lambda plan: stored_nights.a_stored_night(store, plan)
    )


def loaded(store: Store, tournament_id: int) -> Tournament:
    with store.read() as db:
        return snapshot.load(db, tournament_id)


def without_ids(tournament: Tournament) -> list[object]:
    """Facts of the night that new ids leave as they are."""
    state = tournament.state
    return [
        (state.dice_seed, state.redraws, state.clock_ends_at, state.unfinished_round),
        (len(state.schedule), len(state.unfinished_ids), len(tournament.queue), len(tournament.purchases)),
        [(entrant.place, entrant.seed_rank, entrant.tie_place) for entrant in tournament.entrants],
        [(game.is_tiebreak, game.result_points, len(game.legs)) for game in tournament.games],
        [(game.rolls, game.points, game.started_at) for game in tournament.single_player_games],
    ]


def compare(store: Store, second: Store, kind: str, walks: range) -> None:
    """Export walked nights, import each elsewhere and export it again; then import all under new ids.

    New ids are those that the next nights would bring along, so they come last.
    """
    nights = [a_walked_night(store, kind, f"bundle {kind} {walk}") for walk in walks]
    tournament_ids = [night.tournament.tournament_id for night in nights]
    exported = [bundles.export_bundle(store, tournament_id) for tournament_id in tournament_ids]
    for walk, tournament_id, bundle in zip(walks, tournament_ids, exported, strict=True):
        bundles.import_bundle(second, bundle)
        here, there = loaded(store, tournament_id), loaded(second, tournament_id)
        for part in here.__struct_fields__:
            assert getattr(there, part) == getattr(here, part), (kind, walk, part)
        again = bundles.export_bundle(second, tournament_id)
        # Each database has a name and a journal of its own.
        own = {"journalHead": "", "source": ""}
        assert again | own == bundle | own, (kind, walk)
    renumbered = [bundles.import_bundle(second, bundle, new_ids=True).tournament_id for bundle in exported]
    for walk, tournament_id, moved_id in zip(walks, tournament_ids, renumbered, strict=True):
        here, moved = loaded(store, tournament_id), loaded(second, moved_id)
        assert without_ids(moved) == without_ids(here), (kind, walk)
        with second.read() as db:
            for imported in (tournament_id, moved_id):
                assert verification.verify_tournament(db, imported).faults == [], (kind, walk)


@pytest.mark.sample(5)
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("kind", sorted(ALL))
def test_an_imported_night_is_the_exported_night_to_the_last_fact(
    store: Store, second: Store, kind: str
) -> None:
    stored_nights.skip_disk_sync(store)
    stored_nights.skip_disk_sync(second)
    compare(store, second, kind, range(WALKS))


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_cards_of_a_night_that_was_reopened_have_no_stored_mark_after_an_import(
    store: Store, second: Store
) -> None:
    # This walk ends with a completion that is taken back; its bundle shows cards that count.
    compare(store, second, "card_best_game", range(3, 4))
    with second.read() as db:
        assert db.execute(select(tables.card.c.card_id).where(tables.card.c.best_game)).all() == []


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_the_round_timer_and_calls_go_along_under_new_ids_too(store: Store, second: Store) -> None:
    night = stored_nights.a_stored_night(store, a_night("matchplay", players=4, arenas=2))
    night.start()
    game, *_ = night.open_round()
    night.apply(clocks.set_round_timer(night.tournament, 20, build.NOW))
    night.apply(clocks.call_players(night.tournament, game.game_id, build.NOW))
    night.apply(clocks.give_extra_time(night.tournament, game.game_id, 5, build.NOW))
    exported = bundles.export_bundle(store, night.tournament.tournament_id, with_journal=True)
    bundles.import_bundle(second, exported)
    assert bundles.export_bundle(second, night.tournament.tournament_id, with_journal=True) == exported
    assert loaded(second, night.tournament.tournament_id).state == night.tournament.state
    renumbered = bundles.import_bundle(second, exported, new_ids=True)
    moved = loaded(second, renumbered.tournament_id)
    assert list(moved.state.calls) == [moved.games[0].game_id]
    assert list(moved.state.calls.values()) == [build.NOW]
    assert moved.state.extended_ends == {moved.games[0].game_id: build.NOW + timedelta(minutes=25)}
    assert moved.state.timed_round_id == moved.rounds[0].round_id
    assert moved.state.timed_round_ends_at == build.NOW + timedelta(minutes=20)
    with second.read() as db:
        for tournament_id in (night.tournament.tournament_id, renumbered.tournament_id):
            assert verification.verify_tournament(db, tournament_id).faults == []


@pytest.mark.both_databases
def test_directors_go_along_and_direct_under_new_ids_too(store: Store, second: Store) -> None:
    night = stored_nights.a_stored_night(store, a_night("matchplay", players=4, arenas=2))
    director_id = build.a_user(store, user_id=900, name="Dita Rector", role="organizer")
    night.apply(roster.add_director(night.tournament, director_id))
    exported = bundles.export_bundle(store, night.tournament.tournament_id, with_journal=True)
    assert exported["engine"]["directorIds"] == [director_id]
    bundles.import_bundle(second, exported)
    again = bundles.export_bundle(second, night.tournament.tournament_id, with_journal=True)
    assert {**again, "source": ""} == {**exported, "source": ""}
    renumbered = bundles.import_bundle(second, exported, new_ids=True)
    (moved,) = loaded(second, renumbered.tournament_id).scorekeepers
    assert moved.is_director
    exported["scorekeepers"] = []
    exported["tournament"]["scorekeepers"] = []
    with pytest.raises(BrokenBundle, match=r"directorIds\[0\]: There is no scorekeeper"):
        bundles.import_bundle(second, exported)


def bowled(store: Store) -> Any:
    """The bundle of a bowling night."""
    stored_nights.skip_disk_sync(store)
    return bundles.export_bundle(store, a_walked_night(store, "bowling", "faults").tournament.tournament_id)


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_facts_of_parts_that_are_not_there_are_refused(store: Store, second: Store) -> None:
    exported = bowled(store)
    pair = [{"playerIds": [1, 2]}]
    player_ids = [entrant["playerId"] for entrant in exported["engine"]["entrants"]]
    purchase = {
        "entryId": 7,
        "type": "regular",
        "quantity": 1,
        "amount": None,
        "currency": None,
        "status": "paid",
        "createdAt": "2026-03-06T20:00:00.000000Z",
    }
    faults: list[tuple[dict[str, Any], str]] = [
        ({"schedule": [{"playerIds": [1, 999]}]}, "$.engine.schedule[0].playerIds: There is no player 999"),
        ({"schedule": [*pair, {"playerIds": [3]}]}, "$.engine.schedule[1].playerIds: A pair is two players."),
        ({"timedRound": {"roundId": 999, "endsAt": None}}, "$.engine.timedRound: There is no round 999"),
        ({"calls": [{"gameId": 999, "calledAt": "now"}]}, "$.engine.calls[0]: There is no 999"),
        ({"clockEndsAt": "soon"}, "$.engine.clockEndsAt: 'soon' is not a date and time."),
        ({"redraws": {"round 1": "two"}}, "$.engine.redraws[...]"),
        ({"entrants": [{**exported["engine"]["entrants"][0], "playerId": 999}]}, "$.engine.entrants[0]"),
        (
            {"unfinishedRound": {"roundIndex": 1, "playerIds": [999]}},
            "$.engine.unfinishedRound.playerIds: There is no player 999",
        ),
        (
            {"singlePlayerGames": [{**exported["engine"]["singlePlayerGames"][0], "points": "many"}]},
            "$.engine.singlePlayerGames[0].points: 'many' is not a number.",
        ),
        (
            {"entrants": exported["engine"]["entrants"][:1] * 2},
            f"$.engine.entrants[1]: The id {exported['engine']['entrants'][0]['playerId']} is used twice.",
        ),
        (
            {"purchases": [{**purchase, "playerId": player_id} for player_id in player_ids[:2]]},
            "$.engine.purchases[1]: The id 7 is used twice.",
        ),
    ]
    for changed, sentence in faults:
        with pytest.raises(BrokenBundle) as fault:
            bundles.import_bundle(second, {**exported, "engine": {**exported["engine"], **changed}})
        assert str(fault.value).startswith(sentence), fault.value
    assert bundles.import_bundle(second, exported).outcome == "new"


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_standings_of_a_night_that_was_played_here_are_ranked_and_of_others_only_where_a_row_is_missing(
    store: Store, second: Store
) -> None:
    exported = bowled(store)
    exported["tournament"] |= {"status": "completed", "completedAt": "2026-03-06T20:00:00.000000Z"}
    rows = exported["standings"]
    stale = [{**row, "position": 9} for row in rows]
    elsewhere = {name: part for name, part in exported.items() if name != "engine"}
    for name, bundle, position in [
        ("here", {**exported, "standings": stale}, rows[0]["position"]),
        ("elsewhere", {**elsewhere, "standings": stale}, 9),
        ("a row is missing", {**elsewhere, "standings": stale[1:]}, None),
    ]:
        imported = bundles.import_bundle(second, bundle, new_ids=True)
        stored = bundles.export_bundle(second, imported.tournament_id)["standings"]
        assert len(stored) == len(rows), name
        assert position in (None, stored[0]["position"]), name


@pytest.mark.soak
@pytest.mark.parametrize("kind", sorted(ALL))
def test_many_imported_nights_are_the_exported_nights(store: Store, second: Store, kind: str) -> None:
    stored_nights.skip_disk_sync(store)
    stored_nights.skip_disk_sync(second)
    compare(store, second, kind, range(WALKS, WALKS_SOAK))


def test_prize_money_payouts_and_drawn_ties_are_in_the_bundle(store: Store, second: Store) -> None:
    night = a_walked_night(store, "matchplay", "prizes")
    tournament_id, (first, *_) = night.tournament.tournament_id, night.tournament.entrants
    paid = {"player_id": first.player_id, "cents": 500, "user_id": None, "paid_at": "2026-03-05T22:41:00Z"}
    prizes = {"shares": [10_000], "entry_fee": 500, "is_published": True, "payouts": [paid]}
    with store.write(tournament_id) as transaction:
        db = transaction.connection
        own, entered = tables.tournament.c.tournament_id, tables.entrant.c
        db.execute(update(tables.tournament).where(own == tournament_id).values(prizes=prizes))
        is_first = (entered.tournament_id == tournament_id) & (entered.player_id == first.player_id)
        ordered = {"tie_group": 1, "tie_place": 1, "tie_drawn": True}
        db.execute(update(tables.entrant).where(is_first).values(**ordered))
    exported = bundles.export_bundle(store, tournament_id)
    bundles.import_bundle(second, exported)
    here, there = loaded(store, tournament_id), loaded(second, tournament_id)
    assert there.prizes == here.prizes
    assert there.entrants == here.entrants
    for change, fault in (
        ({"shares": [9_999]}, "$.engine.prizes.shares"),
        ({"shares": []}, "$.engine.prizes.shares"),
        ({"rounding": 0}, "$.engine.prizes.rounding"),
        ({"extras": -1}, "$.engine.prizes"),
    ):
        engine = exported["engine"]
        wrong = {**exported, "engine": {**engine, "prizes": {**engine["prizes"], **change}}}
        with pytest.raises(BrokenBundle, match=f"^.*{re.escape(fault)}"):
            bundles.import_bundle(second, wrong, new_ids=True)
