-- A building with its controller's presence: the newest message, and the first of the run of messages
-- that say the same as it, which begins behind the last that says something else.
select building.uuid, building.name, building.timezone, building.consumption_compensated_curtailment,
       newest.online, run.since
from building
left join lateral (
    select online
    from presence
    where building_uuid = building.uuid
    order by received_at desc
    limit 1
) newest on true
left join lateral (
    select received_at as since
    from presence
    where building_uuid = building.uuid
      and received_at > coalesce((
          select received_at
          from presence other
          where other.building_uuid = building.uuid and other.online <> newest.online
          order by received_at desc
          limit 1
      ), '-infinity')
    order by received_at
    limit 1
) run on true
where building.uuid = $1
