-- How many of these duplicates differ in content from the record that was stored first.
select count(*)
from unnest(
    $1::uuid[], $2::timestamptz[], $3::timestamptz[],
    $4::smallint[], $5::integer[],
    $6::smallint[], $7::integer[], $8::integer[], $9::integer[], $10::double precision[],
    $11::integer[], $12::integer[], $13::integer[], $14::integer[],
    $15::smallint[], $16::integer[], $17::integer[], $18::integer[], $19::integer[],
    $20::integer[], $21::integer[]
) as again (
    building_uuid, time, received_at,
    main_meter_status, main_meter_active_power_w,
    battery_status, battery_active_power_w, battery_active_power_setpoint_w,
    battery_baseline_power_w, battery_soc_percent,
    battery_charge_limit_w, battery_remaining_charge_time_s,
    battery_discharge_limit_w, battery_remaining_discharge_time_s,
    solar_status, solar_active_power_w, solar_active_power_setpoint_w,
    solar_rated_power_w, solar_min_power_w, solar_max_power_w, solar_baseline_power_w
)
join telemetry_record stored using (building_uuid, time)
where (
    stored.main_meter_status, stored.main_meter_active_power_w,
    stored.battery_status, stored.battery_active_power_w, stored.battery_active_power_setpoint_w,
    stored.battery_baseline_power_w, stored.battery_soc_percent,
    stored.battery_charge_limit_w, stored.battery_remaining_charge_time_s,
    stored.battery_discharge_limit_w, stored.battery_remaining_discharge_time_s,
    stored.solar_status, stored.solar_active_power_w, stored.solar_active_power_setpoint_w,
    stored.solar_rated_power_w, stored.solar_min_power_w, stored.solar_max_power_w,
    stored.solar_baseline_power_w
) is distinct from (
    again.main_meter_status, again.main_meter_active_power_w,
    again.battery_status, again.battery_active_power_w, again.battery_active_power_setpoint_w,
    again.battery_baseline_power_w, again.battery_soc_percent,
    again.battery_charge_limit_w, again.battery_remaining_charge_time_s,
    again.battery_discharge_limit_w, again.battery_remaining_discharge_time_s,
    again.solar_status, again.solar_active_power_w, again.solar_active_power_setpoint_w,
    again.solar_rated_power_w, again.solar_min_power_w, again.solar_max_power_w,
    again.solar_baseline_power_w
)
