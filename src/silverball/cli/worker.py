"""One worker of `silverball serve --workers`, started by its supervisor."""

import contextlib
import dataclasses
import os
import signal
import socket

import click

from silverball import settings
from silverball.cli import database, public_address, server
from silverball.cli.supervisor_link import SupervisorLink, WorkerPlace
from silverball.kit import logs
from silverball.kit.conversions import decode
from silverball.kit.shared_cells import SharedCells
from silverball.settings import Settings
from silverball.store.time_limits import REQUESTS


@click.command()
@click.argument("place")
@click.argument("control", type=int)
def worker(place: str, control: int) -> None:
    """Serve beside the other workers; PLACE is what the supervisor says, CONTROL the socket to it."""
    logs.configure()
    let_others_finish()
    # Of a terminal that closes: the supervisor understands it as a restart.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    run_worker(decode(place, WorkerPlace), control)


def run_worker(place: WorkerPlace, control: int) -> None:
    """Serve until stopped, or until the supervisor has ended."""
    configured = settings.load()
    with socket.socket(fileno=place.listener) as listener, database.open_database(limits=REQUESTS) as store:
        store.cells = SharedCells(place.cells, place.column)
        port = listener.getsockname()[1]
        link = SupervisorLink(place, control)
        server.run_server(
            store,
            share_of(public_address.with_base_url(configured, place.host, port), store.cells.workers),
            listener,
            when_ready=link.begin,
            follows_host=public_address.follows_host(configured, place.host),
            link=link,
        )


def let_others_finish() -> None:
    """Let whoever runs go on when this worker wakes up, on Linux: its threads are scheduled as a batch.

    More workers than cores would interrupt each other for every request, each with cold caches
    (decision 0032). What an operator has chosen stays.
    """
    if hasattr(os, "SCHED_BATCH"):
        # A container or a service may forbid it.
        with contextlib.suppress(OSError):
            if os.sched_getscheduler(0) == os.SCHED_OTHER:
                os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def share_of(loaded: Settings, workers: int) -> Settings:
    """The settings of one of so many workers: a part of the memory, and no port for metrics."""
    cache = loaded.cache_megabytes
    megabytes = max(1, cache // workers) if cache else 0
    return dataclasses.replace(loaded, cache_megabytes=megabytes, metrics_port=0)
