"""Links whose secret is shown once and stored nowhere: of a scorekeeper's device, of a director."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class SecretLink:
    """The secret of a new link."""

    secret: str = field(repr=False)
