"""Ids of the machine database. Source: interface 2.8; the lists: ratings C.1."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silverball.rules import opdb
from silverball.rules.opdb import MachineId

# Every part of an observed id is four of these letters.
LETTERS = "0123456789BDEJKLNOPQRVWXYZbdejklnopqrvwxyz"
PARTS = st.text(LETTERS, min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("text", "group", "machine", "alias", "kind"),
    [
        ("G4ODR", "4ODR", None, None, "machineGroup"),
        ("G4ODR-MLzY7", "4ODR", "LzY7", None, "machine"),
        ("G43W4-MrRpw-A1B7O", "43W4", "rRpw", "1B7O", "alias"),
        ("G0l8P-M85d9-A1ZNY", "0l8P", "85d9", "1ZNY", "alias"),
        ("G1", "1", None, None, "machineGroup"),
        ("GG-MM-AA", "G", "M", "A", "alias"),
    ],
)
def test_an_id_has_a_group_and_perhaps_a_machine_and_an_alias(
    text: str, group: str, machine: str | None, alias: str | None, kind: str
) -> None:
    found = opdb.parse_id(text)
    assert found == MachineId("G", group, machine, alias)
    assert found is not None
    assert found.entry_type == kind
    assert found.group_id == f"G{group}"
    assert found.machine_id == (None if machine is None else f"G{group}-M{machine}")
    assert opdb.is_opdb_id(text)
    assert re.fullmatch(opdb.ID_PATTERN, text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "4ODR",
        "G",
        "g4ODR",
        "G4ODR-LzY7",
        "G4ODR-MLzY7-1ZNY",
        "G4ODR MLzY7",
        "G4ODR-A1B7O",
        "G4ODR-M",
        "G4ODR-MLzY7-A",
        "G4ODR-MLzY7-A1B7O-A1B7O",
        "G4ODR\n",
        " G4ODR",
        "G4ÖDR",
        "G4ODR-m LzY7",
        "G\u0664ODR",
    ],
)
def test_a_text_that_is_not_an_id_has_no_parts(text: str) -> None:
    assert opdb.parse_id(text) is None
    assert opdb.group_id_of(text) is None
    assert not opdb.is_opdb_id(text)
    assert not re.fullmatch(opdb.ID_PATTERN, text)


@given(PARTS, st.none() | PARTS, st.none() | PARTS, st.sampled_from("GH"))
def test_the_parts_put_together_are_the_id(
    group: str, machine: str | None, alias: str | None, letter: str
) -> None:
    text = f"{letter}{group}"
    if machine is not None:
        text += f"-M{machine}" + ("" if alias is None else f"-A{alias}")
    found = opdb.parse_id(text)
    assert found == MachineId(letter, group, machine, None if machine is None else alias)
    assert opdb.group_id_of(text) == f"{letter}{group}"


def test_a_machine_of_the_house_has_an_id_that_the_machine_database_never_gives_out() -> None:
    found = opdb.parse_id("Hclub-M1")
    assert found is not None
    assert found.is_homebrew
    assert not opdb.is_opdb_id("Hclub-M1")


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["Godzilla (Pro)", "Godzilla (Premium)"], "Godzilla"),
        (["Attack From Mars (Remake) (Special Edition)", "Attack From Mars"], "Attack From Mars"),
        (["Volley"], "Volley"),
        (["(300)"], "(300)"),
        (["Stars B", "Stars A"], "Stars A"),
    ],
)
def test_a_group_without_an_entry_is_called_by_the_shortest_name_of_its_machines(
    names: list[str], shown: str
) -> None:
    assert opdb.group_name(names) == shown
    assert opdb.group_name(reversed(names)) == shown


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("The Addams Family", "Addams Family, The"),
        ("A Night Out", "Night Out, A"),
        ("Theatre of Magic", "Theatre of Magic"),
        ("Andromeda", "Andromeda"),
    ],
)
def test_an_article_goes_last_when_names_are_sorted(name: str, shown: str) -> None:
    assert opdb.sort_name(name) == shown
