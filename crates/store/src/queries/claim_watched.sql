-- With the newest records of each building that were made and received after its document could be
-- known; a controller's clock may lag by two seconds. Several records, since more than one may have
-- come since the last look, and one whose time is ahead stays the newest for a while. A section that
-- is unavailable shows nothing.
select state.building_uuid, state.state, shown.battery_setpoint_w, shown.solar_setpoint_w, shown.solar_rated_w
from control_state state
left join lateral (
    select array_agg(newest.battery_setpoint_w) as battery_setpoint_w,
           array_agg(newest.solar_setpoint_w) as solar_setpoint_w,
           array_agg(newest.solar_rated_w) as solar_rated_w
    from (
        select case when record.battery_status < 2 then record.battery_active_power_setpoint_w end
                   as battery_setpoint_w,
               case when record.solar_status < 2 then record.solar_active_power_setpoint_w end
                   as solar_setpoint_w,
               record.solar_rated_power_w as solar_rated_w
        from telemetry_record record
        where record.building_uuid = state.building_uuid
          and record.time > state.watched_since - interval '2 seconds'
          and record.received_at > state.watched_since
        order by record.time desc
        limit 20
    ) newest
) shown on true
where state.watched_since is not null and state.building_uuid > $1
  and state.building_uuid <> all($4::uuid[])
  -- What is due comes first: it may be over.
  and (state.due_at <= $3) is not true
order by state.building_uuid
limit $2
for no key update of state skip locked
