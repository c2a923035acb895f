"""kgroups: Kafka's consumer groups, listed and described truthfully. Nothing heavy is imported here.

``from kgroups import Cluster`` (or ``AsyncCluster``) is the way in for programs.
"""

from __future__ import annotations

from .version import __version__

TYPE_CHECKING = False  # typing's own costs its import, before which nothing can be done about Ctrl-C
if TYPE_CHECKING:
    from .api.asynchronous import AsyncCluster
    from .api.blocking import Cluster


__all__ = ["AsyncCluster", "Cluster", "__version__"]


def __getattr__(name: str) -> object:
    """Imports the API when it is used: the commands do without."""
    if name == "Cluster":
        from .api.blocking import Cluster

        return Cluster
    if name == "AsyncCluster":
        from .api.asynchronous import AsyncCluster

        return AsyncCluster
    raise AttributeError(f"module 'kgroups' has no attribute {name!r}")
