-- The partitions of the log that an open transaction stalls: nothing after their last stable offset is read (KIP-98).
-- What the groups of such a partition did since then is unknown: the last commit that was read is not their last commit.
with looks as (
  select log_partition, last_stable_offset, max(high_watermark) as high_watermark, max(unread_since) as unread_since
  from coverage
  where last_stable_offset is not null
  group by log_partition, last_stable_offset
),
-- The last stable offset only grows, so the highest one is the newest, whatever the clock.
newest as (
  select *
  from looks
  qualify row_number() over (partition by log_partition order by last_stable_offset desc) = 1
),
reached as (
  select log_partition, max(to_offset) as reach
  from coverage
  where to_offset > from_offset
  group by log_partition
)
select log_partition, high_watermark - last_stable_offset as hung, unread_since
from newest
left join reached using (log_partition)
where
  high_watermark > last_stable_offset
  -- If offsets below it are still to be read, the transaction before them has ended.
  and coalesce(reach >= last_stable_offset, true)
  -- Stores of earlier versions have no unread_since.
  and coalesce(unread_since < $until, true)
