"""Counts that the nodes of a site share. They are lost with a crash, and nothing else depends on them.

PostgreSQL does not write them to its log.
"""

from sqlalchemy import Column, Text

from silverball.store.tables.base import Real, integer, table

# No longer read or written, like `node_connection` below; dropped when the schema changes next.
allowance_lease = table(
    "allowance_lease",
    Column("name", Text, primary_key=True),
    integer("allowance"),
    integer("leased"),
    integer("portion"),
    Column("ends_at", Real, nullable=False),
    audiences={"secret": "name allowance leased portion ends_at"},
)

# The failed sign-ins of a pair, an address or an account, by digest.
sign_in_failure = table(
    "sign_in_failure",
    Column("name", Text, primary_key=True),
    integer("failures"),
    Column("last_at", Real, nullable=False),
    audiences={"secret": "name failures last_at"},
)

node_connection = table(
    "node_connection",
    Column("node", Text, primary_key=True),
    Column("address", Text, primary_key=True),
    integer("connections"),
    Column("counted_at", Real, nullable=False),
    audiences={"secret": "node address connections counted_at"},
)
