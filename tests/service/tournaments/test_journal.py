"""GET /api/tournaments/{id}/journal. Source: architecture.md 4; interface.md 3."""

from typing import Any

import pytest

import build
from silverball.rules.model import changes
from silverball.rules.model.changes import Added, Altered, Removed, TournamentAltered
from silverball.service.journal import texts
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.tournament import journal

PATH = "/api/tournaments"


@pytest.fixture
def night(store: Store) -> build.Night:
    return build.a_tournament(
        store, status="planned", type="round_robin", points_map=[[1], [1, 0], [1, 0, 0], [1, 0, 0]]
    )


def send(store: Store, night: build.Night, method: str, way: str = "", body: Any = None) -> Any:
    path = f"{PATH}/{night.tournament_id}{way}"
    status, answer, _ = build.do(store, method, path, body, by=night.organizer_id)
    assert status == 200, answer
    return answer["data"]


def story(store: Store, night: build.Night, query: str = "") -> dict[str, Any]:
    path = f"{PATH}/{night.tournament_id}/journal{query}"
    status, body = build.ask(store, path, by=night.organizer_id)
    assert status == 200, body
    found: dict[str, Any] = body
    return found


@pytest.mark.both_databases
def test_each_action_has_actor_time_and_source_newest_first(store: Store, night: build.Night) -> None:
    send(store, night, "PATCH", body={"name": "Friday", "byes": "half"})
    send(store, night, "POST", "/start")
    started, edited = story(store, night)["data"]
    assert edited == {
        "actionId": 1,
        "at": "2026-03-05T19:30:00.000000Z",
        "actorId": night.organizer_id,
        "actorName": "Olga Ramp",
        "source": "203.0.113.7",
        "diceSeed": None,
        "changes": [{"change": "TournamentEdited", "text": "Changed: byes (Half a win), name."}],
        "undone": False,
        "undoes": None,
        "canUndo": False,
    }
    assert (started["actionId"], started["canUndo"]) == (2, True)
    # Nobody sees the seed while draws may follow.
    assert started["diceSeed"] is None
    told = [change["text"] for change in started["changes"]]
    assert sum(text.endswith(" is seed 1.") for text in told) == 1
    assert "The tournament was started." in told
    assert "Round 1 was opened." in told
    assert any(text.startswith("A game was opened: ") and "Player 4" in text for text in told)


def test_an_undone_action_is_marked_and_the_one_before_is_next(store: Store, night: build.Night) -> None:
    send(store, night, "PATCH", body={"name": "Friday"})
    send(store, night, "PATCH", body={"name": "Saturday"})
    send(store, night, "POST", "/undo", {"action": 2})
    shown = [
        (action["actionId"], action["undone"], action["undoes"], action["canUndo"])
        for action in story(store, night)["data"]
    ]
    assert shown == [(3, False, 2, False), (2, True, None, False), (1, False, None, True)]
    assert story(store, night)["data"][0]["changes"][0]["text"] == "Undone: Changed: name."


def test_nothing_of_a_completed_tournament_can_be_undone(store: Store, night: build.Night) -> None:
    send(store, night, "POST", "/start")
    send(store, night, "POST", "/complete")
    assert not any(action["canUndo"] for action in story(store, night)["data"])


def test_the_journal_has_pages(store: Store, night: build.Night) -> None:
    for number in range(52):
        send(store, night, "PATCH", body={"name": f"Name {number}"})
    first, second = story(store, night), story(store, night, "?page=2")
    assert [action["actionId"] for action in first["data"]] == list(range(52, 2, -1))
    assert [action["actionId"] for action in second["data"]] == [2, 1]
    assert (first["meta"]["total"], first["meta"]["last_page"]) == (52, 2)
    assert first["links"]["next"].endswith("/journal?page=2")


def test_every_page_names_the_action_that_undo_would_revert(store: Store, night: build.Night) -> None:
    for number in range(30):
        send(store, night, "PATCH", body={"name": f"Name {number}"})
    for action in range(30, 4, -1):
        send(store, night, "POST", "/undo", {"action": action})
        first, second = story(store, night), story(store, night, "?page=2")
        assert (first["meta"]["undoable"], second["meta"]["undoable"]) == (action - 1, action - 1)
    # 26 undos and the 26 actions that they undid push it from the first page.
    assert not any(action["canUndo"] for action in first["data"])
    assert [action["actionId"] for action in second["data"] if action["canUndo"]] == [4]
    send(store, night, "POST", "/start")
    send(store, night, "POST", "/complete")
    assert story(store, night)["meta"]["undoable"] is None


def test_only_the_organizer_and_an_admin_read_it(store: Store, night: build.Night) -> None:
    path = f"{PATH}/{night.tournament_id}/journal"
    other = build.a_user(store, name="Otto Tilt", role="organizer")
    admin = build.caller(build.a_user(store, role="admin"), role="admin", ability="admin")
    assert build.ask(store, path)[0] == 401
    assert build.ask(store, path, public_read=True)[0] == 401
    assert build.ask(store, path, by=build.caller(other, role="organizer", ability="manage"))[0] == 403
    assert build.ask(store, path, by=admin)[0] == 200
    assert build.ask(store, f"{PATH}/999/journal", by=admin)[0] == 404


def test_every_change_has_its_sentence() -> None:
    stated = {
        change.__name__
        for base in (Added, Altered, Removed, TournamentAltered)
        for change in base.__subclasses__()
        if change.__module__ == changes.__name__
    }
    others = {journal.ACTION_UNDONE, journal.TOURNAMENT_CREATED, journal.MATCHES_MERGED, "TournamentImported"}
    others |= set(journal.MERGES)
    assert set(texts.SENTENCES) == stated | others | journal.NOTES


GAME = {
    "game_id": 7,
    "player_ids": [1, 2],
    "arena_id": 5,
    "result_positions": [2, 1],
    "result_points": ["0.00", "1.00"],
    "is_bye": False,
}
NAMES = texts.Names(
    players={1: "Ada", 2: "Bo"},
    arenas={5: "Meteor"},
    users={3: "Kim"},
    rounds={4: "Hole 2"},
    games={7: [1, 2]},
)


@pytest.mark.parametrize(
    ("change", "data", "text"),
    [
        ("GameOpened", {"thing": GAME}, "A game was opened: Ada, Bo on Meteor."),
        (
            "GameOpened",
            {"thing": {**GAME, "is_tiebreak": True}},
            "A tiebreak was opened: Ada, Bo on Meteor.",
        ),
        ("GameOpened", {"thing": {**GAME, "is_bye": True, "player_ids": [1]}}, "Ada has a bye."),
        ("GameCompleted", {"after": GAME}, "Result of Ada, Bo on Meteor: Bo, Ada, first to last."),
        (
            "GameCompleted",
            {"after": {**GAME, "result_positions": [None, 2]}},
            "Result of Ada, Bo on Meteor: Ada 0, Bo 1.",
        ),
        (
            "GameCorrected",
            {"after": {**GAME, "forfeited_by": 1}},
            "The result was corrected: Ada, Bo on Meteor: Ada did not show up.",
        ),
        ("EntrantAdded", {"thing": {"player_id": 9}}, "Unknown player joined."),
        (
            "EntrantChanged",
            {"before": {"player_id": 1, "is_active": True}, "after": {"player_id": 1, "is_active": False}},
            "Ada has left.",
        ),
        (
            "ArenaChanged",
            {"before": {"arena_id": 5, "is_active": True}, "after": {"arena_id": 5, "is_active": False}},
            "Meteor was taken out of service.",
        ),
        ("ScorekeeperAdded", {"thing": {"user_id": 3}}, "Kim may keep scores."),
        (
            "EntriesBought",
            {"thing": {"player_id": 1, "quantity": 7, "type": "regular"}},
            "Ada: 7 entries (bought).",
        ),
        (
            "SinglePlayerGameChanged",
            {
                "before": {
                    "player_id": 1,
                    "arena_id": 5,
                    "is_voided": False,
                    "score": None,
                    "status": "started",
                },
                "after": {
                    "player_id": 1,
                    "arena_id": 5,
                    "is_voided": False,
                    "score": 99,
                    "status": "completed",
                },
            },
            "Ada on Meteor: 99.",
        ),
        (
            "SinglePlayerGameChanged",
            {
                "before": {"is_voided": False},
                "after": {
                    "player_id": 1,
                    "arena_id": None,
                    "round_id": 4,
                    "is_voided": False,
                    "score": None,
                    "points": "3.00",
                    "status": "completed",
                },
            },
            "Ada, Hole 2: result 3.",
        ),
        ("GameNoted", {"game": 7, "kind": "yellow", "ruling": ""}, "Yellow card: Ada, Bo."),
        ("GameNoted", {"game": 8, "kind": "malfunction", "ruling": ""}, "Malfunction: a deleted game."),
        ("SuggestionMade", {"thing": {"game_id": 7}}, "A player reported a result: Ada, Bo."),
        (
            "PlayersCalled",
            {"before": {"state": {}}, "after": {"state": {"calls": {"7": "now"}}}},
            "Called: Ada, Bo.",
        ),
        ("BankAdded", {"thing": {"bank_id": 2, "arena_ids": [5]}}, "A bank (Meteor) was added."),
        ("QueueJoined", {"thing": {"player_id": 1, "arena_id": 5}}, "Ada joined the queue of Meteor."),
        ("FutureChange", {}, "Something else changed."),
    ],
)
def test_a_change_has_a_sentence(change: str, data: dict[str, Any], text: str) -> None:
    assert texts.change_sentence(change, data, NAMES) == text


def test_the_journal_of_an_import_begins_with_it(store: Store, night: build.Night) -> None:
    build.row(
        store,
        tables.journal,
        tournament_id=night.tournament_id,
        action_id=1,
        change="TournamentImported",
        data={"file": "night.json"},
        source="import",
        at=build.NOW,
    )
    (action,) = story(store, night)["data"]
    assert (action["actorName"], action["source"], action["canUndo"]) == (None, "import", False)
    assert action["changes"][0]["text"] == "The tournament was imported."
