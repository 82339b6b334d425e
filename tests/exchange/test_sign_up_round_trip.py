"""A bundle holds the sign-up list: fees, who waits in which order, who is here, and what was paid to whom."""

import pytest

from exchange import bundles
from service.signups.test_sign_ups import a_full_desk
from silverball.exchange.bundle.checks import BrokenBundle
from silverball.rules.mechanics import waiting_list
from silverball.rules.model.tournament import Tournament
from silverball.service.journal.reads import verification
from silverball.store.database.engine import Store
from silverball.store.tournament import snapshot


def loaded(store: Store, tournament_id: int) -> Tournament:
    with store.read() as db:
        return snapshot.load(db, tournament_id)


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_the_waiting_list_and_payments_go_along_under_new_ids_too(store: Store, second: Store) -> None:
    desk, (first, last, _) = a_full_desk(store)
    inside = desk.night.player_ids[0]
    terms = {"fee": 1_000, "lateFee": 500, "lateFrom": "2026-01-01T00:00:00Z", "newCode": True}
    desk.ok("PATCH", "/sign-ups", terms)
    desk.ok("PUT", f"/sign-ups/players/{inside}", {"here": True, "payment": {"cents": 1_500, "how": "card"}})
    desk.ok("PUT", f"/sign-ups/players/{first}", {"payment": {"cents": 700, "how": "cash"}})
    desk.ok("PUT", f"/sign-ups/waiting/{last}", {"position": 1})
    tournament_id = desk.night.tournament_id
    here = loaded(store, tournament_id)
    exported = bundles.export_bundle(store, tournament_id, with_journal=True)
    bundles.import_bundle(second, exported)
    assert bundles.export_bundle(second, tournament_id, with_journal=True) == exported
    assert loaded(second, tournament_id).sign_ups == here.sign_ups
    assert loaded(second, tournament_id).sign_up_terms == here.sign_up_terms
    renumbered = bundles.import_bundle(second, exported, new_ids=True)
    moved = loaded(second, renumbered.tournament_id)
    waiting = waiting_list.waiting_entries(moved)
    assert [entry.payment and entry.payment.cents for entry in waiting] == [None, 700, None]
    assert sorted(entry.payment.cents for entry in moved.sign_ups if entry.payment) == [700, 1_500]
    assert moved.sign_up_terms == here.sign_up_terms
    with second.read() as db:
        for imported in (tournament_id, renumbered.tournament_id):
            assert verification.verify_tournament(db, imported).faults == []


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_bundle_in_which_a_stranger_waits_is_refused(store: Store, second: Store) -> None:
    desk, _ = a_full_desk(store)
    exported = bundles.export_bundle(store, desk.night.tournament_id)
    exported["engine"]["signUps"][0]["playerId"] = 999_999
    with pytest.raises(BrokenBundle):
        bundles.import_bundle(second, exported)
