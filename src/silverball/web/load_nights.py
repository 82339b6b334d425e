"""Loads a tournament for its pages: for its staff, and for everybody."""

from datetime import datetime

from silverball.rules.model.tournament import Tournament
from silverball.service import access
from silverball.service.access import AuthenticatedCaller
from silverball.service.arenas import reads as arena_reads
from silverball.service.core import loaded
from silverball.service.players import reads as player_reads
from silverball.service.tournaments.reads import journal
from silverball.service.users import reads as user_reads
from silverball.store import announcements
from silverball.store.engine import Db
from silverball.web.mirror_notice import mirror_notice
from silverball.web.room_view import load_room_view
from silverball.web.site import Site
from silverball.web.tournament_night import NotStaff, TournamentNight


def load_night(site: Site, tournament_id: int, caller: AuthenticatedCaller) -> TournamentNight:
    """The tournament for its staff. Raises NotFound, and NotStaff for anybody else."""
    with site.store.read() as db:
        tournament = loaded.load_tournament(db, tournament_id)
        if not access.may_score(caller, tournament):
            raise NotStaff
        is_organizer = access.may_manage(caller, tournament)
        actions = journal.JournalRows([], 0, None)
        if is_organizer:
            actions = journal.journal_page(db, tournament_id, journal.JournalQuery(), caller)
        scorekeeper_ids = [scorekeeper.user_id for scorekeeper in tournament.scorekeepers]
        scorekeepers = user_reads.existing_users(db, scorekeeper_ids, caller)
        return TournamentNight(
            tournament=tournament,
            now=site.now(),
            is_organizer=is_organizer,
            is_owner=is_organizer and access.owns(caller, tournament),
            players=player_names(db, tournament_id, caller),
            arenas=arena_names(db, tournament_id),
            scorekeepers={user.user_id: user.name for user in scorekeepers},
            actions=actions.rows,
            last_action=actions.last,
            head=announcements.channel_head(db, tournament_id),
            room=load_room_view(db, tournament, caller),
            mirror=mirror_notice(db, tournament),
        )


def public_night(db: Db, tournament: Tournament, now: datetime) -> TournamentNight:
    """The tournament as everybody may see it."""
    return TournamentNight(
        tournament=tournament,
        now=now,
        is_organizer=False,
        players=player_names(db, tournament.tournament_id, None),
        arenas=arena_names(db, tournament.tournament_id),
        room=load_room_view(db, tournament, None),
        mirror=mirror_notice(db, tournament),
    )


def player_names(db: Db, tournament_id: int, viewer: AuthenticatedCaller | None) -> dict[int, str]:
    """Player id -> name, of all entrants."""
    return {player.player_id: player.name for player in player_reads.entrants(db, tournament_id, viewer)}


def arena_names(db: Db, tournament_id: int) -> dict[int, str]:
    """Arena id -> name, of the lineup."""
    return {arena.arena_id: arena.name for arena in arena_reads.lineup_arenas(db, tournament_id)}
