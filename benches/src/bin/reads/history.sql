-- History from {first} until {last} (epoch seconds), in the order of the keys. Without write-ahead log and with
-- the indexes made at the end, since this is about reading.
set maintenance_work_mem = '1GB';
set work_mem = '256MB';
set statement_timeout = 0;
alter table minute_bucket drop constraint minute_bucket_pkey;
alter table quarter_bucket drop constraint quarter_bucket_pkey;
alter table minute_bucket set unlogged;
alter table quarter_bucket set unlogged;

create temporary table loaded_series as
select distinct sensor.building_uuid,
       case when kind in ('delivery', 'return_delivery') then 0
            when kind in ('charge', 'discharge') then -1
            else -2 end as series
from sensor
where kind in ('delivery', 'return_delivery', 'charge', 'discharge', 'production');

-- Six samples a minute, ten seconds apart.
insert into minute_bucket (
    building_uuid, series, start, samples, positive_sum_w, negative_sum_w, first_at, last_at,
    last_power_w, covered_us, positive_energy_wus, negative_energy_wus
)
select building_uuid, series, start, 6, 6000, 600, start, start + interval '50 seconds',
       1000, 50000000, 50000000000, 5000000000
from loaded_series
cross join generate_series(
    to_timestamp({first}), to_timestamp({last}) - interval '1 minute', interval '1 minute'
) start
order by building_uuid, series, start;

insert into quarter_bucket (
    building_uuid, series, start, samples, positive_sum_w, negative_sum_w, first_at, last_at,
    last_power_w, covered_us, positive_energy_wus, negative_energy_wus
)
select building_uuid, series, start, 90, 90000, 9000, start, start + interval '14 minutes 50 seconds',
       1000, 890000000, 890000000000, 89000000000
from loaded_series
cross join generate_series(
    to_timestamp({first}), to_timestamp({last}) - interval '15 minutes', interval '15 minutes'
) start
order by building_uuid, series, start;

insert into touched_day (building_uuid, start)
select uuid, start
from building
cross join generate_series(
    to_timestamp({first}), to_timestamp({last}), interval '1 day'
) start;

insert into register_reading (building_uuid, sensor_id, time, reading)
select building_uuid, id, time, 1000 + row_number() over (partition by id order by time) * 0.01
from sensor
cross join generate_series(
    to_timestamp({first}), to_timestamp({last}), interval '15 minutes'
) time
where kind = 'gas_volume';

insert into value_quarter (building_uuid, sensor_id, start, samples, mean)
select building_uuid, id, start, 15, 20.25
from sensor
cross join generate_series(
    to_timestamp({first}), to_timestamp({last}), interval '15 minutes'
) start
where kind = 'temperature';

-- The open minute: its records are there, and it is marked.
insert into telemetry_record (
    building_uuid, time, received_at, main_meter_status, main_meter_active_power_w,
    battery_status, battery_active_power_w, solar_status, solar_active_power_w
)
select uuid, time, time, 0, 1000, 0, 500, 0, -500
from building
cross join generate_series(
    to_timestamp({last}), to_timestamp({last}) + interval '50 seconds', interval '10 seconds'
) time;

insert into touched_minute (building_uuid, start)
select uuid, to_timestamp({last}) from building;

insert into latest_sample (building_uuid, series, time, power_w)
select building_uuid, series, to_timestamp({last}) + interval '50 seconds', 1000
from loaded_series;

alter table minute_bucket add primary key (building_uuid, series, start);
alter table quarter_bucket add primary key (building_uuid, series, start);
analyze;
