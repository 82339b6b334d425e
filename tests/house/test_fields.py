"""The table of fields holds for the Structs, the columns, the bodies and the include flags."""

from collections.abc import Sequence
from types import NoneType
from typing import Any, get_args, get_type_hints

import msgspec
import pytest
from msgspec import UNSET
from sqlalchemy import Column, Table

import build
from silverball.rules.model import fields
from silverball.rules.model import tournament as model
from silverball.rules.model.fields import PartField
from silverball.service.accounts import reads as accounts
from silverball.service.core import loaded
from silverball.service.tables.reads import bulk
from silverball.service.tables.reads.bulk import BulkTable
from silverball.service.tournaments import bodies
from silverball.service.tournaments.reads.parts import PartsQuery
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball_wire.bundle import AttemptFacts, EntrantFacts, GameFacts
from silverball_wire.games import Game
from silverball_wire.players import EntrantPart
from silverball_wire.queues import QueueEntry
from silverball_wire.rounds import Round
from silverball_wire.singleplayer import Card, SinglePlayerGame
from silverball_wire.tournaments import SETTING_FIELDS, Tournament

# Games outside of rounds have round 0.
SHOWN_AS_ZERO = {"round_id"}
AUDIENCES = get_args(fields.Audience)
# Fields of bodies that make the tournament, and are no fields of it afterwards.
NOT_STORED = {"type", "player_ids", "arena_ids"}


# Part -> its fields, the Struct of the rules, the published shape, and its table.
PARTS: dict[str, tuple[Sequence[PartField], type[Any], type[Any], Table]] = {
    "entrant": (fields.ENTRANT, model.Entrant, EntrantPart, tables.entrant),
    "round": (fields.ROUND, model.Round, Round, tables.round_),
    "game": (fields.GAME, model.Game, Game, tables.game),
    "single player game": (
        fields.SINGLE_PLAYER_GAME,
        model.SinglePlayerGame,
        SinglePlayerGame,
        tables.single_player_game,
    ),
    "card": (fields.CARD, model.Card, Card, tables.card),
    "queue place": (fields.QUEUE_PLACE, model.QueueSpot, QueueEntry, tables.queue_entry),
}
ALL_PARTS = {name: part[0] for name, part in PARTS.items()} | {"tournament": fields.TOURNAMENT}


@pytest.mark.parametrize("part", ALL_PARTS)
def test_a_field_has_one_line(part: str) -> None:
    names = [field.name for field in ALL_PARTS[part]]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("part", PARTS)
def test_the_rules_have_the_attributes_of_the_table(part: str) -> None:
    part_fields, kind, _, _ = PARTS[part]
    attributes = {field.name for field in part_fields if field.place == "attribute"}
    assert attributes == set(kind.__struct_fields__)


@pytest.mark.parametrize("part", PARTS)
def test_a_published_shape_has_the_fields_that_are_published(part: str) -> None:
    part_fields, _, shape, _ = PARTS[part]
    assert {field.published for field in part_fields} - {None} == set(shape.__struct_fields__)


@pytest.mark.parametrize("part", PARTS)
def test_a_part_is_stored_in_the_columns_of_its_fields(part: str) -> None:
    part_fields, _, _, table = PARTS[part]
    stored = {field.stored_in: field.audience for field in part_fields if field.kind is not None}
    assert {column.name: column.info["audience"] for column in table.c} == stored


@pytest.mark.parametrize("part", PARTS)
def test_a_field_that_is_absent_when_empty_can_be_absent(part: str) -> None:
    part_fields, _, shape, _ = PARTS[part]
    defaults = {field.name: field.default for field in msgspec.structs.fields(shape)}
    absent = [field for field in part_fields if field.presence == fields.ABSENT_WHEN_EMPTY]
    assert [field.name for field in absent if defaults[str(field.published)] is not UNSET] == []


@pytest.mark.parametrize(
    ("part", "shape"),
    [("entrant", EntrantFacts), ("game", GameFacts), ("single player game", AttemptFacts)],
)
def test_facts_of_the_engine_carry_what_no_shape_shows(part: str, shape: type[Any]) -> None:
    carried = {field.stored_in for field in PARTS[part][0] if field.bundle == "facts"}
    assert carried <= set(shape.__struct_fields__)


@pytest.mark.parametrize("part", ALL_PARTS)
def test_bundles_carry_the_published_columns_and_the_facts_and_nothing_else(part: str) -> None:
    part_fields = ALL_PARTS[part]
    carried = set(fields.carried_sources(part_fields, {}))
    facts = {field.stored_in for field in part_fields if field.bundle == "facts"}
    shown = {field.stored_in for field in part_fields if field.kind and field.published is not None}
    assert carried == shown
    assert not carried & facts


@pytest.mark.parametrize(
    ("part", "table"),
    [
        ("tournament", bulk.TOURNAMENTS),
        ("game", bulk.GAMES),
        ("single player game", bulk.SINGLE_PLAYER_GAMES),
    ],
)
def test_bulk_files_have_the_public_fields_that_name_their_column(part: str, table: BulkTable) -> None:
    in_bulk = [field for field in ALL_PARTS[part] if field.bulk]
    sentences = {column.meaning for column in table.columns}
    assert [field.name for field in in_bulk if field.bulk not in sentences] == []
    assert {field.audience for field in in_bulk} == {"public"}


def test_answers_with_a_tournament_have_its_published_fields_and_the_settings_of_formats() -> None:
    published = {field.published for field in fields.TOURNAMENT} - {None}
    assert published | set(SETTING_FIELDS) == set(Tournament.__struct_fields__)


def test_what_answers_may_leave_out_can_be_absent() -> None:
    defaults = {field.name: field.default for field in msgspec.structs.fields(Tournament)}
    absent = [field for field in fields.TOURNAMENT if field.presence != fields.ALWAYS and field.published]
    assert {field.name: defaults[str(field.published)] for field in absent} == {
        field.name: UNSET for field in absent
    }


def test_each_include_flag_adds_a_field() -> None:
    flags = {field.presence.flag for field in fields.TOURNAMENT} - {""}
    assert flags == set(PartsQuery.__struct_fields__)


def test_the_table_has_the_columns_of_the_fields_and_no_other() -> None:
    stored = {field.stored_in: field.audience for field in fields.TOURNAMENT if field.kind is not None}
    assert {column.name: column.info["audience"] for column in tables.tournament.c} == stored


def test_each_column_names_its_audience() -> None:
    columns = [column for table in tables.metadata.tables.values() for column in table.c]
    assert [str(column) for column in columns if column.info.get("audience") not in AUDIENCES] == []


def test_exported_own_data_has_no_secret_column() -> None:
    exported = {
        column
        for section in accounts.export_sections(1)
        for column in section.statement.selected_columns
        if isinstance(column, Column)
    }
    assert [str(column) for column in exported if column.info["audience"] == "secret"] == []
    assert tables.user.c.email in exported


def test_bodies_accept_the_fields_that_they_may_set_and_no_other() -> None:
    accepted = {
        name for name in bodies.ChangedTournament.__struct_fields__ if name not in SETTING_FIELDS
    } - NOT_STORED
    assert accepted == {field.name for field in fields.TOURNAMENT if field.entered != "no"}


@pytest.mark.parametrize("field", fields.DETAILS_AS_SENT, ids=lambda field: field.name)
def test_a_body_that_accepts_a_field_stores_it(store: Store, field: PartField) -> None:
    organizer = build.a_user(store, role="organizer")
    new = {"name": "Thursday", "type": "matchplay"}
    _, made, _ = build.do(store, "POST", "/api/tournaments", new, by=organizer)
    tournament_id = made["data"]["tournamentId"]
    value = _sample(store, field, organizer)
    key = _wire_key(field.name)
    answer = build.do(store, "PATCH", f"/api/tournaments/{tournament_id}", {key: value}, by=organizer)
    assert answer[0] == 200, answer[1]
    with store.read() as db:
        assert loaded.load_tournament(db, tournament_id).details[field.name] == value


def _wire_key(name: str) -> str:
    kinds = msgspec.structs.fields(bodies.ChangedTournament)
    return next(kind.encode_name for kind in kinds if kind.name == name)


def _sample(store: Store, field: PartField, organizer_id: int) -> Any:
    """A value that the body accepts and that differs from the first one."""
    owned = {
        "location_id": (tables.location, "location_id"),
        "series_id": (tables.series, "series_id"),
        "event_id": (tables.occasion, "event_id"),
    }
    if field.name in owned:
        return build.row(store, owned[field.name][0], organizer_id=organizer_id, name="Ours")
    if field.kind == "flag":
        return True
    samples = {
        "points_map_custom": {"type": "matchplay", "3P": [7, 4, 1], "4P": [7, 5, 3, 1]},
        "motd_color": "red",
    }
    return samples.get(field.name, "tilt-town")


@pytest.mark.parametrize("part", ALL_PARTS)
def test_what_answers_show_of_a_part_is_announced_when_it_changes(part: str) -> None:
    shown = [field for field in ALL_PARTS[part] if field.published is not None and field.place != "row"]
    assert [field.name for field in shown if field.announced == "no"] == []


@pytest.mark.parametrize("part", PARTS)
def test_a_shape_shows_an_empty_column_as_null(part: str) -> None:
    part_fields, _, shape, _ = PARTS[part]
    hints = get_type_hints(shape)
    always = [field for field in part_fields if field.null and field.presence == fields.ALWAYS]
    shown = [field for field in always if field.published is not None and field.name not in SHOWN_AS_ZERO]
    assert [field.name for field in shown if NoneType not in get_args(hints[str(field.published)])] == []
