"""The fetching process: works on pulls beside a server, so that what a source sends never reaches that.

It is no command: the server spawns it while a pull is due (`jobs/pull_histories.py`).
"""

import signal
import threading
from functools import partial

from silverball.jobs import pull_histories
from silverball.kit import logs, processes


def main() -> None:
    """Work on pulls for as long as the server asks for it, then leave them to the next."""
    logs.configure()
    # A service manager tells all processes; the end of the input follows, and leaves time for the request.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    closing = threading.Event()
    processes.serve(partial(pull_histories.fetch, closing=closing), at_end=closing.set)


if __name__ == "__main__":
    main()
