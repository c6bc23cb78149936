insert into register_event (
    building_uuid, sensor_id, time, kind, reading_before, reading_after
)
select *
from unnest(
    $1::uuid[], $2::bigint[], $3::timestamptz[], $4::text[],
    $5::double precision[], $6::double precision[]
) as event (building_uuid, sensor_id, time, kind, reading_before, reading_after)
where event.kind is not null
on conflict (building_uuid, sensor_id, time) do update
set kind = excluded.kind,
    reading_before = excluded.reading_before,
    reading_after = excluded.reading_after
