select
  samples.*,
  case when lag = 0 then 0 when lag > 0 then epoch_ms(sampled_at) - epoch_ms(passed_at) end as time_lag_ms
from samples
left join passed using (topic, partition, life, committed_offset)
