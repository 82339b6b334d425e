"""Follows a channel with Pysher and prints what it hears, a line of JSON each.

Usage: python pysher_client.py PORT KEY CHANNEL. A program of its own: the library's import warns.
"""

import json
import sys

import pysher  # type: ignore[import-untyped]  # it has no types


def main() -> None:
    """Connect, follow, print until standard input ends."""
    port, key, channel = sys.argv[1:]
    client = pysher.Pusher(key, custom_host="127.0.0.1", secure=False, port=int(port))

    def say(*words: object) -> None:
        print(json.dumps(words), flush=True)  # noqa: T201  # this is its answer

    def connected(_data: str) -> None:
        say("connected")
        followed = client.subscribe(channel)
        followed.bind("pusher_internal:subscription_succeeded", lambda _data: say("subscribed"))
        followed.bind("pusher:subscription_error", lambda data: say("refused", data))
        followed.bind("GameCreatedOrUpdated", lambda data: say("event", "GameCreatedOrUpdated", data))

    client.connection.bind("pusher:connection_established", connected)
    client.connection.bind("pusher:error", lambda data: say("error", data))
    client.connection.bind("pusher:pong", lambda _data: say("pong"))
    client.connect()
    sys.stdin.read()
    client.disconnect(timeout=2)


if __name__ == "__main__":
    main()
