"""The finals of a tournament, and how a final differs from what it was made from."""

from collections.abc import Sequence
from decimal import Decimal

from sqlalchemy import Connection

from silverball.kit.errors import Invalid, NotFound
from silverball.rules.commands import finals
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.commands.finals import Difference
from silverball.rules.families.brackets import bracket_standing
from silverball.rules.model.finals import FinalSource, FinalStep
from silverball.rules.model.settings import read_settings
from silverball.rules.model.tournament import Entrant, Tournament
from silverball.rules.ranking.standing import Standing
from silverball.rules.registry import FORMATS
from silverball.service.core import loaded
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.players import reads as player_reads
from silverball.service.series import reads as series_reads
from silverball_wire.finals import Final, FinalDifference, Finals, Seed
from silverball_wire.series import SeriesStanding

QUALIFYING, PLAYOFF = "qualifying", "playoff"


def rows_of_tournament(tournament: Tournament) -> list[Standing]:
    """The rows of those who can go on to a final, by position."""
    if tournament.status == "planned":
        return []
    ranked = tournament_commands.format_of(tournament).rank(tournament)
    return tournament_commands.eligible_rows(ranked, tournament.active_ids)


def rows_of_series(
    db: Connection, series_id: int, nights_min: int, viewer: AuthenticatedCaller | None
) -> list[Standing]:
    """The rows of a series by position, of those who were there often enough. Raises NotFound."""
    table = series_reads.series_details(db, series_id, viewer).standings
    nights = series_reads.attendances(db, series_id) if nights_min > 1 else {}
    return [
        bracket_standing(row.player_id, row.position, _points_of(row))
        for row in sorted(table, key=lambda row: (row.position, row.player_id))
        if nights_min <= 1 or nights.get(row.player_id, 0) >= nights_min
    ]


def _points_of(row: SeriesStanding) -> Decimal:
    adjusted = row.points_adjusted
    return Decimal(str(row.points if adjusted is None or isinstance(adjusted, tuple) else adjusted))


def rows_of_source(
    db: Connection, final: Tournament, source: FinalSource, viewer: AuthenticatedCaller | None
) -> list[Standing] | None:
    """The rows that a final is compared with; None where its source is gone."""
    try:
        if source.series_id is not None:
            series = series_reads.find_series(db, source.series_id, viewer)
            if series.organizer_id != final.details["organizer_id"]:
                return None
            return rows_of_series(db, source.series_id, source.nights_min, viewer)
        assert source.tournament_id is not None
        qualifying = loaded.load_with_revision(db, source.tournament_id).tournament
    except NotFound:
        return None
    # The numbers of an import may be those of another tournament or series here.
    links = [link["linked_tournament_id"] for link in final.details["links"]]
    is_own = qualifying.details["organizer_id"] == final.details["organizer_id"]
    return rows_of_tournament(qualifying) if is_own and source.tournament_id in links else None


def difference_of(
    db: Connection, tournament: Tournament, viewer: AuthenticatedCaller | None
) -> Difference | None:
    """How a final that is not completed differs from its source; None where it does not."""
    source = tournament.state.final_source
    if not isinstance(source, FinalSource) or tournament.status == "completed":
        return None
    rows = rows_of_source(db, tournament, source, viewer)
    if rows is None:
        return None
    found = finals.difference(tournament, source, rows)
    return None if found.is_empty else found


def finals_of(db: Connection, tournament: Tournament, viewer: AuthenticatedCaller | None) -> Finals:
    """The finals that a tournament leads to; for a final, its source and how it differs from that."""
    source = tournament.state.final_source
    is_final = isinstance(source, FinalSource)
    found = difference_of(db, tournament, viewer)
    return Finals(
        steps=tuple(_shown_steps(db, tournament)),
        source_id=source.tournament_id if isinstance(source, FinalSource) else None,
        series_id=source.series_id if isinstance(source, FinalSource) else None,
        difference=_shown_difference(found, tournament) if is_final and found is not None else None,
    )


def _shown_difference(found: Difference, final: Tournament) -> FinalDifference:
    return FinalDifference(
        entering=found.entering,
        leaving=found.leaving,
        reseeded=tuple(Seed(player_id=player_id, seed=seed) for player_id, seed in found.reseeded),
        kept_by_hand=found.kept_by_hand,
        tied=found.tied,
        can_follow=not finals.has_results(final),
    )


def _shown_steps(db: Connection, tournament: Tournament) -> list[Final]:
    steps = tournament.state.planned_finals
    made = made_finals(db, tournament) if steps else {}
    rows = rows_of_tournament(tournament)
    return [shown_step(index, steps[: index + 1], rows, made.get(index)) for index in range(len(steps))]


def shown_step(
    index: int, steps: Sequence[FinalStep], rows: Sequence[Standing], tournament_id: int | None
) -> Final:
    """A step with who would go on now, and with what follows from their number."""
    step, cut = steps[-1], finals.cut_of(rows, steps)
    form = FORMATS[step.type]
    count = len(cut.player_ids) or step.players or 0
    byes: tuple[int, ...] = ()
    rounds: int | None = None
    tied_at_bye: list[int] = []
    if form.players_min <= count and (form.players_max is None or count <= form.players_max):
        settings = read_settings(form.settings, {**step.settings, **form.planning.fitted(count)})
        byes, rounds = finals.byes_and_rounds(form, settings, count)
        chosen = cut.rows[cut.first : cut.last]
        tied_at_bye = [
            each for line in byes for each in tournament_commands.players_tied_across(chosen, line)
        ]
    return Final(
        index=index,
        name=step.name,
        type=step.type,
        players=step.players,
        half=step.half,
        within=None if step.within is None else str(step.within),
        qualified=cut.player_ids,
        tied=cut.tied,
        tied_at_bye=tuple(dict.fromkeys(tied_at_bye)),
        byes=byes,
        rounds=rounds,
        tournament_id=tournament_id,
    )


def made_finals(db: Connection, tournament: Tournament) -> dict[int, int]:
    """Index of a step -> id of the final that was made of it."""
    found: dict[int, int] = {}
    for link in tournament.details["links"]:
        if link["link_type"] != PLAYOFF:
            continue
        final_id = link["linked_tournament_id"]
        try:
            source = loaded.load_with_revision(db, final_id).tournament.state.final_source
        except NotFound:
            continue
        if isinstance(source, FinalSource) and source.tournament_id == tournament.tournament_id:
            found.setdefault(len(source.steps) - 1, final_id)
    return found


def new_entrants(
    db: Connection, player_ids: Sequence[int], viewer: AuthenticatedCaller | None
) -> list[Entrant]:
    """Entrants for players of the book. Raises Invalid for one who is not in it any more."""
    known = {player.player_id: player for player in player_reads.existing_players(db, player_ids, viewer)}
    missing = [player_id for player_id in player_ids if player_id not in known]
    if missing:
        raise Invalid({"players": [f"There is no player {missing[0]} any more."]})
    return [Entrant(player_id=player_id, user_id=known[player_id].claimed_by) for player_id in player_ids]
