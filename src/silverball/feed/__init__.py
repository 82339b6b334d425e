"""The feed: sockets that send the events of a tournament as they happen."""
