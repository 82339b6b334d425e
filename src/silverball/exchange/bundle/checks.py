"""Checks that the parts of a bundle fit together. Every function raises BrokenBundle at the first fault."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from itertools import repeat
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from silverball.kit.errors import Invalid
from silverball.rules import opdb
from silverball.rules.model import settings
from silverball.rules.registry import FORMATS
from silverball_wire import base
from silverball_wire.base import ID_MAX, UNSET, UnsetType
from silverball_wire.bundle import Bundle
from silverball_wire.games import Game, Leg, Suggestion
from silverball_wire.singleplayer import Card, SinglePlayerGame
from silverball_wire.standings import Standing
from silverball_wire.tournaments import Tournament

NODES_MAX = 5_000_000
# 0 stands for "no round" in the interface, and for "no federation id" in some services.
ZERO_IDS = frozenset({"roundId", "ifpaId"})


class BrokenFile(Invalid):
    """A file of the wrong form; the message says where and why."""

    def __init__(self, path: str, sentence: str) -> None:
        super().__init__({path: [f"{path}: {sentence}"]})
        self.path = path


class BrokenBundle(BrokenFile):
    """A file that is not a bundle."""


def fault_from_validation(error: msgspec.ValidationError, at: str = "$") -> BrokenBundle:
    """The fault of a msgspec error (`Expected ... - at `$.games[0].bye``), below the path `at`."""
    sentence, _, where = str(error).partition(" - at ")
    path = where.rpartition("`$")[2].rstrip("`")
    return BrokenBundle(at + path, f"{sentence}.")


def refuse_unstorable_values(raw: Any) -> None:
    """Raise BrokenBundle for a number beyond 64 bits, a text with a zero byte, or what cannot be an id."""
    if not any(_fault_of(name, value) for name, value in _named_leaves(raw)):
        return
    # Only a faulty file pays for the path of each value.
    for path, name, value in _leaf_values(raw):
        fault = _fault_of(name, value)
        if fault is not None:
            raise BrokenBundle(path, fault)


def _fault_of(name: str, value: Any) -> str | None:
    """The sentence for a value that cannot be stored; `name` is that of its member."""
    if isinstance(value, str):
        if "\x00" in value:
            return "The text holds a zero byte, which cannot be stored."
        # A homebrew machine may be known only where the bundle comes from.
        if name == "opdbId" and opdb.parse_id(value) is None:
            return f"{value!r} is not an id of the machine database."
    elif isinstance(value, int) and not isinstance(value, bool):
        if not -ID_MAX - 1 <= value <= ID_MAX:
            return f"{value} is not a 64-bit number."
        if value < 1 and _is_id(name) and value < (0 if name in ZERO_IDS else 1):
            return f"{value} cannot be an id. Ids begin at 1."
    return None


def _named_leaves(raw: Any) -> Iterator[tuple[str, Any]]:
    """Name of the enclosing member and value of everything but lists and objects."""
    # Where each list and object stands, so that nothing is copied of a large one.
    pending: list[Iterator[tuple[str, Any]]] = [iter([("", raw)])]
    for _ in range(NODES_MAX):
        if not pending:
            return
        name, value = next(pending[-1], (None, None))
        if name is None:
            pending.pop()
        elif isinstance(value, dict):
            pending.append(iter(value.items()))
        elif isinstance(value, list):
            pending.append(zip(repeat(name), value))
        else:
            yield name, value
    raise BrokenBundle("$", f"The file holds more than {NODES_MAX} values.")


def _is_id(name: str) -> bool:
    return name.endswith(("Id", "Ids")) or name == "claimedBy"


def _leaf_values(raw: Any) -> Iterator[tuple[str, str, Any]]:
    """JSON path, name of the enclosing member and value of everything but lists and objects."""
    pending: list[tuple[str, str, Any]] = [("$", "", raw)]
    for _ in range(NODES_MAX):
        if not pending:
            return
        path, name, value = pending.pop()
        if isinstance(value, dict):
            pending.extend((_member_path(path, key), key, member) for key, member in reversed(value.items()))
        elif isinstance(value, list):
            pending.extend((f"{path}[{n}]", name, item) for n, item in reversed(list(enumerate(value))))
        else:
            yield path, name, value
    raise BrokenBundle("$", f"The file holds more than {NODES_MAX} values.")


def _member_path(path: str, key: str) -> str:
    return f"{path}.{key}" if key.isidentifier() else f"{path}[{json.dumps(key)}]"


class BundleCheck:
    """The ids in a bundle, and the checks that need them."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.tournament = bundle.tournament
        self.tournament_id = bundle.tournament.tournament_id
        _check_tournament(bundle.tournament)
        _require_same_id("$.series", bundle.series, "series_id", bundle.tournament.series_id)
        _check_users(bundle)
        self.player_ids = distinct_ids(
            "$.tournament.players", tuple_or_empty(self.tournament.players), "player_id"
        )
        self.arena_ids = distinct_ids(
            "$.tournament.arenas", tuple_or_empty(self.tournament.arenas), "arena_id"
        )
        self.bank_ids = distinct_ids(
            "$.banks", tuple_or_empty(bundle.banks) or tuple_or_empty(self.tournament.banks), "bank_id"
        )
        self.round_ids = distinct_ids("$.rounds", bundle.rounds, "round_id")
        self.card_ids = distinct_ids("$.cards", tuple_or_empty(bundle.cards), "card_id")

    def run(self) -> None:
        """Check all parts but the tournament itself."""
        self._check_rounds()
        self._check_games()
        self._check_attempts("$.singlePlayerGames", tuple_or_empty(self.bundle.single_player_games), None)
        for n, card in enumerate(tuple_or_empty(self.bundle.cards)):
            self._check_card(f"$.cards[{n}]", card)
        self._check_queues()
        self._check_banks()
        self._check_standings()
        self._refuse_games_on_two_cards()

    def _check_rounds(self) -> None:
        for n, round_ in enumerate(self.bundle.rounds):
            path = f"$.rounds[{n}]"
            self._require_own(path, round_.tournament_id)
            require_moment(f"{path}.createdAt", round_.created_at)
            require_moment(f"{path}.completedAt", round_.completed_at)
            self._require_known(f"{path}.arenaId", round_.arena_id, self.arena_ids, "arena")
            if round_.score is not None and round_.score != int(round_.score):
                raise BrokenBundle(f"{path}.score", f"{round_.score} is not a whole number.")

    def _check_games(self) -> None:
        games = self.bundle.games
        distinct_ids("$.games", games, "game_id")
        suggestions = [suggestion for game in games for suggestion in tuple_or_empty(game.suggestions)]
        distinct_ids("$.games[*].suggestions", suggestions, "suggestion_id")
        for n, game in enumerate(games):
            self._check_game(f"$.games[{n}]", game)
        games_by_id = {game.game_id: game for game in games}
        wins: dict[int, Counter[int]] = {}
        for n, leg in enumerate(tuple_or_empty(self.bundle.legs)):
            self._check_leg(f"$.legs[{n}]", leg, games_by_id)
            wins.setdefault(leg.game_id, Counter())[leg.result_positions[0]] += 1
        for game_id, won in wins.items():
            game = games_by_id[game_id]
            points = [parse_points("$.games", own) for own in game.result_points]
            if None in game.result_positions and points != [won[player_id] for player_id in game.player_ids]:
                raise BrokenBundle("$.legs", f"They do not add up to the resultPoints of game {game_id}.")

    def _check_leg(self, path: str, leg: Leg, games: Mapping[int, Game]) -> None:
        self._require_own(path, leg.tournament_id)
        self._require_known(f"{path}.gameId", leg.game_id, games, "game")
        self._require_known(f"{path}.arenaId", leg.arena_id, self.arena_ids, "arena")
        require_moment(f"{path}.recordedAt", leg.recorded_at)
        player_ids = games[leg.game_id].player_ids
        if len(player_ids) != 2 or sorted(leg.result_positions) != sorted(player_ids):
            sentence = f"They are not the two players of game {leg.game_id}, the winner first."
            raise BrokenBundle(f"{path}.resultPositions", sentence)

    def _check_game(self, path: str, game: Game) -> None:
        self._require_own(path, game.tournament_id)
        require_moment(f"{path}.startedAt", game.started_at)
        self._require_known(f"{path}.roundId", game.round_id or None, self.round_ids, "round")
        self._require_known(f"{path}.arenaId", game.arena_id, self.arena_ids, "arena")
        self._require_known(f"{path}.bankId", game.bank_id, self.bank_ids, "bank")
        if not game.player_ids:
            raise BrokenBundle(f"{path}.playerIds", "A game has at least one player.")
        for m, player_id in enumerate(game.player_ids):
            self._require_known(f"{path}.playerIds[{m}]", player_id, self.player_ids, "player")
        if len(set(game.player_ids)) < len(game.player_ids):
            raise BrokenBundle(f"{path}.playerIds", "A player is named twice.")
        for name in ("result_positions", "result_points", "result_scores"):
            if len(getattr(game, name)) != len(game.player_ids):
                fields = msgspec.structs.fields(Game)
                key = next(field.encode_name for field in fields if field.name == name)
                raise BrokenBundle(f"{path}.{key}", "There is not one element for each player of the game.")
        self._check_result(path, game)
        for m, suggestion in enumerate(tuple_or_empty(game.suggestions)):
            self._check_suggestion(f"{path}.suggestions[{m}]", game, suggestion)

    def _check_result(self, path: str, game: Game) -> None:
        placed = [player_id for player_id in game.result_positions if player_id is not None]
        for m, player_id in enumerate(game.result_positions):
            if player_id is not None and player_id not in game.player_ids:
                raise BrokenBundle(
                    f"{path}.resultPositions[{m}]",
                    f"Player {player_id} does not play in game {game.game_id}.",
                )
        if len(set(placed)) < len(placed):
            raise BrokenBundle(f"{path}.resultPositions", "A player is placed twice.")
        if game.player_id_advantage is not None and game.player_id_advantage not in game.player_ids:
            raise BrokenBundle(f"{path}.playerIdAdvantage", "This player does not play in the game.")
        for m, points in enumerate(game.result_points):
            parse_points(f"{path}.resultPoints[{m}]", points)
        for m, score in enumerate(game.result_scores):
            parse_score(f"{path}.resultScores[{m}]", score)

    def _check_suggestion(self, path: str, game: Game, suggestion: Suggestion) -> None:
        self._require_own(path, suggestion.tournament_id)
        if suggestion.game_id != game.game_id:
            raise BrokenBundle(f"{path}.gameId", f"The suggestion is listed with game {game.game_id}.")
        if suggestion.round_id != game.round_id:
            raise BrokenBundle(f"{path}.roundId", f"Game {game.game_id} is in round {game.round_id}.")

    def _check_attempts(self, path: str, attempts: Collection[SinglePlayerGame], card_id: int | None) -> None:
        distinct_ids(path, attempts, "single_player_game_id")
        for n, attempt in enumerate(attempts):
            self._check_attempt(f"{path}[{n}]", attempt)
            if card_id is not None and attempt.card_id not in (UNSET, None, card_id):
                raise BrokenBundle(f"{path}[{n}].cardId", f"The game is listed with card {card_id}.")

    def _check_attempt(self, path: str, attempt: SinglePlayerGame) -> None:
        if attempt.tournament_id is not UNSET:
            self._require_own(path, attempt.tournament_id)
        self._require_known(f"{path}.playerId", attempt.player_id, self.player_ids, "player")
        self._require_known(f"{path}.arenaId", attempt.arena_id, self.arena_ids, "arena")
        self._require_known(
            f"{path}.roundId", _value_or_none(attempt.round_id) or None, self.round_ids, "round"
        )
        self._require_known(f"{path}.cardId", _value_or_none(attempt.card_id), self.card_ids, "card")
        require_moment(f"{path}.createdAt", attempt.created_at)
        require_moment(f"{path}.updatedAt", attempt.updated_at)
        parse_points(f"{path}.points", attempt.points)
        parse_score(f"{path}.score", attempt.score)

    def _check_card(self, path: str, card: Card) -> None:
        self._require_own(path, card.tournament_id)
        self._require_known(f"{path}.playerId", card.player_id, self.player_ids, "player")
        require_moment(f"{path}.createdAt", card.created_at)
        require_moment(f"{path}.updatedAt", card.updated_at)
        self._check_attempts(f"{path}.singlePlayerGames", card.single_player_games, card.card_id)
        games = sorted(
            card.single_player_games, key=lambda game: (game.index or 0, game.single_player_game_id)
        )
        expected: dict[str, list[Any]] = {
            "singlePlayerGameIds": [game.single_player_game_id for game in games],
            "arenaIds": [game.arena_id for game in games],
            "pointsList": [None if game.points is None else Decimal(game.points) for game in games],
        }
        listed: dict[str, list[Any]] = {
            "singlePlayerGameIds": list(card.single_player_game_ids),
            "arenaIds": list(card.arena_ids),
            "pointsList": [None if points is None else Decimal(str(points)) for points in card.points_list],
        }
        for name, values in listed.items():
            if values != expected[name]:
                raise BrokenBundle(f"{path}.{name}", "The list does not agree with the games of the card.")

    def _check_queues(self) -> None:
        queues = tuple_or_empty(self.bundle.queues)
        distinct_ids("$.queues", queues, "queue_id")
        for n, spot in enumerate(queues):
            path = f"$.queues[{n}]"
            self._require_own(path, spot.tournament_id)
            self._require_known(f"{path}.playerId", spot.player_id, self.player_ids, "player")
            self._require_known(f"{path}.arenaId", spot.arena_id, self.arena_ids, "arena")
            self._require_known(f"{path}.roundId", spot.round_id or None, self.round_ids, "round")
            require_moment(f"{path}.createdAt", spot.created_at)
            require_moment(f"{path}.completedAt", spot.completed_at)

    def _check_banks(self) -> None:
        for n, bank in enumerate(tuple_or_empty(self.bundle.banks) or tuple_or_empty(self.tournament.banks)):
            for m, arena_id in enumerate(bank.arena_ids):
                self._require_known(f"$.banks[{n}].arenaIds[{m}]", arena_id, self.arena_ids, "arena")

    def _check_standings(self) -> None:
        if isinstance(self.bundle.standings, UnsetType):
            if self.tournament.type not in FORMATS:
                known = ", ".join(sorted(FORMATS))
                raise BrokenBundle(
                    "$.standings",
                    f"Standings are missing, and those of {self.tournament.type} cannot be computed here yet "
                    f"(only {known}).",
                )
            return
        rows = self.bundle.standings
        distinct_ids("$.standings", rows, "player_id")
        for n, row in enumerate(rows):
            self._check_standing(f"$.standings[{n}]", row)

    def _check_standing(self, path: str, row: Standing) -> None:
        self._require_known(f"{path}.playerId", row.player_id, self.player_ids, "player")
        if row.position < 1:
            raise BrokenBundle(f"{path}.position", "Positions begin at 1.")
        if isinstance(row.points, str):
            _parse_decimal(f"{path}.points", row.points)

    def _refuse_games_on_two_cards(self) -> None:
        """Refuse a game on two cards. It may be listed with its card and among the single player games."""
        by_id: dict[int, SinglePlayerGame] = {}
        for n, card in enumerate(tuple_or_empty(self.bundle.cards)):
            for m, game in enumerate(card.single_player_games):
                if game.single_player_game_id in by_id:
                    path = f"$.cards[{n}].singlePlayerGames[{m}].singlePlayerGameId"
                    raise BrokenBundle(path, f"{game.single_player_game_id} is on two cards.")
                by_id[game.single_player_game_id] = game

    def _require_own(self, path: str, tournament_id: int | UnsetType) -> None:
        if tournament_id != self.tournament_id:
            raise BrokenBundle(
                f"{path}.tournamentId", f"It belongs to tournament {tournament_id}, not {self.tournament_id}."
            )

    def _require_known(self, path: str, value: int | None, known: Collection[int], kind: str) -> None:
        if value is not None and value not in known:
            raise BrokenBundle(path, f"There is no {kind} {value} in the bundle.")


def _check_tournament(tournament: Tournament) -> None:
    path = "$.tournament"
    for key, flag in (("players", "includePlayers"), ("arenas", "includeArenas")):
        if isinstance(getattr(tournament, key), UnsetType):
            raise BrokenBundle(f"{path}.{key}", f"They are missing. Ask for the tournament with {flag}=true.")
    try:
        ZoneInfo(tournament.timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise BrokenBundle(f"{path}.timezone", f"There is no time zone {tournament.timezone!r}.") from error
    for key in ("startUtc", "endUtc", "completedAt", "ratedUntil", "createdAt", "updatedAt"):
        require_moment(f"{path}.{key}", _value_or_none(getattr(tournament, _snake_case(key))))
    _check_members(tournament)
    for n, player in enumerate(tuple_or_empty(tournament.players)):
        part = f"{path}.players[{n}].tournamentPlayer"
        if isinstance(player.tournament_player, UnsetType):
            raise BrokenBundle(part, "It is missing: a player of a tournament has one.")
        parse_points(f"{part}.pointsAdjustment", player.tournament_player.points_adjustment)
        parse_points(f"{part}.scoreAdjustment", _value_or_none(player.tournament_player.score_adjustment))
    for n, arena in enumerate(tuple_or_empty(tournament.arenas)):
        if isinstance(arena.tournament_arena, UnsetType):
            path_arena = f"{path}.arenas[{n}].tournamentArena"
            raise BrokenBundle(path_arena, "It is missing: an arena of a tournament has one.")
    _check_settings(tournament)


def _snake_case(key: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)


def _check_members(tournament: Tournament) -> None:
    """Check the parts that are listed beside their ids."""
    _require_same_id("$.tournament.organizer", tournament.organizer, "user_id", tournament.organizer_id)
    _require_same_id("$.tournament.location", tournament.location, "location_id", tournament.location_id)
    _require_same_id("$.tournament.series", tournament.series, "series_id", tournament.series_id)
    location = _value_or_none(tournament.location)
    if tournament.location_id is not None and location is None:
        sentence = "The location is missing. Ask for the tournament with includeLocation=true."
        raise BrokenBundle("$.tournament.locationId", sentence)
    event = _value_or_none(tournament.event)
    if event is not None:
        for key in ("startUtc", "endUtc", "registrationUtc"):
            require_moment(f"$.tournament.event.{key}", getattr(event, _snake_case(key)))
        _require_same_id("$.tournament.event.location", event.location, "location_id", event.location_id)
        known = (None, tournament.location_id)
        if _value_or_none(event.location) is None and event.location_id not in known:
            raise BrokenBundle("$.tournament.event.locationId", "The location of the event is missing.")


def _check_users(bundle: Bundle) -> None:
    scorekeepers = tuple_or_empty(bundle.scorekeepers) or tuple_or_empty(bundle.tournament.scorekeepers)
    distinct_ids("$.scorekeepers", scorekeepers, "user_id")
    keeper_ids = {keeper.user_id for keeper in scorekeepers}
    facts = _value_or_none(bundle.engine)
    for n, user_id in enumerate(() if facts is None else tuple_or_empty(facts.director_ids)):
        if user_id not in keeper_ids:
            raise BrokenBundle(
                f"$.engine.directorIds[{n}]", f"There is no scorekeeper {user_id} in the bundle."
            )
    series = _value_or_none(bundle.series) or _value_or_none(bundle.tournament.series)
    users = {
        "$.tournament.organizer": _value_or_none(bundle.tournament.organizer),
        "$.series.organizer": None if series is None else _value_or_none(series.organizer),
        **{f"$.scorekeepers[{n}]": keeper for n, keeper in enumerate(scorekeepers)},
    }
    for path, user in users.items():
        if user is not None:
            require_moment(f"{path}.createdAt", user.created_at)
    named = None if series is None else series.organizer_id
    _require_same_id("$.series.organizer", users["$.series.organizer"], "user_id", named)


def _require_same_id(path: str, part: Any, key: str, named: int | None) -> None:
    part = _value_or_none(part)
    if part is not None and getattr(part, key) != named:
        raise BrokenBundle(path, f"It is not the one that its id names beside it ({named}).")


def _check_settings(tournament: Tournament) -> None:
    """Check the settings of a known format against its limits."""
    if tournament.type not in FORMATS:
        return
    raw = msgspec.to_builtins(tournament)
    try:
        settings.read_settings(FORMATS[tournament.type].settings, raw)
    except msgspec.ValidationError as error:
        raise fault_from_validation(error, at="$.tournament") from error


def tuple_or_empty(part: Any) -> tuple[Any, ...]:
    """The items of a list that may be absent or null."""
    return () if part is None or isinstance(part, UnsetType) else part


def _value_or_none(part: Any) -> Any:
    return None if isinstance(part, UnsetType) else part


def distinct_ids(path: str, items: Iterable[Any], key: str) -> frozenset[int]:
    """The ids of these items. Raises BrokenBundle when two are equal."""
    seen: set[int] = set()
    for n, item in enumerate(items):
        value = getattr(item, key)
        if value in seen:
            raise BrokenBundle(f"{path}[{n}]", f"The id {value} is used twice.")
        seen.add(value)
    return frozenset(seen)


def require_moment(path: str, text: str | None) -> None:
    """Raise BrokenBundle unless this is a date and time, or None."""
    if text is None:
        return
    try:
        base.parse_moment(text)
    except (ValueError, OverflowError) as error:
        raise BrokenBundle(path, f"{text!r} is not a date and time.") from error


def _parse_decimal(path: str, value: str | float) -> Decimal:
    try:
        number = Decimal(str(value))
    except InvalidOperation as error:
        raise BrokenBundle(path, f"{value!r} is not a number.") from error
    if not number.is_finite() or abs(number) > ID_MAX // 100:
        raise BrokenBundle(path, f"{value!r} is not a number of points.")
    return number


def parse_points(path: str, value: str | float | None) -> Decimal | None:
    """Points as an exact decimal."""
    if value is None:
        return None
    number = _parse_decimal(path, value)
    if number * 100 != int(number * 100):
        raise BrokenBundle(path, f"{value} has more than two decimals.")
    return number


def parse_score(path: str, value: int | str | None) -> int | None:
    """A score as a number."""
    if value is None or isinstance(value, int):
        return value
    digits = value.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()) or abs(int(digits[:30])) > ID_MAX:
        raise BrokenBundle(path, f"{value!r} is not a score.")
    return int(value)
