insert into latest_sample (building_uuid, series, time, power_w)
select building_uuid, id, timestamptz '2027-01-15 07:59:50Z', 5
from sensor where building_uuid = $1 and $2::bigint > 0 and kind = 'production';

insert into minute_bucket (building_uuid, series, start, samples, positive_sum_w, negative_sum_w,
    first_at, last_at, last_power_w, covered_us, positive_energy_wus, negative_energy_wus)
select building_uuid, id, start, 1, 5, 0, start, start, 5, 0, 0, 0
from sensor, unnest(array[timestamptz '2027-01-14 10:00Z', '2027-01-15 07:58Z']) start
where building_uuid = $1 and $2::bigint > 0 and kind = 'production';

insert into register_reading (building_uuid, sensor_id, time, reading)
select building_uuid, id, time, 7
from sensor, unnest(array[timestamptz '2027-01-14 10:00Z', '2027-01-15 07:58Z']) time
where building_uuid = $1 and $2::bigint > 0 and kind = 'production';

insert into latest_key_value (building_uuid, key_sha256, time, key, value)
select $1, sha256(number::text::bytea), timestamptz '2027-01-15 07:58Z', number::text, '1'
from generate_series(1, $2::bigint) number;

insert into value_quarter (building_uuid, sensor_id, start, samples, mean)
select building_uuid, id, timestamptz '2027-01-15Z' + number * interval '15 minutes', 1, 20
from sensor, generate_series(1, least($2::bigint, 30)) number
where building_uuid = $1 and kind = 'temperature'
