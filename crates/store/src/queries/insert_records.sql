-- The first record of an identity wins; answers which ones were new.
insert into telemetry_record (
    building_uuid, time, received_at,
    main_meter_status, main_meter_active_power_w,
    battery_status, battery_active_power_w, battery_active_power_setpoint_w,
    battery_baseline_power_w, battery_soc_percent,
    battery_charge_limit_w, battery_remaining_charge_time_s,
    battery_discharge_limit_w, battery_remaining_discharge_time_s,
    solar_status, solar_active_power_w, solar_active_power_setpoint_w,
    solar_rated_power_w, solar_min_power_w, solar_max_power_w, solar_baseline_power_w
)
select *
from unnest(
    $1::uuid[], $2::timestamptz[], $3::timestamptz[],
    $4::smallint[], $5::integer[],
    $6::smallint[], $7::integer[], $8::integer[], $9::integer[], $10::double precision[],
    $11::integer[], $12::integer[], $13::integer[], $14::integer[],
    $15::smallint[], $16::integer[], $17::integer[], $18::integer[], $19::integer[],
    $20::integer[], $21::integer[]
)
on conflict (building_uuid, time) do nothing
returning building_uuid, time
