-- The groups whose state and members are unknown at the end of the span, and since when: this version cannot decode a record.
with last_whole as (
  select `group`, log_partition, max(log_offset) as whole_at from whole_records group by `group`, log_partition
)
select `group`, min(log_time) as blurred_since
from undecoded_groups
left join last_whole using (`group`, log_partition)
where whole_at is null or log_offset > whole_at
group by `group`
