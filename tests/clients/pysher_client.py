"""Follows a channel with Pysher and prints the messages it receives, a line of JSON each.

Usage: python pysher_client.py PORT KEY CHANNEL. A program of its own, because importing the library warns.
"""

import json
import sys

import pysher  # type: ignore[import-untyped]  # it has no types


def main() -> None:
    """Connect, follow, print until standard input ends."""
    port, key, channel = sys.argv[1:]
    client = pysher.Pusher(key, custom_host="127.0.0.1", secure=False, port=int(port))

    def report(*words: object) -> None:
        print(json.dumps(words), flush=True)  # noqa: T201  # the tests read its output

    def connected(_data: str) -> None:
        report("connected")
        subscription = client.subscribe(channel)
        subscription.bind("pusher_internal:subscription_succeeded", lambda _data: report("subscribed"))
        subscription.bind("pusher:subscription_error", lambda data: report("refused", data))
        subscription.bind("GameCreatedOrUpdated", lambda data: report("event", "GameCreatedOrUpdated", data))

    client.connection.bind("pusher:connection_established", connected)
    client.connection.bind("pusher:error", lambda data: report("error", data))
    client.connection.bind("pusher:pong", lambda _data: report("pong"))
    client.connect()
    sys.stdin.read()
    client.disconnect(timeout=2)


if __name__ == "__main__":
    main()
