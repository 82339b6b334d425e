"""The line of an undo: what a person did, not the first thing that followed from it."""

from typing import Any

import pytest

from service.desk import Desk, a_desk
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.journal.reads import journal
from silverball.service.journal.texts import Names, action_summary
from silverball.store.database.engine import Store

NAMES = Names(players={1: "Ada", 2: "Bo", 3: "Cleo"}, arenas={8: "Godzilla", 9: "Iron Maiden"})


def last_line(store: Store, desk: Desk) -> str:
    caller = desk.callers["owner"]
    assert isinstance(caller, AuthenticatedCaller)
    with store.read() as db:
        last = journal.journal_page(db, desk.night.tournament_id, journal.JournalQuery(), caller).last
    assert last is not None
    assert last.can_undo
    return last.summary


def entrant(player_id: int, *, seed: int = 1, active: bool = True) -> dict[str, Any]:
    return {"player_id": player_id, "seed_rank": seed, "is_active": active}


def game(arena_id: int | None, order: tuple[int, ...] = ()) -> dict[str, Any]:
    return {"player_ids": (1, 2), "arena_id": arena_id, "finishing_order": order, "result_positions": ()}


def test_an_opened_round_is_named_with_its_games(store: Store) -> None:
    desk = a_desk(store, suggestions="restricted")
    games = desk.open_round()
    assert last_line(store, desk) == f"Round 1 opened ({len(games)} games)"


def test_a_report_is_not_the_newest_action(store: Store) -> None:
    desk = a_desk(store, suggestions="restricted")
    games = desk.open_round()
    mine = next(game for game in games if desk.night.player_ids[0] in game["playerIds"])
    body = {"resultPositions": mine["playerIds"]}
    desk.ok("POST", f"/games/{mine['gameId']}/suggestions", body, by="player")
    assert last_line(store, desk) == f"Round 1 opened ({len(games)} games)"


@pytest.mark.parametrize(
    ("entries", "line"),
    [
        (
            # Seventeen changes, all seeds: it named the first one and "16 more".
            [("EntrantChanged", {"before": entrant(n), "after": entrant(n, seed=n + 7)}) for n in range(17)],
            "17 players seeded",
        ),
        (
            [("EntrantAdded", {"thing": entrant(n)}) for n in (1, 2, 3)]
            + [("EntrantChanged", {"before": entrant(1), "after": entrant(1, seed=9)})],
            "3 players added",
        ),
        ([("EntrantAdded", {"thing": entrant(3)})], "Cleo added"),
        ([("EntrantChanged", {"before": entrant(2), "after": entrant(2, active=False)})], "Bo dropped"),
        (
            [
                ("GameChanged", {"before": game(8), "after": game(9)}),
                (
                    "ArenaChanged",
                    {
                        "before": {"arena_id": 8, "is_active": True},
                        "after": {"arena_id": 8, "is_active": False},
                    },
                ),
            ],
            "Godzilla out of order: game moved to Iron Maiden",
        ),
        (
            [
                ("SuggestionDecided", {"thing": {"game_id": 5}}),
                ("GameCompleted", {"before": game(8), "after": game(8, (2, 1))}),
                ("RoundCompleted", {"before": {}, "after": {"name": "Round 2"}}),
            ],
            "Result: Bo, Ada on Godzilla",
        ),
        ([("QueueJoined", {"thing": {"player_id": 1}})], "Ada joined the queue"),
        ([], ""),
    ],
)
def test_the_line_names_what_was_meant(entries: list[tuple[str, Any]], line: str) -> None:
    assert action_summary(entries, NAMES) == line
