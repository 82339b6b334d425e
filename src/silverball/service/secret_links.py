"""Links whose secret is shown once and stored nowhere: of a scorekeeper's device, of a director."""

from silverball.kit.values import WithSecret


class SecretLink(WithSecret, frozen=True):
    """The secret of a new link."""

    secret: str
