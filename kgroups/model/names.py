"""The names of groups and topics that Kafka's protocol can represent."""

from __future__ import annotations

from kgroups.errors import UsageError

LONGEST_NAME = 32_767
"""In bytes: the protocol stores the length as a signed 16-bit number."""


def check_sendable(name: str, where: str, what: str = "a name") -> None:
    """Check that Kafka's protocol can represent a name.

    :param where: the source of the name, for the error: a flag, or the line of a file.
    :param what: what it is, if not a name, for the error.
    :raises UsageError: if it cannot be represented.
    """
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        raise UsageError(f"{where}: {name!r} is not UTF-8") from None
    if size > LONGEST_NAME:
        raise UsageError(f"{where}: {what} of {size:,} bytes; Kafka's protocol takes {LONGEST_NAME:,}")
