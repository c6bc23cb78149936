-- Who keeps the table of buildings from being read.
select string_agg(
    holder.pid::text || coalesce(' (' || nullif(holder.application_name, '') || ')', ''), ', '
) as holders
from pg_locks lock
join pg_stat_activity holder on holder.pid = lock.pid
where lock.granted and lock.relation = 'building'::regclass and lock.mode = 'AccessExclusiveLock'
