"""Players, arenas, banks and scorekeepers of a tournament, changed by the organizer."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from random import Random
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType
from sqlalchemy import insert

from silverball.kit.errors import Conflict, Invalid, NotFound, Sentence
from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import PreparationOutdated
from silverball.kit.http.fields import Id, Name
from silverball.kit.values import convert, replace
from silverball.rules.commands import giving_up
from silverball.rules.commands import roster as roster_commands
from silverball.rules.commands import single_player as single_player_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.mechanics import seeding
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change, QueueLeft
from silverball.rules.model.tournament import Bank, Entrant, LineupArena, Tournament
from silverball.service.core import commands, sign_up_taking
from silverball.service.core.calls import Write
from silverball.service.core.person_numbers import PlayerEnteredAlready, player_of_number
from silverball.service.machines import reads as machines
from silverball.service.outlook.reads import federation
from silverball.service.players import reads as players
from silverball.service.roster import reads
from silverball.service.roster.bodies import (
    AT_ONCE_MAX,
    ChangedPairsApart,
    EntrantPatch,
    EntrantsPatch,
    GivingUp,
    LineupArenaPatch,
    NewEntrant,
    NewEntrants,
    NewLineupArenas,
    Strikes,
)
from silverball.service.users import reads as users
from silverball.service.venues import reads as venues_reads
from silverball.store import tables
from silverball.store.counts import quotas
from silverball.store.people import book, person_numbers
from silverball.store.tournament import chain, journal
from silverball_wire.arenas import Arena
from silverball_wire.arenas import Bank as ShownBank
from silverball_wire.players import Player
from silverball_wire.tournaments import PairsApart
from silverball_wire.users import User

WAYS_OF_GIVING_UP = {
    "games": tournament_commands.forfeit_open_games,
    "leaves": giving_up.leave,
    "did-not-come": giving_up.take_out_who_did_not_come,
}
TOURNAMENT, PLAYER, ARENA, BANK, USER = "tournament_id", "player_id", "arena_id", "bank_id", "user_id"


def add_players(call: Write[NewEntrants]) -> tuple[Player, ...]:
    """Add players of the owner's book; those sent by name are added to the book first."""
    tournament = commands.load_tournament(call)
    new_entrants = _with_players_of_numbers(call, tournament, call.body.new_entrants)
    if any(entrant.strikes is not UNSET for entrant in new_entrants):
        roster_commands.require_strikes(tournament)
    for entrant in new_entrants:
        if isinstance(entrant.points_adjustment, Decimal):
            roster_commands.require_adjustable(tournament, pointsAdjustment=entrant.points_adjustment)
    entrants = _new_entrants(call, tournament, new_entrants)
    ids = [entrant.player_id for entrant in entrants]
    _refuse_second_entries(call, tournament, ids)
    wanted_games = zip(ids, new_entrants, strict=True)
    seats = {player_id: new.game_id for player_id, new in wanted_games if isinstance(new.game_id, int)}
    if seats:
        tournament_commands.require_started(tournament)
    _run_by_draw(
        call,
        tournament,
        "roster",
        lambda tournament, dice: roster_commands.add_entrants(
            tournament, entrants, dice, call.now, seats=seats
        ),
        added_ids=tuple(ids),
    )
    added = {
        player.player_id: player
        for player in players.entrants_by_ids(call.db, call.ids[TOURNAMENT], ids, call.caller)
    }
    return tuple(added[player_id] for player_id in ids)


def _run_by_draw(
    call: Write[Any],
    current: Tournament,
    draw: str,
    rule: Callable[[Tournament, Random], Sequence[Change]],
    *,
    added_ids: tuple[int, ...] = (),
) -> None:
    """Run the rule with the dice of this draw.

    Once the tournament has begun, it may draw a whole schedule anew, or a game for each arena of a queue.
    """

    def decide(tournament: Tournament) -> commands.Decision:
        return commands.decide_by_draw(tournament, draw, lambda dice: rule(tournament, dice))

    if current.status == "started":
        commands.run_long_command(call, decide, added_ids=added_ids)
    else:
        commands.run_command(call, decide)


def _new_entrants(
    call: Write[NewEntrants], tournament: Tournament, new_entrants: Sequence[NewEntrant]
) -> list[Entrant]:
    organizer_id = tournament.details["organizer_id"]
    player_ids = [entrant.player_id for entrant in new_entrants if isinstance(entrant.player_id, int)]
    limit, more = call.settings.players_per_account, len(new_entrants) - len(player_ids)
    quotas.require_room_for_players(call.db, organizer_id, limit, more)
    claimed = reads.book_players(call.db, organizer_id, player_ids)
    for player_id in player_ids:
        if player_id not in claimed:
            sentence = Sentence(
                "{player} is not in the organizer's book. Add the player by name.", player=player_id
            )
            raise Invalid({"playerId": [sentence]})
    named = [entrant for entrant in new_entrants if not isinstance(entrant.player_id, int)]
    new_ids = iter(_insert_players(call, organizer_id, named, player_ids) if named else ())
    entrants = []
    for entrant in new_entrants:
        player_id = entrant.player_id if isinstance(entrant.player_id, int) else next(new_ids)
        entrants.append(_new_entrant(tournament, entrant, player_id, claimed.get(player_id)))
    return entrants


def _with_players_of_numbers(
    call: Write[Any], tournament: Tournament, new_entrants: Sequence[NewEntrant]
) -> list[NewEntrant]:
    """The entrants, with the player of the book or the name in the federation's file for each number.

    Raises Conflict, and Invalid for a number alone that nobody has.
    """
    wanted = {entrant.ifpa_id for entrant in new_entrants if isinstance(entrant.ifpa_id, int)}
    if not wanted:
        return list(new_entrants)
    organizer_id = tournament.details["organizer_id"]
    person_numbers.lock_numbers(call.db, organizer_id)
    found = person_numbers.holders(call.db, organizer_id, wanted)
    records = {record.ifpa_id: record.name for record in federation.records_by_ifpa(call.db, wanted)}
    resolved = []
    unknown: dict[str, list[str]] = {}
    for index, entrant in enumerate(new_entrants):
        number, name = entrant.ifpa_id, None if isinstance(entrant.name, UnsetType) else entrant.name
        if not isinstance(number, int):
            resolved.append(entrant)
            continue
        player_id = player_of_number(found, number, name, number_wins=entrant.number_wins)
        if player_id is not None:
            resolved.append(replace(entrant, player_id=player_id, name=UNSET, ifpa_id=UNSET))
        elif name is not None or number in records:
            resolved.append(replace(entrant, name=name or records[number][:NAME_LETTERS_MAX]))
        else:
            field = "name" if call.body.players is UNSET else f"players.{index}.name"
            sentence = f"Neither the book nor the federation's file has number {number}. Send the name, too."
            unknown[field] = [sentence]
    if unknown:
        raise Invalid(unknown)
    return resolved


def _refuse_second_entries(call: Write[Any], tournament: Tournament, player_ids: Sequence[int]) -> None:
    """Raise PlayerEnteredAlready where one person would be in the tournament twice."""
    numbers = person_numbers.numbers_of(call.db, player_ids)
    if not numbers:
        return
    present = person_numbers.numbers_of(call.db, list(tournament.entrant_by_id))
    taken = {number: player_id for player_id, number in present.items()}
    for player_id in player_ids:
        number = numbers.get(player_id)
        if number in taken:
            raise PlayerEnteredAlready(player=taken[number])
        if number is not None:
            taken[number] = player_id


def _insert_players(
    call: Write[Any], organizer_id: int, named: Sequence[NewEntrant], own_ids: Sequence[int]
) -> list[int]:
    """Add players to the book, under the ids that they had when the draw was made; returns the ids."""
    player = tables.player
    rows: list[dict[str, Any]] = [
        chain.with_name_digest(
            {
                "organizer_id": organizer_id,
                "name": entrant.name,
                "ifpa_id": None if entrant.ifpa_id is UNSET else entrant.ifpa_id,
                "status": "active",
                "labels": [],
            }
        )
        for entrant in named
    ]
    if call.preparation is not None:
        # Those of the book are named by their ids, so the draw has added all others.
        drawn_ids = [player_id for player_id in call.preparation.added_ids if player_id not in own_ids]
        if len(drawn_ids) != len(rows) or reads.are_in_a_book(call.db, drawn_ids):
            # A number is in the book by now, or SQLite gave an id to somebody else meanwhile.
            raise PreparationOutdated
        rows = [{**row, "player_id": player_id} for row, player_id in zip(rows, drawn_ids, strict=True)]
    inserted = insert(player).returning(player.c.player_id, sort_by_parameter_order=True)
    return list(call.db.execute(inserted, rows).scalars())


def _new_entrant(tournament: Tournament, entrant: NewEntrant, player_id: int, user_id: int | None) -> Entrant:
    seed = entrant.seed if isinstance(entrant.seed, int) else None
    adjustment = (
        entrant.points_adjustment if isinstance(entrant.strikes, UnsetType) else Decimal(entrant.strikes)
    )
    if isinstance(adjustment, UnsetType):
        adjustment = roster_commands.late_points(tournament, is_seated=isinstance(entrant.game_id, int))
    return Entrant(
        player_id=player_id,
        user_id=user_id,
        seed_value=seeding.stored_seed(seed) if seeding.counts_from_zero(tournament.settings) else seed,
        points_adjustment=adjustment,
        labels=entrant.labels if isinstance(entrant.labels, tuple) else (),
        label_color=entrant.label_color if isinstance(entrant.label_color, str) else None,
    )


def change_player(call: Write[EntrantPatch]) -> Player:
    """Change a player's seed, labels, status and adjustments in this tournament."""
    player_id = call.ids[PLAYER]
    _change_entrants(call, [(player_id, call.body.changed_fields)])
    return _current_player(call, player_id)


def change_players(call: Write[EntrantsPatch]) -> tuple[Player, ...]:
    """Change several players in one action."""
    changes = [(patch.player_id, patch.changed_fields) for patch in call.body.players]
    _change_entrants(call, changes)
    ids = [player_id for player_id, _ in changes]
    return players.entrants_by_ids(call.db, call.ids[TOURNAMENT], ids, call.caller)


def _change_entrants(call: Write[Any], changes: Sequence[tuple[int, dict[str, Any]]]) -> None:
    if any("seed" in fields for _, fields in changes):
        # Whoever signed up and has a place is among those who are seeded.
        sign_up_taking.take_all(call)
    _run_by_draw(
        call,
        commands.load_tournament(call),
        "roster",
        lambda tournament, dice: roster_commands.change_entrants(
            tournament, _with_stored_seeds(tournament, changes), dice, call.now
        ),
    )


def _with_stored_seeds(
    tournament: Tournament, changes: Sequence[tuple[int, dict[str, Any]]]
) -> list[tuple[int, dict[str, Any]]]:
    """The changes with seeds as they are stored, and without seeds that are what the interface shows."""
    if not seeding.counts_from_zero(tournament.settings):
        return list(changes)
    stored = []
    for player_id, fields in changes:
        entrant, rest = tournament.entrant_by_id.get(player_id), dict(fields)
        if "seed" in rest:
            seed = rest.pop("seed")
            if entrant is None or seed != seeding.published_seed(entrant.seed_value, entrant.seed_rank):
                rest["seed"] = seeding.stored_seed(seed)
        stored.append((player_id, rest))
    return stored


def remove_player(call: Write[Body]) -> Player:
    """Remove a player without games; returns their last state."""
    player_id = call.ids[PLAYER]
    tournament = commands.load_tournament(call)
    tournament_commands.find_entrant(tournament, player_id)
    removed = _current_player(call, player_id)
    _run_by_draw(
        call,
        tournament,
        "roster",
        lambda tournament, dice: tournament_commands.remove_entrant(
            tournament, player_id, dice=dice, now=call.now
        ),
    )
    return removed


def forfeit_games(call: Write[GivingUp]) -> Player:
    """Give up the open games of the player, or let them leave, or take them out; returns their last state."""
    player_id, what = call.ids[PLAYER], call.body.what
    tournament = commands.load_tournament(call)
    tournament_commands.find_entrant(tournament, player_id)
    there = _current_player(call, player_id)
    _run_by_draw(
        call,
        tournament,
        f"forfeits of player {player_id}",
        lambda tournament, dice: WAYS_OF_GIVING_UP[what](tournament, player_id, dice, call.now),
    )
    found = players.entrants_by_ids(call.db, call.ids[TOURNAMENT], [player_id], call.caller)
    return found[0] if found else there


def _current_player(call: Write[Any], player_id: int) -> Player:
    (player,) = players.entrants_by_ids(call.db, call.ids[TOURNAMENT], [player_id], call.caller)
    return player


def add_arenas(call: Write[NewLineupArenas]) -> tuple[Arena, ...]:
    """Add arenas of the owner's book."""
    tournament = commands.load_tournament(call)
    new_arenas = call.body.new_arenas
    ids = [arena_id for arena_id, _ in new_arenas]
    categories = reads.book_arenas(call.db, tournament.details["organizer_id"], ids)
    for arena_id in ids:
        if arena_id not in categories:
            sentence = Sentence(
                "{arena} is not in the organizer's book. Create it there first.", arena=arena_id
            )
            raise Invalid({"arenaId": [sentence]})
    new = [
        LineupArena(arena_id=arena_id, category_id=categories[arena_id], **fields)
        for arena_id, fields in new_arenas
    ]
    _run_by_draw(
        call,
        tournament,
        "lineup",
        lambda tournament, dice: roster_commands.add_arenas(tournament, new, dice, call.now),
        added_ids=tuple(ids),
    )
    added = {
        arena.arena_id: arena
        for arena in venues_reads.selected_lineup_arenas(call.db, call.ids[TOURNAMENT], ids)
    }
    return tuple(added[arena_id] for arena_id in ids)


def change_arena(call: Write[LineupArenaPatch]) -> Arena:
    """Change an arena's labels, status and switches; `redraw` moves its open games to other arenas."""
    arena_id = call.ids[ARENA]
    if call.body.dissolve_queue or call.body.remove_scores:
        return _dissolve_queue(call, arena_id)

    def rule(tournament: Tournament, dice: Random) -> list[Change]:
        fields = call.body.lineup_fields
        if not call.body.redraw:
            return roster_commands.change_arena(tournament, arena_id, dice, call.now, **fields)
        others = {name: value for name, value in fields.items() if name != "is_active"}
        return roster_commands.mark_out_of_order(tournament, arena_id, dice, call.now, **others)

    _run_by_draw(call, commands.load_tournament(call), f"arena {arena_id}", rule)
    return _current_arena(call, arena_id)


def _dissolve_queue(call: Write[LineupArenaPatch], arena_id: int) -> Arena:
    """Put an arena out of service with its queue, whose players read why, and with its scores if asked."""

    def decide(tournament: Tournament) -> commands.Decision:
        def rule(dice: Random) -> list[Change]:
            fields = call.body.lineup_fields
            changes = roster_commands.change_arena(tournament, arena_id, dice, call.now, **fields)
            after = apply_changes(tournament, changes)
            if call.body.remove_scores:
                return [*changes, *single_player_commands.remove_scores(after, arena_id, call.now)]
            return [*changes, *roster_commands.dissolve_queue(after, arena_id)]

        decision = commands.decide_by_draw(tournament, f"arena {arena_id}", rule)
        gone = [change.subject.player_id for change in decision.changes if isinstance(change, QueueLeft)]
        note = (journal.QUEUE_DISSOLVED, {"arena": arena_id, "player_ids": gone})
        return replace(decision, notes=(note,) if gone else ())

    commands.run_command(call, decide)
    return _current_arena(call, arena_id)


def remove_arena(call: Write[Body]) -> Arena:
    """Remove an arena without games; returns its last state."""
    arena_id = call.ids[ARENA]
    roster_commands.find_lineup_arena(commands.load_tournament(call), arena_id)
    removed = _current_arena(call, arena_id)
    commands.run_command(call, lambda tournament: roster_commands.remove_arena(tournament, arena_id))
    return removed


def _current_arena(call: Write[Any], arena_id: int) -> Arena:
    (arena,) = venues_reads.selected_lineup_arenas(call.db, call.ids[TOURNAMENT], [arena_id])
    return arena


def add_bank(call: Write[Body]) -> ShownBank:
    """Add a bank of the owner's book, with those of its arenas that are missing."""
    bank_id = call.ids[BANK]
    tournament = commands.load_tournament(call)
    inside = reads.book_bank_arenas(call.db, tournament.details["organizer_id"], bank_id)
    if inside is None:
        raise NotFound("Bank", bank_id)
    bank = Bank(bank_id=bank_id, arena_ids=tuple(arena_id for arena_id, _ in inside))
    new = [LineupArena(arena_id=arena_id, category_id=category) for arena_id, category in inside]
    _run_by_draw(
        call,
        tournament,
        "lineup",
        lambda tournament, dice: roster_commands.add_bank(tournament, bank, new, dice, call.now),
    )
    return _current_bank(call, bank_id)


def set_pairs_apart(call: Write[ChangedPairsApart]) -> PairsApart:
    """Set the pairs that draws keep apart; returns them."""
    pairs = call.body.pairs
    changed = commands.run_command(
        call, lambda tournament: roster_commands.set_pairs_apart(tournament, pairs)
    )
    return PairsApart(pairs=changed.state.apart)


def remove_bank(call: Write[Body]) -> ShownBank:
    """Remove a bank from the draws; returns its last state."""
    bank_id = call.ids[BANK]
    if all(bank.bank_id != bank_id for bank in commands.load_tournament(call).banks):
        raise NotFound("Bank", bank_id)
    removed = _current_bank(call, bank_id)
    commands.run_command(call, lambda tournament: roster_commands.remove_bank(tournament, bank_id))
    return removed


def _current_bank(call: Write[Any], bank_id: int) -> ShownBank:
    lineup_banks = venues_reads.banks_in_tournament(call.db, call.ids[TOURNAMENT])
    return next(bank for bank in lineup_banks if bank.bank_id == bank_id)


def add_scorekeeper(call: Write[Body]) -> User:
    """Let an account record results here."""
    commands.load_tournament(call)
    user = users.find_user(call.db, call.ids[USER], call.caller)
    commands.run_command(call, lambda tournament: roster_commands.add_scorekeeper(tournament, user.user_id))
    return user


def remove_scorekeeper(call: Write[Body]) -> User:
    """Withdraw an account's right to record results here."""
    commands.load_tournament(call)
    user = users.find_user(call.db, call.ids[USER], call.caller)
    commands.run_command(
        call, lambda tournament: roster_commands.remove_scorekeeper(tournament, user.user_id)
    )
    return user


MACHINES_MAX = 100
NAME_LETTERS_MAX = 100
OpdbId = Annotated[str, Meta(max_length=40)]


class PlayersToAdd(Body, frozen=True, kw_only=True):
    """Players by name, and players picked from the book and from the federation's file."""

    names: Annotated[tuple[Name, ...], Meta(max_length=AT_ONCE_MAX)] = ()
    player_ids: Annotated[tuple[Id, ...], Meta(max_length=AT_ONCE_MAX)] = ()
    # Picked from the federation's file.
    ifpa_ids: Annotated[tuple[Id, ...], Meta(max_length=AT_ONCE_MAX)] = ()
    # The strikes of players who join a knockout late.
    strikes: Strikes | None = None
    # The game of the open round that a late player joins at once.
    game_id: Id | None = None
    # Leave out who is in the tournament already: somebody else has added them meanwhile.
    skips_present: bool = False

    def __post_init__(self) -> None:
        if not self.names and not self.player_ids and not self.ifpa_ids:
            raise Invalid({"names": ["Enter a name on each line, or pick players from your book."]})


class MachinesToAdd(Body, frozen=True, kw_only=True):
    """New arenas for the book and the tournament: by name, and by id of the machine database."""

    names: Annotated[tuple[Name, ...], Meta(max_length=MACHINES_MAX)] = ()
    opdb_ids: Annotated[tuple[OpdbId, ...], Meta(max_length=MACHINES_MAX)] = ()
    # Write another machine into the book where all of that name are in the lineup.
    second_ones: bool = False

    def __post_init__(self) -> None:
        if not self.names and not self.opdb_ids:
            raise Invalid({"names": ["Enter a name on each line, or tick machines that were found."]})


class NameAlreadyEntered(Invalid):
    """A name of a player who is in the tournament already."""


def add_players_by_name(call: Write[PlayersToAdd]) -> None:
    """Add the picked and the named players; a name that the book has means that player.

    Raises Invalid for a name that the book has twice, and, unless the body leaves them out, for a player who
    is in already. Who leaves out all of them changes nothing.
    """
    tournament, body = commands.load_tournament(call), call.body
    known_ids = players.ids_by_name(call.db, tournament.details["organizer_id"], body.names)
    entrants: list[dict[str, Any]] = [
        {"playerId": player_id}
        for player_id in body.player_ids
        if not body.skips_present or player_id not in tournament.entrant_by_id
    ]
    picked = set(body.player_ids)
    for name in body.names:
        if body.names.count(name) > 1:
            sentence = f"{name} is in the list twice. Give one of the two another name, with an initial say."
            raise Invalid({"names": [sentence]})
        if body.skips_present and _is_present(tournament, name, known_ids, picked):
            continue
        player_id = _find_player_by_name(tournament, name, known_ids, picked)
        entrants.append({"name": name} if player_id is None else {"playerId": player_id})
        picked |= set() if player_id is None else {player_id}
    entrants += _federation_entrants(call, tournament, picked)
    if not entrants:
        return
    if body.strikes is not None:
        entrants = [{**entrant, "strikes": body.strikes} for entrant in entrants]
    if body.game_id is not None:
        entrants = [{**entrant, "gameId": body.game_id} for entrant in entrants]
    add_players(call.with_body(convert({"players": entrants}, NewEntrants)))


def _federation_entrants(
    call: Write[PlayersToAdd], tournament: Tournament, picked: set[int]
) -> list[dict[str, Any]]:
    """The people picked from the federation's file: those of the book, others with name and number."""
    picked_records = federation.records_by_ifpa(call.db, call.body.ifpa_ids)
    if len(picked_records) < len(set(call.body.ifpa_ids)):
        raise Invalid({"ifpaIds": ["One of them is not in the federation's file any more. Search again."]})
    organizer_id = tournament.details["organizer_id"]
    person_numbers.lock_numbers(call.db, organizer_id)
    found = person_numbers.holders(call.db, organizer_id, call.body.ifpa_ids)
    known_ids = players.ids_by_name(call.db, organizer_id, [record.name for record in picked_records])
    # Who has another number is somebody else of the same name.
    numbered = person_numbers.numbers_of(call.db, [id_ for ids in known_ids.values() for id_ in ids])
    known_ids = {name: tuple(id_ for id_ in ids if id_ not in numbered) for name, ids in known_ids.items()}
    entrants: list[dict[str, Any]] = []
    for record in picked_records:
        holder_id = player_of_number(found, record.ifpa_id, record.name, number_wins=True)
        if holder_id is not None:
            if (
                not (call.body.skips_present and holder_id in tournament.entrant_by_id)
                and holder_id not in picked
            ):
                entrants.append({"playerId": holder_id})
                picked.add(holder_id)
            continue
        if call.body.skips_present and _is_present(tournament, record.name, known_ids, picked):
            continue
        player_id = _find_player_by_name(tournament, record.name, known_ids, picked)
        if player_id is None:
            entrants.append({"name": record.name[:NAME_LETTERS_MAX], "ifpaId": record.ifpa_id})
        else:
            entrants.append({"playerId": player_id})
            picked.add(player_id)
    return entrants


def _is_present(
    tournament: Tournament, name: str, known_ids: Mapping[str, Sequence[int]], picked: set[int]
) -> bool:
    """Whether all players of this name that the book has are in already."""
    ids = known_ids.get(name, ())
    return bool(ids) and all(id_ in tournament.entrant_by_id or id_ in picked for id_ in ids)


def _find_player_by_name(
    tournament: Tournament, name: str, known_ids: Mapping[str, Sequence[int]], picked: set[int]
) -> int | None:
    """The one player of this name who is not in yet; None when the book has no such name."""
    ids = known_ids.get(name, ())
    free_ids = [
        player_id
        for player_id in ids
        if player_id not in tournament.entrant_by_id and player_id not in picked
    ]
    if len(free_ids) > 1:
        sentence = f"Your book has {len(free_ids)} players called {name}. Search for the name and pick one."
        raise Invalid({"names": [sentence]})
    if ids and not free_ids:
        raise NameAlreadyEntered({"names": [f"{name} is in the tournament already. Take the line out."]})
    return free_ids[0] if free_ids else None


class MachineAlreadyInLineup(Conflict):
    sentence = "{names} is in the lineup already. A second one? Tick that you want it, or leave it out."


def add_machines_by_name(call: Write[MachinesToAdd]) -> None:
    """Add machines to the tournament: those of the book by these names or titles, and new ones else.

    Raises MachineAlreadyInLineup for one of which the book has no other, unless a second one is wanted.
    """
    # The machines belong to the organizer, also when an admin adds them.
    tournament = commands.load_tournament(call)
    organizer_id = tournament.details["organizer_id"]
    named: list[tuple[str, str | None]] = [(name, None) for name in call.body.names]
    named += [(name, opdb_id) for opdb_id, name in _titles(call, call.body.opdb_ids)]
    in_book = reads.active_arenas(call.db, organizer_id)
    taken = {arena.arena_id for arena in tournament.lineup}
    arena_ids: list[int] = []
    again: list[str] = []
    for name, opdb_id in named:
        known = reads.arenas_called(in_book, name, opdb_id)
        free = [arena_id for arena_id in known if arena_id not in taken]
        if known and not free and not call.body.second_ones:
            again.append(name)
            continue
        arena_id = free[0] if free else _insert_arena(call, organizer_id, name, opdb_id)
        taken.add(arena_id)
        arena_ids.append(arena_id)
    if again:
        raise MachineAlreadyInLineup(names=" and ".join(again))
    arenas = [{"arenaId": arena_id} for arena_id in arena_ids]
    add_arenas(call.with_body(convert({"arenas": arenas}, NewLineupArenas)))


def _insert_arena(call: Write[Any], organizer_id: int, name: str, opdb_id: str | None) -> int:
    values = {
        "name": convert(name, Name),
        "status": "active",
        "opdb_id": opdb_id,
        "category_id": None,
        "labels": (),
        "label_color": None,
    }
    return book.add(call.db, book.ARENA, organizer_id, values)


def _titles(call: Write[Any], opdb_ids: Sequence[str]) -> list[tuple[str, str]]:
    """OPDB ids with titles. Raises Invalid for an id that the machine database does not have."""
    entries = machines.entries_by_id(call.db, opdb_ids)
    for opdb_id in opdb_ids:
        if opdb_id not in entries:
            raise Invalid({"opdbIds": [f"{opdb_id} is not in the machine database. Search for it again."]})
    return [(opdb_id, entries[opdb_id].name[:NAME_LETTERS_MAX]) for opdb_id in opdb_ids]
