-- The records of groups and their members that this version cannot decode: the state of the group, and its members, are unknown
-- from them to the next one of whole_records.
select
  `group`,
  case
    when record_type = 2 then 'classic'
    when record_type < 10 then 'consumer'
    when record_type < 17 then 'share'
    else 'streams'
  end as kind,
  log_partition,
  log_offset,
  log_time
from undecoded
where
  -- Those from which group_metadata, members, and epochs are filled.
  record_type in (2, 3, 5, 6, 8, 10, 11, 12, 14, 17, 19, 20, 22)
  and `group` is not null
  and reason is not null
  and log_time < $until
