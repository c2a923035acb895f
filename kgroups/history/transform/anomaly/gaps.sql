-- The offsets between ranges that were never read, and the ranges that are not dense.
with placed as (
  select
    *,
    lag(last_time) over (partition by log_partition order by from_offset, to_offset, sampled_at) as time_before
  from ranges
),
found as (
  select
    log_partition,
    time_before as since,
    first_time as until,
    reach as expected,
    from_offset as found,
    (from_offset - reach) || ' offsets were never read' as note
  from placed
  -- The time after the gap is no longer known if it was before an expiration.
  where from_offset > reach and linked_since is null
  union all
  select
    log_partition,
    first_time as since,
    coalesce(whole_since, last_time) as until,
    from_offset as expected,
    coalesce(compacted_to, to_offset) as found,
    coalesce(
      'compacted: ' || compacted || ' offsets have no record',
      'compacted: records at ' || cast(round(100 * records / (to_offset - from_offset)) as int) || ' % of the offsets'
    ) as note
  from placed
  where not dense
)
select 'coverage_gap' as anomaly, found.*
from found
where coalesce(since, until) < $until and coalesce(until, since) >= $since
