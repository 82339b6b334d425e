"""Make the demo's old nights: what its first start then need not load and play.

    python scripts/demo_data.py [FILE]        `make demo-data`

The file is a compressed database without a token, a password or anything encrypted.
"""

import lzma
import shutil
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from random import Random

from silverball.cli import database, demo
from silverball.demo import nights
from silverball.settings import Settings
from silverball.store.database.deadlines import LONG_COMMANDS

BASE_URL = "http://127.0.0.1:8000"


def write_old_nights(target: Path) -> None:
    """Load and play everything that is older than a week, and write it into a file."""
    with tempfile.TemporaryDirectory(prefix="silverball-") as folder:
        file, packed = Path(folder) / "old.db", Path(folder) / "packed.db"
        url = f"sqlite:///{file}"
        settings = Settings(base_url=BASE_URL, database_url=url, allow_loopback=True)
        with database.open_database(url=url, may_create=True, limits=LONG_COMMANDS) as store:
            dice = Random(demo.DICE_SEED)  # a game
            user_id = demo.reserve_first(store, settings, dice)
            demo.load_bundles(store, user_id)
            nights.load_machines(store)
            print("Playing the nights before last week ...", file=sys.stderr)
            nights.play_nights(store, settings, user_id, dice, only_old=True)
        with closing(sqlite3.connect(file)) as db:
            db.execute("VACUUM INTO ?", (str(packed),))
        part = target.with_name(f".{target.name}.part")
        with packed.open("rb") as plain, lzma.open(part, "wb", preset=9) as compressed:
            shutil.copyfileobj(plain, compressed)
        part.rename(target)
    print(f"{target}: {target.stat().st_size / 1e6:.1f} MB", file=sys.stderr)


if __name__ == "__main__":
    write_old_nights(Path(sys.argv[1]) if sys.argv[1:] else nights.OLD_NIGHTS)
