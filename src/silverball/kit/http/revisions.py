"""Revisions of a tournament in headers: what an answer names, and what `If-Match` asks for."""

from silverball.kit.errors import Refusal


def revision_headers(revision: int, stamp: int) -> tuple[tuple[bytes, bytes], ...]:
    """The headers that name this revision of a tournament: its number, and the tag for If-Match."""
    tag = b'"%b"' % revision_tag(revision, stamp)
    return ((b"x-tournament-revision", b"%d" % revision), (b"x-tournament-tag", tag))


def revision_tag(revision: int, stamp: int) -> bytes:
    """Number and stamp of a revision as one text, for one state of a tournament only.

    A database that went back to a copy comes to the same number again, with another stamp.
    """
    return b"%d-%x" % (revision, stamp)


class RevisionMismatch(Refusal):
    """The tournament is not at the revision that If-Match names."""

    sentence = "The tournament is at revision {revision} now. Read it again before you change it."

    def __init__(self, revision: int, stamp: int) -> None:
        super().__init__(revision=revision)
        self.headers = revision_headers(revision, stamp)
