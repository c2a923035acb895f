-- For each partition of the log, the end of its finished buckets, and the last offset of a materialized commit.
-- $horizon_us: no sample before this time arrives later.
select
  log_partition,
  max(log_offset) as reach,
  make_timestamptz(
    least(max(epoch_us(log_time)), $horizon_us) - least(max(epoch_us(log_time)), $horizon_us) % $bucket_us
  ) as cut
from open_commits
group by log_partition
