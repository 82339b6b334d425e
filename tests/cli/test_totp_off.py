"""`silverball user totp-off`, for people who lost phone and recovery codes."""

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import func, select

from silverball.cli.main import silverball_group
from silverball.store.database.engine import Store
from silverball.store.tables import audit_entry, two_step
from web.test_two_step import a_two_step_account
from web.visitor import EMAIL


def run(database_url: str, email: str) -> Result:
    environment = {"SILVERBALL_DATABASE_URL": database_url}
    return CliRunner(env=environment).invoke(silverball_group, ["user", "totp-off", email])


@pytest.mark.both_databases
def test_an_administrator_turns_it_off_by_e_mail(store: Store, database_url: str) -> None:
    user_id = a_two_step_account(store)
    missing = run(database_url, "nobody@silverball.test")
    assert (missing.exit_code, "There is no account with this e-mail." in missing.stderr) == (1, True)
    for state in ("off.", "off already."):
        done = run(database_url, f" {EMAIL.upper()}")
        assert (done.exit_code, done.stderr) == (0, f"Two-step sign-in of user {user_id} is {state}\n")
    with store.read() as db:
        assert db.execute(select(func.count()).select_from(two_step)).scalar_one() == 0
        entries = db.execute(select(audit_entry.c.event, audit_entry.c.user_id, audit_entry.c.source)).all()
    assert [tuple(entry) for entry in entries] == [("two-step-off", user_id, "command line")]
