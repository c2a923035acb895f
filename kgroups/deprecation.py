"""Deprecated names: each is reported once per process, with its replacement. See docs/stability.md."""

from __future__ import annotations

_reported: set[str] = set()


def message_once(old: str, new: str) -> str | None:
    """Return the message about a deprecated name when it is first used in this process, and then ``None``.

    :param old: the name, such as ``--max-age of kgroups exporter``, or ``kgroups.Cluster.ask``.
    :param new: what replaces it.
    """
    if old in _reported:
        return None
    _reported.add(old)
    return f"{old} is deprecated; use {new}"


def warn_once(old: str, new: str) -> None:
    """Warn a program that it uses a deprecated name of the Python API: one :class:`DeprecationWarning` per process."""
    if message := message_once(old, new):
        import warnings

        warnings.warn(message, DeprecationWarning, stacklevel=3)  # at the caller of the deprecated name
