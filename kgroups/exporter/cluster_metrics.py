"""Merge the metrics of several clusters: each family once, its samples with the label ``cluster``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from .metrics import escape_label

_HEAD = re.compile(rb"(?:#.*\n)*")
_NAME = re.compile(rb"^(\w+)(\{)?", re.MULTILINE)


def merge_families(families: Mapping[str, Iterable[bytes]]) -> Iterator[bytes]:
    """Yield the text of each family: its head, and then the samples of all clusters.

    :param families: the texts of the same families, in the same order, by the name of the cluster.
    """
    labels = [f'cluster="{escape_label(name)}"'.encode() for name in families]
    for texts in zip(*families.values(), strict=True):
        heads = [_end_of_head(text) for text in texts]
        yield texts[0][: heads[0]]
        for text, head, label in zip(texts, heads, labels, strict=True):
            yield _with_label(text[head:], label)


def _end_of_head(text: bytes) -> int:
    found = _HEAD.match(text)
    return found.end() if found else 0


def _with_label(samples: bytes, label: bytes) -> bytes:
    """Return samples with a label before their own; a line break in a label is escaped, so that each has one line."""

    def add(name: re.Match[bytes]) -> bytes:
        return name[1] + b"{" + label + (b"," if name[2] else b"}")

    return _NAME.sub(add, samples)
