"""A person in the books of two organizers of a source is one player where both books become one."""

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from sqlalchemy import select, update

import build
from exchange import pull_world
from exchange.pull_world import Site
from silverball.cli import pull
from silverball.exchange.pull import taking
from silverball.exchange.pull.reading import Wanted
from silverball.service.moving import reads as moving_reads
from silverball.store import tables
from silverball.store.database.engine import Store

FIRST, OTHER, CLAIMANT = 9_001, 9_002, 9_003
NUMBER = 123_456


@pytest.fixture
def site(tmp_path: Path, empty_sqlite: Path) -> Iterator[Site]:
    file = tmp_path / "source.db"
    file.write_bytes(empty_sqlite.read_bytes())
    with pull_world.site(file) as opened:
        build.a_user(opened.store, user_id=OTHER, name="Otto Ramp", role="organizer")
        build.a_user(opened.store, user_id=CLAIMANT, name="Clara Lane")
        yield opened


@pytest.fixture
def local(tmp_path: Path, empty_sqlite: Path) -> Iterator[Store]:
    opened = pull_world.new_store(empty_sqlite, tmp_path / "local.db")
    yield opened
    opened.close()


def a_night(site: Site, organizer_id: int, *, claimed: bool = True) -> int:
    """A night whose first player has a federation number, and whose second one is claimed."""
    night = build.a_tournament(site.store, organizer_id=organizer_id)
    own = tables.player.c.player_id
    with site.store.write() as transaction:
        db = transaction.connection
        db.execute(update(tables.player).where(own == night.player_ids[0]).values(ifpa_id=NUMBER))
        values = {"claimed_by": CLAIMANT if claimed else None, "ifpa_id": 777}
        db.execute(update(tables.player).where(own == night.player_ids[1]).values(values))
    return night.tournament_id


def entrants(store: Store, tournament_id: int | None) -> list[int]:
    own = tables.entrant.c
    with store.read() as db:
        rows = select(own.player_id).where(own.tournament_id == tournament_id).order_by(own.place)
        return list(db.execute(rows).scalars())


def pulled(site: Site, local: Store, tournaments: list[int], accounts: dict[int, int]) -> list[list[int]]:
    """The players of each night as they are here after the pull."""
    reports = site.pull(local, wanted=Wanted(tournaments=tournaments), accounts=accounts)
    assert [report.reason for report in reports] == [None, None]
    return [entrants(local, report.tournament_id) for report in reports]


def test_a_number_or_an_account_makes_two_entries_one_player(site: Site, local: Store) -> None:
    me = build.a_user(local, name="Me", role="organizer")
    nights = [a_night(site, FIRST), a_night(site, OTHER)]
    first, other = pulled(site, local, nights, {FIRST: me, OTHER: me})
    assert first[:2] == other[:2]
    assert set(first[2:]) & set(other[2:]) == set()
    # Later pulls find them so.
    assert pulled(site, local, nights, {FIRST: me, OTHER: me}) == [first, other]


def test_books_of_two_accounts_stay_apart(site: Site, local: Store) -> None:
    first, other = pulled(site, local, [a_night(site, FIRST), a_night(site, OTHER)], {})
    assert set(first) & set(other) == set()


def test_an_entry_that_nobody_claimed_takes_no_claim_away(site: Site, local: Store) -> None:
    me = build.a_user(local, name="Me", role="organizer")
    nights = [a_night(site, FIRST), a_night(site, OTHER, claimed=False)]
    first, other = pulled(site, local, nights, {FIRST: me, OTHER: me})
    assert first[0] == other[0]
    assert first[1] != other[1]


def test_two_entries_of_one_night_are_two_people(site: Site, local: Store) -> None:
    me = build.a_user(local, name="Me", role="organizer")
    nights = [a_night(site, FIRST), a_night(site, OTHER)]
    own = tables.player.c
    with site.store.write() as transaction:
        everybody = update(tables.player).where(own.organizer_id == OTHER, own.claimed_by.is_(None))
        transaction.connection.execute(everybody.values(ifpa_id=NUMBER))
    first, other = pulled(site, local, nights, {FIRST: me, OTHER: me})
    assert len(set(other)) == len(other)
    assert len(set(first[:1]) & set(other)) == 1


def test_players_of_one_name_are_listed_and_stay_two(site: Site, local: Store) -> None:
    me = build.a_user(local, name="Me", role="organizer")
    nights = [a_night(site, FIRST), a_night(site, OTHER)]
    first, other = pulled(site, local, nights, {FIRST: me, OTHER: me})
    with local.read() as db:
        shared = moving_reads.shared_names(db, pull_world.NAME)
    # "Player 3" and "Player 4" of both books; the others were found to be one.
    assert [(same.name, same.player_ids) for same in shared] == [
        ("Player 3", (first[2], other[2])),
        ("Player 4", (first[3], other[3])),
    ]
    sentence = taking.shared_name(shared[0])
    assert sentence.startswith(f"Players {first[2]}, {other[2]} are all named 'Player 3': merge them")


def answered(local: Store, answers: str) -> str:
    """What is asked of somebody who answers so."""

    @click.command()
    def ask() -> None:
        with local.read() as db:
            shared = moving_reads.shared_names(db, pull_world.NAME)
        pull.ask_who_is_who(local, pull_world.NAME, shared)

    result = CliRunner().invoke(ask, input=answers, catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_who_is_who_is_asked_once_and_remembered(site: Site, local: Store) -> None:
    me = build.a_user(local, name="Me", role="organizer")
    nights = [a_night(site, FIRST), a_night(site, OTHER)]
    accounts = {FIRST: me, OTHER: me}
    first, other = pulled(site, local, nights, accounts)
    asked = answered(local, "y\nn\n")
    assert f"'Player 3': are players {first[2]} and {other[2]} one person? [y/N]: y" in asked
    assert f"'Player 4': are players {first[3]} and {other[3]} one person? [y/N]: n" in asked
    # Later pulls keep to the answers, and nobody is asked again.
    now_first, now_other = pulled(site, local, nights, accounts)
    assert (now_first[2], now_other[2]) == (first[2], first[2])
    assert (now_first[3], now_other[3]) == (first[3], other[3])
    assert answered(local, "") == ""


def test_players_who_met_stay_two_whatever_is_answered(site: Site, local: Store) -> None:
    me = build.a_user(local, name="Me", role="organizer")
    night = build.a_tournament(site.store, organizer_id=FIRST)
    with site.store.write() as transaction:
        own = tables.player.c
        twins = update(tables.player).where(own.player_id.in_(night.player_ids[:2])).values(name="Ann Ray")
        transaction.connection.execute(twins)
    reports = site.pull(local, wanted=Wanted(tournaments=[night.tournament_id]), accounts={FIRST: me})
    before = entrants(local, reports[0].tournament_id)
    assert "They stay two: " in answered(local, "y\n")
    assert entrants(local, reports[0].tournament_id) == before


def test_nobody_is_asked_without_a_terminal() -> None:
    assert not pull.is_terminal()
