"""Results for the federation: a qualifying with its final as one event, or a series."""

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType
from sqlalchemy import Connection, select

from silverball.kit.errors import Conflict, Invalid, NotAllowed, Sentence
from silverball.kit.http.query import Query
from silverball.rules.commands import sent_results as rules
from silverball.rules.format import all_active
from silverball.rules.model.tournament import Tournament
from silverball.rules.ranking import series as ranking_series
from silverball.rules.ranking.series import EventPlace, ParticipationShare
from silverball.rules.registry import FORMATS
from silverball.service.core import access, loaded
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.outlook.reads import worth
from silverball.service.players import reads as players
from silverball.service.series import reads as series_reads
from silverball.service.standings.reads import standings
from silverball.service.tables.reads import event_checks
from silverball.service.tables.sheet import Cell, VerbatimText
from silverball.store import tables
from silverball_wire import base
from silverball_wire.base import Id
from silverball_wire.players import Player
from silverball_wire.standings import EventResult, EventResults, LeftOutReason, SentChange, SentResults

HEADER = ("Place", "Name", "IFPA number")
PLAYERS_MAX = 1000
_LINK, _T = tables.tournament_link.c, tables.tournament.c


class EventNotFinished(Conflict):
    """The places of the event can still change."""

    sentence = "{name} is not finished, so its places can still change."


class FederationNumberTwice(Conflict):
    """One number stands in the file twice."""

    sentence = (
        "These have the same federation number: {players}. Merge them if they are one person, or correct the"
        " number of one of them."
    )


class EventResultsQuery(Query, frozen=True, kw_only=True):
    """Parameters of the results for the federation."""

    players: Annotated[tuple[Id, ...], Meta(max_length=PLAYERS_MAX)] = ()
    """Ids of the players in the file; without it those who are ticked."""


class FinishedEvent(Struct, frozen=True, kw_only=True):
    """The places of an event that is over, with the people on them."""

    name: str
    tournament_id: int | None
    finals_id: int | None
    series_id: int | None
    places: tuple[EventPlace, ...]
    players: Mapping[int, Player]
    is_womens: bool = False

    @property
    def file_name(self) -> str:
        """The name of its CSV, which says for which ranking it is."""
        event = f"series-{self.series_id}" if self.tournament_id is None else str(self.tournament_id)
        return f"results-{'womens-' if self.is_womens else ''}{event}.csv"


def finished_event(db: Connection, tournament_id: int, viewer: AuthenticatedCaller | None) -> FinishedEvent:
    """The event that a qualifying, or one of its finals, belongs to. Raises NotFound and Conflict.

    Only the final of the best decides places; other playoffs change none.
    """
    event = worth.event_of(db, id_of_first(db, tournament_id))
    nights = [night for night in (event.first, event.finals) if night is not None]
    names = _tournament_names(db, [night.tournament_id for night in nights])
    for night in nights:
        if not night.is_completed:
            raise EventNotFinished(name=names[night.tournament_id])
    first = event.first.tournament
    people: dict[int, Player] = {}
    finals: dict[int, int] = {}
    for night in reversed(nights):
        entrants = players.entrants(db, night.tournament_id, viewer)
        people |= {player.player_id: player for player in entrants}
    if event.finals is not None:
        finals = _positions(db, event.finals.tournament_id)
    shares = {} if first is None else _participation_shares(first)
    first_id = event.first.tournament_id
    return FinishedEvent(
        name=names[first_id],
        tournament_id=first_id,
        finals_id=None if event.finals is None else event.finals.tournament_id,
        series_id=None,
        places=ranking_series.event_places(people, _positions(db, first_id), finals, shares),
        players=people,
        is_womens=bool(db.execute(select(_T.womens).where(_T.tournament_id == first_id)).scalar_one()),
    )


def finished_series(db: Connection, series_id: int, viewer: AuthenticatedCaller | None) -> FinishedEvent:
    """The places of a completed series. Raises NotFound and Conflict.

    Of its tournaments, those that are not removed from everybody's results are what a player can play.
    """
    series = series_reads.series_details(db, series_id, viewer)
    if series.status != "completed":
        raise EventNotFinished(name=series.name)
    nights = series.tournament_points or {}
    attended = dict.fromkeys((player.player_id for player in series.players), 0)
    for night in nights.values():
        for player_id in night or {}:
            attended[player_id] = attended.get(player_id, 0) + 1
    possible = max(len(nights) - (series.removed_results or 0), 0)
    shares = {
        player_id: ParticipationShare(min(count, possible), possible) for player_id, count in attended.items()
    }
    positions = {row.player_id: row.position for row in series.standings}
    people = {player.player_id: player for player in series.players}
    return FinishedEvent(
        name=series.name,
        tournament_id=None,
        finals_id=None,
        series_id=series_id,
        places=ranking_series.event_places(people, positions, {}, shares),
        players=people,
    )


def event_results(event: FinishedEvent, chosen: Sequence[int]) -> EventResults:
    """The event in its published shape. Raises Invalid when somebody chosen has no place in it."""
    rows, player_ids = result_rows(event), player_ids_in_file(event, chosen)
    checks = event_checks.checks_of(rows, player_ids)
    is_kept_back = any(check.kind == "number-twice" for check in checks)
    return EventResults(
        tournament_id=event.tournament_id,
        finals_id=event.finals_id,
        series_id=event.series_id,
        name=event.name,
        womens=event.is_womens or UNSET,
        results=rows,
        checks=checks,
        text="" if is_kept_back else text_to_paste(file_rows(event, chosen)),
    )


def result_rows(event: FinishedEvent) -> tuple[EventResult, ...]:
    """All players of the event, by place; erased people have no row."""
    return tuple(
        _event_result(place, event.players)
        for place in event.places
        if not _is_erased(event.players.get(place.player_id))
    )


def file_rows(event: FinishedEvent, chosen: Sequence[int]) -> list[tuple[Cell, ...]]:
    """Place in the event, name and number of the chosen players, or of those who are ticked, by place.

    Raises Invalid when somebody chosen has no place in the event, and Conflict for a number that stands there
    twice.
    """
    player_ids, rows = player_ids_in_file(event, chosen), result_rows(event)
    for check in event_checks.checks_of(rows, player_ids):
        if check.kind == "number-twice":
            raise FederationNumberTwice(players=check.player_ids)
    return rows_among(rows, player_ids)


def rows_among(rows: Sequence[EventResult], player_ids: Collection[int]) -> list[tuple[Cell, ...]]:
    """Place, name and number of those of these players who have a place, by place."""
    return [
        (
            row.position,
            " ".join(row.name.split()),
            None if row.ifpa_id is None else VerbatimText(row.ifpa_id),
        )
        for row in rows
        if row.position is not None and row.player_id in player_ids
    ]


def text_to_paste(rows: Sequence[tuple[Cell, ...]]) -> str:
    """The rows as lines with tabs between the cells."""
    return "".join("\t".join("" if cell is None else str(cell) for cell in row) + "\n" for row in rows)


def player_ids_in_file(event: FinishedEvent, chosen: Sequence[int]) -> Collection[int]:
    """Ids of the chosen players, or of those who are ticked. Raises Invalid for who has no place."""
    rows = result_rows(event)
    if not chosen:
        return {row.player_id for row in rows if row.ticked}
    strangers = set(chosen) - {row.player_id for row in rows if row.position is not None}
    if strangers:
        sentence = Sentence("No place in this event: {players}.", players=sorted(strangers))
        raise Invalid({"players": [sentence]})
    return set(chosen)


def sent_results(db: Connection, tournament_id: int, viewer: AuthenticatedCaller | None) -> SentResults:
    """The results as the federation was sent them, and what differs now. Raises NotFound, NotAllowed."""
    own = loaded.load_with_revision(db, tournament_id).tournament
    if viewer is None or not access.may_manage(viewer, own):
        raise NotAllowed
    sent = loaded.load_with_revision(db, id_of_first(db, tournament_id)).tournament.state.results_sent
    if isinstance(sent, UnsetType):
        return SentResults(sent_at=None, changes=())
    try:
        event = finished_event(db, tournament_id, viewer)
    except EventNotFinished:
        return SentResults(sent_at=base.iso(sent.sent_at), changes=())
    places = {place.player_id: place.position for place in event.places if place.position is not None}
    changes = [
        SentChange(
            player_id=change.player_id,
            name=_name(event.players, change.player_id),
            sent=change.sent,
            now=change.now,
        )
        for change in rules.changes_since(sent, places)
    ]
    return SentResults(sent_at=base.iso(sent.sent_at), changes=tuple(changes))


def id_of_first(db: Connection, tournament_id: int) -> int:
    """Id of the qualifying of a final, or of the tournament itself."""
    qualifying = (
        select(_LINK.linked_tournament_id)
        .where(_LINK.tournament_id == tournament_id, _LINK.link_type == "qualifying")
        .order_by(_LINK.place)
        .limit(1)
    )
    return db.execute(qualifying).scalar_one_or_none() or tournament_id


def _participation_shares(qualifying: Tournament) -> dict[int, ParticipationShare]:
    """Player id -> how much of the qualifying they played, for those who could have played all of it."""
    players_go_out = FORMATS[qualifying.type].playing_ids is not all_active
    return ranking_series.participation_shares(qualifying, players_go_out=players_go_out)


def _tournament_names(db: Connection, tournament_ids: Sequence[int]) -> dict[int, str]:
    column = tables.tournament.c
    rows = select(column.tournament_id, column.name).where(column.tournament_id.in_(tournament_ids))
    return {row.tournament_id: row.name for row in db.execute(rows.order_by(column.tournament_id))}


def _positions(db: Connection, tournament_id: int) -> dict[int, int]:
    return {row.player_id: row.position for row in standings.decoded_standings(db, tournament_id)}


def _event_result(place: EventPlace, people: Mapping[int, Player]) -> EventResult:
    reasons = _left_out_reasons(place, people)
    player = people.get(place.player_id)
    return EventResult(
        player_id=place.player_id,
        name=_name(people, place.player_id),
        ifpa_id=None if player is None else player.ifpa_id,
        position=place.position,
        finalist=place.is_finalist,
        ticked=place.position is not None and not place.is_below_half,
        reasons=reasons,
    )


def _left_out_reasons(place: EventPlace, people: Mapping[int, Player]) -> tuple[LeftOutReason, ...]:
    player = people.get(place.player_id)
    reasons: list[LeftOutReason] = []
    if player is None or player.ifpa_id is None:
        reasons.append("no-number")
    if place.position is None:
        reasons.append("did-not-play")
    elif place.is_below_half:
        reasons.append("below-half")
    return tuple(reasons)


def _name(people: Mapping[int, Player], player_id: int) -> str:
    player = people.get(player_id)
    return f"Player {player_id}" if player is None else player.name


def _is_erased(player: Player | None) -> bool:
    """Whether the player has the pseudonym of somebody whose account was erased."""
    return player is not None and (player.name, player.status, player.ifpa_id, player.claimed_by) == (
        f"Player {player.player_id}",
        "inactive",
        None,
        None,
    )
