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
-- In the select list the arrays are walked side by side; in `from` each would first be copied to a store
-- of its own.
select
    unnest($1::uuid[]), unnest($2::timestamptz[]), unnest($3::timestamptz[]),
    unnest($4::smallint[]), unnest($5::integer[]), unnest($6::smallint[]), unnest($7::integer[]),
    unnest($8::integer[]), unnest($9::integer[]), unnest($10::double precision[]),
    unnest($11::integer[]), unnest($12::integer[]), unnest($13::integer[]), unnest($14::integer[]),
    unnest($15::smallint[]), unnest($16::integer[]), unnest($17::integer[]), unnest($18::integer[]),
    unnest($19::integer[]), unnest($20::integer[]), unnest($21::integer[])
on conflict (building_uuid, time) do nothing
returning building_uuid, time
