"""Manage Kafka consumer groups, on the command line and in Python.

Programs import :class:`Cluster`, :class:`Fleet` (several clusters), or with an event loop :class:`AsyncCluster` or
:class:`AsyncFleet`, and the types that these accept and return. Nothing is imported before it is used.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing takes time, during which Ctrl-C could not be handled
if TYPE_CHECKING:
    from . import api
    from .api import *  # noqa: F403  # its __all__ names the public classes
    from .version import __version__

    __all__ = ["__version__"]
    __all__ += api.__all__


def __getattr__(name: str) -> object:
    """Import a public name when it is used, because the commands use none of them."""
    if name == "__version__":
        from .version import __version__

        return __version__
    if name == "__all__":
        return __dir__()
    if name[:1].isupper():  # a class of the API: the names of modules are lowercase
        from . import api

        if name in api.__all__:
            found: object = getattr(api, name)
            return found
    raise AttributeError(f"module 'kgroups' has no attribute {name!r}")


def __dir__() -> list[str]:
    from . import api

    return [*api.__all__, "__version__"]
