select
  samples.*,
  case when lag = 0 then 0 when lag > 0 then (epoch_us(sampled_at) - epoch_us(passed_at)) // 1000 end as time_lag_ms
from samples
left join passed using (topic, partition, life, committed_offset)
