"""Writes the kept answers and documents again, after a change of the wire: python tests/kept/write_kept.py.

The kept data was written by 0.2.0, with this file at 83f74831: no later version writes it again.
"""

import json
import lzma
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

from kept import opening
from silverball.store.database import migrate


def write_answers(folder: Path) -> None:
    """Write the answers of the kept database, and the documents of the interface."""
    with opening.open_sqlite(folder) as store:
        migrate.migrate(store)
        answers = {caller: dict(opening.answers(store, caller)) for caller in opening.CALLERS}
    _write_xz(opening.ANSWERS, json.dumps(answers, indent=0, ensure_ascii=False).encode())
    for file, content in opening.documents().items():
        _write_xz(file, content)


def _write_xz(file: Path, content: bytes) -> None:
    file.write_bytes(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        unpacked = Path(name)
        opening.unpack(unpacked)
        write_answers(unpacked)
