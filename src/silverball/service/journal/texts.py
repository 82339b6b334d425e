"""Changes in words: a short sentence for each entry of the journal."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from silverball.rules.model import fields
from silverball.rules.model.settings import FormatSetting, format_settings
from silverball.rules.registry import FORMATS

# Sentences and short lines about changes of the sign-up list. Payments are in cents.


ChangeData = Mapping[str, Any]
# Player id -> name.
PlayerName = Callable[[int | None], str]


def added_sentence(entry: ChangeData, player: PlayerName) -> str:
    """The sentence about a new entry of the list."""
    name = player(entry["player_id"])
    if entry.get("payment"):
        return f"{name} paid {_paid_text(entry['payment'])}."
    if entry.get("waiting_place") is not None:
        return f"{name} is on the waiting list."
    return f"{name} is {'here' if entry.get('checked_in_at') else 'on the sign-up list'}."


def removed_sentence(entry: ChangeData, player: PlayerName) -> str:
    """The sentence about an entry that is on the list no longer."""
    name = player(entry["player_id"])
    if entry.get("payment"):
        return f"{name} got {_paid_text(entry['payment'])} back."
    waited = entry.get("waiting_place") is not None
    return f"{name} is {'not on the waiting list' if waited else 'off the sign-up list'} any more."


def changed_sentence(before: ChangeData, after: ChangeData, player: PlayerName) -> str:
    """The sentence about an entry that changed."""
    name = player(after["player_id"])
    old, new = before.get("payment"), after.get("payment")
    if new and not old:
        return f"{name} paid {_paid_text(new)}."
    if old and not new:
        return f"{name} got {_paid_text(old)} back."
    waited, waits = before.get("waiting_place"), after.get("waiting_place")
    if waits is None and waited is not None:
        return f"{name} waits no longer."
    if waits != waited:
        return f"{name} moved on the waiting list."
    if before.get("checked_in_at") != after.get("checked_in_at"):
        return f"{name} is {'here' if after.get('checked_in_at') else 'not here'}."
    return f"{name}'s sign-up changed."


def terms_sentence(before: ChangeData | None, after: ChangeData | None) -> str:
    """The sentence about fees or a code that changed."""
    if (before or {}).get("code_number", 0) != (after or {}).get("code_number", 0):
        return "The code of the sign-up was replaced."
    fee, late = (after or {}).get("fee", 0), (after or {}).get("late_fee", 0)
    return f"Fee set to {_amount(fee)}, late fee to {_amount(late)}."


def _paid_text(payment: ChangeData) -> str:
    return f"{_amount(payment['cents'])} ({payment['how'] or 'other'})"


def _amount(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


NAMED_MAX = 8
# Fields of a tournament that hold several values, each mentioned by its own name.
NESTED_FIELDS = frozenset({"settings", "details"})
# Rulings on a game whose machine is out of order.
RULINGS = {
    "wait": "Machine out of order, the game waits",
    "resume": "The game goes on",
    "startOver": "Machine out of order, the game starts over",
    "settle": "Machine out of order, the game is settled by order",
}
UNMENTIONED_FIELDS = frozenset({"has_entry_limits", "state", "reopening", "rated_until"})
WORDS_OF_FIELDS: Mapping[str, str] = {field.name: field.in_words for field in fields.TOURNAMENT}
# Words of notes on a game, of entries and of attempts.
NOTE_KINDS = {
    "malfunction": "Malfunction",
    "warning": "Warning",
    "yellow": "Yellow card",
    "red": "Red card",
    "disqualified": "Disqualified",
    "zero": "Zero score, last in the game",
    "slow": "Slow play",
    "other": "Other",
}
PURCHASES = {"regular": "bought", "comped": "given free", "refund": "refunded"}
ATTEMPTS = {"pending": "waiting", "started": "started", "completed": "done"}


class Names(Struct, frozen=True):
    """Names of players, arenas and users by id, for use in sentences."""

    players: Mapping[int, str] = msgspec.field(default_factory=dict)
    arenas: Mapping[int, str] = msgspec.field(default_factory=dict)
    users: Mapping[int, str] = msgspec.field(default_factory=dict)
    # The names of rounds, and the players of games, where lines have only the id.
    rounds: Mapping[int, str] = msgspec.field(default_factory=dict)
    games: Mapping[int, Sequence[int]] = msgspec.field(default_factory=dict)
    # Id of an action -> its line, for undos.
    actions: Mapping[int, str] = msgspec.field(default_factory=dict)
    # The format of the tournament: settings of the same name differ between formats.
    type: str = ""

    def player(self, player_id: int | None) -> str:
        return self.players.get(player_id or 0) or "Unknown player"

    def arena(self, arena_id: int | None) -> str:
        return self.arenas.get(arena_id or 0) or "Unknown machine"

    def user(self, user_id: int | None) -> str:
        return self.users.get(user_id or 0) or "Unknown account"

    def game(self, game_id: int) -> str:
        """The players of a game of which a line has only the id."""
        players = self.games.get(game_id)
        return self.all_players(players) if players else "a deleted game"

    def all_players(self, player_ids: Sequence[int]) -> str:
        return ", ".join(self.player(player_id) for player_id in player_ids)


def change_sentence(change: str, data: ChangeData, names: Names) -> str:
    """The sentence for an entry of the journal; the name of the change when its type is unknown."""
    tell = SENTENCES.get(change)
    return "Something else changed." if tell is None else tell(data, names)


def times_text(count: int) -> str:
    """Once, twice, or a number of times."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def away_text(rounds: int) -> str:
    """How long a player is away, from the rounds that they still sit out."""
    if rounds == 0:
        return "away for this round"
    return "away for the next round" if rounds == 1 else f"away for the next {rounds} rounds"


def _from_thing(ending: Callable[[ChangeData, Names], str]) -> Callable[[ChangeData, Names], str]:
    return lambda data, names: ending(data["thing"], names)


def _from_after(ending: Callable[[ChangeData, Names], str]) -> Callable[[ChangeData, Names], str]:
    return lambda data, names: ending(data["after"], names)


def _fixed_sentence(text: str) -> Callable[[ChangeData, Names], str]:
    return lambda _data, _names: text


def _edit_sentence(data: ChangeData, names: Names) -> str:
    words = list(dict.fromkeys(_differing_fields(data["before"], data["after"], names)))
    return f"Changed: {', '.join(words[:NAMED_MAX])}." if words else "No visible change."


def _differing_fields(before: ChangeData, after: ChangeData, names: Names) -> Iterator[str]:
    """The differing fields in words, settings with their new value."""
    for name, value in after.items():
        if name in NESTED_FIELDS:
            before_of = before.get(name) or {}
            differing = [key for key, value_after in value.items() if before_of.get(key) != value_after]
            for key in differing:
                text = (
                    _setting_text(key, value[key], names) if name == "settings" else WORDS_OF_FIELDS.get(key)
                )
                if text:
                    yield text
        elif name in WORDS_OF_FIELDS and name not in UNMENTIONED_FIELDS:
            yield WORDS_OF_FIELDS[name]


def _setting_text(key: str, value: Any, names: Names) -> str:
    """A setting with its value: `byes (Half a win)`; empty for what follows from other facts."""
    setting = _settings_by_key(names.type).get(key)
    if setting is None or setting.is_derived:
        return ""
    title = setting.title if setting.title.isupper() else setting.title[:1].lower() + setting.title[1:]
    return f"{title} ({setting.label(setting.default if value is None else value)})"


@cache
def _settings_by_key(type_: str) -> Mapping[str, FormatSetting]:
    """The settings of all formats; where several have the same, as this format has it."""
    own = [FORMATS[type_]] if type_ in FORMATS else []
    return {
        setting.key: setting
        for format_ in (*FORMATS.values(), *own)
        for setting in format_settings(format_.settings)
    }


def _on_machine(arena_id: int | None, names: Names) -> str:
    return f" on {names.arena(arena_id)}" if arena_id else ""


def _points_text(points: Any) -> str:
    return str(points or "0").removesuffix(".00")


def _opened_game_sentence(game: ChangeData, names: Names) -> str:
    if game.get("is_bye"):
        return f"{names.all_players(game['player_ids'])} has a bye."
    kind = "A tiebreak" if game.get("is_tiebreak") else "A game"
    return f"{kind} was opened: {_game_place(game, names)}."


def _result_text(game: ChangeData, names: Names) -> str:
    if game.get("forfeited_by"):
        return f"{names.player(game['forfeited_by'])} did not show up"
    if gone := game.get("gave_up"):
        order = [each for each in game.get("finishing_order") or game["result_positions"] if each]
        others = [player_id for player_id in order if player_id not in gone]
        text = f"{names.all_players(others)}, first to last; " if others else ""
        return f"{text}{names.all_players(gone)} gave up"
    order = game.get("finishing_order") or [
        player_id for player_id in game["result_positions"] if player_id is not None
    ]
    if len(order) == len(game["player_ids"]):
        return f"{names.all_players(order)}, first to last"
    points = zip(game["player_ids"], game["result_points"], strict=True)
    return ", ".join(f"{names.player(player_id)} {_points_text(earned)}" for player_id, earned in points)


def _count_text(game: ChangeData) -> str:
    """The games won, in playing order."""
    return " to ".join(map(_points_text, game["result_points"]))


def _presence_sentence(before: ChangeData, after: ChangeData, player: str) -> str:
    """The sentence about a player who sits out, left or came back; empty for other changes."""
    away_before, away = before.get("away_rounds"), after.get("away_rounds")
    if away != away_before and away is not None:
        return f"{player} is {away_text(away)}."
    if before["is_active"] != after["is_active"] or away != away_before:
        return f"{player} is back." if after["is_active"] else f"{player} has left."
    return ""


def _entrant_sentence(data: ChangeData, names: Names) -> str:
    before, after = data["before"], data["after"]
    player = names.player(after["player_id"])
    if sentence := _presence_sentence(before, after, player):
        return sentence
    for name, noun in (("points_adjustment", "points"), ("score_adjustment", "score")):
        if before[name] != after[name]:
            amount, amount_before = _points_text(after[name]), _points_text(before[name])
            verb = "is" if noun == "score" else "are"
            return f"The {noun} of {player} {verb} adjusted by {amount} (before: {amount_before})."
    if before["seed_rank"] != after["seed_rank"]:
        seed = after["seed_rank"]
        return f"{player} has no seed." if seed is None else f"{player} is seed {seed}."
    if before.get("tie_place") != after.get("tie_place"):
        if after.get("tie_place") is None:
            return f"{player} shares the place of the tie again."
        way = "drawn by lot" if after.get("is_tie_drawn") else "set by hand"
        return f"The place of {player} in a tie was {way}: {after['tie_place']}."
    if before.get("entries_bought") != after.get("entries_bought"):
        return f"{player} has {after['entries_bought']} entries."
    return f"{player} was changed."


def _arena_sentence(data: ChangeData, names: Names) -> str:
    before, after = data["before"], data["after"]
    arena = names.arena(after["arena_id"])
    if before["is_active"] != after["is_active"]:
        return f"{arena} is back in service." if after["is_active"] else f"{arena} was taken out of service."
    return f"{arena} was changed."


def _single_player_game_text(game: ChangeData, names: Names) -> str:
    hole = names.rounds.get(game.get("round_id") or 0)
    where = _on_machine(game.get("arena_id"), names)
    return f"{names.player(game['player_id'])}{where}{f', {hole}' if hole else ''}"


def _attempt_text(game: ChangeData) -> str:
    """The result of a single player game, or its state."""
    if game.get("score") is not None:
        return f"{game['score']:,}"
    if game.get("is_advanced"):
        return "safe without a score"
    if game.get("rolls"):
        return f"rolls {' '.join(map(str, game['rolls']))}"
    if game["status"] == "completed" and game.get("points") is not None:
        return f"result {_points_text(game['points'])}"
    return ATTEMPTS[game["status"]]


def _single_player_game_sentence(data: ChangeData, names: Names) -> str:
    before, after = data["before"], data["after"]
    if before["is_voided"] != after["is_voided"]:
        state = "voided" if after["is_voided"] else "counted again"
        return f"{_single_player_game_text(after, names)}: {state}."
    return f"{_single_player_game_text(after, names)}: {_attempt_text(after)}."


def _changed_game_sentence(data: ChangeData, names: Names) -> str:
    before, after = data["before"], data["after"]
    if before.get("waiting_since") != after.get("waiting_since"):
        words = "The clock stands still" if after.get("waiting_since") else "The clock goes on"
        return f"{words}: {_game_place(after, names)}."
    given_up = [each for each in after.get("gave_up") or () if each not in (before.get("gave_up") or ())]
    if given_up and after["status"] == "started":
        return f"{names.all_players(given_up)} gave up: {_game_place(after, names)}."
    gone = [player_id for player_id in after["result_positions"] if player_id is not None]
    if gone and after["status"] == "started" and before["result_positions"] != after["result_positions"]:
        return f"{names.player(gone[0])} left and is last: {_game_place(after, names)}."
    return f"Changed: {_game_place(after, names)}."


def _note_sentence(data: ChangeData, names: Names) -> str:
    ruling = RULINGS.get(data.get("ruling", ""))
    return f"{ruling or NOTE_KINDS[data['kind']]}: {names.game(data['game'])}."


def _finals_sentence(data: ChangeData, _names: Names) -> str:
    before, after = data["before"]["state"], data["after"]["state"]
    if before.get("final_source") != after.get("final_source"):
        return "The final has the players of its source again."
    named = [step["name"] for step in after.get("finals") or ()]
    return f"Finals: {', '.join(named)}." if named else "No finals."


def _sent_sentence(data: ChangeData, _names: Names) -> str:
    is_sent = bool(data["after"]["state"].get("results_sent"))
    return f"The results were {'noted as sent' if is_sent else 'not sent'} to the federation."


def _purchase_sentence(purchase: ChangeData, names: Names) -> str:
    count = _count_words(purchase["quantity"], "entry", "entries")
    return f"{names.player(purchase['player_id'])}: {count} ({PURCHASES[purchase['type']]})."


def _timer_sentence(data: ChangeData, _names: Names) -> str:
    before, after = data["before"]["state"], data["after"]["state"]
    minutes = after.get("round_minutes")
    if minutes is None:
        return "Round timer switched off."
    if before.get("round_minutes") == minutes and before.get("timed_round_ends_at"):
        return "Round timer changed."
    return f"Round timer set to {minutes} minutes."


def _call_sentence(data: ChangeData, names: Names) -> str:
    before, after = (data[side]["state"].get("calls") or {} for side in ("before", "after"))
    called = [game_id for game_id, called_at in after.items() if before.get(game_id) != called_at]
    return f"Called: {_games_text(called, names)}." if called else "A call was taken back."


def _games_text(game_ids: Sequence[str], names: Names) -> str:
    return "; ".join(names.game(int(game_id)) for game_id in game_ids)


def _extra_time_sentence(data: ChangeData, names: Names) -> str:
    before, after = (data[side]["state"].get("game_ends") or {} for side in ("before", "after"))
    extended = [game_id for game_id, ends_at in after.items() if before.get(game_id) != ends_at]
    return f"Extra time: {_games_text(extended, names)}." if extended else "Extra time was taken back."


def _reopened_sentence(data: ChangeData, _names: Names) -> str:
    limit = data["after"].get("rated_until") or data["before"].get("rated_until")
    if limit is None:
        return "The tournament was reopened."
    until = f"{limit[:10]} {limit[11:16]} UTC"
    return f"The tournament was reopened. Games that are played after {until} are not rated."


def _prizes_sentence(data: ChangeData, _names: Names) -> str:
    plan = data["after"]["prizes"]
    if plan is None:
        return "The prize money was taken away."
    return f"Prize money set: {len(plan['shares'])} places, published: {_yes(plan['is_published'])}."


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


def _payout_sentence(data: ChangeData, names: Names) -> str:
    before, after = (
        {payout["player_id"]: payout for payout in (data[side]["prizes"] or {}).get("payouts") or ()}
        for side in ("before", "after")
    )
    for player_id in after.keys() - before.keys():
        cents = after[player_id]["cents"]
        return f"{names.player(player_id)} was paid {cents // 100}.{cents % 100:02d}."
    taken = sorted(before.keys() - after.keys())
    return f"The payout of {names.all_players(taken)} was taken back."


def _bank_text(bank: ChangeData, names: Names) -> str:
    machines = ", ".join(names.arena(arena_id) for arena_id in bank.get("arena_ids") or ())
    return f"A bank ({machines})" if machines else "A bank"


def _queue_text(spot: ChangeData, names: Names) -> str:
    hole = names.rounds.get(spot.get("round_id") or 0)
    queue_of = names.arena(spot["arena_id"]) if spot.get("arena_id") else hole
    return f"the queue of {queue_of}" if queue_of else "the queue"


SENTENCES: dict[str, Callable[[ChangeData, Names], str]] = {
    "TournamentCreated": _fixed_sentence("The tournament was created."),
    "TournamentImported": _fixed_sentence("The tournament was imported."),
    "JournalImported": _fixed_sentence("The tournament was imported with its journal."),
    "TournamentStarted": _fixed_sentence("The tournament was started."),
    "TournamentUnstarted": _fixed_sentence("The start was undone."),
    "TournamentCompleted": _fixed_sentence("The tournament was completed."),
    "TournamentReopened": _reopened_sentence,
    "TournamentEdited": _edit_sentence,
    "ClockChanged": _fixed_sentence("The clock was changed."),
    "RoundTimerChanged": _timer_sentence,
    "PlayersCalled": _call_sentence,
    "ExtraTimeGiven": _extra_time_sentence,
    # Who they are stays with the organizer.
    "PairsApartSet": _fixed_sentence("The pairs that should not meet were changed."),
    "PrizesChanged": _prizes_sentence,
    "PrizePaid": _payout_sentence,
    "SignUpTermsSet": lambda data, _: terms_sentence(
        data["before"]["sign_up_terms"], data["after"]["sign_up_terms"]
    ),
    "SignUpAdded": _from_thing(lambda entry, names: added_sentence(entry, names.player)),
    "SignUpRemoved": _from_thing(lambda entry, names: removed_sentence(entry, names.player)),
    "SignUpChanged": lambda data, names: changed_sentence(data["before"], data["after"], names.player),
    "FinalsPlanned": _finals_sentence,
    "ResultsSent": _sent_sentence,
    "DrawRemembered": _fixed_sentence("The input of the next draws was stored."),
    "ActionUndone": lambda data, names: f"Undone: {names.actions.get(data['action'], 'an earlier action')}.",
    "SeedExported": _fixed_sentence("The operator of the site exported the seed of the draws to a file."),
    "SeedCommitted": lambda data, _: f"The seed of all draws was committed to: {data['commitment']}.",
    "DrawFacts": _fixed_sentence("What the draw took from outside the tournament was stored."),
    "DrawPreviewed": lambda data, _: f"The draw was looked at {times_text(data['times'])} before.",
    "PlayersMerged": lambda data, names: (
        f"Two players of the book were merged into {names.player(data['remaining'])}."
    ),
    "ArenasMerged": lambda data, names: (
        f"The merge into another machine of the book was undone: {names.arena(data['remaining_arena'])}."
        if data["is_undo"]
        else f"Two machines of the book were merged into {names.arena(data['remaining_arena'])}."
    ),
    "ResultCorrected": lambda data, _: f"A result was corrected. Reason: {data['reason']}",
    "EntrantAdded": _from_thing(lambda entrant, names: f"{names.player(entrant['player_id'])} joined."),
    "EntrantRemoved": _from_thing(
        lambda entrant, names: f"{names.player(entrant['player_id'])} was removed."
    ),
    "EntrantChanged": _entrant_sentence,
    "ArenaAdded": _from_thing(lambda arena, names: f"{names.arena(arena['arena_id'])} was added."),
    "ArenaRemoved": _from_thing(lambda arena, names: f"{names.arena(arena['arena_id'])} was removed."),
    "ArenaChanged": _arena_sentence,
    "BankAdded": _from_thing(lambda bank, names: f"{_bank_text(bank, names)} was added."),
    "BankRemoved": _from_thing(lambda bank, names: f"{_bank_text(bank, names)} was removed."),
    "RoundOpened": _from_thing(lambda round_, _: f"{round_['name']} was opened."),
    "RoundDeleted": _from_thing(lambda round_, _: f"{round_['name']} was deleted."),
    "RoundCompleted": _from_after(lambda round_, _: f"{round_['name']} was completed."),
    "RoundReopened": _from_after(lambda round_, _: f"{round_['name']} was reopened."),
    "RoundChanged": _from_after(lambda round_, _: f"{round_['name']} was changed."),
    "GameOpened": _from_thing(_opened_game_sentence),
    "GameDeleted": _from_thing(lambda game, names: f"Deleted: {_game_place(game, names)}."),
    "GameCompleted": _from_after(
        lambda game, names: f"Result of {_game_place(game, names)}: {_result_text(game, names)}."
    ),
    "GameCleared": _from_after(lambda game, names: f"The result was cleared: {_game_place(game, names)}."),
    "GameCorrected": _from_after(
        lambda game, names: (
            f"The result was corrected: {_game_place(game, names)}: {_result_text(game, names)}."
        )
    ),
    "MatchCounted": _from_after(
        lambda game, names: f"Counted: {_game_place(game, names)}: {_count_text(game)}."
    ),
    "MatchesMerged": _fixed_sentence(
        "A new version stores each match of the bracket as one game; undo begins after this."
    ),
    "GameChanged": _changed_game_sentence,
    "GameNoted": _note_sentence,
    "QueueDissolved": lambda data, names: f"The queue of {names.arena(data['arena'])} was dissolved.",
    "SuggestionMade": _from_thing(
        lambda suggestion, names: f"A player reported a result: {names.game(suggestion['game_id'])}."
    ),
    "SuggestionDecided": _from_thing(
        lambda suggestion, names: f"A reported result was settled: {names.game(suggestion['game_id'])}."
    ),
    "SinglePlayerGameOpened": _from_thing(
        lambda game, names: f"{_single_player_game_text(game, names)}: {_attempt_text(game)}."
    ),
    "SinglePlayerGameDeleted": _from_thing(
        lambda game, names: f"{_single_player_game_text(game, names)}: deleted."
    ),
    "SinglePlayerGameChanged": _single_player_game_sentence,
    "CardOpened": _from_thing(lambda card, names: f"{names.player(card['player_id'])} started a card."),
    "CardDeleted": _from_thing(
        lambda card, names: f"A card of {names.player(card['player_id'])} was deleted."
    ),
    "CardChanged": _from_after(
        lambda card, names: f"A card of {names.player(card['player_id'])} was changed."
    ),
    "QueueJoined": _from_thing(
        lambda spot, names: f"{names.player(spot['player_id'])} joined {_queue_text(spot, names)}."
    ),
    "QueueLeft": _from_thing(
        lambda spot, names: f"{names.player(spot['player_id'])} left {_queue_text(spot, names)}."
    ),
    "QueueMoved": _from_after(
        lambda spot, names: f"{names.player(spot['player_id'])} moved in {_queue_text(spot, names)}."
    ),
    "ScorekeeperAdded": _from_thing(
        lambda scorekeeper, names: f"{names.user(scorekeeper['user_id'])} may keep scores."
    ),
    "ScorekeeperRemoved": _from_thing(
        lambda scorekeeper, names: f"{names.user(scorekeeper['user_id'])} no longer keeps scores."
    ),
    "DirectorAdded": _from_thing(lambda director, names: f"{names.user(director['user_id'])} is a director."),
    "DirectorRemoved": _from_thing(
        lambda director, names: f"{names.user(director['user_id'])} is no director any more."
    ),
    "EntriesBought": _from_thing(_purchase_sentence),
    "EntriesWithdrawn": _from_thing(
        lambda purchase, names: f"Refunded: {_purchase_sentence(purchase, names)}"
    ),
}


# An action in one line, as people say what they did: `Round 2 opened (15 games)`.


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
    sentence = change_sentence(*entries[0], names).removesuffix(".")
    more = len(entries) - 1
    return f"{sentence}, and {more} more {'change' if more == 1 else 'changes'}" if more else sentence


def _count_words(count: int, noun: str, plural: str = "") -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {plural or f'{noun}s'}"


def _fixed(text: str) -> SummaryMaker:
    return lambda _found, _entries, _names: text


def _subjects(found: Sequence[ChangeData]) -> list[Mapping[str, Any]]:
    return [data["thing"] for data in found]


def _game_place(game: ChangeData, names: Names) -> str:
    """The players and the machine: `Ada, Bo on Godzilla`."""
    return f"{names.all_players(game['player_ids'])}{_on_machine(game.get('arena_id'), names)}"


def _opened_rounds(found: Sequence[ChangeData], entries: Entries, _names: Names) -> str:
    games = sum(name == "GameOpened" and not data["thing"].get("is_bye") for name, data in entries)
    opened = ", ".join(round_["name"] for round_ in _subjects(found)[:3])
    return f"{opened} opened ({_count_words(games, 'game')})" if games else f"{opened} opened"


def _deleted_rounds(found: Sequence[ChangeData], _entries: Entries, _names: Names) -> str:
    return f"{', '.join(round_['name'] for round_ in _subjects(found)[:3])} deleted"


def _results(words: str) -> SummaryMaker:
    def summarize(found: Sequence[ChangeData], _entries: Entries, names: Names) -> str:
        if len(found) > 1:
            return f"{words} of {len(found)} games"
        game = found[0]["after"]
        machine = _on_machine(game.get("arena_id"), names)
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
    ruling = RULINGS.get(found[0].get("ruling", ""))
    game = next((data["after"] for _, data in entries if data.get("after", {}).get("game_id")), None)
    return f"{ruling}: {_game_place(game, names)}" if ruling and game else ""


def _entrant_state(found: Sequence[ChangeData], entries: Entries, names: Names) -> str:
    away = [data["after"] for data in found if data["after"].get("away_rounds") is not None]
    if len(found) == 1 and away:
        return f"{names.player(away[0]['player_id'])} {away_text(away[0]['away_rounds'])}"
    switched = [data["after"] for data in found if data["before"]["is_active"] != data["after"]["is_active"]]
    if len(switched) == 1:
        words = "brought back" if switched[0]["is_active"] else f"dropped{_left_games(entries)}"
        return f"{names.player(switched[0]['player_id'])} {words}"
    if len(found) == 1:
        return change_sentence("EntrantChanged", found[0], names).removesuffix(".")
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


# Setting `pairing` -> how it puts players together.
PAIRINGS = {
    "balanced": "whoever met least often so far meets",
    "balanced_series": "whoever met least often in the series so far meets",
    "swiss": "whoever has about as many points meets",
    "strictswiss": "whoever has about as many points meets, and nobody meets again while it can be avoided",
    "random": "chance alone decides who meets",
    "tiers": "the table is cut into tiers, and each tier plays among itself",
}
NOT_COMMITTED = (
    "This tournament was drawn before commitments: nothing was published by which its draws could be checked."
)
COMMITTED = (
    "All draws come from a seed, a long random number. The hash of the seed was published when the "
    "tournament was made, so nobody could choose another one later. {ending}"
)
HIDDEN = (
    "The seed is shown when the tournament is completed; until then nobody sees it, the organizer neither."
)
EXPORTED = " The operator exported the seed ({times}): whoever has that file knew the draws after it."
REVEALED = "The seed is shown now: its hash is the one that was published, and it gives every draw again."


class DrawCounts(Struct, frozen=True, kw_only=True):
    """How often something was done to the draw of a round."""

    dry_runs: int
    redraws: int
    swaps: int
    takes: int

    @property
    def in_words(self) -> Sequence[tuple[str, int]]:
        return (
            ("looked at {times} before it was made", self.dry_runs),
            ("asked for with other dice {times}", self.redraws),
            ("taken back {times} and made again", self.takes),
            ("changed by hand {times}: players were swapped", self.swaps),
        )


def seeds_text(commitments: int, exported_at: Sequence[str], *, is_revealed: bool) -> str:
    """A sentence about the source of all draws of a tournament."""
    if not commitments:
        return NOT_COMMITTED
    text = COMMITTED.format(ending=REVEALED if is_revealed else HIDDEN)
    if commitments > 1:
        text += " It was reopened, and each time a new seed was committed to, because the old one was known."
    if exported_at:
        text += EXPORTED.format(times=", ".join(exported_at))
    return text


def round_text(games: Sequence[Mapping[str, Any]], settings: Mapping[str, Any], counts: DrawCounts) -> str:
    """Sentences about the draw of a round, and about everything that was done to it by hand."""
    players = sum(len(game["player_ids"]) for game in games if not game.get("game_index"))
    how = PAIRINGS.get(str(settings.get("pairing")), "the schedule of the format decides who meets")
    drawn = f"{players} players were drawn: {how}; the dice decide among equals."
    named = [text.format(times=times_text(count)) for text, count in counts.in_words if count]
    if not named:
        return f"{drawn} Nobody looked at the draw before, asked for another one or changed it by hand."
    return f"{drawn} The draw was {', '.join(named[:-1]) + ' and ' if named[1:] else ''}{named[-1]}."
