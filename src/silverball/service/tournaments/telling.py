"""Changes in words: a short sentence for each entry of the journal."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from silverball.kit.query import spoken

Data = Mapping[str, Any]
NAMED_MAX = 8
# Fields of a tournament that hold several things, each of which is told by its own name.
INSIDE = frozenset({"settings", "details"})
UNTOLD = frozenset({"has_entry_limits", "state"})


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


def sentence(change: str, data: Data, names: Names) -> str:
    """What an entry of the journal says. One that nobody knows is told by its name."""
    tell = SENTENCES.get(change)
    return f"{change}." if tell is None else tell(data, names)


def _thing(ending: Callable[[Data, Names], str]) -> Callable[[Data, Names], str]:
    return lambda data, names: ending(data["thing"], names)


def _after(ending: Callable[[Data, Names], str]) -> Callable[[Data, Names], str]:
    return lambda data, names: ending(data["after"], names)


def _said(text: str) -> Callable[[Data, Names], str]:
    return lambda _data, _names: text


def _edited(data: Data, _names: Names) -> str:
    named = [spoken(name) for name in _differing(data["before"], data["after"])]
    return f"Changed: {', '.join(named)}." if named else "Nothing that is shown was changed."


def _differing(before: Data, after: Data) -> list[str]:
    found: list[str] = []
    for name, value in after.items():
        if name in INSIDE:
            found += [key for key, now in value.items() if (before.get(name) or {}).get(key) != now]
        elif name not in UNTOLD:
            found.append(name)
    return found[:NAMED_MAX]


def _game(game: Data, names: Names) -> str:
    players = names.all_players(game["player_ids"])
    where = f" on {names.arena(game['arena_id'])}" if game.get("arena_id") else ""
    return f"game {game['game_id']} ({players}{where})"


def _opened(game: Data, names: Names) -> str:
    if game.get("is_bye"):
        return f"{names.all_players(game['player_ids'])} has a bye."
    kind = "A tiebreak" if game.get("is_tiebreak") else "A game"
    return f"{kind} was opened: {_game(game, names)}."


def _result(game: Data, names: Names) -> str:
    if game.get("forfeited_by"):
        return f"{names.player(game['forfeited_by'])} did not show up"
    order = game.get("finishing_order") or [one for one in game["result_positions"] if one is not None]
    if len(order) == len(game["player_ids"]):
        return f"{names.all_players(order)}, first to last"
    points = zip(game["player_ids"], game["result_points"], strict=True)
    return ", ".join(f"{names.player(player_id)} {earned}" for player_id, earned in points)


def _entrant_changed(data: Data, names: Names) -> str:
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


def _arena_changed(data: Data, names: Names) -> str:
    before, after = data["before"], data["after"]
    arena = names.arena(after["arena_id"])
    if before["is_active"] != after["is_active"]:
        return f"{arena} is back in service." if after["is_active"] else f"{arena} was taken out of service."
    return f"{arena} was changed."


def _attempt(one: Data, names: Names) -> str:
    return f"{names.player(one['player_id'])} on {names.arena(one['arena_id'])}"


def _attempt_changed(data: Data, names: Names) -> str:
    before, after = data["before"], data["after"]
    if before["is_voided"] != after["is_voided"]:
        return f"{_attempt(after, names)}: {'voided' if after['is_voided'] else 'counts again'}."
    if after["score"] is not None and before["score"] != after["score"]:
        return f"{_attempt(after, names)}: {after['score']}."
    return f"{_attempt(after, names)}: {after['status']}."


def _purchase(one: Data, names: Names) -> str:
    return f"{names.player(one['player_id'])}: {one['quantity']} entries ({one['type']})."


SENTENCES: dict[str, Callable[[Data, Names], str]] = {
    "TournamentCreated": _said("The tournament was created."),
    "TournamentImported": _said("The tournament came in from a file."),
    "TournamentStarted": _said("The tournament was started."),
    "TournamentUnstarted": _said("The start was taken back."),
    "TournamentCompleted": _said("The tournament was completed."),
    "TournamentReopened": _said("The tournament was reopened."),
    "TournamentEdited": _edited,
    "ClockChanged": _said("The clock was changed."),
    "DrawRemembered": _said("What the next draws need was noted."),
    "ActionUndone": lambda data, _: f"Action {data['action']} was undone.",
    "EntrantAdded": _thing(lambda one, names: f"{names.player(one['player_id'])} joined."),
    "EntrantRemoved": _thing(lambda one, names: f"{names.player(one['player_id'])} was taken out."),
    "EntrantChanged": _entrant_changed,
    "ArenaAdded": _thing(lambda one, names: f"{names.arena(one['arena_id'])} was added."),
    "ArenaRemoved": _thing(lambda one, names: f"{names.arena(one['arena_id'])} was removed."),
    "ArenaChanged": _arena_changed,
    "BankAdded": _thing(lambda one, _: f"Bank {one['bank_id']} was added."),
    "BankRemoved": _thing(lambda one, _: f"Bank {one['bank_id']} was removed."),
    "RoundOpened": _thing(lambda one, _: f"{one['name']} was opened."),
    "RoundDeleted": _thing(lambda one, _: f"{one['name']} was deleted."),
    "RoundCompleted": _after(lambda one, _: f"{one['name']} was completed."),
    "RoundReopened": _after(lambda one, _: f"{one['name']} is open again."),
    "RoundChanged": _after(lambda one, _: f"{one['name']} was changed."),
    "GameOpened": _thing(_opened),
    "GameDeleted": _thing(lambda one, names: f"Deleted: {_game(one, names)}."),
    "GameCompleted": _after(lambda one, names: f"Result of {_game(one, names)}: {_result(one, names)}."),
    "GameCleared": _after(lambda one, names: f"The result was taken away: {_game(one, names)}."),
    "GameCorrected": _after(
        lambda one, names: f"The result was corrected: {_game(one, names)}: {_result(one, names)}."
    ),
    "GameChanged": _after(lambda one, names: f"Changed: {_game(one, names)}."),
    "SuggestionMade": _thing(lambda one, _: f"A player sent in a result of game {one['game_id']}."),
    "SuggestionDecided": _thing(lambda one, _: f"A result sent in for game {one['game_id']} was settled."),
    "SinglePlayerGameOpened": _thing(lambda one, names: f"{_attempt(one, names)}: {one['status']}."),
    "SinglePlayerGameDeleted": _thing(lambda one, names: f"{_attempt(one, names)}: deleted."),
    "SinglePlayerGameChanged": _attempt_changed,
    "CardOpened": _thing(lambda one, names: f"{names.player(one['player_id'])} began a card."),
    "CardDeleted": _thing(lambda one, names: f"A card of {names.player(one['player_id'])} was deleted."),
    "CardChanged": _after(lambda one, names: f"A card of {names.player(one['player_id'])} was changed."),
    "QueueJoined": _thing(lambda one, names: f"{names.player(one['player_id'])} joined a queue."),
    "QueueLeft": _thing(lambda one, names: f"{names.player(one['player_id'])} left a queue."),
    "QueueMoved": _after(lambda one, names: f"{names.player(one['player_id'])} moved in a queue."),
    "ScorekeeperAdded": _thing(lambda one, names: f"{names.user(one['user_id'])} may keep scores."),
    "ScorekeeperRemoved": _thing(
        lambda one, names: f"{names.user(one['user_id'])} keeps no scores any more."
    ),
    "EntriesBought": _thing(_purchase),
    "EntriesWithdrawn": _thing(lambda one, names: f"Taken back: {_purchase(one, names)}"),
}
