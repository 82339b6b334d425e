"""Until a tournament is completed, nobody gets the seed of its draws by any copy."""

import hashlib
import io
import json
import zipfile
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import select

import build
from exchange import bundles
from service.verify.test_draws import a_made_tournament, committed
from silverball.cli.main import silverball_group
from silverball.exchange import own_data
from silverball.service.accounts import reads as account_reads
from silverball.service.journal.reads.verification import verify_draws
from silverball.store import tables
from silverball.store.database.engine import Store

TOURNAMENT = tables.tournament.c


def seed_of(store: Store, tournament_id: int) -> str:
    with store.read() as db:
        own = select(TOURNAMENT.engine).where(TOURNAMENT.tournament_id == tournament_id)
        return str(db.execute(own).scalar_one()["dice_seed"])


def own_copy(store: Store, user_id: int) -> str:
    """All texts of the copy of an account's data."""
    with store.read() as db:
        _, content = own_data.account_file(user_id, account_reads.account_data(db, user_id), build.NOW)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return "".join(archive.read(name).decode() for name in archive.namelist())


def draws_of(store: Store, tournament_id: int, organizer: Any) -> Any:
    return build.ask(store, f"/api/tournaments/{tournament_id}/draws", by=organizer)[1]["data"]


@pytest.mark.both_databases
def test_no_copy_of_a_running_tournament_holds_the_seed(store: Store) -> None:
    tournament_id, organizer = a_made_tournament(store)
    seed = seed_of(store, tournament_id)
    assert len(seed) == 32
    assert seed not in own_copy(store, organizer.user_id)
    bundle = bundles.export_bundle(store, tournament_id, with_seed=False)
    assert bundle["engine"]["diceSeed"] is None
    assert seed not in json.dumps(bundle)
    build.do(store, "POST", f"/api/tournaments/{tournament_id}/complete", {}, by=organizer)
    completed = bundles.export_bundle(store, tournament_id, with_seed=False, with_journal=True)
    assert completed["engine"]["diceSeed"] == seed


def test_a_tournament_that_goes_on_elsewhere_commits_to_a_seed_of_its_own(
    store: Store, second: Store
) -> None:
    tournament_id, organizer = a_made_tournament(store)
    bundle = bundles.export_bundle(store, tournament_id, with_seed=False)
    bundles.import_bundle(second, bundle)
    seed = seed_of(second, tournament_id)
    assert seed != seed_of(store, tournament_id)
    assert committed(second, tournament_id) == [hashlib.sha256(seed.encode()).hexdigest()]
    assert bundles.import_bundle(second, bundle).outcome == "unchanged"
    path = f"/api/tournaments/{tournament_id}"
    for game in build.ask(second, f"{path}/games", by=organizer)[1]["data"]:
        places = {"resultPositions": game["playerIds"]}
        build.do(second, "PUT", f"{path}/games/{game['gameId']}/result", places, by=organizer)
    for change in ("rounds", "complete"):
        assert build.do(second, "POST", f"{path}/{change}", {}, by=organizer)[0] < 300
    (commitment,) = draws_of(second, tournament_id, organizer)["commitments"]
    assert commitment["seed"] == seed
    with second.read() as db:
        report = verify_draws(db, tournament_id)
    assert (list(report.faults), len(report.same) > 1) == ([], True)


def test_only_the_shell_carries_the_seed_and_the_page_of_draws_tells_it(
    store: Store, database_url: str
) -> None:
    tournament_id, organizer = a_made_tournament(store)
    path = f"/api/tournaments/{tournament_id}"
    newest = build.ask(store, f"{path}/journal", by=organizer)[1]["data"][0]["actionId"]
    run = CliRunner(env={"SILVERBALL_DATABASE_URL": database_url})
    words = ["export", "bundle", str(tournament_id), "--with-journal"]
    refused = run.invoke(silverball_group, words)
    assert (refused.exit_code, "--with-seed" in refused.stderr) == (1, True)
    assert "exported" not in draws_of(store, tournament_id, organizer)["text"]
    bundle = json.loads(run.invoke(silverball_group, [*words, "--with-seed"]).stdout)
    assert bundle["engine"]["diceSeed"] == seed_of(store, tournament_id)
    assert bundle["journal"][-1]["change"] == "SeedExported"
    assert "The operator exported the seed (20" in draws_of(store, tournament_id, organizer)["text"]
    # An undo passes over it: what has left does not come back.
    assert build.do(store, "POST", f"{path}/undo", {"action": newest}, by=organizer)[0] == 200
    assert "The operator exported the seed (20" in draws_of(store, tournament_id, organizer)["text"]
