"""The metrics of several workers as those of one server.

Works on the text that each worker makes (`site_metrics.py`), so whatever that counts is summed without
being named here. Counters of a worker that has ended stay in the sums.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

# Everything else is summed. These are about the site or the machine, so every worker says the same.
HIGHEST = (
    "silverball_build_info",
    "silverball_feed_relay_lag_seconds",
    "silverball_job_last_success",
    "silverball_mirror",
    "silverball_webhook_backlog",
    "process_max_fds",
)
LOWEST = ("silverball_ready", "silverball_counts_shared", "process_start_time_seconds")
# With workers of other machines beside them.
NODES = "silverball_nodes"
COUNTED = frozenset({"counter", "histogram"})


class MetricsText(Struct):
    """The metrics of one worker."""

    # Name of a family -> its lines of help and type.
    heads: dict[str, list[str]] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    # Name of a family -> name and labels of a sample -> value.
    samples: dict[str, dict[str, float]] = field(default_factory=dict)


def parse_metrics(text: str) -> MetricsText:
    """Read what `generate_latest` of Prometheus' library has written."""
    parsed, family = MetricsText(), ""
    for line in text.splitlines():
        if line.startswith("# "):
            _, word, family, rest = (line + " ").split(" ", 3)
            parsed.heads.setdefault(family, []).append(line)
            parsed.samples.setdefault(family, {})
            if word == "TYPE":
                parsed.kinds[family] = rest.strip()
        elif line:
            sample, _, value = line.rpartition(" ")
            parsed.samples.setdefault(family, {})[sample] = float(value)
    return parsed


class SummedMetrics:
    """The sums over all workers of a supervisor, of those that have ended too."""

    def __init__(self) -> None:
        # Worker -> what it said last.
        self._latest: dict[int, MetricsText] = {}
        self._ended = MetricsText()

    def update(self, worker: int, text: str) -> None:
        """Take what a worker says of itself now."""
        self._latest[worker] = parse_metrics(text)

    def end(self, worker: int) -> None:
        """Keep the counters of a worker that has ended, and forget the rest."""
        latest = self._latest.pop(worker, None)
        if latest is None:
            return
        counted = {name for name, kind in latest.kinds.items() if kind in COUNTED}
        counters = MetricsText(
            {name: head for name, head in latest.heads.items() if name in counted},
            {name: kind for name, kind in latest.kinds.items() if name in counted},
            {name: samples for name, samples in latest.samples.items() if name in counted},
        )
        self._ended = _summed([self._ended, counters])

    def exposition(self, workers: int) -> bytes:
        """All metrics as text; `workers` is how many serve."""
        total = _summed([*self._latest.values(), self._ended])
        lines = [
            "# HELP silverball_workers Workers that serve.",
            "# TYPE silverball_workers gauge",
            f"silverball_workers {float(workers)}",
        ]
        for name, head in total.heads.items():
            lines += head
            lines += [f"{sample} {_text(value)}" for sample, value in total.samples[name].items()]
        return ("\n".join(lines) + "\n").encode()


def _summed(texts: Iterable[MetricsText]) -> MetricsText:
    total = MetricsText()
    for text in texts:
        total.kinds |= text.kinds
        for name, head in text.heads.items():
            total.heads.setdefault(name, head)
            _add(name, total.samples.setdefault(name, {}), text.samples[name])
    return total


def _add(name: str, total: dict[str, float], samples: Mapping[str, float]) -> None:
    for sample, value in samples.items():
        if sample not in total:
            total[sample] = value
        elif name.startswith((*HIGHEST, NODES)):
            total[sample] = max(total[sample], value)
        elif name.startswith(LOWEST):
            total[sample] = min(total[sample], value)
        else:
            total[sample] += value


def _text(value: float) -> str:
    return repr(value)
