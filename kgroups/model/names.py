"""What Kafka's protocol can carry as the name of a group or topic."""

from __future__ import annotations

from kgroups.errors import UsageError

LONGEST_NAME = 32_767
"""Bytes: a length of 16 bits with a sign."""


def check_sendable(name: str, where: str, what: str = "a name") -> None:
    """:param where: who says it, for the error: a flag, or the line of a file.
    :param what: it is, where it is no name.
    :raises UsageError: when Kafka's protocol cannot carry it.
    """
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        raise UsageError(f"{where}: {name!r} is not UTF-8") from None
    if size > LONGEST_NAME:
        raise UsageError(f"{where}: {what} of {size:,} bytes; Kafka's protocol takes {LONGEST_NAME:,}")
