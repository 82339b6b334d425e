"""The federation's records of players, as imported."""

from sqlalchemy import Column

from silverball.store.tables.base import Real, integer, table, text
from silverball.store.types import Id, Instant

federation_player = table(
    "federation_player",
    # The federation's own number.
    Column("ifpa_id", Id, primary_key=True, autoincrement=False),
    text("name"),
    # The name for comparisons (`names.strip_punctuation`): a change of that function needs a migration.
    text("name_plain"),
    integer("rank", null=True),
    integer("womens_rank", null=True),
    Column("rating", Real),
    integer("rating_rank", null=True),
    integer("total_events", null=True),
    text("initials", null=True),
    text("city", null=True),
    text("state", null=True),
    text("country_code", null=True),
    text("country_name", null=True),
    Column("updated_at", Instant, nullable=False),
    indexes=[("name_plain",)],
    audiences={
        "public": "ifpa_id name rank womens_rank rating rating_rank total_events initials city state"
        " country_code country_name updated_at",
        "secret": "name_plain",
    },
)
