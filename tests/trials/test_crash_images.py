"""Disks after a power cut, from traces written by hand. Source: strace(1), fsync(2)."""

from random import Random

import pytest

from trials.crash_images import HOW, Disk, plain_path

NAMES = ("a.db", "a.db-wal")


def wrote(text: str, offset: int, *, name: str = "a.db", thread: int = 7) -> str:
    data = "".join(f"\\x{byte:02x}" for byte in text.encode())
    return f'{thread} 1700000000.5 pwrite64(5</tmp/{name}>, "{data}", {len(text)}, {offset}) = {len(text)}'


def a_disk(*lines: str) -> Disk:
    disk = Disk(dict.fromkeys(NAMES, b"before"))
    for line in lines:
        assert disk.follow(line) == 1700000000.5
    return disk


def contents(disk: Disk, how: str) -> set[bytes]:
    return {disk.files["a.db"].after_power_cut(how, Random(seed)) for seed in range(20)}


SYNCED = "7 1700000000.5 fdatasync(5</tmp/a.db>) = 0"
BEGUN = "8 1700000000.5 fsync(5</tmp/a.db> <unfinished ...>"
ENDED = "8 1700000000.5 <... fsync resumed>) = 0"


@pytest.mark.parametrize(
    ("lines", "nothing", "everything"),
    [
        ([wrote("AFTER", 0)], b"before", b"AFTERe"),
        ([wrote("AFTER", 0), SYNCED], b"AFTERe", b"AFTERe"),
        # Written after the sync began: it may be on the disk or not.
        ([BEGUN, wrote("AFTER", 0), ENDED], b"before", b"AFTERe"),
        ([wrote("AFTER", 0), BEGUN], b"before", b"AFTERe"),
        ([wrote("AFTER", 0), BEGUN, wrote("x", 5), ENDED], b"AFTERe", b"AFTERx"),
        # The sync of another file.
        ([wrote("AFTER", 0, name="a.db-wal"), SYNCED], b"before", b"before"),
        (["7 1700000000.5 ftruncate(5</tmp/a.db>, 2) = 0"], b"before", b"be"),
        ([wrote("x", 8)], b"before", b"before\0\0x"),
        ([wrote("x", 0), SYNCED, wrote("y", 0)], b"xefore", b"yefore"),
    ],
)
def test_what_was_synced_is_there_and_the_rest_may_be(
    lines: list[str], nothing: bytes, everything: bytes
) -> None:
    disk = a_disk(*lines)
    assert contents(disk, "nothing") == {nothing}
    assert contents(disk, "everything") == {everything}
    assert contents(disk, "some") <= {nothing, everything}


def test_a_write_of_several_sectors_can_be_torn() -> None:
    disk = a_disk(wrote("x" * 1_024, 0))
    seen = {
        (content[:512] == b"x" * 512, content[512:] == b"x" * 512) for content in contents(disk, "sectors")
    }
    assert seen >= {(True, False), (False, True), (True, True)}


@pytest.mark.parametrize("how", HOW)
def test_nothing_that_was_synced_is_ever_taken_back(how: str) -> None:
    disk = a_disk(wrote("AFTER", 0), SYNCED)
    assert contents(disk, how) == {b"AFTERe"}


def test_lines_that_are_no_calls_change_nothing() -> None:
    disk = a_disk()
    assert disk.follow("7 1700000000.5 +++ killed by SIGKILL +++") is None
    assert disk.follow("") is None
    assert contents(disk, "everything") == {b"before"}
    assert plain_path("\\x2f\\x61") == "/a"
