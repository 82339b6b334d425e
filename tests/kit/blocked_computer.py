"""A computing process whose answers come from the test: each waits until the test has written it."""

import pickle
import socket
from collections.abc import Callable

from silverball.kit import processes
from silverball.kit.edge.computing_line import Question


def build(setup: bytes) -> Callable[[bytes], bytes]:
    """A function that hands the path of a question to the test, and answers with what it sends back."""
    address = setup.decode()

    def answer(encoded: bytes) -> bytes:
        question: Question = pickle.loads(encoded)
        path = question.request.path if question.request else dict(question.page or {})["path"]
        with socket.socket(socket.AF_UNIX) as connection, connection.makefile("rb") as received:
            connection.connect(address)
            connection.sendall(path.encode() + b"\n")
            return received.read()

    return answer


if __name__ == "__main__":
    processes.serve(build)
