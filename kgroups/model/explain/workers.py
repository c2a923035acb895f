"""Groups that distribute other work than partitions.

Connect workers have connectors and tasks; members of streams groups (KIP-1071) have the tasks of their topology.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from kgroups.model.embedded.connect import WorkerAssignment
from kgroups.model.groups import GroupType

from ..counts import count, some
from .facts import GroupFacts
from .findings import Finding, info, warning


def find(facts: GroupFacts) -> Iterator[Finding]:
    if facts.group.type == GroupType.STREAMS:
        yield from _tasks(facts)
        return
    user_data = [member.assignment.user_data for member in facts.members]
    work = {
        member.member_id: each
        for member, each in zip(facts.members, user_data, strict=True)
        if isinstance(each, WorkerAssignment)
    }
    if work:
        yield from _balance(work)
        yield from _versions(work)


def _tasks(facts: GroupFacts) -> Iterator[Finding]:
    active = {member.member_id: member.streams.tasks.active.size for member in facts.members if member.streams}
    if not active:
        return
    idle = [name for name, count in active.items() if not count]
    if idle:
        yield warning(
            "idle-members",
            f"{len(idle):,} of {count(len(active), 'member')} have no active task ({some(idle)}): there are "
            f"{count(sum(active.values()), 'active task')}, and each goes to one member only",
            idle,
        )
    loads = active.values()
    text = f"{count(len(active), 'member')} run{'s' if len(active) == 1 else ''} {count(sum(loads), 'active task')}"
    yield info("balance", f"{text}, {min(loads):,} to {max(loads):,} each" if len(active) > 1 else text)


def _balance(work: dict[str, WorkerAssignment]) -> Iterator[Finding]:
    connectors = {name: sum(each.itself for each in assignment.work) for name, assignment in work.items()}
    tasks = {name: sum(len(each.tasks) for each in assignment.work) for name, assignment in work.items()}
    loads = [connectors[name] + tasks[name] for name in work]
    text = (
        f"{count(len(work), 'worker')} run {count(sum(connectors.values()), 'connector')} and "
        f"{count(sum(tasks.values()), 'task')}, {min(loads):,} to {max(loads):,} each"
    )
    waiting = max((assignment.delay_ms or 0 for assignment in work.values()), default=0)
    if waiting:
        yield warning("balance", f"{text}; the work of a lost worker is reassigned after a delay of {waiting:,} ms")
    elif max(loads) - min(loads) > 2:
        yield warning("balance", f"{text}: uneven; the next rebalance corrects this")
    else:
        yield info("balance", text)


def _versions(work: dict[str, WorkerAssignment]) -> Iterator[Finding]:
    workers_by_version: dict[int, list[str]] = defaultdict(list)
    for name, assignment in work.items():
        workers_by_version[assignment.version].append(name)
    if len(workers_by_version) > 1:
        shares = [f"{count(len(names), 'worker')} v{version}" for version, names in sorted(workers_by_version.items())]
        yield warning("clients-differ", f"workers use different versions of the assignment format: {some(shares)}")
