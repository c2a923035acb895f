"""The documented name of :mod:`kgroups.history`, for Spark programs: ``from kgroups.pipeline import register``."""

from __future__ import annotations

from kgroups.history import register

__all__ = ["register"]
