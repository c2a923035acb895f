select last_offsets.*, unread_since
from last_offsets
left join unread_groups using (`group`)
where not tombstone and gone_at is null
