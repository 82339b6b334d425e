"""Servers that are quick to start again: everything is loaded once, each server is a fork of this process.

A line on standard input starts the next `silverball serve`; its process id and its address come out, and
`ended` with the process id when it has ended, however that was.
"""

import os
import sys

# What a server loads when it starts.
from silverball import app  # noqa: F401  # loaded for the forks
from silverball.cli import main, serve, server  # noqa: F401  # loaded for the forks


def run() -> None:
    """Start a server for each line, until there are no more."""
    for _ in sys.stdin:
        process_id = os.fork()
        if process_id == 0:
            sys.stdin.close()
            main.silverball_group(["serve", "--create", "--port", "0"], prog_name="silverball")
        sys.stdout.write(f"{process_id}\n")
        sys.stdout.flush()
        os.waitpid(process_id, 0)
        sys.stdout.write(f"ended {process_id}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    run()
