"""The job that rates days, and its commands. Source: ratings.md A.4, A.7."""

from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import select

from service.ratings.circuit import Circuit, moment
from silverball.cli import main
from silverball.jobs import rating_period
from silverball.rules.ratings.formulas import Parameters
from silverball.store import tables
from silverball.store.database.engine import Store


@pytest.mark.parametrize(("hours", "is_rated"), [(7 * 24 - 1, False), (7 * 24, True)])
def test_a_day_is_rated_when_seven_days_have_gone_by(store: Store, hours: int, is_rated: bool) -> None:
    circuit = Circuit(store)
    circuit.night(14, ["Ada", "Bo"])
    job = rating_period.create_job()
    job.run(store, moment(14, 0) + timedelta(hours=hours))
    assert bool(circuit.ratings()) is is_rated


def run(store: Store, *words: str, **variables: str) -> tuple[int, str]:
    url = store.url.render_as_string(hide_password=False)
    environment = {"SILVERBALL_DATABASE_URL": url, **variables}
    done = CliRunner().invoke(main.silverball_group, list(words), env=environment)
    return done.exit_code, done.output


def test_the_command_rates_up_to_a_day_whatever_the_delay(store: Store) -> None:
    circuit = Circuit(store)
    circuit.night(1, ["Ada", "Bo"])
    assert run(store, "rate", "--until", "2026-03-01") == (0, "1 day rated, up to 2026-03-01.\n")
    assert run(store, "rate", "--until", "2026-03-01") == (0, "No days rated, up to 2026-03-01.\n")
    assert set(circuit.ratings()) == {"Ada", "Bo"}
    again = ("rate", "--until", "2026-03-02", "--rebuild", "--from", "2026-03-01")
    assert run(store, *again) == (
        0,
        "2 days rated, up to 2026-03-02.\nNone of 2 ratings changed, as of 2026-03-01.\n",
    )
    before = circuit.stored_rows()
    later = ("rate", "--until", "2026-03-02", "--rebuild", "--from", "2026-03-02")
    assert run(store, *later) == (
        0,
        "1 day rated, up to 2026-03-02.\nNone of 2 ratings changed, as of 2026-03-02.\n",
    )
    assert circuit.stored_rows() == before


def parameters_from(start: float) -> Parameters:
    """The parameters of an earlier time, when new players began elsewhere."""
    return Parameters(rating_default=start)


def test_a_rebuild_shows_whose_rating_is_another_one(store: Store) -> None:
    circuit = Circuit(store)
    circuit.night(1, ["Ada", "Bo"])
    circuit.night(2, ["Cy", "Di"])
    circuit.rate(2, parameters=parameters_from(1400.0))
    # Days that were not rated before are not part of the difference.
    circuit.night(3, ["Ada", "Bo"])
    from_second = ("rate", "--rebuild", "--from", "2026-03-02", "--until", "2026-03-03")
    code, output = run(store, *from_second)
    assert (code, output.splitlines()) == (
        0,
        [
            "2 days rated, up to 2026-03-03.",
            "2 of 4 ratings changed, by 100.00 at most, as of 2026-03-02:",
            "name  before              after               change",
            "Cy    1415.08 (RD 73.40)  1515.08 (RD 73.40)  +100.00",
            "Di    1384.92 (RD 73.40)  1484.92 (RD 73.40)  +100.00",
        ],
    )


def test_a_rebuild_lists_the_twenty_largest_changes(store: Store) -> None:
    circuit = Circuit(store)
    circuit.night(1, *([f"Ada{n}", f"Bo{n}"] for n in range(12)))
    circuit.rate(1, parameters=parameters_from(1510.0))
    words = ("rate", "--rebuild", "--until", "2026-03-01")
    _, output = run(store, *words)
    assert output.splitlines()[1] == "24 of 24 ratings changed, by 10.00 at most, as of 2026-03-01:"
    assert output.count("-10.00") == 20
    assert output.endswith("and 4 others.\n")


@pytest.mark.parametrize(
    "words", [("--from", "2026-03-01"), ("--until", "2999-01-01"), ("--until", "tomorrow")]
)
def test_the_command_refuses_days_that_make_no_sense(store: Store, words: tuple[str, ...]) -> None:
    code, output = run(store, "rate", *words)
    assert (code, "Error" in output) == (2, True)


CSV = (
    "Name,User ID,IFPA ID,Rating,RD,Lower Bound,Last Rating Period (Data from: 2026-02-28),Rating class\n"
    '"Ada",,11,1599.74,24.23,1551.28,2026-02-03,4\n'
)


def test_a_file_of_ratings_is_imported_completely_or_not_at_all(store: Store, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text(CSV)
    bad.write_text(CSV + '"Bo",,22,high,1,1,2026-02-03,4\n')
    code, output = run(store, "import", "ratings", str(bad))
    assert (code, "Row 3: Rating must be a number" in output) == (1, True)
    with store.read() as db:
        assert db.execute(select(tables.rating)).all() == []
    code, output = run(store, "import", "ratings", str(good))
    assert (code, "1 ratings as of 2026-02-28." in output) == (0, True)
    code, output = run(store, "import", "ratings", str(tmp_path / "none.csv"))
    assert (code, "cannot be read" in output) == (1, True)
