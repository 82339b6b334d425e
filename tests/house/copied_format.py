"""One tournament of a copied format, taken through each room that knows formats.

    PYTHONPATH=src:tests python tests/house/copied_format.py pace_matchplay FOLDER

A program of its own: nothing that it imports or registers reaches another test. The application is
imported before the copy is planted, so anything that keeps a list of the formats from then misses it.
"""

import sys
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

# Before the copy is planted, see above.
import silverball.app
from silverball.kit.values import replace
from silverball.rules.registry import FORMATS

COPY = "copied_format"
TITLE = "Copied format"
ARENAS = 8


def plant_copy(original: str) -> None:
    """Register a format again under a new name, with nothing else changed."""
    form = FORMATS[original]
    FORMATS[COPY] = replace(form, type=COPY, title=TITLE, demo=replace(form.demo, name=TITLE))


def new_store(path: Path) -> Any:
    """A new migrated database."""
    from silverball.store.database import migrate
    from silverball.store.database.engine import Store

    store = Store(f"sqlite:///{path}")
    migrate.migrate(store)
    return store


def play_tournament(store: Any, organizer_id: int) -> int:
    """Create a tournament of the copied format through the interface and play it to its end."""
    import build
    from silverball.demo.nights import FINISHED
    from silverball.demo.robots import InProcessClient, Robot, SteppedClock
    from silverball.service.core.access import AuthenticatedCaller
    from silverball.settings import Settings

    (plan,) = (plan for plan in FINISHED if plan.type == COPY)
    clock = SteppedClock(build.NOW)
    caller = AuthenticatedCaller(user_id=organizer_id, role="organizer", ability="manage")
    api = silverball.app.build_api(store, Settings(base_url=build.BASE_URL), now=clock.now)
    client = InProcessClient(api, caller)
    players = [
        client.send("POST", "/api/players", {"name": f"Player {number}"})["data"]["playerId"]
        for number in range(plan.players)
    ]
    arenas = [
        client.send("POST", "/api/arenas", {"name": f"Machine {number}"})["data"]["arenaId"]
        for number in range(ARENAS)
    ]
    robot = Robot.create(client, plan, Random(7))
    robot.add_members(players, arenas)
    robot.start()
    robot.play_to_end(lambda: clock.tick(150))
    listed = client.send("GET", f"/api/tournaments?type={COPY}")["data"]
    assert [(each["type"], each["status"]) for each in listed] == [(COPY, "completed")]
    standings = client.send("GET", f"/api/tournaments/{robot.tournament_id}/standings")
    assert len(standings) == plan.players
    positions = [standing["position"] for standing in standings]
    assert positions[0] == 1
    assert positions == sorted(positions)
    return robot.tournament_id


def check_pages(store: Any, tournament_id: int) -> None:
    """The console lists the format; the console's and the public pages of its tournament open."""
    from web.public_visitor import PublicVisitor
    from web.visitor import Visitor

    with Visitor(store) as visitor:
        visitor.sign_in_anew()
        assert TITLE in visitor.get("/run/new").text
        for path in (f"/run/new?type={COPY}", f"/t/{tournament_id}/run"):
            answer = visitor.get(path)
            assert answer.status_code == 200, (path, answer.status_code)
    public = PublicVisitor(store, public_read=True)
    assert public.page(f"/t/{tournament_id}")
    public.close()


def check_rating(store: Any) -> None:
    """The day of the tournament is rated if the format is."""
    from sqlalchemy import func, select

    import build
    from silverball.jobs import rating_period
    from silverball.rules.ratings.formulas import DEFAULTS
    from silverball.store import tables

    rating_period.run(
        store,
        build.NOW + timedelta(days=2),
        parameters=DEFAULTS,
        delay_days=0,
    )
    with store.read() as db:
        rated = db.execute(select(func.count()).select_from(tables.rating)).scalar_one()
    assert bool(rated) is FORMATS[COPY].rated


def check_verification(store: Any, tournament_id: int) -> None:
    """Verification finds no faults."""
    from silverball.service.journal.reads import verification

    with store.read() as db:
        assert list(verification.verify_tournament(db, tournament_id).faults) == []


def check_bundles(store: Any, tournament_id: int, folder: Path) -> None:
    """An export, imported into an empty database, exports equal and verifies."""
    from exchange import bundles

    exported = bundles.export_bundle(store, tournament_id)
    assert exported["tournament"]["type"] == COPY
    second = new_store(folder / "second.db")
    imported = bundles.import_bundle(second, exported)
    again = bundles.export_bundle(second, imported.tournament_id)
    # The journal stays behind, and its head with it.
    own = ("source", "journalHead")
    assert again | {name: exported[name] for name in own} == exported
    check_verification(second, imported.tournament_id)
    second.close()


def main(original: str, folder: Path) -> None:
    plant_copy(original)
    store = new_store(folder / "first.db")
    from web.visitor import an_account

    organizer_id = an_account(store, name="Olga Ramp", role="organizer")
    tournament_id = play_tournament(store, organizer_id)
    check_pages(store, tournament_id)
    check_rating(store)
    check_verification(store, tournament_id)
    check_bundles(store, tournament_id, folder)
    store.close()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
