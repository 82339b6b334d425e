"""A tournament as it stands on the service that runs it, enacted here as the changes that lead to it."""

from datetime import datetime, timedelta

from silverball.kit.values import replace
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.families import frenzy
from silverball.rules.model.apply import changes_between_states
from silverball.rules.model.changes import Change, TournamentImported
from silverball.rules.model.tournament import Entrant, Tournament
from silverball.service.core import enact, loaded
from silverball.service.core.enact import ActionContext
from silverball.store.database.transaction import Transaction
from silverball.store.tournament import imports, snapshot


def enact_differences(
    transaction: Transaction, there: TournamentImported, context: ActionContext
) -> list[Change]:
    """Enact what differs between a mirror and the tournament there; without differences do nothing.

    Everything that the tournament there names must be stored. Raises Invalid for what cannot be ranked.
    """
    before = loaded.load_mirrored(transaction, there.tournament_id)
    after = _state_there(transaction, there, before.tournament)
    after = replace(
        after, state=replace(after.state, clock_ends_at=_clock_end(before.tournament, after, context.now))
    )
    changes = changes_between_states(before.tournament, after)
    if changes:
        enact.enact(transaction, there.tournament_id, changes, context, before=before)
    return changes


def _state_there(transaction: Transaction, there: TournamentImported, here: Tournament) -> Tournament:
    """The tournament as an import would store it, with the facts from here that nobody publishes."""
    db = transaction.connection
    trial = db.begin_nested()
    try:
        imports.write_import(db, there)
        imported = snapshot.load(db, there.tournament_id)
    finally:
        trial.rollback()
    if imported.status != "completed":
        # The marks of a running tournament are computed from its scores; only a completed one stores them.
        marks = {game.single_player_game_id: game.is_best for game in here.single_player_games}
        card_marks = {card.card_id: card.is_best for card in here.cards}
        imported = replace(
            imported,
            single_player_games=tuple(
                replace(game, is_best=marks.get(game.single_player_game_id, False))
                for game in imported.single_player_games
            ),
            cards=tuple(
                replace(card, is_best=card_marks.get(card.card_id, False)) for card in imported.cards
            ),
        )
    details = {
        **imported.details,
        **{name: here.details[name] for name in (snapshot.SHORTCUT, snapshot.EVENT)},
    }
    return replace(
        imported,
        entrants=tuple(
            replace(
                entrant,
                adjusted_after=_adjusted_after(here.entrant_by_id.get(entrant.player_id), entrant, imported),
            )
            for entrant in imported.entrants
        ),
        state=here.state,
        prizes=here.prizes,
        reopening=here.reopening,
        purchases=here.purchases,
        details=details,
    )


def _adjusted_after(here: Entrant | None, entrant: Entrant, there: Tournament) -> int | None:
    """The rounds before the last adjustment by hand: nobody publishes it, so it is noted when it is seen."""
    if here is not None and here.points_adjustment == entrant.points_adjustment:
        return here.adjusted_after
    return there.rounds_completed if entrant.points_adjustment else None


def _clock_end(here: Tournament, there: Tournament, now: datetime) -> datetime | None:
    """When the clock there runs out, which nobody publishes: a pause has its seconds left, a start its games.

    Time that was added there is not known here.
    """
    if not tournament_commands.format_of(there).has_clock or there.status != "started":
        return here.state.clock_ends_at
    paused_before, paused = frenzy.paused_seconds(here), frenzy.paused_seconds(there)
    if paused:
        return None
    if paused_before:
        return now + timedelta(seconds=paused_before)
    if here.state.clock_ends_at is not None:
        return here.state.clock_ends_at
    began_at = min((game.started_at for game in there.games if game.started_at), default=None)
    return None if began_at is None else began_at + frenzy.duration(there)
