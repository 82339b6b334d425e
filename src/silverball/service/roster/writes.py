"""Who and what takes part, changed by the organizer."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from msgspec import UNSET, UnsetType
from sqlalchemy import insert

from silverball.kit.errors import Invalid, NotFound
from silverball.kit.http.body import Body
from silverball.rules.commands import lineup as lineup_commands
from silverball.rules.commands import roster as roster_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model.tournament import Bank, Entrant, LineupArena, Tournament
from silverball.service.arenas import reads as arenas
from silverball.service.banks import reads as banks
from silverball.service.calls import Write
from silverball.service.core import commands
from silverball.service.players import reads as players
from silverball.service.roster import reads
from silverball.service.roster.bodies import (
    EntrantPatch,
    EntrantsPatch,
    LineupArenaPatch,
    NewEntrant,
    NewEntrants,
    NewLineupArenas,
)
from silverball.service.users import reads as users
from silverball.store import tables
from silverball.wire.arenas import Arena
from silverball.wire.banks import Bank as ShownBank
from silverball.wire.players import Player
from silverball.wire.users import User

TOURNAMENT, PLAYER, ARENA, BANK, USER = "tournament_id", "player_id", "arena_id", "bank_id", "user_id"


def add_players(call: Write[NewEntrants]) -> tuple[Player, ...]:
    """Players of the owner's book join; those who come by name are written into it first."""
    tournament = commands.load_tournament(call)
    listed = call.body.new_entrants
    if any(one.strikes is not UNSET for one in listed):
        roster_commands.require_strikes(tournament)
    for one in listed:
        if isinstance(one.points_adjustment, Decimal):
            tournament_commands.require_adjustable(tournament, pointsAdjustment=one.points_adjustment)
    entrants = _new_entrants(call, tournament, listed)
    commands.run_command(
        call,
        lambda t: commands.decide_by_draw(
            t, "roster", lambda dice: roster_commands.add_entrants(t, entrants, dice, call.now)
        ),
    )
    added = players.entrants_by_ids(
        call.db, call.ids[TOURNAMENT], [one.player_id for one in entrants], call.caller
    )
    shown = {one.player_id: one for one in added}
    return tuple(shown[one.player_id] for one in entrants)


def _new_entrants(
    call: Write[NewEntrants], tournament: Tournament, listed: Sequence[NewEntrant]
) -> list[Entrant]:
    organizer_id = tournament.details["organizer_id"]
    named = [one.player_id for one in listed if isinstance(one.player_id, int)]
    claimed = reads.book_players(call.db, organizer_id, named)
    entrants = []
    for one in listed:
        player_id = one.player_id
        if not isinstance(player_id, int):
            player_id = _insert_player(call, organizer_id, one)
        elif player_id not in claimed:
            sentence = f"Player {player_id} is not in the organizer's book. Add the player by name."
            raise Invalid({"playerId": [sentence]})
        entrants.append(_new_entrant(one, player_id, claimed.get(player_id)))
    return entrants


def _insert_player(call: Write[Any], organizer_id: int, one: NewEntrant) -> int:
    values: dict[str, Any] = {
        "organizer_id": organizer_id,
        "name": one.name,
        "ifpa_id": None if one.ifpa_id is UNSET else one.ifpa_id,
        "status": "active",
        "labels": [],
    }
    inserted = insert(tables.player).values(**values).returning(tables.player.c.player_id)
    return int(call.db.execute(inserted).scalar_one())


def _new_entrant(one: NewEntrant, player_id: int, user_id: int | None) -> Entrant:
    given = one.points_adjustment if isinstance(one.strikes, UnsetType) else Decimal(one.strikes)
    return Entrant(
        player_id=player_id,
        user_id=user_id,
        seed_value=one.seed if isinstance(one.seed, int) else None,
        points_adjustment=given if isinstance(given, Decimal) else Decimal(0),
        labels=one.labels if isinstance(one.labels, tuple) else (),
        label_color=one.label_color if isinstance(one.label_color, str) else None,
    )


def change_player(call: Write[EntrantPatch]) -> Player:
    """A player's seed, labels, status and adjustments here."""
    player_id = call.ids[PLAYER]
    _change_entrants(call, [(player_id, call.body.changed_fields)])
    return _current_player(call, player_id)


def change_players(call: Write[EntrantsPatch]) -> tuple[Player, ...]:
    """Many players changed as one action."""
    listed = [(one.player_id, one.changed_fields) for one in call.body.players]
    _change_entrants(call, listed)
    ids = [player_id for player_id, _ in listed]
    return players.entrants_by_ids(call.db, call.ids[TOURNAMENT], ids, call.caller)


def _change_entrants(call: Write[Any], listed: Sequence[tuple[int, dict[str, Any]]]) -> None:
    commands.run_command(
        call,
        lambda t: commands.decide_by_draw(
            t, "roster", lambda dice: roster_commands.change_entrants(t, listed, dice, call.now)
        ),
    )


def remove_player(call: Write[Body]) -> Player:
    """A player who has not played taken out; answers what the player was."""
    player_id = call.ids[PLAYER]
    tournament_commands.find_entrant(commands.load_tournament(call), player_id)
    gone = _current_player(call, player_id)
    commands.run_command(
        call,
        lambda t: commands.decide_by_draw(
            t,
            "roster",
            lambda dice: tournament_commands.remove_entrant(t, player_id, dice=dice, now=call.now),
        ),
    )
    return gone


def forfeit_games(call: Write[Body]) -> Player:
    """Every open game of two with this player is lost."""
    player_id = call.ids[PLAYER]
    commands.run_command(
        call,
        lambda t: commands.decide_by_draw(
            t,
            f"forfeits of player {player_id}",
            lambda dice: tournament_commands.forfeit_open_games(t, player_id, dice, call.now),
        ),
    )
    return _current_player(call, player_id)


def _current_player(call: Write[Any], player_id: int) -> Player:
    (found,) = players.entrants_by_ids(call.db, call.ids[TOURNAMENT], [player_id], call.caller)
    return found


def add_arenas(call: Write[NewLineupArenas]) -> tuple[Arena, ...]:
    """Arenas of the owner's book join."""
    tournament = commands.load_tournament(call)
    listed = call.body.new_arenas
    ids = [arena_id for arena_id, _ in listed]
    categories = reads.book_arenas(call.db, tournament.details["organizer_id"], ids)
    for arena_id in ids:
        if arena_id not in categories:
            sentence = f"Arena {arena_id} is not in the organizer's book. Create it there first."
            raise Invalid({"arenaId": [sentence]})
    new = [LineupArena(arena_id=one, category_id=categories[one], **fields) for one, fields in listed]
    commands.run_command(
        call,
        lambda t: commands.decide_by_draw(
            t, "lineup", lambda dice: lineup_commands.add_arenas(t, new, dice, call.now)
        ),
    )
    shown = {one.arena_id: one for one in arenas.selected_lineup_arenas(call.db, call.ids[TOURNAMENT], ids)}
    return tuple(shown[arena_id] for arena_id in ids)


def change_arena(call: Write[LineupArenaPatch]) -> Arena:
    """An arena's labels, status and switches here; with `redraw` its open games move to others."""
    arena_id = call.ids[ARENA]

    def rule(t: Tournament) -> commands.Decision:
        def changed(dice: Any) -> list[Any]:
            wanted = call.body.lineup_fields
            if not call.body.redraw:
                return lineup_commands.change_arena(t, arena_id, dice, call.now, **wanted)
            rest = {name: value for name, value in wanted.items() if name != "is_active"}
            return lineup_commands.mark_out_of_order(t, arena_id, dice, call.now, **rest)

        return commands.decide_by_draw(t, f"arena {arena_id}", changed)

    commands.run_command(call, rule)
    return _current_arena(call, arena_id)


def remove_arena(call: Write[Body]) -> Arena:
    """An arena that nobody has played taken out; answers what it was."""
    arena_id = call.ids[ARENA]
    lineup_commands.find_lineup_arena(commands.load_tournament(call), arena_id)
    gone = _current_arena(call, arena_id)
    commands.run_command(call, lambda t: lineup_commands.remove_arena(t, arena_id))
    return gone


def _current_arena(call: Write[Any], arena_id: int) -> Arena:
    (found,) = arenas.selected_lineup_arenas(call.db, call.ids[TOURNAMENT], [arena_id])
    return found


def add_bank(call: Write[Body]) -> ShownBank:
    """A bank of the owner's book joins, with those of its arenas that are not in yet."""
    bank_id = call.ids[BANK]
    tournament = commands.load_tournament(call)
    inside = reads.book_bank_arenas(call.db, tournament.details["organizer_id"], bank_id)
    if inside is None:
        raise NotFound("Bank", bank_id)
    bank = Bank(bank_id=bank_id, arena_ids=tuple(arena_id for arena_id, _ in inside))
    new = [LineupArena(arena_id=arena_id, category_id=category) for arena_id, category in inside]
    commands.run_command(
        call,
        lambda t: commands.decide_by_draw(
            t, "lineup", lambda dice: roster_commands.add_bank(t, bank, new, dice, call.now)
        ),
    )
    return _current_bank(call, bank_id)


def remove_bank(call: Write[Body]) -> ShownBank:
    """A bank is drawn no more; answers what it was."""
    bank_id = call.ids[BANK]
    if all(one.bank_id != bank_id for one in commands.load_tournament(call).banks):
        raise NotFound("Bank", bank_id)
    gone = _current_bank(call, bank_id)
    commands.run_command(call, lambda t: roster_commands.remove_bank(t, bank_id))
    return gone


def _current_bank(call: Write[Any], bank_id: int) -> ShownBank:
    listed = banks.banks_in_tournament(call.db, call.ids[TOURNAMENT])
    return next(one for one in listed if one.bank_id == bank_id)


def add_scorekeeper(call: Write[Body]) -> User:
    """An account may record results here."""
    commands.load_tournament(call)
    found = users.find_user(call.db, call.ids[USER], call.caller)
    commands.run_command(call, lambda t: roster_commands.add_scorekeeper(t, found.user_id))
    return found


def remove_scorekeeper(call: Write[Body]) -> User:
    """An account may record results here no more."""
    commands.load_tournament(call)
    found = users.find_user(call.db, call.ids[USER], call.caller)
    commands.run_command(call, lambda t: roster_commands.remove_scorekeeper(t, found.user_id))
    return found
