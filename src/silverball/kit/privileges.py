"""The rights of the process on its machine."""

import os
from pathlib import Path

PRIVATE_UMASK = 0o077


def become_owner(folder: str) -> None:
    """As root, become the owner of a folder for good: what is written into it is theirs, and private.

    Does nothing for others, and for a folder that root owns or that does not exist.
    """
    if os.geteuid() != 0:
        return
    try:
        status = Path(folder).stat()
    except OSError:
        return
    if status.st_uid == 0:
        return
    os.umask(PRIVATE_UMASK)
    os.setgroups(_groups_of(status.st_uid, status.st_gid))
    os.setgid(status.st_gid)
    os.setuid(status.st_uid)


def _groups_of(user_id: int, group_id: int) -> list[int]:
    """The groups of an account, of which one that the machine does not list has one."""
    import pwd

    try:
        name = pwd.getpwuid(user_id).pw_name
    except KeyError:
        return [group_id]
    return os.getgrouplist(name, group_id)
