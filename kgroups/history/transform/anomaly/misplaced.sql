-- Commits outside the log at a sample in the span: one row for each commit. Only samples after the commit count: the log end
-- offset grows, so an earlier sample proves nothing.
with outside as (
  select
    *,
    case when committed_offset < log_start then 'data_lost' when is_ahead then 'beyond_end' end as anomaly,
    case when committed_offset < log_start then log_start else log_end end as expected
  from samples
)
select
  anomaly,
  `group`,
  min(sampled_at) as since,
  max(sampled_at) as until,
  topic,
  partition,
  max_by(expected, sampled_at) as expected,
  committed_offset as found,
  max_by(remark, sampled_at) as note
from outside
where anomaly is not null
group by anomaly, `group`, topic, partition, committed_offset, committed_at
