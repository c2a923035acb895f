"""Make a broker write records of every type that it still writes: groups of all types that come and go."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from kgroups.protocol.offsets_topic import decode
from kgroups.sandbox import Sandbox
from kgroups.sandbox.load import Load, seed_load
from kgroups.sandbox.seed import seed_known_groups
from kgroups.sandbox.seed_data import RECORDS
from tests.integration.offsets_log import Logged, read_log
from tests.integration.streams_member import play_streams_group
from tests.integration.transient_groups import REGEX, TransientGroups

SHARE: Final = "every-share"
STREAMS: Final = "every-streams"
TRANSACTIONS: Final = "every-transactions"
GONE: Final = "payments-empty"
"""Of the known cluster; deleted at the end."""
FORGOTTEN: Final = ("ahead", "clicks")
"""A group of the known cluster, and a topic of which its commits are deleted at the end."""

COMMITTED, ABORTED = 3, 2
"""Commits in transactions that were."""

_SHARE_RECORDS: Final = {10, 11, 12, 13, 14, 15}
_SHARE_MEMBER, _SHARE_ASSIGNMENT = 10, 14
_SECONDS: Final = 120.0


def write_every_record(sandbox: Sandbox, load: Load) -> None:
    """Returns when all is written: first groups of every kind, last the many commits of ``load``."""
    seed_known_groups(sandbox)
    share = _start_share_member(sandbox)
    play_streams_group(sandbox.bootstrap, STREAMS, "orders")
    with TransientGroups(sandbox):
        _commit_in_transactions(sandbox.bootstrap)
        _wait_until(sandbox, _share_member_has_all)
    sandbox.stop_helper(share, grace=_SECONDS)  # it says good-bye
    _wait_until(sandbox, _share_member_is_gone)
    _delete(sandbox)
    seed_load(sandbox, load)


def _start_share_member(sandbox: Sandbox) -> int:
    program = sandbox.version.share_consumer
    assert program
    words = ("--bootstrap-server", sandbox.bootstrap, "--topic", "orders", "--group", SHARE)
    return sandbox.start_java(SHARE, program, *words)


def _commit_in_transactions(bootstrap: str) -> None:
    """The commits of the second transaction never happened: who reads committed records does not see them."""
    common: dict[str, Any] = {"bootstrap.servers": bootstrap, "log_level": 3}
    consumer = Consumer(common | {"group.id": TRANSACTIONS})
    producer = Producer(common | {"transactional.id": TRANSACTIONS})
    producer.init_transactions(_SECONDS)
    for count, end in ((COMMITTED, producer.commit_transaction), (ABORTED, producer.abort_transaction)):
        producer.begin_transaction()
        offsets = [TopicPartition("orders", partition, 7, metadata="ü" * partition) for partition in range(count)]
        producer.send_offsets_to_transaction(offsets, consumer.consumer_group_metadata(), _SECONDS)
        end(_SECONDS)
    consumer.close()


def _delete(sandbox: Sandbox) -> None:
    """Groups of every kind, and some commits: each leaves tombstones."""
    admin = AdminClient({"bootstrap.servers": sandbox.bootstrap, "log_level": 3})
    until = time.monotonic() + _SECONDS
    while admin.describe_consumer_groups([REGEX])[REGEX].result(_SECONDS).members:
        assert time.monotonic() < until, f"{REGEX} has members"
        time.sleep(0.2)
    for gone in admin.delete_consumer_groups([GONE, REGEX, STREAMS]).values():
        gone.result(_SECONDS)
    group, topic = FORGOTTEN
    done = sandbox.java_tool("--delete-offsets", "--group", group, "--topic", topic)
    assert done.returncode == 0, done.stdout + done.stderr


def _wait_until(sandbox: Sandbox, reported: Callable[[list[Logged]], bool]) -> None:
    until = time.monotonic() + _SECONDS
    while not reported(read_log(sandbox.bootstrap)):
        assert time.monotonic() < until, f"not {reported.__name__}; {SHARE}: {sandbox.log_tail(SHARE)}"
        time.sleep(0.5)


def _share_member_has_all(log: list[Logged]) -> bool:
    """A group has records of every type before its member is given anything, a heartbeat later."""
    given = [decode(each.key, each.value).value for each in log if each.value and _type(each) == _SHARE_ASSIGNMENT]
    held = [sum(len(part["Partitions"]) for part in value["AssignedPartitions"]) for value in given if value]
    return {_type(each) for each in log} >= _SHARE_RECORDS and len(RECORDS["orders"]) in held


def _share_member_is_gone(log: list[Logged]) -> bool:
    return any(_type(each) == _SHARE_MEMBER and each.value is None for each in log)


def _type(logged: Logged) -> int:
    return int.from_bytes(logged.key[:2], "big")
