"""Seats of games no longer say which account had claimed their player: today's claims do.

Frozen: it says what was changed at this step, whatever `store/tables` says today. Nodes of the version
before read and write the column, so that it stays until the contraction.
"""

from alembic import op
from sqlalchemy import Column, ForeignKey, Index, MetaData, Table
from sqlalchemy import text as sql

from silverball.store.types import Hundredths, Id

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None

tables = MetaData(naming_convention={"fk": "fk_%(table_name)s_%(column_0_name)s", "pk": "pk_%(table_name)s"})
SEATS = Table(
    "game_player",
    tables,
    Column("game_id", Id, ForeignKey("game.game_id", ondelete="CASCADE"), primary_key=True),
    Column("slot", Id, primary_key=True),
    Column("tournament_id", Id, ForeignKey("tournament.tournament_id", ondelete="CASCADE"), nullable=False),
    Column("player_id", Id, ForeignKey("player.player_id"), nullable=False),
    Column("result_position", Id),
    Column("points", Hundredths),
    Column("score", Id),
    Index("ix_game_player_of_player", "player_id", "tournament_id", "game_id"),
    Index("ix_game_player_tournament_id_game_id_slot", "tournament_id", "game_id", "slot"),
    sqlite_strict=True,
)
for referred in ("game", "tournament", "player"):
    Table(referred, tables, Column(f"{referred}_id", Id, primary_key=True))


def upgrade() -> None:
    """Add nothing: the column is nullable, and this version neither reads nor writes it."""


def contract() -> None:
    op.drop_index("ix_game_player_user_id", "game_player")
    if op.get_bind().dialect.name == "postgresql":
        op.drop_column("game_player", "user_id")
        return
    # SQLite drops no column that is a reference, so the rows move to a table without it.
    for name in ("ix_game_player_of_player", "ix_game_player_tournament_id_game_id_slot"):
        op.drop_index(name, "game_player")
    op.rename_table("game_player", "game_player_before")
    SEATS.create(op.get_bind())
    columns = ", ".join(column.name for column in SEATS.columns)
    op.execute(sql(f"INSERT INTO game_player ({columns}) SELECT {columns} FROM game_player_before"))  # noqa: S608  # our own names
    op.drop_table("game_player_before")
