-- Nobody waits for the disk for it: should the database and the publisher die at once, that is bad
-- luck enough.
with no_wait as (select set_config('synchronous_commit', 'off', true))
insert into desired_attempt (building_uuid, attempts)
select building_uuid, 1 from unnest($1::uuid[]) building_uuid, no_wait
on conflict (building_uuid) do update set attempts = least(desired_attempt.attempts, 1000) + 1
