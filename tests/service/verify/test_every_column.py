"""Each column of a tournament and of ratings is changed once, and rows are deleted: the verifier names it."""

import logging
from collections import Counter
from collections.abc import Iterable, Sequence

import pytest
from sqlalchemy import Table

import selection
from rules.night import NOON
from service import stored_nights
from service.verify import planting
from service.verify.planting import ALL_MOVES, TOURNAMENT_TABLES, Plant
from silverball.rules.model import fields
from silverball.rules.ratings.formulas import DEFAULTS
from silverball.service.journal.reads import verification
from silverball.service.periods import rating_run
from silverball.service.periods.reads import rating_check
from silverball.store import tables
from silverball.store.database.engine import Store

RATING_TABLES: Sequence[Table] = (tables.rating, tables.rating_period, tables.rating_revision)
# Nothing else says what these are: texts of notes and whom they are about, times of writing, counters of the
# program, keys that nothing refers to, accounts that answers look up anew, and percentiles of those who were
# listed at that time.
UNDETERMINED = frozenset(
    {
        "tournament.created_at",
        "tournament.updated_at",
        "tournament.revision",
        "tournament.stamp",
        "game_note.note_id",
        "game_note.text",
        "game_note.player_id",
        "announcement.at",
        "announcement.revision",
        "rating_period.rating_period_id",
        "rating_period.processed_at",
        "rating_period.percentiles",
        "rating_revision.rating_revision_id",
    }
)
UNDETERMINED_SHARE_MAX = 0.12
NAMED_SHARE_MIN = 0.97
# The words of a sentence about a row that is missing, or that stands under another key.
ROW_WORDS = {
    "tournament": ("no line of the journal is this tournament's",),
    "entrant": ("The entrant ",),
    "lineup_arena": ("The arena ",),
    "lineup_bank": ("The bank ",),
    "scorekeeper": ("The scorekeeper ",),
    "tournament_link": ("links",),
    "entry": ("The purchase ",),
    "sign_up": ("The sign-up ",),
    "round": ("The round ",),
    "game": ("The game ",),
    "game_player": ("player_ids is", "seats of game"),
    "suggestion": ("The suggestion ",),
    "single_player_game": ("The single player game ",),
    "card": ("The card ",),
    "queue_entry": ("The queue entry ",),
    "game_note": ("Note ", "The note "),
    "standing": ("row in the standings", "another player or place"),
    "journal": ("does not follow the line before", "is missing from the journal", "its actor", "head that"),
    "announcement": ("Announcement ",),
    "rating": ("no rating is theirs", "is not expected", "Rating ", "rating"),
    "rating_period": ("The period of ", "current period"),
    "rating_revision": ("The revision of ",),
}
# Column -> other words for it, beside its own name and that of its field.
COLUMN_WORDS = {
    "lineup_arena.status": ("is_active",),
    "lineup_arena.preferred": ("is_preferred",),
    "lineup_arena.best_game_blocked": ("is_blocked",),
    "lineup_arena.best_game_queue_closed": ("is_queue_closed",),
    "sign_up.paid_cents": ("payment",),
    "sign_up.paid_how": ("payment",),
    "sign_up.paid_to": ("payment",),
    "sign_up.paid_at": ("payment",),
    "game.duration_seconds": ("completed_at",),
    "game_player.slot": ("player_ids", "slots"),
    "game_player.player_id": ("player_ids",),
    "game_player.result_position": ("result_positions",),
    "game_player.points": ("result_points",),
    "game_player.score": ("result_scores",),
    "queue_entry.completed_at": ("is_done",),
    "standing.position": ("another player or place",),
    "standing.row": ("The standings show",),
    "journal.action_id": ("action ",),
    "journal.change": ("its change",),
    "journal.data": ("its change", "it was created with"),
    "journal.actor_id": ("its actor",),
    "journal.at": ("its time",),
    "journal.dice_seed": ("its dice seed",),
    "journal.draw_version": ("draw version",),
    "journal.source": ("its source",),
    "journal.source_salt": ("its salt",),
    "journal.source_hash": ("its hash",),
    "journal.sealed_labels": ("labels",),
    "journal.digests": ("short digests",),
    "journal.hash": ("does not follow", "has no hash"),
    "announcement.journal_head": ("journal head",),
    "rating_period.period_date": ("The period of ",),
    "rating_revision.period_date": ("The revision of ",),
    "rating_revision.rating_id": ("The revision of ",),
    "rating_period.parameters": ("fingerprint", "other settings"),
    "rating.name": ("its name", "another name"),
}
ALL_FIELDS = (
    *fields.TOURNAMENT,
    *fields.ENTRANT,
    *fields.ROUND,
    *fields.GAME,
    *fields.SINGLE_PLAYER_GAME,
    *fields.CARD,
    *fields.QUEUE_PLACE,
)
KINDS = (
    "group_knockout",
    "matchplay",
    "golf",
    "bowling",
    "best_game",
    "card_best_game",
    "amazingrace",
    "frenzy",
)
MORE_KINDS = tuple(sorted(set(ALL_MOVES) - {*KINDS}))
ROWS_OF_A_TABLE = 2


class _Planted(Exception):
    """Ends the transaction without a trace."""


def _own_words(plant: Plant) -> set[str]:
    """The words that name the cause of this fault."""
    column = plant.column
    own_row = {*ROW_WORDS.get(plant.table.name, (plant.table.name,))}
    if column is None:
        return own_row
    is_key = column.primary_key or column.name == "tournament_id"
    words = {column.name, *COLUMN_WORDS.get(plant.name, ())} | (own_row if is_key else set())
    for field in ALL_FIELDS:
        if field.stored_in == column.name:
            words.add(field.name)
    return words


def _faults_with(store: Store, plant: Plant, tournament_id: int | None) -> list[str]:
    """What the verifier says with this fault, which is taken back at once; without an id, of the ratings."""
    faults: list[str] = []
    with pytest.raises(_Planted), store.write() as transaction:
        db = transaction.connection
        plant.apply(db)
        if tournament_id is None:
            reports = rating_check.verify_in(db, DEFAULTS)
            faults += [fault for report in reports for fault in (*report.faults, report.not_compared or "")]
        else:
            known = verification.tournament_ids(db)
            shown_id = tournament_id if tournament_id in known else known[-1]
            faults += verification.verify_tournament(db, shown_id).faults
        raise _Planted
    return [fault for fault in faults if fault]


def _is_named(plant: Plant, faults: Iterable[str]) -> bool:
    words = _own_words(plant)
    return any(word in fault for fault in faults for word in words)


def _missed(store: Store, plants: Iterable[tuple[Plant, int | None]]) -> tuple[Counter[str], Counter[str]]:
    """Name of each plant -> how often it was planted, and how often not named."""
    planted: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for plant, tournament_id in plants:
        planted[plant.name] += 1
        if not _is_named(plant, _faults_with(store, plant, tournament_id)):
            missed[plant.name] += 1
    return planted, missed


def _note(text: str) -> None:
    """Log the counts, which `-o log_cli=true --log-level=INFO` shows."""
    logging.getLogger("silverball.tests").info(text)


def _nights(store: Store) -> list[int]:
    """Completed nights of several formats on several days, a running one, and an evening; all are clean."""
    stored_nights.skip_disk_sync(store)
    kinds = (*KINDS, *MORE_KINDS) if selection.IS_ALL else KINDS
    nights = [
        planting.a_walked_night(store, kind, steps=14, day=number % 4) for number, kind in enumerate(kinds)
    ]
    nights.append(planting.a_walked_night(store, "frenzy", steps=14, is_completed=False))
    ids = [night.tournament.tournament_id for night in nights]
    evenings = (planting.an_evening(store), planting.an_evening_with_entries(store))
    ids += [evening.night.tournament.tournament_id for evening in evenings]
    for tournament_id in ids:
        with store.read() as db:
            assert verification.verify_tournament(db, tournament_id).faults == []
    return ids


def _rate(store: Store) -> None:
    """Rate the nights; all ratings are clean."""
    planting.give_names(store)
    rating_run.rate_days(store, planting.UNTIL, DEFAULTS, NOON)
    reports = list(rating_check.verify_ratings(store, DEFAULTS))
    assert [report for report in reports if report.faults or report.not_compared] == []


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_change_of_any_column_is_named_with_its_cause(store: Store) -> None:
    ids = _nights(store)
    _rate(store)
    plants: list[tuple[Plant, int | None]] = []
    with store.read() as db:
        for tournament_id in ids:
            for table in TOURNAMENT_TABLES:
                own = planting.column_plants(db, table, table.c.tournament_id == tournament_id)
                plants += [(plant, tournament_id) for plant in own]
        for table in RATING_TABLES:
            plants += [(plant, None) for plant in planting.column_plants(db, table)]
    every = {
        f"{table.name}.{column.name}" for table in (*TOURNAMENT_TABLES, *RATING_TABLES) for column in table.c
    }
    assert {plant.name for plant, _ in plants} >= every - {
        "entry." + column.name for column in tables.entry.c
    }
    assert every >= UNDETERMINED
    assert len(UNDETERMINED) <= UNDETERMINED_SHARE_MAX * len(every)
    wanted = [each for each in plants if each[0].name not in UNDETERMINED]
    if not selection.IS_ALL:
        # Each column once, and not in each night.
        wanted = list({plant.name: (plant, tournament_id) for plant, tournament_id in wanted}.values())
    planted, missed = _missed(store, wanted)
    _note(f"{planted.total()} changes of {len(planted)} columns, not named: {dict(missed)}")
    assert missed.total() <= (1 - NAMED_SHARE_MIN) * planted.total(), missed


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_row_that_is_gone_is_named(store: Store) -> None:
    ids = _nights(store)
    _rate(store)
    count = None if selection.IS_ALL else ROWS_OF_A_TABLE
    plants: list[tuple[Plant, int | None]] = []
    with store.read() as db:
        for tournament_id in ids:
            # A tournament may be deleted as a whole.
            for table in TOURNAMENT_TABLES[1:]:
                own = list(planting.row_plants(db, table, table.c.tournament_id == tournament_id))
                plants += [(plant, tournament_id) for plant in own[:count]]
        for table in RATING_TABLES:
            plants += [(plant, None) for plant in list(planting.row_plants(db, table))[:count]]
    planted, missed = _missed(store, plants)
    _note(f"{planted.total()} rows deleted, not named: {dict(missed)}")
    assert missed.total() <= (1 - NAMED_SHARE_MIN) * planted.total(), missed
