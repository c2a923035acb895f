"""The Python API for programs without an event loop: its methods wait for the methods of the asynchronous classes."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from kgroups.admin.loop_thread import LoopThread
from kgroups.config.settings import ClientSettings

from .asynchronous import AsyncCluster
from .fleet import AsyncFleet

P = ParamSpec("P")
T = TypeVar("T")


def blocking(method: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]) -> Callable[Concatenate[Any, P], T]:
    """Return a method that waits for the result of an asynchronous method with the same parameters."""

    @wraps(method)
    def wait(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        result: T = self._wait(method(self._asynchronous, *args, **kwargs))
        return result

    wait.__doc__ = _without_await(method.__doc__ or "")
    return wait


def documented(first: str, asynchronous: type) -> Callable[[type[T]], type[T]]:
    """Document a class by the text of the class that it waits for.

    :param first: the first line of its own text.
    """

    def document(documented: type[T]) -> type[T]:
        _, _, rest = (asynchronous.__doc__ or "").partition("\n")
        documented.__doc__ = f"{first}\n{_without_await(rest)}"
        for name, method in vars(documented).items():
            if callable(method) and not name.startswith("_"):
                method.__module__, method.__qualname__ = documented.__module__, f"{documented.__qualname__}.{name}"
        return documented

    return document


def _without_await(text: str) -> str:
    for asynchronous, replacement in (("async with", "with"), ("await ", ""), ("Async", "")):
        text = text.replace(asynchronous, replacement)
    return text


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Wait for the result, in an event loop of its own."""
    loop = LoopThread()
    try:
        return loop.run(coroutine)
    finally:
        loop.close()


@documented("A Kafka cluster, for programs without an event loop, and for notebooks.", AsyncCluster)
class Cluster:
    def __init__(
        self,
        bootstrap: str | None = None,
        *,
        command_config: str | os.PathLike[str] | None = None,
        properties: Mapping[str, str] | None = None,
        profile: str | None = None,
        timeout: float | None = None,
        broker_timeout: float | None = None,
        transport: str | None = None,
        config_providers: bool | None = None,
        max_requests_per_second: float | None = None,
    ) -> None:
        self._asynchronous = AsyncCluster(
            bootstrap,
            command_config=command_config,
            properties=properties,
            profile=profile,
            timeout=timeout,
            broker_timeout=broker_timeout,
            transport=transport,
            config_providers=config_providers,
            max_requests_per_second=max_requests_per_second,
        )
        self._loop: LoopThread | None = None

    @property
    def settings(self) -> ClientSettings:
        return self._asynchronous.settings

    def __enter__(self) -> Self:
        self._loop = self._loop or LoopThread()
        self._loop.run(self._asynchronous.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        loop, self._loop = self._loop, None
        if loop is not None:
            try:
                loop.run(self._asynchronous.__aexit__(kind, error, trace))
            finally:
                loop.close()

    list = blocking(AsyncCluster.list)
    describe = blocking(AsyncCluster.describe)
    offsets = blocking(AsyncCluster.offsets)
    lag = blocking(AsyncCluster.lag)
    check = blocking(AsyncCluster.check)
    plan_reset = blocking(AsyncCluster.plan_reset)
    apply = blocking(AsyncCluster.apply)
    plan_delete_offsets = blocking(AsyncCluster.plan_delete_offsets)
    delete_offsets = blocking(AsyncCluster.delete_offsets)
    plan_delete = blocking(AsyncCluster.plan_delete)
    delete = blocking(AsyncCluster.delete)
    describe_settings = blocking(AsyncCluster.describe_settings)
    plan_settings = blocking(AsyncCluster.plan_settings)
    plan_restore_settings = blocking(AsyncCluster.plan_restore_settings)
    alter_settings = blocking(AsyncCluster.alter_settings)
    undo = blocking(AsyncCluster.undo)
    save_snapshot = blocking(AsyncCluster.save_snapshot)
    plan_restore = blocking(AsyncCluster.plan_restore)

    def _wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return (self._loop.run if self._loop is not None else run)(coroutine)


@documented("Several Kafka clusters, for programs without an event loop, and for notebooks.", AsyncFleet)
class Fleet:
    def __init__(self, *profiles: str, timeout: float | None = None, cluster_timeout: float | None = None) -> None:
        self._asynchronous = AsyncFleet(*profiles, timeout=timeout, cluster_timeout=cluster_timeout)

    @property
    def profiles(self) -> tuple[str, ...]:
        return self._asynchronous.profiles

    list = blocking(AsyncFleet.list)
    describe = blocking(AsyncFleet.describe)
    offsets = blocking(AsyncFleet.offsets)
    lag = blocking(AsyncFleet.lag)
    check = blocking(AsyncFleet.check)

    _wait = staticmethod(run)
