"""Outcomes of simulated nights, by the settings that decide them. They can be computed again at any time."""

from sqlalchemy import Column, Text

from silverball.store.tables.base import Real, integer, table
from silverball.store.types import Instant

simulated_night = table(
    "simulated_night",
    # `rules.worth.nights.SimulatedNight.key`.
    Column("night", Text, primary_key=True),
    integer("nights"),
    Column("rounds", Real, nullable=False),
    Column("meaningful_games", Real, nullable=False),
    Column("meaningful_games_of_first", Real, nullable=False),
    Column("computed_at", Instant, nullable=False),
    audiences={"secret": "night nights rounds meaningful_games meaningful_games_of_first computed_at"},
)
