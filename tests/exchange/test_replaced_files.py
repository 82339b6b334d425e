"""Files for download: replaced at once, and nothing is left of a writer that was killed."""

import subprocess
import sys
from pathlib import Path

from silverball.exchange.files import new_part, replace_atomically

WRITER = """
import sys
from pathlib import Path
from silverball.exchange.files import new_part

with new_part(Path(sys.argv[1])) as part:
    part.write_text("half")
    print(part.name, flush=True)
    sys.stdin.read()
"""


def test_the_next_writer_deletes_what_a_killed_one_left_and_no_other(tmp_path: Path) -> None:
    target = tmp_path / "results [1].csv"
    asked = [sys.executable, "-c", WRITER, str(target)]
    with subprocess.Popen(asked, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        left = tmp_path / writer.stdout.readline().strip()
        assert left.exists()
        with replace_atomically(target) as file:
            file.write(b"whole")
        # Its writer lives.
        assert left.exists()
        writer.kill()
    assert left.exists()
    with new_part(target) as mine, new_part(tmp_path / "results.csv"):
        assert set(tmp_path.glob(".results [[]1].csv.*.part")) == {mine}
    assert sorted(file.name for file in tmp_path.iterdir()) == [target.name]
    assert target.read_bytes() == b"whole"
