"""The peer: the same three routes, as most Python services would write them.

FastAPI, SQLAlchemy's asynchronous ORM over aiosqlite, pydantic models with camelCase aliases. It
answers the same JSON; `run.py` compares before it measures.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import Depends, FastAPI, HTTPException
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel
from sqlalchemy import JSON, BigInteger, ForeignKey, select
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship, selectinload

engine = create_async_engine(os.environ.get("SILVERBALL_BENCH_PEER_URL", "sqlite+aiosqlite:///:memory:"))
sessions = async_sessionmaker(engine, expire_on_commit=False)


class Base(DeclarativeBase):
    type_annotation_map = {dict[str, Any]: JSON, list[Any]: JSON, int: BigInteger}  # noqa: RUF012  # SQLAlchemy's form


class UserRow(Base):
    __tablename__ = "users"
    user_id: Mapped[int] = mapped_column(primary_key=True)
    data: Mapped[dict[str, Any]]


class TournamentRow(Base):
    __tablename__ = "tournaments"
    tournament_id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    status: Mapped[str]
    type: Mapped[str]
    description: Mapped[str | None]
    start_utc: Mapped[str]
    start_local: Mapped[str]
    end_utc: Mapped[str | None]
    end_local: Mapped[str | None]
    completed_at: Mapped[str | None]
    created_at: Mapped[str]
    updated_at: Mapped[str]
    timezone: Mapped[str]
    organizer_id: Mapped[int] = mapped_column(ForeignKey("users.user_id"))
    # All other fields, by wire name.
    settings: Mapped[dict[str, Any]]
    organizer: Mapped[UserRow] = relationship()
    entrants: Mapped[list["EntrantRow"]] = relationship(order_by="EntrantRow.player_id")


class PlayerRow(Base):
    __tablename__ = "players"
    player_id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    ifpa_id: Mapped[int | None]
    status: Mapped[str]
    organizer_id: Mapped[int]
    claimed_by: Mapped[int | None]
    labels: Mapped[list[Any]]
    label_color: Mapped[str | None]


class EntrantRow(Base):
    __tablename__ = "entrants"
    tournament_id: Mapped[int] = mapped_column(ForeignKey("tournaments.tournament_id"), primary_key=True)
    player_id: Mapped[int] = mapped_column(ForeignKey("players.player_id"), primary_key=True)
    status: Mapped[str]
    seed: Mapped[int | None]
    points_adjustment: Mapped[int]
    subscription: Mapped[str | None]
    labels: Mapped[list[Any]]
    label_color: Mapped[str | None]
    player: Mapped[PlayerRow] = relationship()


class StandingRow(Base):
    __tablename__ = "standings"
    tournament_id: Mapped[int] = mapped_column(primary_key=True)
    player_id: Mapped[int] = mapped_column(primary_key=True)
    position: Mapped[int]
    points: Mapped[str | None]
    points_with_tiebreaker: Mapped[str | None]
    games_played: Mapped[int | None]
    entries_played: Mapped[int | None]
    entries_available: Mapped[int | None]
    strike_count: Mapped[int | None]
    cards_counted: Mapped[list[Any] | None]
    adjustment: Mapped[int | None]
    frenzy_wins: Mapped[int | None]
    frenzy_losses: Mapped[int | None]
    points_list: Mapped[list[Any] | None]
    tiebreakers: Mapped[list[Any] | None]
    active_games: Mapped[list[Any]]
    active_game_color: Mapped[str | None]
    on_pace_bubble: Mapped[dict[str, Any] | None]
    on_cutoff_bubble: Mapped[bool | None]
    cutoff_bubble_color: Mapped[str | None]
    on_cutoff_bubble2: Mapped[bool | None]
    manual_tiebreaker_group: Mapped[int | None]


class GameRow(Base):
    __tablename__ = "games"
    game_id: Mapped[int] = mapped_column(primary_key=True)
    tournament_id: Mapped[int] = mapped_column(index=True)
    round_id: Mapped[int]
    challenge_id: Mapped[int | None]
    arena_id: Mapped[int | None]
    bank_id: Mapped[int | None]
    index: Mapped[int | None]
    set: Mapped[int]
    player_id_advantage: Mapped[int | None]
    scorekeeper_id: Mapped[int | None]
    status: Mapped[str]
    started_at: Mapped[str | None]
    duration: Mapped[int | None]
    bye: Mapped[bool]
    scorbit_id: Mapped[str | None]
    scorbit_log: Mapped[str | None]
    scorbit_verified: Mapped[bool]
    result_count_mismatch: Mapped[bool]
    slots: Mapped[list["SlotRow"]] = relationship(order_by="SlotRow.slot")


class SlotRow(Base):
    __tablename__ = "slots"
    game_id: Mapped[int] = mapped_column(ForeignKey("games.game_id"), primary_key=True)
    slot: Mapped[int] = mapped_column(primary_key=True)
    player_id: Mapped[int]
    user_id: Mapped[int | None]
    result_position: Mapped[int | None]
    points: Mapped[str | None]
    score: Mapped[str | None]


class Model(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, from_attributes=True)


class EntrantModel(Model):
    status: str
    seed: int | None
    points_adjustment: int
    subscription: str | None
    labels: list[str]
    label_color: str | None


class PlayerModel(Model):
    player_id: int
    name: str
    ifpa_id: int | None
    status: str
    organizer_id: int
    claimed_by: int | None
    labels: list[str]
    label_color: str | None
    tournament_player: EntrantModel


class UserModel(Model):
    model_config = ConfigDict(extra="allow")


class TournamentModel(Model):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="allow")
    tournament_id: int
    name: str
    status: str
    type: str
    description: str | None
    start_utc: str
    start_local: str
    end_utc: str | None
    end_local: str | None
    completed_at: str | None
    created_at: str
    updated_at: str
    timezone: str
    organizer_id: int
    organizer: UserModel
    players: list[PlayerModel] | None = None


class TournamentAnswer(BaseModel):
    data: TournamentModel


class StandingModel(Model):
    player_id: int
    position: int
    points: str | None
    points_with_tiebreaker: str | None
    games_played: int | None
    entries_played: int | None
    entries_available: int | None
    strike_count: int | None
    cards_counted: list[Any] | None
    adjustment: int | None
    frenzy_wins: int | None
    frenzy_losses: int | None
    points_list: list[Any] | None
    tiebreakers: list[Any] | None
    active_games: list[Any]
    active_game_color: str | None
    on_pace_bubble: dict[str, Any] | None
    on_cutoff_bubble: bool | None
    cutoff_bubble_color: str | None
    on_cutoff_bubble2: bool | None
    manual_tiebreaker_group: int | None


class GameModel(Model):
    game_id: int
    round_id: int
    tournament_id: int
    challenge_id: int | None
    arena_id: int | None
    bank_id: int | None
    index: int | None
    set: int
    player_id_advantage: int | None
    scorekeeper_id: int | None
    status: str
    started_at: str | None
    duration: int | None
    bye: bool
    scorbit_id: str | None
    scorbit_log: str | None
    player_ids: list[int]
    user_ids: list[int | None]
    result_positions: list[int | None]
    result_points: list[str | None]
    result_scores: list[str | None]
    scorbit_verified: bool
    result_count_mismatch: bool
    suggestions: list[Any]


class GamesAnswer(BaseModel):
    data: list[GameModel]


@asynccontextmanager
async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
    yield
    await engine.dispose()


app = FastAPI(lifespan=lifespan)


async def session() -> AsyncIterator[AsyncSession]:
    async with sessions() as opened:
        yield opened


Db = Annotated[AsyncSession, Depends(session)]


@app.get("/api/tournaments/{tournament_id}", response_model_exclude_unset=True)
async def tournament(tournament_id: int, db: Db) -> TournamentAnswer:
    query = (
        select(TournamentRow)
        .where(TournamentRow.tournament_id == tournament_id)
        .options(
            selectinload(TournamentRow.organizer),
            selectinload(TournamentRow.entrants).selectinload(EntrantRow.player),
        )
    )
    row = (await db.execute(query)).scalar_one_or_none()
    if row is None:
        raise HTTPException(404)
    players = [_player(entrant) for entrant in row.entrants]
    columns = {
        name: getattr(row, name)
        for name in TournamentModel.model_fields
        if name not in {"organizer", "players"}
    }
    model = TournamentModel(
        **columns, **row.settings, organizer=UserModel(**row.organizer.data), players=players
    )
    return TournamentAnswer(data=model)


def _player(entrant: EntrantRow) -> PlayerModel:
    player = entrant.player
    return PlayerModel(
        player_id=player.player_id,
        name=player.name,
        ifpa_id=player.ifpa_id,
        status=player.status,
        organizer_id=player.organizer_id,
        claimed_by=player.claimed_by,
        labels=player.labels,
        label_color=player.label_color,
        tournament_player=EntrantModel.model_validate(entrant),
    )


@app.get("/api/tournaments/{tournament_id}/standings")
async def standings(tournament_id: int, db: Db) -> list[StandingModel]:
    query = select(StandingRow).where(StandingRow.tournament_id == tournament_id)
    rows = await db.execute(query.order_by(StandingRow.position, StandingRow.player_id))
    return [StandingModel.model_validate(row) for row in rows.scalars()]


@app.get("/api/tournaments/{tournament_id}/games")
async def games(tournament_id: int, db: Db) -> GamesAnswer:
    query = select(GameRow).where(GameRow.tournament_id == tournament_id).options(selectinload(GameRow.slots))
    rows = await db.execute(query.order_by(GameRow.game_id))
    return GamesAnswer(data=[_game(row) for row in rows.scalars()])


def _game(row: GameRow) -> GameModel:
    slots = row.slots
    lists = {"player_ids", "user_ids", "result_positions", "result_points", "result_scores", "suggestions"}
    columns = {name: getattr(row, name) for name in GameModel.model_fields if name not in lists}
    return GameModel(
        **columns,
        player_ids=[slot.player_id for slot in slots],
        user_ids=[slot.user_id for slot in slots],
        result_positions=[slot.result_position for slot in slots],
        result_points=[slot.points for slot in slots],
        result_scores=[slot.score for slot in slots],
        suggestions=[],
    )


async def fill(answers: dict[str, Any]) -> None:
    """Fill an empty database from the answers of the measured service, so that both answer the same."""
    tournament, players = dict(answers["tournament"]["data"]), answers["tournament"]["data"]["players"]
    organizer = tournament.pop("organizer")
    tournament.pop("players")
    own = {to_camel(name): name for name in TournamentModel.model_fields}
    columns = {own[name]: value for name, value in tournament.items() if name in own}
    settings = {name: value for name, value in tournament.items() if name not in own}
    async with engine.begin() as db:
        await db.run_sync(Base.metadata.create_all)
    async with sessions.begin() as opened:
        opened.add(UserRow(user_id=organizer["userId"], data=organizer))
        opened.add(TournamentRow(**columns, settings=settings))
        for player in players:
            opened.add(PlayerRow(**_snake_case_fields(player, {"tournamentPlayer"})))
            entrant = _snake_case_fields(player["tournamentPlayer"], set())
            opened.add(
                EntrantRow(tournament_id=columns["tournament_id"], player_id=player["playerId"], **entrant)
            )
        for player in answers["standings"]:
            opened.add(
                StandingRow(tournament_id=columns["tournament_id"], **_snake_case_fields(player, set()))
            )
        for player in answers["games"]["data"]:
            _add_game(opened, player)


def _add_game(opened: AsyncSession, game: dict[str, Any]) -> None:
    lists = {"playerIds", "userIds", "resultPositions", "resultPoints", "resultScores", "suggestions"}
    opened.add(GameRow(**_snake_case_fields(game, lists)))
    for slot, player_id in enumerate(game["playerIds"]):
        opened.add(
            SlotRow(
                game_id=game["gameId"],
                slot=slot,
                player_id=player_id,
                user_id=game["userIds"][slot],
                result_position=game["resultPositions"][slot],
                points=game["resultPoints"][slot],
                score=game["resultScores"][slot],
            )
        )


def _snake_case_fields(fields: dict[str, Any], without: set[str]) -> dict[str, Any]:
    def name(wire: str) -> str:
        return "".join("_" + letter.lower() if letter.isupper() else letter for letter in wire)

    return {name(key): value for key, value in fields.items() if key not in without}
