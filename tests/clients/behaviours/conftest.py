"""One server for all behaviours."""

import dataclasses
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


@pytest.fixture
def new_site(site: world.Site, site_file: Path) -> Iterator[world.Site]:
    """The same site with the limits of a new server."""
    server = Servers(f"sqlite:///{site_file}")
    server.start()
    url = f"http://127.0.0.1:{server.port}"
    with httpx2.Client(base_url=url, headers=site.http.headers, timeout=TIMEOUT_SECONDS) as client:
        yield dataclasses.replace(site, url=url, ws_url=url.replace("http", "ws"), http=client)
    server.close()


@pytest.fixture(scope="session")
def site_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("behaviours") / "silverball.db"


@pytest.fixture(scope="session")
def site(empty_sqlite: Path, site_file: Path) -> Iterator[world.Site]:
    shutil.copy(empty_sqlite, site_file)
    store = Store(f"sqlite:///{site_file}")
    stored_nights.skip_disk_sync(store)
    organizer_id, token = world.an_admin(store)
    tournament_ids = world.play_nights(store, organizer_id)
    listed_ids = tuple(world.plan_nights(store, organizer_id))
    store.close()
    server = Servers.without_limits(f"sqlite:///{site_file}")
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
