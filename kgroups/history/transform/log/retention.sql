-- The retention time of committed offsets: a rule takes precedence; otherwise the last value that a sweep read from a broker.
with asked as (
  select offsets_retention_ms
  from sweeps
  where swept_at < $until and offsets_retention_ms is not null
  qualify row_number() over (order by swept_at desc) = 1
)
select
  cast(coalesce($retention_ms, max(offsets_retention_ms), 604800000) as bigint) as retention_ms,
  case
    when $retention_ms is not null then 'rule'
    when max(offsets_retention_ms) is not null then 'brokers'
    else 'assumed'  -- 7 days, the default of Kafka from 2.0 on
  end as retention_source
from asked
