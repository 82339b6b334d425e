"""An action in one line, as people say what they did: `Round 2 opened (15 games)`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from silverball.service.tournaments import journal_text
from silverball.service.tournaments.journal_text import ChangeData, Names

Entries: TypeAlias = Sequence[tuple[str, ChangeData]]
# Takes the changes of one name, and all changes of the action.
SummaryMaker: TypeAlias = Callable[[Sequence[ChangeData], Entries, Names], str]


def action_summary(entries: Entries, names: Names) -> str:
    """The line for an action: what was meant, without what followed from it; empty without changes."""
    for change, summarize in SUMMARIES.items():
        found = [data for name, data in entries if name == change]
        if found and (line := summarize(found, entries, names)):
            return line
    if not entries:
        return ""
    sentence = journal_text.change_sentence(*entries[0], names).removesuffix(".")
    more = len(entries) - 1
    return f"{sentence}, and {more} more {'change' if more == 1 else 'changes'}" if more else sentence


def _count_text(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _fixed(text: str) -> SummaryMaker:
    return lambda _found, _entries, _names: text


def _subjects(found: Sequence[ChangeData]) -> list[Mapping[str, Any]]:
    return [data["thing"] for data in found]


def _game_place(game: ChangeData, names: Names) -> str:
    """The players and the machine: `Ada, Bo on Godzilla`."""
    machine = f" on {names.arena(game['arena_id'])}" if game.get("arena_id") else ""
    return f"{names.all_players(game['player_ids'])}{machine}"


def _opened_rounds(found: Sequence[ChangeData], entries: Entries, _names: Names) -> str:
    games = sum(name == "GameOpened" and not data["thing"].get("is_bye") for name, data in entries)
    opened = ", ".join(round_["name"] for round_ in _subjects(found)[:3])
    return f"{opened} opened ({_count_text(games, 'game')})" if games else f"{opened} opened"


def _deleted_rounds(found: Sequence[ChangeData], _entries: Entries, _names: Names) -> str:
    return f"{', '.join(round_['name'] for round_ in _subjects(found)[:3])} deleted"


def _results(words: str) -> SummaryMaker:
    def summarize(found: Sequence[ChangeData], _entries: Entries, names: Names) -> str:
        if len(found) > 1:
            return f"{words} of {len(found)} games"
        game = found[0]["after"]
        machine = f" on {names.arena(game['arena_id'])}" if game.get("arena_id") else ""
        order = [
            player_id for player_id in game.get("finishing_order") or game["result_positions"] if player_id
        ]
        is_ranked = len(order) == len(game["player_ids"])
        return f"{words}: {names.all_players(order if is_ranked else game['player_ids'])}{machine}"

    return summarize


def _games(words: str) -> SummaryMaker:
    def summarize(found: Sequence[ChangeData], _entries: Entries, names: Names) -> str:
        games = [data.get("thing") or data["after"] for data in found]
        return (
            f"{words}: {_game_place(games[0], names)}" if len(games) == 1 else f"{len(games)} games: {words}"
        )

    return summarize


def _joined(part: str, noun: str, words: str) -> SummaryMaker:
    """One by name, several by their number."""

    def summarize(found: Sequence[ChangeData], _entries: Entries, names: Names) -> str:
        if len(found) > 1:
            return f"{len(found)} {noun}s {words}"
        added = found[0]["thing"]
        name = names.arena(added[part]) if part == "arena_id" else names.player(added[part])
        return f"{name} {words}"

    return summarize


def _arena_state(found: Sequence[ChangeData], entries: Entries, names: Names) -> str:
    switched = [data["after"] for data in found if data["before"]["is_active"] != data["after"]["is_active"]]
    if len(switched) != 1:
        return ""
    name = names.arena(switched[0]["arena_id"])
    if switched[0]["is_active"]:
        return f"{name} back in play"
    moved = [
        data["after"]
        for change, data in entries
        if change == "GameChanged" and data["before"]["arena_id"] != data["after"]["arena_id"]
    ]
    if len(moved) == 1 and moved[0]["arena_id"]:
        return f"{name} out of order: game moved to {names.arena(moved[0]['arena_id'])}"
    return f"{name} out of order: {len(moved)} games moved" if moved else f"{name} out of order"


def _dissolved_queue(found: Sequence[ChangeData], _entries: Entries, names: Names) -> str:
    return f"{names.arena(found[0]['arena'])} out of order: queue dissolved"


def _left_games(entries: Entries) -> str:
    """The end of the open game of a player who left, as the end of a line."""
    left = [data for change, data in entries if change == "GameChanged"]
    if any(len(data["before"]["player_ids"]) > len(data["after"]["player_ids"]) for data in left):
        return ", the game goes on without them"
    return (
        ", last in the open game" if left or any(change == "GameCompleted" for change, _ in entries) else ""
    )


def _ruling(found: Sequence[ChangeData], entries: Entries, names: Names) -> str:
    """A ruling with the game that it is about; empty for a plain note, which has a sentence of its own."""
    ruling = journal_text.RULINGS.get(found[0].get("ruling", ""))
    game = next((data["after"] for _, data in entries if data.get("after", {}).get("game_id")), None)
    return f"{ruling}: {_game_place(game, names)}" if ruling and game else ""


def _entrant_state(found: Sequence[ChangeData], entries: Entries, names: Names) -> str:
    away = [data["after"] for data in found if data["after"].get("away_rounds") is not None]
    if len(found) == 1 and away:
        return f"{names.player(away[0]['player_id'])} {journal_text.away_text(away[0]['away_rounds'])}"
    switched = [data["after"] for data in found if data["before"]["is_active"] != data["after"]["is_active"]]
    if len(switched) == 1:
        words = "brought back" if switched[0]["is_active"] else f"dropped{_left_games(entries)}"
        return f"{names.player(switched[0]['player_id'])} {words}"
    if len(found) == 1:
        return journal_text.change_sentence("EntrantChanged", found[0], names).removesuffix(".")
    if all(data["before"].get("tie_place") != data["after"].get("tie_place") for data in found):
        return _tie_order([data["after"] for data in found], names)
    is_seeding = all(data["before"]["seed_rank"] != data["after"]["seed_rank"] for data in found)
    return f"{len(found)} players {'seeded' if is_seeding else 'changed'}"


def _tie_order(entrants: Sequence[Mapping[str, Any]], names: Names) -> str:
    if any(entrant.get("tie_place") is None for entrant in entrants):
        return "Order of tied players withdrawn"
    way = "drawn by lot" if entrants[0].get("is_tie_drawn") else "put in order by hand"
    ordered = sorted(entrants, key=lambda entrant: entrant["tie_place"])
    return f"Tie {way}: {names.all_players([entrant['player_id'] for entrant in ordered])}"


# Change -> its line; the first that an action has names the action, so causes stand before what follows.
SUMMARIES: Mapping[str, SummaryMaker] = {
    "TournamentCompleted": _fixed("Tournament finished"),
    "TournamentReopened": _fixed("Tournament reopened"),
    "TournamentStarted": _fixed("Tournament started"),
    "TournamentCreated": _fixed("Tournament created"),
    "TournamentImported": _fixed("Tournament imported"),
    "JournalImported": _fixed("Tournament imported with its journal"),
    "RoundDeleted": _deleted_rounds,
    "GameNoted": _ruling,
    "QueueDissolved": _dissolved_queue,
    "ArenaChanged": _arena_state,
    "ArenaAdded": _joined("arena_id", "machine", "added"),
    "ArenaRemoved": _joined("arena_id", "machine", "removed"),
    "EntrantAdded": _joined("player_id", "player", "added"),
    "EntrantRemoved": _joined("player_id", "player", "removed"),
    "GameCorrected": _results("Result corrected"),
    "GameCleared": _games("Result cleared"),
    "GameCompleted": _results("Result"),
    "SuggestionDecided": _fixed("Reported result rejected"),
    "SuggestionMade": _fixed("A player reported a result"),
    "RoundOpened": _opened_rounds,
    "GameDeleted": _games("Game deleted"),
    "GameOpened": _games("Game opened"),
    "EntrantChanged": _entrant_state,
}
