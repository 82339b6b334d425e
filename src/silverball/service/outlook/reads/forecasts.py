"""The forecast of a running tournament, as it was stored last."""

from msgspec import Struct
from sqlalchemy import Connection, bindparam, select, true

from silverball.kit.errors import NotAllowed, NotFound, WrongFormat
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model.settings_protocols import HasForecast, has
from silverball.rules.model.tournament import Tournament
from silverball.rules.outlook.forecast import Chance, Claim, Forecast, Withdrawal, cut_of
from silverball.rules.registry import FORMATS
from silverball.store import tables
from silverball.store.revisions.stamps import Revision
from silverball.store.tournament import forecasts, snapshot
from silverball.store.tournament.loaded import LoadedTournament
from silverball_wire import base
from silverball_wire import plans as wire
from silverball_wire.plans import CertainFact, PlayerForecast, WithdrawnFact

NOT_BEGUN = "It has not begun."
OVER = "It is over."
BEING_COMPUTED = "The forecast is being computed."
NO_CHANCES = "Chances are computed for match play in planned rounds, round robins and strikes."
CHANCES = "Chances are ours: {nights:,} simulated nights from how it stands; {rated}."
ASSUMED = (
    "What is certain follows from the rules alone. It holds if the night ends by its settings, "
    "everybody in it plays on, nobody joins, no pairing is changed, and nothing is adjusted or corrected."
)
HIDDEN = "Somebody here hides their rating: they count as unrated and show no number."
_T = tables.tournament.c
_NEWEST = select(_T.revision, _T.stamp, _T.type).where(_T.tournament_id == bindparam("own_id"))
_ENTRANT, _PLAYER, _USER = tables.entrant.c, tables.player.c, tables.user.c
# The order of players by what is certain about winning, for whom there are no chances.
_ORDER = {"clinched": 0, "place": 1, None: 2, "out": 3}


class ForecastIsOff(NotAllowed):
    """The organizer has not switched the forecast of the tournament on."""

    sentence = "The organizer has not switched the forecast on."


class FormatWithoutForecast(WrongFormat):
    """Nothing is certain or computed in this format before its organizer closes it."""

    sentence = "A {format} tournament has no forecast: it ends when its organizer closes it."


class PublishedForecast(Struct, frozen=True):
    """A forecast as everybody sees it, and whether a newer one is being computed."""

    forecast: wire.Forecast
    is_being_computed: bool


def has_forecast(tournament: Tournament) -> bool:
    """Whether the organizer has switched the forecast on, in a format that has one."""
    return has(tournament.settings, HasForecast) and tournament.settings.forecast is True


def tournament_forecast(db: Connection, tournament_id: int) -> PublishedForecast:
    """The newest forecast; asks for a newer one if need be. Raises NotFound, and refuses while it is off."""
    current = _load_switched_on(db, tournament_id)
    tournament = current.tournament
    if tournament.status != "started":
        note = NOT_BEGUN if tournament.status == "planned" else OVER
        return PublishedForecast(_empty_forecast(tournament, note, up_to_date=True), is_being_computed=False)
    stored = forecasts.stored_forecast(db, tournament_id)
    is_old = stored is None or stored.revision != current.revision.number
    if is_old:
        forecasts.ask_for_forecast(db, tournament_id)
    if stored is None:
        return PublishedForecast(_empty_forecast(tournament, BEING_COMPUTED, up_to_date=False), is_old)
    hidden_ids = _hidden_players(db, tournament_id)
    found = stored.forecast
    answer = wire.Forecast(
        computed_at=base.iso(stored.computed_at),
        up_to_date=not is_old,
        cut_position=cut_of(tournament),
        nights_simulated=found.nights_simulated,
        players=tuple(_players(found, tournament, hidden_ids)),
        withdrawn=tuple(_withdrawn_fact(each) for each in found.withdrawals),
        notes=tuple(_notes(found, tournament, hides_somebody=bool(hidden_ids))),
    )
    return PublishedForecast(answer, is_old)


def _load_switched_on(db: Connection, tournament_id: int) -> LoadedTournament:
    row = db.execute(_NEWEST, {"own_id": tournament_id}).one_or_none()
    if row is None:
        raise NotFound("Tournament", tournament_id)
    if row.type not in FORMATS:
        raise FormatWithoutForecast(format=row.type)
    current = snapshot.load_at_revision(db, tournament_id, Revision(row.revision, row.stamp))
    if not has(current.tournament.settings, HasForecast):
        raise FormatWithoutForecast(format=row.type)
    if not current.tournament.settings.forecast:
        raise ForecastIsOff
    return current


def _empty_forecast(tournament: Tournament, note: str, *, up_to_date: bool) -> wire.Forecast:
    return wire.Forecast(
        computed_at=None,
        up_to_date=up_to_date,
        cut_position=cut_of(tournament),
        nights_simulated=0,
        players=(),
        withdrawn=(),
        notes=(note,),
    )


def _hidden_players(db: Connection, tournament_id: int) -> frozenset[int]:
    """Ids of the entrants who opted out of ratings, as of now and not as of the computation."""
    rows = (
        select(_ENTRANT.player_id)
        .join(tables.player, _PLAYER.player_id == _ENTRANT.player_id)
        .join(tables.user, _USER.user_id == _PLAYER.claimed_by)
        .where(_ENTRANT.tournament_id == tournament_id, _USER.ratings_opt_out == true())
    )
    return frozenset(db.execute(rows).scalars())


def _players(found: Forecast, tournament: Tournament, hidden_ids: frozenset[int]) -> list[PlayerForecast]:
    """All entrants: by chance to win, to reach the cut, and what is certain; those without a number last."""
    chances = {chance.player_id: chance for chance in found.chances or ()}
    facts: dict[int, list[Claim]] = {}
    for claim in found.claims:
        facts.setdefault(claim.player_id, []).append(claim)
    rows = [
        _player_forecast(
            entrant.player_id,
            None if entrant.player_id in hidden_ids else chances.get(entrant.player_id),
            facts.get(entrant.player_id, []),
        )
        for entrant in tournament.entrants
    ]
    return sorted(rows, key=_rank)


def _rank(row: PlayerForecast) -> tuple[bool, float, float, int, int]:
    about_win = next((fact.fact for fact in row.facts if fact.goal == "win"), None)
    return row.win is None, -(row.win or 0), -(row.cut or 0), _ORDER[about_win], row.player_id


def _player_forecast(player_id: int, chance: Chance | None, claims: list[Claim]) -> PlayerForecast:
    cut = None if chance is None or chance.cut is None else round(chance.cut, 3)
    return PlayerForecast(
        player_id=player_id,
        win=None if chance is None else round(chance.win, 3),
        cut=cut,
        facts=tuple(CertainFact(goal=each.goal, fact=each.fact, place=each.place) for each in claims),
    )


def _withdrawn_fact(withdrawal: Withdrawal) -> WithdrawnFact:
    claim = withdrawal.claim
    return WithdrawnFact(
        player_id=claim.player_id,
        goal=claim.goal,
        fact=claim.fact,
        place=claim.place,
        reason=withdrawal.reason,
        withdrawn_at=base.iso(withdrawal.withdrawn_at),
    )


def _notes(found: Forecast, tournament: Tournament, *, hides_somebody: bool) -> list[str]:
    form = tournament_commands.format_of(tournament)
    notes = []
    if found.chances is None:
        notes.append(NO_CHANCES)
    else:
        rated = len(found.rated_ids)
        count = f"{rated} of {len(tournament.entrants)} players have a rating here"
        if not rated:
            count = "nobody has a rating here, so all count as equals"
        elif rated < len(tournament.entrants):
            count += ", the others count as their mean"
        notes.append(CHANCES.format(nights=found.nights_simulated, rated=count))
        if hides_somebody:
            notes.append(HIDDEN)
    if not form.is_over(tournament):
        notes.append(ASSUMED)
    return notes
