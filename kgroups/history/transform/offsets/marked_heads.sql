-- The samples of log ends, with life: how often the log end offset went back before.
-- If it goes back, the log was truncated, or the topic was recreated: an offset is another record in another life.
with compared as (
  select
    *,
    log_end < last_value(log_end ignore nulls) over (
      partition by topic, partition order by sampled_at rows between unbounded preceding and 1 preceding
    ) as back
  from heads
  where sampled_at < $until
)
select
  *,
  sum(case when back then 1 else 0 end) over (
    partition by topic, partition order by sampled_at rows between unbounded preceding and current row
  ) as life
from compared
