-- Moves a series's newest measurement forward, never back: the order of arrival does not matter.
insert into latest_sample (building_uuid, series, time, power_w)
select * from unnest($1::uuid[], $2::bigint[], $3::timestamptz[], $4::integer[])
on conflict (building_uuid, series) do update
set time = excluded.time, power_w = excluded.power_w
where excluded.time > latest_sample.time
