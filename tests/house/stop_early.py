"""Run a program that a reader stops with Ctrl-C: stopped here after three lines, or half a minute."""

import subprocess
import sys
import threading

LINES_MAX = 3
SECONDS_MAX = 30

with subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True) as process:
    assert process.stdout is not None
    timer = threading.Timer(SECONDS_MAX, process.terminate)
    timer.start()
    lines = 0
    for line in process.stdout:
        sys.stdout.write(line)
        sys.stdout.flush()
        lines += 1
        if lines == LINES_MAX:
            process.terminate()
            break
    is_stopped = lines == LINES_MAX or not timer.is_alive()
    timer.cancel()
sys.exit(0 if is_stopped else process.returncode)
