-- Each group as the last sweep found it.
select `group`, kind as swept_kind, state as swept_state
from swept
qualify row_number() over (partition by `group` order by swept_at desc, kind desc, state desc) = 1
