"""Silverball: a self-hostable tournament data service for pinball."""

from pathlib import Path

__version__ = "0.3.0"
COMMIT_LETTERS = 10


def commit() -> str:
    """The commit that this program was made from; empty where nobody noted it.

    `git archive`, from which releases are built, writes it into the file; a clone knows it itself.
    """
    noted = Path(__file__).with_name("commit.txt").read_text(encoding="ascii").strip()
    if noted.startswith("$"):
        noted = _newest_commit(Path(__file__).parents[2] / ".git")
    return noted[:COMMIT_LETTERS]


def _newest_commit(git: Path) -> str:
    """The commit that is checked out in a clone; empty for anything else."""
    try:
        head = (git / "HEAD").read_text(encoding="ascii").strip()
        branch = head.removeprefix("ref: ")
        if branch == head:
            return head
        if (git / branch).exists():
            return (git / branch).read_text(encoding="ascii").strip()
        lines = (git / "packed-refs").read_text(encoding="ascii").splitlines()
    except OSError:
        return ""
    return next((line.partition(" ")[0] for line in lines if line.endswith(f" {branch}")), "")
