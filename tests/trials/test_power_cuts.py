"""T2: the power is cut at any moment of a running server. What was acknowledged is on the disk, and whole."""

import time
from pathlib import Path
from random import Random

from selection import IS_SOAK, LARGE_IN_SOAK, repetitions
from servers import Servers
from silverball.store.database.engine import Store
from trials.crash_images import HOW, Disk, traced_calls
from trials.figures import Figures
from trials.injected_faults import need_strace
from trials.ledger import Clients, Ledger, Work

pytestmark = LARGE_IN_SOAK

IMAGES = repetitions(80, in_soak=5_000)
WRITES = repetitions(40, in_soak=400)
# Verifying an image takes longer than everything else about it.
VERIFIED = 1 if IS_SOAK else 8


def test_an_image_of_the_disk_at_any_moment_has_what_was_acknowledged(
    empty_sqlite: Path, tmp_path: Path
) -> None:
    need_strace()
    file = tmp_path / "silverball.db"
    file.write_bytes(empty_sqlite.read_bytes())
    files, trace = [file, file.with_name("silverball.db-wal")], tmp_path / "trace"
    store = Store(f"sqlite:///{file}")
    work, ledger, servers = Work(store, rounds=3), Ledger(), Servers.without_limits(f"sqlite:///{file}")
    store.close()
    try:
        servers.start()
        with Clients(work, ledger, lambda _client: servers.port):
            # From the first write on there is a log.
            ledger.await_count(1)
        with traced_calls(servers.process_id, files, trace):
            contents = {path.name: path.read_bytes() for path in files}
            with Clients(work, ledger, lambda _client: servers.port):
                ledger.await_count(WRITES)
    finally:
        servers.close()
    figures = Figures("T2 power cuts", "sqlite", IMAGES, len(ledger.acknowledged_keys()))
    cut_power(figures, trace, Disk(contents), work, ledger, tmp_path)
    figures.publish()
    figures.assert_nothing_wrong()


def cut_power(figures: Figures, trace: Path, disk: Disk, work: Work, ledger: Ledger, folder: Path) -> None:
    """Cut the power at moments of the trace, and compare what is on the disk with the ledger then."""
    lines = trace.read_text(encoding="ascii").splitlines()
    dice = Random(2)
    moments = sorted(dice.choices(range(len(lines)), k=IMAGES))
    recoveries: list[float] = []
    for number, line in enumerate(lines):
        at = disk.follow(line)
        while moments and moments[0] == number:
            moments.pop(0)
            image = folder / "image"
            image.mkdir(exist_ok=True)
            how = dice.choice(HOW)
            for name, content in disk.files.items():
                (image / name).write_bytes(content.after_power_cut(how, dice))
            for beside in image.glob("*-shm"):
                beside.unlink()
            acknowledged = {
                write.key
                for write in ledger.writes
                if write.is_acknowledged and at is not None and write.acknowledged_at < at
            }
            began = time.monotonic()
            check_image(figures, image, work, acknowledged, is_verified=len(moments) % VERIFIED == 0)
            recoveries.append(time.monotonic() - began)
    assert not moments
    assert any("sync" in line for line in lines)
    figures.add_recoveries(recoveries)


def check_image(
    figures: Figures, image: Path, work: Work, acknowledged: set[str], *, is_verified: bool
) -> None:
    """Open the database as a server does after the power is back, and note what is wrong with it."""
    store = Store(f"sqlite:///{image / 'silverball.db'}")
    there = work.stored(store)
    figures.lost += len(acknowledged - there.keys())
    figures.twice += sum(count > 1 for count in there.values())
    if is_verified:
        figures.torn += len(work.torn(store))
        figures.gaps += work.gaps(store)
    store.close()
