"""The documentation of the Python API, as it is visible at run time."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import pytest

from kgroups import AsyncCluster, AsyncFleet, Cluster, Fleet

BLOCKING = (Cluster, Fleet)
ASYNCHRONOUS = (AsyncCluster, AsyncFleet)


def _methods(kind: type[Any]) -> Iterator[Any]:
    for name, _ in inspect.getmembers(kind, callable):
        if not name.startswith("_"):
            yield pytest.param(kind, name, id=f"{kind.__name__}.{name}")


@pytest.mark.parametrize(("kind", "name"), [each for kind in (*BLOCKING, *ASYNCHRONOUS) for each in _methods(kind)])
def test_method_documents_arguments_result_errors_and_example(kind: type[Any], name: str) -> None:
    method = getattr(kind, name)
    text = inspect.getdoc(method) or ""
    sections = ("Args:", "Returns:", "Raises:", "Example:")
    assert [each for each in sections if each not in text] == []
    described = text[text.index("Args:") : text.index("Returns:")]
    parameters = inspect.signature(method).parameters
    missing = [each for each in parameters if each != "self" and f"{each}:" not in described]
    assert missing == []
    assert ("await " in text) == (kind in ASYNCHRONOUS)


@pytest.mark.parametrize("kind", [*BLOCKING, *ASYNCHRONOUS])
def test_class_documents_every_argument(kind: type[Any]) -> None:
    text = inspect.getdoc(kind) or ""
    missing = [each for each in inspect.signature(kind).parameters if f"{each}:" not in text]
    assert missing == [] and "Example:" in text
    assert ("await " in text, f" {kind.__name__}(" in text) == (kind in ASYNCHRONOUS, True)


@pytest.mark.parametrize(("blocking", "asynchronous"), list(zip(BLOCKING, ASYNCHRONOUS, strict=True)))
def test_both_classes_have_the_same_signatures(blocking: type[Any], asynchronous: type[Any]) -> None:
    def signatures(kind: type[Any]) -> dict[str, object]:
        return {
            name: inspect.signature(method)
            for name, method in inspect.getmembers(kind, callable)
            if not name.startswith("_")
        }

    assert signatures(blocking) == signatures(asynchronous)
