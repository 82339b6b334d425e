"""A command that changes something beside a running server holds its locks as short as a request."""

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import select, text

import build
from silverball.cli.main import silverball_group
from silverball.store import tables
from silverball.store.database.engine import Store

# Every update of an account takes many times longer than a transaction may.
SLOW_ON_SQLITE = """
CREATE TRIGGER slow AFTER UPDATE ON user BEGIN
  SELECT count(*) FROM (
    WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 100000000000)
    SELECT n FROM number
  );
END
"""
SLOW_ON_POSTGRESQL = """
CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(300); RETURN NEW; END $$;
CREATE TRIGGER slow BEFORE UPDATE ON "user" FOR EACH ROW EXECUTE FUNCTION wait()
"""


def run_command(store: Store, *words: str) -> Result:
    url = store.url.render_as_string(hide_password=False)
    return CliRunner(env={"SILVERBALL_DATABASE_URL": url}).invoke(silverball_group, words)


def is_suspended(store: Store, user_id: int) -> bool:
    column = tables.user.c
    with store.read() as db:
        return (
            db.execute(select(column.suspended_at).where(column.user_id == user_id)).scalar_one() is not None
        )


def test_a_command_that_takes_too_long_is_ended_and_changes_nothing(store: Store) -> None:
    user_id = build.a_user(store, name="Ada")
    with store.write() as transaction:
        transaction.connection.exec_driver_sql(SLOW_ON_SQLITE if store.is_sqlite else SLOW_ON_POSTGRESQL)
    result = run_command(store, "user", "suspend", str(user_id))
    assert result.exit_code == 1
    assert "nothing was changed" in result.output
    assert not is_suspended(store, user_id)
    with store.write() as transaction:
        on_table = "" if store.is_sqlite else ' ON "user"'
        transaction.connection.execute(text(f"DROP TRIGGER slow{on_table}"))
    assert run_command(store, "user", "suspend", str(user_id)).exit_code == 0
    assert is_suspended(store, user_id)


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_command_does_not_wait_for_a_lock_without_an_end(store: Store) -> None:
    user_id = build.a_user(store, name="Ada")
    with store.write() as transaction:
        own = select(tables.user.c.user_id).where(tables.user.c.user_id == user_id).with_for_update()
        transaction.connection.execute(own)
        result = run_command(store, "user", "suspend", str(user_id))
        assert result.exit_code == 1
        assert "nothing was changed" in result.output
    assert not is_suspended(store, user_id)
