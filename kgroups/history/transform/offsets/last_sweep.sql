-- One row: the time of the last complete sweep of the cluster; null if there was none.
select max(swept_at) as last_sweep
from (select swept_at, complete from baseline union all select swept_at, complete from sweeps) as looks
where complete and swept_at < $until
