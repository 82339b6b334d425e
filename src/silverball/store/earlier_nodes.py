"""Whether nodes of the version before may work with the database, which still read stored standings.

They expect rows of running tournaments, which this version ranks when somebody asks. Until
`silverball migrate --contract` the rows are therefore still written.
"""

from sqlalchemy import Connection, text

# The first schema whose programs read no stored standings of running tournaments.
RANKED_ON_REQUEST_SINCE = "0026"
# Execution option of every connection: what the process knows of earlier nodes.
EARLIER_NODES = "silverball_earlier_nodes"
_OLDEST_SCHEMA = text("SELECT version_num FROM alembic_version")


class EarlierNodes:
    """Remembers that no node of the version before is left: a database that is contracted stays so."""

    def __init__(self) -> None:
        self._are_gone = False

    def may_run(self, db: Connection) -> bool:
        """Whether such a node may read what this transaction writes."""
        if not self._are_gone:
            self._are_gone = db.execute(_OLDEST_SCHEMA).scalar_one() >= RANKED_ON_REQUEST_SINCE
        return not self._are_gone

    def forget(self) -> None:
        """Look again: the database has gone back."""
        self._are_gone = False


def read_stored_standings(db: Connection) -> bool:
    """Whether nodes may be at work that read the stored standings of running tournaments."""
    earlier: EarlierNodes = db.get_execution_options()[EARLIER_NODES]
    return earlier.may_run(db)
