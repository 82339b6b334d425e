"""`silverball serve` on a free port, stopped as soon as it says where it is: for lines in documents."""

import subprocess
import sys

words = sys.argv[1:]
if "--port" in words:
    del words[words.index("--port") : words.index("--port") + 2]
command = [sys.executable, "-m", "silverball.cli.main", *words, "--port", "0"]
with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
    assert process.stdout is not None
    line = process.stdout.readline()
    sys.stdout.write(line)
    process.terminate()
sys.exit(0 if line.startswith("Silverball is at") else 1)
