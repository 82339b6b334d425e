"""The feed: sockets that tell what happens in a tournament, when it happens."""
