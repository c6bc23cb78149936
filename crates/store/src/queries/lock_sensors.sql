-- All sensors of some buildings, locked against deletion until the batch is committed, and against other
-- batches with readings: what became of a register follows from neighbouring readings. Of each
-- building in the order that decides which one of a kind telemetry feeds (sensors_of.sql).
select building_uuid, id, sensor_uuid, kind
from sensor
where building_uuid = any($1)
order by building_uuid, origin, position, id
for no key update
