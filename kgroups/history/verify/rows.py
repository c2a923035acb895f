"""Check the rows of a store: positions in the log, the ranges that were read, and decoded rows against records.

Rule: rows before the time of the last ``expire`` may be missing; no check takes these for lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from ..decode import STORED_FROM_RECORDS
from ..engine.duck import DuckDB
from ..tables import ASSIGNMENTS, COVERAGE, EPOCHS, MEMBERS, RECORDS, SHARE_COVERAGE, SHARE_STATES
from .result import Check, judged, unknown

_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    MEMBERS.name: ("member_id",),
    EPOCHS.name: ("subject", "member_id"),
    ASSIGNMENTS.name: ("member_id", "role", "topic", "topic_id", "partitions"),
}
"""Columns that distinguish the rows of one record; other tables have one row for each."""

_PLACE: Final = "log_partition, log_offset"

_RANGES: Final = {RECORDS.name: COVERAGE.name, SHARE_STATES.name: SHARE_COVERAGE.name}
"""Table of records -> the ranges in which they were read."""
_RECORDS: Final = {ranges: records for records, ranges in _RANGES.items()}

MERGED: Final = """
select log_partition, min(from_offset) as from_offset, max(to_offset) as to_offset
from (
    select *, count(*) filter (where is_new) over (partition by log_partition order by from_offset, to_offset) as island
    from (
        select *, from_offset > coalesce(max(to_offset) over (
            partition by log_partition order by from_offset, to_offset rows between unbounded preceding and 1 preceding
        ), -1) as is_new
        from covered
    ) as marked
) as numbered
group by log_partition, island"""


class Expiry(NamedTuple):
    """The time before which rows may be missing, in microseconds since 1970; 0: none; ``None``: unknown."""

    before: int | None

    @property
    def kept(self) -> str:
        """The condition on a row that is certainly not expired."""
        return f"coalesce(log_time >= make_timestamptz({self.before}), {'false' if self.before else 'true'})"

    @property
    def past(self) -> str:
        """The condition on a row that is before the time; a row without a time is never deleted."""
        return f"coalesce(log_time < make_timestamptz({self.before}), true)" if self.before else "false"


def check_rows(tables: DuckDB, damaged: Mapping[str, str], expired: int | None) -> Iterator[Check]:
    """Make all checks of rows.

    :param tables: with all stored tables loaded, except damaged ones.
    :param damaged: table -> what is wrong with its files; its checks are unknown.
    """
    checks = _Checks(tables, Expiry(expired))
    for name, needed, check in checks.planned():
        broken = next((table for table in needed if table in damaged), None)
        table = needed[0]
        yield unknown(name, table, f"files of {broken} do not match the manifest") if broken else check(table)


class _Checks:
    def __init__(self, tables: DuckDB, expiry: Expiry) -> None:
        self._tables, self._expiry = tables, expiry

    def planned(self) -> Iterator[tuple[str, tuple[str, ...], Callable[[str], Check]]]:
        """Yield each check: its name, the tables that it needs, and the function that makes it for the first."""
        records = RECORDS.name
        for table in (records, *STORED_FROM_RECORDS, SHARE_STATES.name):
            yield UNIQUE, (table,), self._unique
        for of_log, ranges in _RANGES.items():
            yield OVERLAP, (ranges,), self._overlap
            yield WITHIN, (of_log, ranges), self._within
            yield COMPLETE, (ranges, of_log), self._complete
        for table in STORED_FROM_RECORDS:
            yield SOURCE, (table, records), self._source
        yield DECODED, (records, *STORED_FROM_RECORDS), self._decoded

    def _row(self, query: str) -> dict[str, Any]:
        (row,) = self._tables.fetch(query).to_pylist()
        return dict(row)

    def _unique(self, table: str) -> Check:
        keys = ", ".join((_PLACE, *_KEYS.get(table, ())))
        found = self._row(
            f"""select count(*) as checked, count(*) filter (where n > 1) as failed,
            min((log_partition, log_offset)) filter (where n > 1) as place
            from (select {_PLACE}, count(*) as n from {table} group by {keys}) as positions"""
        )
        return judged(UNIQUE, table, found["checked"], found["failed"], place_note(found["place"], "more than once"))

    def _overlap(self, table: str) -> Check:
        found = self._row(
            f"""select count(*) as checked, count(*) filter (where wrong) as failed,
            count(*) filter (where wrong and sure) as certain,
            min((log_partition, from_offset)) filter (where wrong) as place
            from (
                select *, from_offset > to_offset or from_offset < coalesce(max(to_offset) over before, -1) as wrong,
                    compacted is not null and coalesce(bool_and(compacted is not null) over before, true) as sure
                from ({_read(table)}) as ranges
                window before as (partition by log_partition order by from_offset, to_offset
                    rows between unbounded preceding and 1 preceding)
            ) as ordered"""
        )
        note = place_note(found["place"], "in two ranges")
        if found["failed"] and not found["certain"]:
            reason = "these ranges are of imported files, or of an earlier version, which may overlap"
            return unknown(OVERLAP, table, f"{note}; {reason}", found["checked"])
        return judged(OVERLAP, table, found["checked"], found["failed"], note)

    def _within(self, table: str) -> Check:
        # An expired range is no longer known; that is only possible before all other ranges of the partition. What is
        # kept of it is older than the limit.
        found = self._row(
            f"""with covered as ({_read(_RANGES[table])}), merged as ({MERGED}), starts as (
                select log_partition, min(from_offset) as first_offset from merged group by log_partition)
            select count(*) as checked, count(*) filter (where outside) as failed,
            count(*) filter (where outside and log_offset < coalesce(first_offset, log_offset + 1)) as earlier,
            min((log_partition, log_offset)) filter (where outside) as place
            from (
                select {table}.log_partition, {table}.log_offset, first_offset,
                    (merged.to_offset is null or {table}.log_offset >= merged.to_offset)
                        and not ({self._expiry.past} and {table}.log_offset < first_offset) as outside
                from {table}
                asof left join merged on {table}.log_partition = merged.log_partition
                    and {table}.log_offset >= merged.from_offset
                left join starts on {table}.log_partition = starts.log_partition
            ) as places"""
        )
        note = place_note(found["place"], "in no range")
        if found["failed"] and found["failed"] == found["earlier"] and self._expiry.before != 0:
            return unknown(WITHIN, table, f"{note}; its range may be expired", found["checked"])
        return judged(WITHIN, table, found["checked"], found["failed"], note)

    def _complete(self, table: str) -> Check:
        if self._expiry.before is None and self._row(f"select count(*) as ranges from {table}")["ranges"]:
            return unknown(COMPLETE, table, "an earlier version may have deleted old records")
        # A range may have more records than were read: those of imported files, which compaction had deleted. A range
        # that begins at the limit was cut by an earlier version, with the number of records from before.
        found = self._row(
            f"""with ranges as (
                select * from ({_read(table)}) as ranges
                where compacted is not null
                and coalesce(least(first_time, last_time) > make_timestamptz({self._expiry.before or 0}), records = 0)
            ), ranked as (
                select {_PLACE}, row_number() over (partition by log_partition order by log_offset) as n
                from {_RECORDS[table]}
            ), counted as (
                select ranges.*, coalesce(upto.n, 0) - coalesce(before.n, 0) as present
                from ranges
                asof left join ranked as upto on ranges.log_partition = upto.log_partition
                    and ranges.to_offset > upto.log_offset
                asof left join ranked as before on ranges.log_partition = before.log_partition
                    and ranges.from_offset > before.log_offset
            )
            select count(*) as checked, count(*) filter (where present < records) as failed,
            min((log_partition, from_offset)) filter (where present < records) as place
            from counted"""
        )
        return judged(COMPLETE, table, found["checked"], found["failed"], place_note(found["place"], "misses records"))

    def _source(self, table: str) -> Check:
        kept = self._expiry.kept if self._expiry.before is not None else "true"
        found = self._row(
            f"""with rows_here as (select {_PLACE}, log_time from {table} where {kept}),
            orphans as (select * from rows_here anti join {RECORDS.name} using (log_partition, log_offset))
            select (select count(*) from rows_here) as checked, count(*) as failed,
            min((log_partition, log_offset)) as place,
            coalesce(bool_and(log_time < (select min(log_time) from {RECORDS.name})), false) as earlier
            from orphans"""
        )
        note = place_note(found["place"], "has no record")
        if found["failed"] and self._expiry.before is None and found["earlier"]:
            return unknown(SOURCE, table, f"{note}; an earlier version may have expired it", found["checked"])
        return judged(SOURCE, table, found["checked"], found["failed"], note)

    def _decoded(self, table: str) -> Check:
        places = " union all ".join(f"select {_PLACE} from {name}" for name in STORED_FROM_RECORDS)
        found = self._row(
            f"""with missing as (
                select {_PLACE} from {table} anti join ({places}) as decoded using (log_partition, log_offset))
            select (select count(*) from {table}) as checked, count(*) as failed,
            min((log_partition, log_offset)) as place from missing"""
        )
        note = place_note(found["place"], "is in no other table")
        return judged(DECODED, table, found["checked"], found["failed"], note)


UNIQUE, OVERLAP, WITHIN = "unique-positions", "ranges-do-not-overlap", "records-in-ranges"
COMPLETE, SOURCE, DECODED = "ranges-complete", "rows-have-records", "records-have-rows"


def _read(ranges: str) -> str:
    """Return a query for the ranges that are not empty."""
    columns = "log_partition, from_offset, to_offset, records, first_time, last_time, compacted"
    return f"select {columns} from {ranges} where from_offset <> to_offset"


def place_note(place: Any, what: str) -> str | None:
    """Return the note on the first position that failed."""
    if place is None:
        return None
    partition, offset = place.values() if isinstance(place, dict) else place
    return f"offset {offset} of log partition {partition} {what}"
