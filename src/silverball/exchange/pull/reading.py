"""A tournament of a source, read from the published interface and put together as a bundle."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from silverball.exchange.bundle import file as bundle_file
from silverball.exchange.bundle.file import BundleFile
from silverball.exchange.bundle.id_map import json_objects
from silverball.exchange.pull.source import PullSource, SourceFault, ThingMissing
from silverball.rules.registry import FORMATS
from silverball.store.counts import quotas
from silverball.store.database.engine import Db
from silverball.store.tournament import imports
from silverball_wire.arenas import Arena
from silverball_wire.games import Game, Leg
from silverball_wire.players import Player
from silverball_wire.rounds import Round
from silverball_wire.singleplayer import Card, SinglePlayerGame
from silverball_wire.standings import Standing
from silverball_wire.tournaments import Tournament

INCLUDES = (
    *("includePlayers", "includeArenas", "includeBanks", "includeScorekeepers", "includeLocation"),
    *("includeEntryConfiguration", "includeRsvpConfiguration", "includeLinkedTournaments"),
    *("includeEvent", "includeShortcut", "includeSeries"),
)
TOURNAMENTS_PER_PAGE, ATTEMPTS_PER_PAGE = 100, 100
MANUAL = "manual"
NAME_CHARACTERS_MAX = 200
UNKNOWN_FIELDS_MAX = 50
FIELD_CHARACTERS_MAX = 60


class Wanted(Struct, frozen=True):
    """The tournaments that a pull takes."""

    owners: Sequence[int] = ()
    series: Sequence[int] = ()
    tournaments: Sequence[int] = ()
    # The first day of a start: `2026-03-05`.
    since: str | None = None


class ListedTournament(Struct, frozen=True):
    """A tournament in a list of the source."""

    tournament_id: int
    name: str
    # As the source writes it; None where it does not.
    updated_at: str | None


class PulledTournament(Struct, frozen=True):
    """A tournament as it was read, and what nobody here understands of it."""

    file: BundleFile
    unknown_fields: tuple[str, ...]
    # Whether the source publishes the single games of matches.
    has_legs: bool = True


def own_user_id(source: PullSource) -> int:
    """The account of the token. Raises SourceFault."""
    profile = source.read("/api/users/profile")
    user_id = profile.get("userId")
    if not isinstance(user_id, int):
        raise SourceFault(f"{source.name} does not say whose token this is. Name the organizer with --owner.")
    return user_id


def wanted_tournaments(source: PullSource, wanted: Wanted) -> list[ListedTournament]:
    """The tournaments to take, by start as the source lists them, each once. Raises SourceFault."""
    found: dict[int, ListedTournament] = {}
    filters = [f"owner={user_id}" for user_id in wanted.owners]
    filters += [f"series={series_id}" for series_id in wanted.series]
    for query in filters:
        for item in source.read_pages(
            f"/api/tournaments?{query}&limit={TOURNAMENTS_PER_PAGE}", "tournamentId"
        ):
            # Of all services, so the day is compared here.
            if wanted.since is None or str(item.get("startUtc", ""))[:10] >= wanted.since:
                _add(found, item)
    for tournament_id in wanted.tournaments:
        found.setdefault(tournament_id, ListedTournament(tournament_id, "", None))
    return list(found.values())


def _add(found: dict[int, ListedTournament], item: Mapping[str, Any]) -> None:
    updated_at = item.get("updatedAt")
    found[item["tournamentId"]] = ListedTournament(
        item["tournamentId"],
        str(item.get("name", ""))[:NAME_CHARACTERS_MAX],
        updated_at if isinstance(updated_at, str) else None,
    )


def read_tournament(
    source: PullSource, tournament_id: int, prepare: Callable[[Any], None] = lambda _raw: None
) -> PulledTournament:
    """Read a tournament with all its parts. Raises SourceFault, or BrokenBundle for what does not fit.

    `prepare` changes what was read before it is checked.
    """
    path = f"/api/tournaments/{tournament_id}"
    raw = read_parts(source, tournament_id)
    raw["standings"] = source.read_list(f"{path}/standings")
    legs = legs_of_games(source, path, raw["games"]) if has_matches(raw["tournament"]) else []
    if legs:
        raw["legs"] = legs
    unknown_fields = tuple(sorted(_unknown_fields(raw))[:UNKNOWN_FIELDS_MAX])
    prepare(raw)
    file = bundle_file.parse(msgspec.json.encode(raw), f"{source.name}{path}")
    return PulledTournament(file, unknown_fields, has_legs=legs is not None)


def read_head(source: PullSource, tournament_id: int) -> dict[str, Any]:
    """Read a tournament itself with its players and arenas. Raises SourceFault."""
    path = f"/api/tournaments/{tournament_id}"
    tournament = source.read_data(f"{path}?" + "&".join(f"{name}=1" for name in INCLUDES))
    if not isinstance(tournament, dict) or tournament.get("tournamentId") != tournament_id:
        raise SourceFault(f"{source.name} answered {path} with something else.")
    return _with_seeds_of_bundles(tournament)


def read_parts(source: PullSource, tournament_id: int) -> dict[str, Any]:
    """Read a tournament with all its parts but the standings, as a bundle has them. Raises SourceFault."""
    source.begin_tournament()
    path = f"/api/tournaments/{tournament_id}"
    tournament = read_head(source, tournament_id)
    form = FORMATS.get(str(tournament.get("type")))
    raw: dict[str, Any] = {
        "tournament": tournament,
        "rounds": source.read_list(f"{path}/rounds"),
        "games": source.read_list(f"{path}/games"),
    }
    if form is not None and form.attempts is not None:
        listed = f"{path}/single-player-games?voided=1&limit={ATTEMPTS_PER_PAGE}"
        raw["singlePlayerGames"] = list(source.read_pages(listed, "singlePlayerGameId"))
    if form is not None and form.has_cards:
        raw["cards"] = list(source.read_pages(f"{path}/cards?voided=1&limit={ATTEMPTS_PER_PAGE}", "cardId"))
    if form is not None and tournament.get("status") == "started":
        raw["queues"] = queue_entries(source, f"{path}/queues")
    raw.update(repeated_parts(tournament))
    return raw


def repeated_parts(tournament: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a tournament that a bundle has beside it as well."""
    return {part: tournament[part] for part in ("series", "banks", "scorekeepers") if part in tournament}


def queue_entries(source: PullSource, path: str) -> list[dict[str, Any]]:
    """The queues of all arenas; none where the source has no queues in this format."""
    try:
        return entries_of_all_queues(source.read_data(path))
    except ThingMissing:
        return []


def entries_of_all_queues(queues: Any) -> list[dict[str, Any]]:
    """The entries of queues that come as one list, or as a list for each place."""
    lists = queues.values() if isinstance(queues, dict) else [queues]
    return [entry for entries in lists if isinstance(entries, list) for entry in entries]


def has_matches(tournament: Mapping[str, Any]) -> bool:
    """Whether games of the tournament are matches, which may have single games."""
    form = FORMATS.get(str(tournament.get("type")))
    return form is not None and form.settings.has_matches


def legs_of_games(
    source: PullSource, path: str, games: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]] | None:
    """The single games of those matches that have begun; None where the source knows none.

    Each match takes a request; a service that does not know the first one is not asked for the others.
    """
    legs: list[dict[str, Any]] = []
    for game in games:
        points = game.get("resultPoints")
        if not isinstance(points, list) or not any(each not in (None, "0.00") for each in points):
            continue
        try:
            legs += source.read_list(f"{path}/games/{game.get('gameId')}/legs")
        except ThingMissing:
            return None
    return legs


def _with_seeds_of_bundles(tournament: dict[str, Any]) -> dict[str, Any]:
    """The tournament with seeds that count from 1: the interface counts manual ones from 0."""
    if tournament.get("seeding") == MANUAL and isinstance(tournament.get("players"), list):
        for player in tournament["players"]:
            part = player.get("tournamentPlayer") if isinstance(player, dict) else None
            if isinstance(part, dict) and isinstance(part.get("seed"), int):
                part["seed"] += 1
    return tournament


def _unknown_fields(raw: Mapping[str, Any]) -> Iterator[str]:
    """The fields of a source that no shape of ours has, such as `games.weather`."""
    tournament = raw["tournament"]
    lists: dict[str, tuple[type[msgspec.Struct], Any]] = {
        "tournament": (Tournament, [tournament]),
        "players": (Player, tournament.get("players")),
        "arenas": (Arena, tournament.get("arenas")),
        "rounds": (Round, raw["rounds"]),
        "games": (Game, raw["games"]),
        "standings": (Standing, raw.get("standings")),
        "singlePlayerGames": (SinglePlayerGame, raw.get("singlePlayerGames")),
        "cards": (Card, raw.get("cards")),
        "legs": (Leg, raw.get("legs")),
    }
    for name, (shape, items) in lists.items():
        known = {field.encode_name for field in msgspec.structs.fields(shape)}
        sent = {key for item in items or () if isinstance(item, dict) for key in item}
        yield from (f"{name}.{key[:FIELD_CHARACTERS_MAX]}" for key in sent - known)


# A pull whose tournaments all belong to the account that asked for it, as from a page.
#
# An account is no authority on other accounts, nor on the ids of this site: people of the source become
# players of its own book only, ids are given anew, and what is known of the source is known to it alone.


# The id that stands for the account in a file, whoever organized things at the source.
KEEPER = 1
# Members that are about other accounts.
ACCOUNTS = ("organizer", "scorekeepers", "directorIds", "actorId")


class Keeper(Struct, frozen=True):
    """The account here that gets all that is pulled, and how much it may have."""

    user_id: int
    tournaments_max: int = 0
    players_max: int = 0
    # Whether ids and short links of the source are kept where they are free here.
    keeps_ids: bool = False

    def map_name(self, source: str) -> str:
        """The name of the source in the table of ids: of this account's pulls only."""
        return f"{source} for account {self.user_id}"

    def remember_account(self, db: Db, source: str) -> None:
        """Let the file's account be this one."""
        imports.remember_ids(db, self.map_name(source), {"userId": {KEEPER: self.user_id}})

    def require_room(self, db: Db) -> None:
        """Raise AccountQuotaReached or JournalFull when the account has more than it may."""
        quotas.require_room_in_journal(db, self.user_id)
        quotas.require_within_limits(
            db, self.user_id, tournaments=self.tournaments_max, players=self.players_max
        )

    def give_all(self, raw: Any, remote_user: int | None) -> None:
        """Give everything in the file to this account, and name no other. `remote_user`: of the token."""
        for holder in json_objects(raw):
            for name in ACCOUNTS:
                holder.pop(name, None)
            if "organizerId" in holder:
                holder["organizerId"] = KEEPER
            if holder.get("claimedBy") is not None:
                holder["claimedBy"] = KEEPER if holder["claimedBy"] == remote_user else None
            if "scorekeeperId" in holder:
                holder["scorekeeperId"] = None
            if not self.keeps_ids:
                holder.pop("shortcut", None)
