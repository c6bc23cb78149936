-- Makes the newest sample of each series of a building ($1) the newest of its stored records, or of its
-- newest minute from before the horizon, whose records are gone; answers how many were not. Run after the
-- rows are locked. One that is not there may come from a batch at any moment, and is newer then.
with wanted as materialized (
    select series.code as series, newest.time, newest.power_w
    from series_of($1) as series (code)
    cross join lateral (
        (
            select time, main_meter_active_power_w as power_w
            from telemetry_record
            where building_uuid = $1 and series.code = 0
              and main_meter_status < 2 and main_meter_active_power_w is not null
            order by time desc
            limit 1
        )
        union all
        (
            select time, battery_active_power_w
            from telemetry_record
            where building_uuid = $1 and series.code = -1
              and battery_status < 2 and battery_active_power_w is not null
            order by time desc
            limit 1
        )
        union all
        (
            select time, solar_active_power_w
            from telemetry_record
            where building_uuid = $1 and series.code = -2
              and solar_status < 2 and solar_active_power_w is not null
            order by time desc
            limit 1
        )
        union all
        (
            select time, power_w
            from sensor_reading
            where building_uuid = $1 and sensor_id = series.code and power_w is not null
            order by time desc
            limit 1
        )
        union all
        (
            select last_at, last_power_w
            from minute_bucket
            where building_uuid = $1 and minute_bucket.series = series.code
              and start < (select moment from raw_horizon)
            order by start desc
            limit 1
        )
        order by time desc
        limit 1
    ) newest
), put as (
    update latest_sample kept
    set time = wanted.time, power_w = wanted.power_w
    from wanted
    where kept.building_uuid = $1
      and kept.series = wanted.series
      and (kept.time, kept.power_w) <> (wanted.time, wanted.power_w)
    returning kept.series
), new as (
    insert into latest_sample (building_uuid, series, time, power_w)
    select $1, wanted.* from wanted
    on conflict (building_uuid, series) do nothing
    returning series
), gone as (
    delete from latest_sample kept
    where kept.building_uuid = $1
      and kept.time >= (select moment from raw_horizon)
      and not exists (select from wanted where wanted.series = kept.series)
    returning kept.series
)
select (select count(*) from put) + (select count(*) from new) + (select count(*) from gone)
