"""Pages for everybody: one tournament as it is played, kept in memory and followed over the feed."""
