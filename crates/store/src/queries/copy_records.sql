-- Records of which none is known yet: of one that is, the whole statement is refused (23505).
copy telemetry_record (
    building_uuid, time, received_at,
    main_meter_status, main_meter_active_power_w,
    battery_status, battery_active_power_w, battery_active_power_setpoint_w,
    battery_baseline_power_w, battery_soc_percent,
    battery_charge_limit_w, battery_remaining_charge_time_s,
    battery_discharge_limit_w, battery_remaining_discharge_time_s,
    solar_status, solar_active_power_w, solar_active_power_setpoint_w,
    solar_rated_power_w, solar_min_power_w, solar_max_power_w, solar_baseline_power_w
) from stdin (format binary)
