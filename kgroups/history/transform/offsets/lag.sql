-- As kgroups.model.time_lag: 0 only without lag; unknown if the time cannot be true.
select
  samples.*,
  case
    when lag = 0 then 0
    when
      lag > 0
      and epoch_us(passed_at) <= epoch_us(sampled_at) + $clock_skew_us
      and (epoch_us(grew_from) >= $oldest_us or epoch_us(sampled_at) < $oldest_us)
      then greatest((epoch_us(sampled_at) - epoch_us(passed_at)) // 1000, 1)
  end as time_lag_ms
from samples
left join passed using (topic, partition, life, committed_offset)
