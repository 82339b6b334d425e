"""Importing: unchanged files, ids in use, placeholders, owners, new ids."""

import json
from typing import Any

import pytest
from sqlalchemy import func, insert, select

import build
from exchange import bundles
from silverball.exchange.bundle import id_map
from silverball.kit.errors import Conflict
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.tournament import announcements


def rows(store: Store, table: Any, **where: Any) -> list[Any]:
    statement = select(table)
    for name, value in where.items():
        statement = statement.where(table.c[name] == value)
    with store.read() as db:
        return list(db.execute(statement.order_by(next(iter(table.primary_key)))).all())


def one_row(store: Store, table: Any, **where: Any) -> Any:
    matching = rows(store, table, **where)
    assert len(matching) == 1
    return matching[0]


def row_counts(store: Store) -> dict[str, int]:
    """Rows of every table but those that count commits."""
    listed = [table for table in tables.metadata.tables.values() if table is not tables.world]
    with store.read() as db:
        return {
            table.name: db.execute(select(func.count()).select_from(table)).scalar_one() for table in listed
        }


@pytest.mark.both_databases
def test_the_same_file_again_changes_nothing(store: Store) -> None:
    for night in (bundles.full_bundle(), bundles.real_night("17")):
        assert bundles.import_bundle(store, night).outcome == "new"
        before, revision = (
            row_counts(store),
            store.tournament_revisions([night["tournament"]["tournamentId"]]),
        )
        assert bundles.import_bundle(store, night).outcome == "unchanged"
        assert (row_counts(store), store.tournament_revisions(list(revision))) == (before, revision)


@pytest.mark.both_databases
def test_a_changed_file_replaces_the_tournament_with_a_new_epoch_and_revision(store: Store) -> None:
    night = bundles.full_bundle()
    bundles.import_bundle(store, night)
    before = one_row(store, tables.tournament)
    del night["games"][2]
    night["games"][0]["resultPoints"] = ["0.00", "1.00"]
    night["tournament"]["name"] = "Friday Strikes"
    night["tournament"]["players"][2]["name"] = "Somebody Else"
    assert bundles.import_bundle(store, night).outcome == "replaced"
    after = one_row(store, tables.tournament)
    assert (after.name, after.seq, after.revision > before.revision) == ("Friday Strikes", 0, True)
    assert len(rows(store, tables.game)) == 2
    assert one_row(store, tables.player, player_id=903).name == "Somebody Else"
    assert bundles.find_losses(night, bundles.export_bundle(store, 700)) == []
    assert len(rows(store, tables.journal)) == 2
    assert rows(store, tables.announcement) == []


def test_a_tournament_changed_since_its_import_is_not_overwritten(store: Store) -> None:
    night = bundles.full_bundle()
    bundles.import_bundle(store, night)
    with store.write() as transaction:
        line = {"tournament_id": 700, "action_id": 2, "change": "GameCompleted", "data": {}}
        transaction.connection.execute(insert(tables.journal).values(**line, source="api", at=bundles.NOW))
    with pytest.raises(
        Conflict, match="Tournament 700 exists already as 'Thursday Strikes', and it has changed"
    ):
        bundles.import_bundle(store, night)


def test_a_tournament_that_was_not_imported_is_not_overwritten(store: Store) -> None:
    build.a_tournament(store, tournament_id=700)
    with pytest.raises(Conflict, match="was not imported"):
        bundles.import_bundle(store, bundles.full_bundle())


def test_a_tournament_of_another_organizer_is_not_overwritten(store: Store) -> None:
    bundles.import_bundle(store, bundles.full_bundle())
    other = bundles.real_night("00")
    text = json.dumps(other).replace(str(other["tournament"]["tournamentId"]), "700")
    with pytest.raises(Conflict, match="another organizer"):
        bundles.import_bundle(store, json.loads(text))


def _take_slug(kind: str, store: Store) -> str:
    """Give an id of the bundle to something else; return the start of the refusal."""
    night = build.a_tournament(store, players=2, arenas=1)
    player_id, arena_id = night.player_ids[0], night.arena_ids[0]
    own = {"organizer_id": night.organizer_id}
    mine = {"tournament_id": night.tournament_id}
    if kind == "user":
        build.a_user(store, user_id=501, name="Not Olga")
        return "User 501 is here already as 'Not Olga'"
    owned = {
        "player": (tables.player, {"player_id": 901, **own}),
        "arena": (tables.arena, {"arena_id": 801, **own}),
        "location": (tables.location, {"location_id": 602, **own}),
        "series": (tables.series, {"series_id": 601, **own}),
        "bank": (tables.bank, {"bank_id": 604, **own}),
        "event": (tables.occasion, {"occasion_id": 603, **own}),
    }
    if kind in owned:
        table, values = owned[kind]
        build.row(store, table, **values)
        return f"{kind.capitalize()} {next(iter(values.values()))} is here already as "
    parts: dict[str, tuple[Any, dict[str, Any]]] = {
        "Round": (tables.round_, {"round_id": 1002}),
        "Game": (tables.game, {"game_id": 1301}),
        "Card": (tables.card, {"card_id": 1101, "player_id": player_id}),
        "Single player game": (
            tables.single_player_game,
            {"single_player_game_id": 1203, "player_id": player_id, "arena_id": arena_id},
        ),
        "Queue": (tables.queue_entry, {"queue_id": 1501, "player_id": player_id}),
        "Shortcut": (tables.shortcut, {"shortcut_id": 605, "slug": "other"}),
        "Suggestion": (tables.suggestion, {"suggestion_id": 1401}),
        "The custom link": (tables.shortcut, {"shortcut_id": 1, "slug": "thursday"}),
    }
    table, values = parts[kind]
    if kind == "Suggestion":
        mine["game_id"] = build.a_game(store, night.tournament_id, night.player_ids)
    build.row(store, table, **values, **mine)
    if kind == "The custom link":
        return "The custom link 'thursday' is in use already"
    return f"{kind} {next(iter(values.values()))} is here already, in tournament {night.tournament_id}"


KINDS = ["user", "player", "arena", "location", "series", "bank", "event", "Round", "Game", "Card"]
KINDS += ["Single player game", "Queue", "Shortcut", "Suggestion", "The custom link"]


@pytest.mark.sample(4)
@pytest.mark.both_databases
@pytest.mark.parametrize("kind", KINDS)
def test_an_id_in_use_by_something_else_refuses_the_file_by_name_and_stores_nothing(
    store: Store, kind: str
) -> None:
    sentence = _take_slug(kind, store)
    before = row_counts(store)
    with pytest.raises(Conflict) as refused:
        bundles.import_bundle(store, bundles.full_bundle())
    assert refused.value.message.startswith(sentence)
    assert "--renumber" in refused.value.message
    assert row_counts(store) == before


@pytest.mark.both_databases
def test_a_user_or_series_that_is_only_named_becomes_a_placeholder(store: Store) -> None:
    night = bundles.full_bundle()
    del night["tournament"]["organizer"], night["series"]
    night["scorekeepers"] = []
    bundles.import_bundle(store, night)
    users = {row.user_id: row for row in rows(store, tables.user)}
    assert {user_id: row.name for user_id, row in users.items()} == {
        501: "User 501",
        502: "Player 901",
        503: "Player 902",
    }
    assert all(row.placeholder and row.email is None and row.role == "player" for row in users.values())
    series = one_row(store, tables.series)
    assert (series.name, series.placeholder, series.organizer_id) == ("Series 601", True, 501)
    exported = bundles.export_bundle(store, 700)
    assert "organizer" not in exported["tournament"]
    assert "series" not in exported


@pytest.mark.parametrize("user_ids", [[], [None], [902, 77], [504, 504, 504]])
def test_accounts_that_a_file_names_in_games_are_those_of_the_players_all_the_same(
    store: Store, user_ids: list[int | None]
) -> None:
    night = bundles.full_bundle()
    night["games"][0]["userIds"] = user_ids
    bundles.import_bundle(store, night)
    assert [row.user_id for row in rows(store, tables.user)] == [501, 502, 503]
    bundles.derive_accounts(night)
    assert night["games"][0]["userIds"] == [502, 503]
    assert bundles.find_losses(night, bundles.export_bundle(store, 700)) == []


def test_a_file_that_ends_a_claim_begins_a_new_epoch_where_the_player_is(store: Store) -> None:
    night = bundles.full_bundle()
    bundles.import_bundle(store, night)
    other = build.a_tournament(store, organizer_id=501, players=0, arenas=0)
    build.row(store, tables.entrant, tournament_id=other.tournament_id, player_id=901)
    epochs = []
    for claimed_by, labels in ((502, ["renamed"]), (None, [])):
        player = next(each for each in night["tournament"]["players"] if each["playerId"] == 901)
        player.update(claimedBy=claimed_by, labels=labels)
        assert bundles.import_bundle(store, night).outcome == "replaced"
        with store.read() as db:
            head = announcements.channel_head(db, other.tournament_id)
        assert head is not None
        epochs.append((head.epoch, head.seq))
    (first, told), (second, told_anew) = epochs
    assert first != second
    assert (told, told_anew) == (1, 1)


@pytest.mark.both_databases
def test_a_placeholder_is_filled_in_by_a_later_file(store: Store) -> None:
    night = bundles.full_bundle()
    organizer, series = night["tournament"].pop("organizer"), night.pop("series")
    bundles.import_bundle(store, night)
    night["tournament"]["organizer"], night["series"] = organizer, series
    assert bundles.import_bundle(store, night).outcome == "replaced"
    user = one_row(store, tables.user, user_id=501)
    assert (user.name, user.placeholder, user.ifpa_id, user.email) == ("Olga Ramp", False, 4711, None)
    assert one_row(store, tables.series).placeholder is False
    assert bundles.find_losses(night, bundles.export_bundle(store, 700)) == []


@pytest.mark.both_databases
def test_an_account_that_people_sign_in_to_is_left_as_it_is(store: Store) -> None:
    build.a_user(
        store, user_id=501, name="Olga Ramp", email="olga@silverball.test", role="admin", initials="XX"
    )
    bundles.import_bundle(store, bundles.full_bundle())
    user = one_row(store, tables.user, user_id=501)
    assert (user.role, user.email, user.initials) == ("admin", "olga@silverball.test", "XX")


def test_a_changed_name_raises_the_other_tournaments_that_show_it(store: Store) -> None:
    first, second = bundles.real_night("02"), bundles.real_night("05")
    for night in (first, second):
        bundles.import_bundle(store, night)
    shared = {player["playerId"] for player in first["tournament"]["players"]}
    player = next(
        candidate for candidate in second["tournament"]["players"] if candidate["playerId"] in shared
    )
    before = store.tournament_revisions([first["tournament"]["tournamentId"]])
    player["name"] = "Renamed Since"
    bundles.import_bundle(store, second)
    after = store.tournament_revisions(list(before))
    assert all(after[tournament_id] > revision for tournament_id, revision in before.items())


@pytest.mark.both_databases
def test_the_owner_gets_the_tournament_and_the_organizers_things_only(store: Store) -> None:
    owner_id = build.a_user(store, name="Demo", role="organizer")
    night = bundles.full_bundle()
    night["tournament"]["players"][1]["organizerId"] = 505
    bundles.import_bundle(store, night, owner_id=owner_id)
    assert one_row(store, tables.tournament).organizer_id == owner_id
    for table in (tables.arena, tables.location, tables.series, tables.bank, tables.occasion):
        assert {row.organizer_id for row in rows(store, table)} == {owner_id}
    owners = {row.player_id: row.organizer_id for row in rows(store, tables.player)}
    assert owners == {901: owner_id, 902: 505, 903: owner_id}
    assert rows(store, tables.user, user_id=501) == []
    assert bundles.import_bundle(store, night, owner_id=owner_id).outcome == "unchanged"
    assert one_row(store, tables.scorekeeper).user_id == 502


@pytest.mark.both_databases
def test_things_of_the_bundles_organizer_pass_to_the_owner(store: Store) -> None:
    owner_id = build.a_user(store, name="Demo", role="organizer")
    bundles.import_bundle(store, bundles.full_bundle())
    assert bundles.import_bundle(store, bundles.full_bundle(), owner_id=owner_id).outcome == "replaced"
    assert {row.organizer_id for row in rows(store, tables.player)} == {owner_id}
    with pytest.raises(Conflict, match=f"of organizer {owner_id}"):
        bundles.import_bundle(store, bundles.full_bundle())


@pytest.mark.parametrize(
    "content",
    [bundles.full_bundle(), bundles.real_night("45"), *map(bundles.read_bundle, bundles.INVENTED[:2])],
)
def test_a_renumbered_bundle_gets_free_ids_and_keeps_its_shape(store: Store, content: Any) -> None:
    first = bundles.import_bundle(store, content)
    done = bundles.import_bundle(store, content, new_ids=True)
    assert done.outcome == "new"
    assert done.tournament_id == first.tournament_id + 1
    original, copied = (
        bundles.export_bundle(store, first.tournament_id),
        bundles.export_bundle(store, done.tournament_id),
    )
    renumbered: Any = json.loads(json.dumps(content))
    id_map.renumber(renumbered, done.ids)
    bundles.derive_accounts(renumbered)
    # A short link leads to one tournament only.
    if renumbered["tournament"].pop("shortcut", None):
        assert copied["tournament"]["shortcut"] is None
    assert bundles.find_losses(renumbered, copied) == []
    assert len(json.dumps(original)) == pytest.approx(len(json.dumps(copied)), rel=0.2)
    for name, ids in done.ids.items():
        assert set(ids) & set(ids.values()) == set(), name


def test_new_ids_after_an_import_are_free(store: Store) -> None:
    bundle = bundles.full_bundle()
    del bundle["tournament"]["organizer"]
    bundles.import_bundle(store, bundle)
    night = build.a_tournament(store)
    assert night.tournament_id > 700
    assert night.organizer_id > 503
    assert min(night.player_ids) > 903
    assert min(night.arena_ids) > 802
    assert build.a_round(store, night.tournament_id) > 1002
    assert build.a_game(store, night.tournament_id, night.player_ids) > 1303
    assert build.row(store, tables.series, organizer_id=night.organizer_id) > 601


@pytest.mark.both_databases
def test_a_completed_night_has_its_summaries(store: Store) -> None:
    night = bundles.real_night("17")
    bundles.import_bundle(store, night)
    played = {game["arenaId"] for game in night["games"] if game["arenaId"] is not None}
    assert {row.arena_id for row in rows(store, tables.arena_summary)} == played
    assert rows(store, tables.player_arena_summary)
    assert rows(store, tables.match_summary)
    bundles.import_bundle(store, bundles.full_bundle())
    assert rows(store, tables.arena_summary, tournament_id=700) == []


@pytest.mark.both_databases
def test_seeds_rank_from_the_lowest_and_ratings_from_the_highest(store: Store) -> None:
    night = bundles.full_bundle()
    bundles.import_bundle(store, night)
    assert {row.player_id: row.seed_rank for row in rows(store, tables.entrant)} == {
        901: 2,
        902: 1,
        903: None,
    }
    night["tournament"]["seeding"] = "mp_rating"
    bundles.import_bundle(store, night)
    assert {row.player_id: row.seed_rank for row in rows(store, tables.entrant)} == {
        901: 1,
        902: 2,
        903: None,
    }
