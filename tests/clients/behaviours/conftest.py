"""One server for all behaviours."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from clients.behaviours import site as world
from servers import Servers
from service import stored_nights
from silverball.store.database.engine import Store

TIMEOUT_SECONDS = 60


@pytest.fixture(scope="session")
def site(empty_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[world.Site]:
    path = tmp_path_factory.mktemp("behaviours") / "silverball.db"
    shutil.copy(empty_sqlite, path)
    store = Store(f"sqlite:///{path}")
    stored_nights.skip_disk_sync(store)
    organizer_id, token = world.an_admin(store)
    tournament_ids = world.play_nights(store, organizer_id)
    listed_ids = tuple(world.plan_nights(store, organizer_id))
    store.close()
    server = Servers(f"sqlite:///{path}")
    server.start()
    url = f"http://127.0.0.1:{server.port}"
    headers = {"Authorization": f"Bearer {token}", "User-Agent": "behaviours"}
    with httpx2.Client(base_url=url, headers=headers, timeout=TIMEOUT_SECONDS) as client:
        yield world.Site(
            url=url,
            ws_url=url.replace("http", "ws"),
            token=token,
            organizer_id=organizer_id,
            tournament_ids=tournament_ids,
            listed_ids=listed_ids,
            http=client,
        )
    server.close()
