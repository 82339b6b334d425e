"""A night with its finals goes out and comes in: plan, final, and what it would follow."""

from typing import Any

import build
from exchange import bundles
from silverball.service.journal.reads import verification
from silverball.store.database.engine import Store

PATH = "/api/tournaments"


def do(store: Store, organizer: int, method: str, path: str, body: Any) -> Any:
    status, answer, _ = build.do(store, method, PATH + path, body, by=organizer)
    assert status < 300, answer
    return answer["data"]


def finals_of(store: Store, organizer: int, tournament_id: int) -> Any:
    _, answer = build.ask(store, f"{PATH}/{tournament_id}/finals", by=organizer)
    return answer["data"]


def a_night_with_finals(store: Store) -> tuple[build.Night, int]:
    """A qualifying of six with an A final that was made, in which the fourth was taken out, and a B final."""
    night = build.a_tournament(store, players=6, type="group_matchplay", status="started")
    qualifying = night.tournament_id
    rank(store, night, night.player_ids)
    steps = [
        {"name": "A final", "type": "group_bracket", "players": 4, "settings": {"gamesPerRound": 4}},
        {"name": "B final", "type": "bracket", "within": "12.5"},
    ]
    do(store, night.organizer_id, "PUT", f"/{qualifying}/finals", {"steps": steps})
    final = do(store, night.organizer_id, "POST", f"/{qualifying}/playoffs", {"final": 0})["tournamentId"]
    do(store, night.organizer_id, "DELETE", f"/{final}/players/{night.player_ids[3]}", {})
    # The sixth overtakes the third.
    first, two, three, four, five, six = night.player_ids
    rank(store, night, [first, two, six, three, four, five])
    return night, final


def rank(store: Store, night: build.Night, order: Any) -> None:
    for place, player_id in enumerate(order):
        at = f"/{night.tournament_id}/players/{player_id}"
        do(store, night.organizer_id, "PATCH", at, {"pointsAdjustment": 100 - place})


def test_plan_final_and_what_it_would_follow_are_the_same_elsewhere(store: Store, second: Store) -> None:
    night, final = a_night_with_finals(store)
    here = [finals_of(store, night.organizer_id, each) for each in (night.tournament_id, final)]
    assert here[0]["steps"][0]["tournamentId"] == final
    assert here[1]["difference"]["entering"] == [night.player_ids[5]]
    for tournament_id in (night.tournament_id, final):
        exported = bundles.export_bundle(store, tournament_id)
        bundles.import_bundle(second, exported)
        again = bundles.export_bundle(second, tournament_id)
        assert (
            bundles.find_losses(
                exported, again | {"source": exported["source"], "journalHead": exported["journalHead"]}
            )
            == []
        )
    there = [finals_of(second, night.organizer_id, each) for each in (night.tournament_id, final)]
    assert there == here
    do(second, night.organizer_id, "POST", f"/{final}/finals/follow", {})
    assert finals_of(second, night.organizer_id, final)["difference"] is None
    with second.read() as db:
        assert verification.verify_tournament(db, final).faults == []


def test_under_other_ids_a_final_follows_the_qualifying_that_came_before_it(
    store: Store, second: Store
) -> None:
    night, final = a_night_with_finals(store)
    here = finals_of(store, night.organizer_id, final)["difference"]
    plan = finals_of(store, night.organizer_id, night.tournament_id)
    exported = [bundles.export_bundle(store, each) for each in (night.tournament_id, final)]
    # The numbers are taken by other tournaments there.
    for _ in range(2):
        build.a_tournament(second, players=6, type="group_matchplay", status="started")
    qualifying = bundles.import_bundle(second, exported[0], source="elsewhere", new_ids=True)
    moved = bundles.import_bundle(second, exported[1], source="elsewhere", new_ids=True)
    # What came first knows the final once it comes again.
    bundles.import_bundle(second, exported[0], source="elsewhere", new_ids=True)
    organizer, players = moved.ids["userId"][night.organizer_id], qualifying.ids["playerId"]
    there = finals_of(second, organizer, moved.tournament_id)
    assert there["sourceId"] == qualifying.tournament_id
    for part in ("entering", "leaving"):
        assert there["difference"][part] == [players[each] for each in here[part]]
    steps = finals_of(second, organizer, qualifying.tournament_id)["steps"]
    assert [step["tournamentId"] for step in steps] == [moved.tournament_id, None]
    for old, new in zip(plan["steps"], steps, strict=True):
        assert new["qualified"] == [players[each] for each in old["qualified"]]


def test_a_final_without_its_source_follows_nothing_whatever_has_its_number(
    store: Store, second: Store
) -> None:
    night, final = a_night_with_finals(store)
    build.a_tournament(second, players=6, type="group_matchplay", status="started")
    exported = bundles.export_bundle(store, final)
    moved = bundles.import_bundle(second, exported, source="elsewhere", new_ids=True)
    organizer = moved.ids["userId"][night.organizer_id]
    shown = finals_of(second, organizer, moved.tournament_id)
    assert (shown["sourceId"], shown["difference"]) == (None, None)
    path = f"{PATH}/{moved.tournament_id}/finals/follow"
    status, answer, _ = build.do(second, "POST", path, {}, by=organizer)
    assert (status, answer["code"]) == (409, "no-source-to-follow")


def test_what_was_sent_to_the_federation_goes_along(store: Store, second: Store) -> None:
    night = build.a_tournament(store, players=4, type="group_matchplay", status="started")
    rank(store, night, night.player_ids)
    at = f"/{night.tournament_id}"
    do(store, night.organizer_id, "POST", at + "/complete", {})
    chosen = {"sent": True, "players": night.player_ids}
    sent = do(store, night.organizer_id, "PUT", at + "/federation-results/sent", chosen)
    assert sent["sentAt"] is not None
    exported = bundles.export_bundle(store, night.tournament_id)
    assert [place["position"] for place in exported["engine"]["resultsSent"]["places"]] == [1, 2, 3, 4]
    moved = bundles.import_bundle(second, exported, source="elsewhere", new_ids=True)
    again = bundles.export_bundle(second, moved.tournament_id)["engine"]["resultsSent"]
    players = moved.ids["playerId"]
    assert [place["playerId"] for place in again["places"]] == [players[each] for each in night.player_ids]
