"""The state of a group."""

from __future__ import annotations

from collections.abc import Iterator

from ..groups import GroupState, canonical_word
from .check import Check, Evidence, Flag, either
from .findings import Finding
from .values import parse_words


def parse_states(value: object) -> frozenset[str]:
    """Parse states.

    :raises ValueError: if a state is unknown; the message quotes it.
    """
    states = {word: canonical_word(word, GroupState.ALL) for word in parse_words(value)}
    for word, state in states.items():
        if state is None:
            raise ValueError(f"{word!r} is not a group state; use one of {', '.join(GroupState.ALL)}")
    return frozenset(filter(None, states.values()))


def _judge(evidence: Evidence) -> Iterator[Finding]:
    states, state = evidence.limits.states, evidence.last.offsets.group.state
    yield either(evidence, "state", state in states, f"{state}", f"{'|'.join(sorted(states))} is expected")


CHECK = Check(
    "state",
    "states",
    Flag("Require one of these states, comma-separated.", "STATES", repeated=True),
    "a state, or a list of states",
    parse_states,
    judge=_judge,
    about_offsets=False,
)
