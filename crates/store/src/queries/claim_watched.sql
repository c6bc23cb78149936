-- The newest record of each building, if it was received after the document could be known. Its own time
-- may be off by the five minutes that a controller's clock may be ahead, and bounds the search.
select state.building_uuid, state.state, newest.battery_active_power_setpoint_w,
       newest.solar_active_power_setpoint_w, newest.solar_rated_power_w
from control_state state
left join lateral (
    select record.received_at, record.battery_active_power_setpoint_w,
           record.solar_active_power_setpoint_w, record.solar_rated_power_w
    from telemetry_record record
    where record.building_uuid = state.building_uuid
      and record.time > state.watched_since - interval '5 minutes'
    order by record.time desc
    limit 1
) newest on newest.received_at > state.watched_since
where state.watched_since is not null and state.building_uuid > $1
order by state.building_uuid
limit $2
for no key update of state skip locked
