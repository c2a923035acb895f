"""The state at the end of the period: groups, consumers of topics, unused groups, and expiring offsets."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ..data import Bounds, Consumer, Expiring, GroupRow, Groups, Kept, Stale, Tally
from .rows import Frames, Row, cached, fetch, first, truncate

_RANKS = ("OK", "UNKNOWN", "WARN", "STOP", "STALL", "REWIND")
_USES = ("UNKNOWN", "STALE", "EMPTY", "DELETED")


def groups(frames: Frames, uses: DataFrame, members: DataFrame, behind: DataFrame, bounds: Bounds) -> Groups:
    """Gather the groups, worst first.

    :param uses: the table ``stale``.
    :param members: result of :func:`present`.
    :param behind: the last lag in time of each group (``group``, ``behind``).
    """
    verdicts = (
        frames["verdicts"]
        .groupBy("group")
        .agg(F.max("group_status").alias("verdict"), F.sum(F.greatest("last_lag", F.lit(0))).alias("lag"))
    )
    lasting = frames["group_states"].where("until is null").groupBy("group").agg(F.max("since").alias("state_since"))
    counted = members.select("group", "members")
    joined = uses.withColumnsRenamed({"status": "use"})
    for part in (verdicts, lasting, counted, behind):
        joined = joined.join(part, "group", "left")
    rank = F.coalesce(_rank(_RANKS, "verdict"), F.lit(0))
    worst = (F.desc(rank), F.desc_nulls_last("lag"), F.asc("group"))
    with cached(joined) as rows:
        tallies = fetch(rows.groupBy("use", "state", "verdict").agg(F.count("*").alias("groups")))
        existing = fetch(rows.where("use != 'DELETED'").orderBy(*worst).limit(bounds.rows))
    found = Groups(Kept((), 0), tuple(sorted((Tally(**row) for row in tallies), key=repr)))
    return found._replace(rows=Kept(tuple(map(_group, existing)), found.number()))


def _group(row: Row) -> GroupRow:
    return GroupRow(
        group=row["group"],
        kind=row["kind"],
        state=row["state"],
        state_since=row["state_since"],
        use=row["use"],
        verdict=row["verdict"],
        lag=row["lag"],
        behind_ms=row["behind"],
        partitions=row["partitions"],
        members=row["members"] or 0,
        last_commit=row["last_commit"],
    )


def present(memberships: DataFrame, bounds: Bounds) -> DataFrame:
    """Return group, members (their number at the end), and clients (the first, as text)."""
    client = F.coalesce("instance_id", F.concat_ws("@", "client_id", "client_host"))
    return (
        memberships.where("until is null")
        .groupBy("group")
        .agg(
            F.count("*").alias("members"),
            truncate(F.array_sort(F.collect_list(client)), bounds.names).alias("clients"),
        )
    )


def consumers(latest_offsets: DataFrame, members: DataFrame, bounds: Bounds) -> Kept[Consumer]:
    """Gather the consumers, by topic; groups with members and recent commits if there are too many."""
    reads = (
        latest_offsets.groupBy("topic", "group")
        .agg(F.count("*").alias("partitions"), F.max("commit_time").alias("last_commit"))
        .join(members, "group", "left")
    )
    order = (
        F.desc(F.col("members").isNotNull()),
        F.desc_nulls_last("last_commit"),
        F.asc("topic"),
        F.asc("group"),
    )
    found = first(reads, order, bounds.rows, _consumer)
    return found._replace(rows=tuple(sorted(found.rows, key=lambda row: (row.topic, row.group))))


def _consumer(row: Row) -> Consumer:
    clients = tuple(row["clients"] or ())
    return Consumer(row["topic"], row["group"], row["partitions"], row["members"] or 0, clients, row["last_commit"])


def stale(frame: DataFrame, bounds: Bounds) -> Kept[Stale]:
    quiet = frame.where(F.col("status").isin(*_USES))
    order = (F.asc(_rank(_USES, "status")), F.desc_nulls_last("commit_age_ms"), F.asc("group"))
    return first(quiet, order, bounds.rows, _stale)


def _stale(row: Row) -> Stale:
    age = row["commit_age_ms"]
    return Stale(
        row["group"], row["kind"], row["status"], row["state"], row["partitions"], row["last_commit"], age,
        row["deleted_at"],
    )  # fmt: skip


def expiring(frame: DataFrame, bounds: Bounds) -> Kept[Expiring]:
    soon = frame.groupBy("group", "topic").agg(
        F.count("*").alias("partitions"),
        F.min("empty_since").alias("empty_since"),
        F.min("expires_at").alias("expires"),
        F.min("left_ms").alias("left_ms"),
    )
    order = (F.asc("left_ms"), F.asc("group"), F.asc("topic"))
    return first(soon, order, bounds.rows, lambda row: Expiring(**row))


def _rank(words: tuple[str, ...], column: str) -> Column:
    """Return the position of the value in ``words``, from 1; 0 for another value, null for null."""
    return F.array_position(F.array(*map(F.lit, words)), F.col(column))
