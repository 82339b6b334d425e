"""Changes in words: a short sentence for each entry of the journal."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from silverball.kit.http.query import humanize_name

ChangeData = Mapping[str, Any]
NAMED_MAX = 8
# Fields of a tournament that hold several things, each of which is told by its own name.
NESTED_FIELDS = frozenset({"settings", "details"})
UNMENTIONED_FIELDS = frozenset({"has_entry_limits", "state"})


@dataclass(frozen=True)
class Names:
    """Names by id, of what the sentences speak of."""

    players: Mapping[int, str] = field(default_factory=dict)
    arenas: Mapping[int, str] = field(default_factory=dict)
    users: Mapping[int, str] = field(default_factory=dict)

    def player(self, player_id: int | None) -> str:
        return self.players.get(player_id or 0) or f"Player {player_id}"

    def arena(self, arena_id: int | None) -> str:
        return self.arenas.get(arena_id or 0) or f"arena {arena_id}"

    def user(self, user_id: int | None) -> str:
        return self.users.get(user_id or 0) or f"Account {user_id}"

    def all_players(self, player_ids: Sequence[int]) -> str:
        return ", ".join(self.player(player_id) for player_id in player_ids)


def change_sentence(change: str, data: ChangeData, names: Names) -> str:
    """What an entry of the journal says. One that nobody knows is told by its name."""
    tell = SENTENCES.get(change)
    return f"{change}." if tell is None else tell(data, names)


def _from_thing(ending: Callable[[ChangeData, Names], str]) -> Callable[[ChangeData, Names], str]:
    return lambda data, names: ending(data["thing"], names)


def _from_after(ending: Callable[[ChangeData, Names], str]) -> Callable[[ChangeData, Names], str]:
    return lambda data, names: ending(data["after"], names)


def _fixed_sentence(text: str) -> Callable[[ChangeData, Names], str]:
    return lambda _data, _names: text


def _edit_sentence(data: ChangeData, _names: Names) -> str:
    named = [humanize_name(name) for name in _differing_fields(data["before"], data["after"])]
    return f"Changed: {', '.join(named)}." if named else "Nothing that is shown was changed."


def _differing_fields(before: ChangeData, after: ChangeData) -> list[str]:
    found: list[str] = []
    for name, value in after.items():
        if name in NESTED_FIELDS:
            found += [key for key, now in value.items() if (before.get(name) or {}).get(key) != now]
        elif name not in UNMENTIONED_FIELDS:
            found.append(name)
    return found[:NAMED_MAX]


def _game_text(game: ChangeData, names: Names) -> str:
    players = names.all_players(game["player_ids"])
    where = f" on {names.arena(game['arena_id'])}" if game.get("arena_id") else ""
    return f"game {game['game_id']} ({players}{where})"


def _opened_game_sentence(game: ChangeData, names: Names) -> str:
    if game.get("is_bye"):
        return f"{names.all_players(game['player_ids'])} has a bye."
    kind = "A tiebreak" if game.get("is_tiebreak") else "A game"
    return f"{kind} was opened: {_game_text(game, names)}."


def _result_text(game: ChangeData, names: Names) -> str:
    if game.get("forfeited_by"):
        return f"{names.player(game['forfeited_by'])} did not show up"
    order = game.get("finishing_order") or [one for one in game["result_positions"] if one is not None]
    if len(order) == len(game["player_ids"]):
        return f"{names.all_players(order)}, first to last"
    points = zip(game["player_ids"], game["result_points"], strict=True)
    return ", ".join(f"{names.player(player_id)} {earned}" for player_id, earned in points)


def _entrant_sentence(data: ChangeData, names: Names) -> str:
    before, after = data["before"], data["after"]
    who = names.player(after["player_id"])
    if before["is_active"] != after["is_active"]:
        return f"{who} is back." if after["is_active"] else f"{who} has left."
    for name, called in (("points_adjustment", "points"), ("score_adjustment", "score")):
        if before[name] != after[name]:
            return f"The {called} of {who} are adjusted by {after[name]} (before: {before[name]})."
    if before["seed_rank"] != after["seed_rank"]:
        return f"{who} is seed {after['seed_rank']}."
    if before.get("tie_place") != after.get("tie_place"):
        return f"The tie of {who} was put in order by hand."
    if before.get("entries_bought") != after.get("entries_bought"):
        return f"{who} has {after['entries_bought']} entries."
    return f"{who} was changed."


def _arena_sentence(data: ChangeData, names: Names) -> str:
    before, after = data["before"], data["after"]
    arena = names.arena(after["arena_id"])
    if before["is_active"] != after["is_active"]:
        return f"{arena} is back in service." if after["is_active"] else f"{arena} was taken out of service."
    return f"{arena} was changed."


def _single_player_game_text(one: ChangeData, names: Names) -> str:
    return f"{names.player(one['player_id'])} on {names.arena(one['arena_id'])}"


def _single_player_game_sentence(data: ChangeData, names: Names) -> str:
    before, after = data["before"], data["after"]
    if before["is_voided"] != after["is_voided"]:
        return (
            f"{_single_player_game_text(after, names)}: {'voided' if after['is_voided'] else 'counts again'}."
        )
    if after["score"] is not None and before["score"] != after["score"]:
        return f"{_single_player_game_text(after, names)}: {after['score']}."
    return f"{_single_player_game_text(after, names)}: {after['status']}."


def _purchase_sentence(one: ChangeData, names: Names) -> str:
    return f"{names.player(one['player_id'])}: {one['quantity']} entries ({one['type']})."


SENTENCES: dict[str, Callable[[ChangeData, Names], str]] = {
    "TournamentCreated": _fixed_sentence("The tournament was created."),
    "TournamentImported": _fixed_sentence("The tournament came in from a file."),
    "TournamentStarted": _fixed_sentence("The tournament was started."),
    "TournamentUnstarted": _fixed_sentence("The start was taken back."),
    "TournamentCompleted": _fixed_sentence("The tournament was completed."),
    "TournamentReopened": _fixed_sentence("The tournament was reopened."),
    "TournamentEdited": _edit_sentence,
    "ClockChanged": _fixed_sentence("The clock was changed."),
    "DrawRemembered": _fixed_sentence("What the next draws need was noted."),
    "ActionUndone": lambda data, _: f"Action {data['action']} was undone.",
    "EntrantAdded": _from_thing(lambda one, names: f"{names.player(one['player_id'])} joined."),
    "EntrantRemoved": _from_thing(lambda one, names: f"{names.player(one['player_id'])} was taken out."),
    "EntrantChanged": _entrant_sentence,
    "ArenaAdded": _from_thing(lambda one, names: f"{names.arena(one['arena_id'])} was added."),
    "ArenaRemoved": _from_thing(lambda one, names: f"{names.arena(one['arena_id'])} was removed."),
    "ArenaChanged": _arena_sentence,
    "BankAdded": _from_thing(lambda one, _: f"Bank {one['bank_id']} was added."),
    "BankRemoved": _from_thing(lambda one, _: f"Bank {one['bank_id']} was removed."),
    "RoundOpened": _from_thing(lambda one, _: f"{one['name']} was opened."),
    "RoundDeleted": _from_thing(lambda one, _: f"{one['name']} was deleted."),
    "RoundCompleted": _from_after(lambda one, _: f"{one['name']} was completed."),
    "RoundReopened": _from_after(lambda one, _: f"{one['name']} is open again."),
    "RoundChanged": _from_after(lambda one, _: f"{one['name']} was changed."),
    "GameOpened": _from_thing(_opened_game_sentence),
    "GameDeleted": _from_thing(lambda one, names: f"Deleted: {_game_text(one, names)}."),
    "GameCompleted": _from_after(
        lambda one, names: f"Result of {_game_text(one, names)}: {_result_text(one, names)}."
    ),
    "GameCleared": _from_after(lambda one, names: f"The result was taken away: {_game_text(one, names)}."),
    "GameCorrected": _from_after(
        lambda one, names: f"The result was corrected: {_game_text(one, names)}: {_result_text(one, names)}."
    ),
    "GameChanged": _from_after(lambda one, names: f"Changed: {_game_text(one, names)}."),
    "SuggestionMade": _from_thing(lambda one, _: f"A player sent in a result of game {one['game_id']}."),
    "SuggestionDecided": _from_thing(
        lambda one, _: f"A result sent in for game {one['game_id']} was settled."
    ),
    "SinglePlayerGameOpened": _from_thing(
        lambda one, names: f"{_single_player_game_text(one, names)}: {one['status']}."
    ),
    "SinglePlayerGameDeleted": _from_thing(
        lambda one, names: f"{_single_player_game_text(one, names)}: deleted."
    ),
    "SinglePlayerGameChanged": _single_player_game_sentence,
    "CardOpened": _from_thing(lambda one, names: f"{names.player(one['player_id'])} began a card."),
    "CardDeleted": _from_thing(lambda one, names: f"A card of {names.player(one['player_id'])} was deleted."),
    "CardChanged": _from_after(lambda one, names: f"A card of {names.player(one['player_id'])} was changed."),
    "QueueJoined": _from_thing(lambda one, names: f"{names.player(one['player_id'])} joined a queue."),
    "QueueLeft": _from_thing(lambda one, names: f"{names.player(one['player_id'])} left a queue."),
    "QueueMoved": _from_after(lambda one, names: f"{names.player(one['player_id'])} moved in a queue."),
    "ScorekeeperAdded": _from_thing(lambda one, names: f"{names.user(one['user_id'])} may keep scores."),
    "ScorekeeperRemoved": _from_thing(
        lambda one, names: f"{names.user(one['user_id'])} keeps no scores any more."
    ),
    "EntriesBought": _from_thing(_purchase_sentence),
    "EntriesWithdrawn": _from_thing(lambda one, names: f"Taken back: {_purchase_sentence(one, names)}"),
}
