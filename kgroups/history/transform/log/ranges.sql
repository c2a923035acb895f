-- The ranges of the log that were read: the columns of coverage, and these.
--   reach        first offset after all previous ranges; null for the first range
--   dense        whether the range is complete
--   known_since  log time since which it is complete; null if it is not
--   run          number of the run of contiguous dense ranges; a range that is not dense starts a new run
with found as (
  select
    *,
    max(to_offset) over (
      partition by log_partition order by from_offset, to_offset, sampled_at
      rows between unbounded preceding and 1 preceding
    ) as reach,
    -- Stores of earlier versions do not count the holes: there, a range is complete if it has about as many records as offsets.
    coalesce(
      compacted = 0,
      to_offset - from_offset < $judged or records >= (to_offset - from_offset) * $dense
    ) as dense
  from coverage
  -- An empty range is a partition in which nothing could be read: see stalls.
  where coalesce(first_time, sampled_at) < $until and to_offset > from_offset
)
select
  *,
  case when dense then first_time else whole_since end as known_since,
  sum(case when not dense or coalesce(from_offset > reach, false) then 1 else 0 end) over (
    partition by log_partition order by from_offset, to_offset, sampled_at
    rows between unbounded preceding and current row
  ) as run
from found
