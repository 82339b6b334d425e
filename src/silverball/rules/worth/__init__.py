"""The worth of a night: meaningful games by the federation's rules. Source: ratings, B.3."""
