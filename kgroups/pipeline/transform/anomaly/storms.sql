-- Storms: too many rebalances of a group in a short time. One row for as long as it lasts.
with crowded as (
  select
    *,
    count(*) over (
      partition by `group` order by epoch_us(log_time) range between $storm_window_us preceding and current row
    ) as near,
    min(log_time) over (
      partition by `group` order by epoch_us(log_time) range between $storm_window_us preceding and current row
    ) as since
  from rounds
),
bursts as (
  select
    *,
    sum(case when near < $storm then 1 else 0 end) over (
      partition by `group` order by log_time rows between unbounded preceding and current row
    ) as burst
  from crowded
)
select
  'rebalance_storm' as anomaly,
  `group`,
  min(since) as since,
  max(log_time) as until,
  $storm as expected,
  max(near) as found,
  max(near) || ' rebalances within ' || $storm_window_text as note
from bursts
where near >= $storm and log_time >= $since
group by `group`, burst
