-- Readings of single sensors, key-values and presence; registers that count energy; comfort values.
--
-- Buckets and newest samples are no longer of a section of the telemetry only but of a series: a
-- sensor's id (from 1 on) for power that the controller sends for this very sensor, or one of the
-- telemetry's three sections: 0 main_meter, -1 battery, -2 solar.

drop view quarter_interval;
drop view minute_interval;
drop function fold_quarter;
drop function fold_minute;

alter table latest_sample alter column section type bigint using -section;
alter table latest_sample rename column section to series;
alter table minute_bucket alter column section type bigint using -section;
alter table minute_bucket rename column section to series;
alter table quarter_bucket alter column section type bigint using -section;
alter table quarter_bucket rename column section to series;

-- What came in --------------------------------------------------------------------------------------

-- One item of an accepted readings message. Its identity is building + time + sensor; the first one
-- stored wins. Single items are kept as long as telemetry records; what is made of them stays.
create table sensor_reading (
    building_uuid uuid not null,
    time timestamptz not null,
    -- sensor.id. No foreign key: the batch locks its sensors instead.
    sensor_id bigint not null,
    received_at timestamptz not null,
    power_w integer,
    -- In the meter's own unit.
    meter_reading double precision,
    -- In the sensor's unit.
    value double precision,
    primary key (building_uuid, time, sensor_id)
);

-- One accepted key-value registration. A key may be longer than an index can hold, so its hash
-- identifies it.
create table key_value (
    building_uuid uuid not null,
    key_sha256 bytea not null,
    time timestamptz not null,
    received_at timestamptz not null,
    key text not null,
    -- A string, a number or a boolean.
    value jsonb not null,
    primary key (building_uuid, key_sha256, time)
);

-- The newest registration of each key: what keyvalue/ reads, however old it is and whether or not
-- the registration itself is still kept.
create table latest_key_value (
    building_uuid uuid not null,
    key_sha256 bytea not null,
    time timestamptz not null,
    key text not null,
    value jsonb not null,
    primary key (building_uuid, key_sha256)
) with (fillfactor = 50);

-- Whether a building's controller was connected from a moment on. The message has no time of its
-- own, so the moment of its receipt identifies it.
create table presence (
    building_uuid uuid not null,
    received_at timestamptz not null,
    online boolean not null,
    primary key (building_uuid, received_at)
);

-- What is made of it --------------------------------------------------------------------------------

-- What a meter's own register read, for good. A sensor that has a row here has no virtual register.
create table register_reading (
    building_uuid uuid not null,
    sensor_id bigint not null,
    time timestamptz not null,
    -- In the meter's own unit, never negative.
    reading double precision not null check (reading >= 0),
    primary key (building_uuid, sensor_id, time)
);

-- A register that reads less than before: why, as far as the two readings tell. `time` is that of the
-- lower one. A pure function of neighbouring readings: a reading that comes late moves it.
create table register_event (
    building_uuid uuid not null,
    sensor_id bigint not null,
    time timestamptz not null,
    kind text not null check (kind in ('reset', 'rollover', 'replacement')),
    reading_before double precision not null,
    reading_after double precision not null,
    primary key (building_uuid, sensor_id, time)
);

-- The mean of a sensor's values in a quarter: a pure function of the readings in it.
create table value_quarter (
    building_uuid uuid not null,
    sensor_id bigint not null,
    start timestamptz not null,
    samples integer not null,
    mean double precision not null,
    revision integer not null default 1,
    primary key (building_uuid, sensor_id, start)
) with (fillfactor = 90);

-- Days (UTC) whose quarter buckets have changed since they were last folded: the same one level up.
create table touched_day (
    building_uuid uuid not null,
    start timestamptz not null,
    primary key (building_uuid, start)
) with (fillfactor = 50);

create index touched_day_by_start on touched_day (start);

-- What a series measured in a day (UTC), and what it has counted since its first sample until the
-- day's last one: the base from which a virtual register is read at any minute without looking
-- further back. Late data moves the totals of the days behind it, which are few: nothing older than
-- the retention is taken. Energy in watt-microseconds, which outgrows a bigint within a day.
create table day_bucket (
    building_uuid uuid not null,
    series bigint not null,
    start timestamptz not null,
    samples bigint not null,
    first_at timestamptz not null,
    last_at timestamptz not null,
    last_power_w integer not null,
    covered_us bigint not null,
    positive_energy_wus numeric not null,
    negative_energy_wus numeric not null,
    -- Null only within the transaction that makes the row.
    positive_total_wus numeric,
    negative_total_wus numeric,
    primary key (building_uuid, series, start)
) with (fillfactor = 50);

-- What was folded before there were days.
insert into touched_day (building_uuid, start)
select distinct building_uuid, date_bin('1 day', start, 'epoch') from quarter_bucket;

-- Folds the records and readings of one minute, a row for each series that has a sample. The one
-- definition of a minute: folding stores its answer, and a read of a minute that is still marked asks
-- it directly.
create function fold_minute(of_building uuid, of_start timestamptz)
returns table (
    series bigint, samples integer, positive_sum_w bigint, negative_sum_w bigint,
    first_at timestamptz, last_at timestamptz, last_power_w integer,
    covered_us bigint, positive_energy_wus bigint, negative_energy_wus bigint
)
language sql stable parallel safe as $$
    with sample as (
        select measured.series, record.time, measured.power_w
        from telemetry_record record
        cross join lateral (values
            (0::bigint, record.main_meter_status, record.main_meter_active_power_w),
            (-1::bigint, record.battery_status, record.battery_active_power_w),
            (-2::bigint, record.solar_status, record.solar_active_power_w)
        ) measured (series, status, power_w)
        where record.building_uuid = of_building
          and record.time >= of_start
          and record.time < of_start + interval '1 minute'
          -- A section measures when it has a power and is available (0) or degraded (1).
          and measured.power_w is not null
          and measured.status < 2
        union all
        select reading.sensor_id, reading.time, reading.power_w
        from sensor_reading reading
        where reading.building_uuid = of_building
          and reading.time >= of_start
          and reading.time < of_start + interval '1 minute'
          and reading.power_w is not null
    ), held as (
        select sample.*,
               -- Inside a minute the next sample always comes within 120 s.
               (extract(epoch from
                   lead(sample.time) over (partition by sample.series order by sample.time)
                   - sample.time) * 1000000)::bigint as held_us
        from sample
    )
    select series,
           count(*)::integer,
           sum(greatest(power_w::bigint, 0))::bigint,
           sum(greatest(-power_w::bigint, 0))::bigint,
           min(time),
           max(time),
           (array_agg(power_w order by time desc))[1],
           coalesce(sum(held_us), 0)::bigint,
           coalesce(sum(greatest(power_w::bigint, 0) * held_us), 0)::bigint,
           coalesce(sum(greatest(-power_w::bigint, 0) * held_us), 0)::bigint
    from held
    group by series
$$;

-- Folds the minute buckets of one quarter in the same way; the power of a minute's last sample holds
-- until the first sample of the next one, if that comes within 120 s.
create function fold_quarter(of_building uuid, of_start timestamptz)
returns table (
    series bigint, samples integer, positive_sum_w bigint, negative_sum_w bigint,
    first_at timestamptz, last_at timestamptz, last_power_w integer,
    covered_us bigint, positive_energy_wus bigint, negative_energy_wus bigint
)
language sql stable parallel safe as $$
    with minute as (
        select bucket.*,
               (extract(epoch from
                   lead(bucket.first_at) over (partition by bucket.series order by bucket.start)
                   - bucket.last_at) * 1000000)::bigint as gap_us
        from minute_bucket bucket
        where bucket.building_uuid = of_building
          and bucket.start >= of_start
          and bucket.start < of_start + interval '15 minutes'
    ), held as (
        select minute.*, case when gap_us <= 120000000 then gap_us else 0 end as held_us
        from minute
    )
    select series,
           sum(samples)::integer,
           sum(positive_sum_w)::bigint,
           sum(negative_sum_w)::bigint,
           min(first_at),
           max(last_at),
           (array_agg(last_power_w order by start desc))[1],
           sum(covered_us + held_us)::bigint,
           sum(positive_energy_wus + greatest(last_power_w::bigint, 0) * held_us)::bigint,
           sum(negative_energy_wus + greatest(-last_power_w::bigint, 0) * held_us)::bigint
    from held
    group by series
$$;

-- Folds the quarter buckets of one day (UTC) in the same way.
create function fold_day(of_building uuid, of_start timestamptz)
returns table (
    series bigint, samples bigint, first_at timestamptz, last_at timestamptz, last_power_w integer,
    covered_us bigint, positive_energy_wus numeric, negative_energy_wus numeric
)
language sql stable parallel safe as $$
    with quarter as (
        select bucket.*,
               (extract(epoch from
                   lead(bucket.first_at) over (partition by bucket.series order by bucket.start)
                   - bucket.last_at) * 1000000)::bigint as gap_us
        from quarter_bucket bucket
        where bucket.building_uuid = of_building
          and bucket.start >= of_start
          and bucket.start < of_start + interval '1 day'
    ), held as (
        select quarter.*, case when gap_us <= 120000000 then gap_us else 0 end as held_us
        from quarter
    )
    select series,
           sum(samples)::bigint,
           min(first_at),
           max(last_at),
           (array_agg(last_power_w order by start desc))[1],
           sum(covered_us + held_us)::bigint,
           sum(positive_energy_wus + greatest(last_power_w::numeric, 0) * held_us),
           sum(negative_energy_wus + greatest(-last_power_w::numeric, 0) * held_us)
    from held
    group by series
$$;

-- The mean of each sensor's values in a quarter, to 40 decimals. Exact decimals: doubles would add up
-- differently in another order, and could overflow. The 40 decimals are enough for the nearest double of
-- anything that is measured, and keep a mean from being too small for a double, which is an error.
create function fold_values(of_building uuid, of_start timestamptz)
returns table (sensor_id bigint, samples integer, mean double precision)
language sql stable parallel safe as $$
    select sensor_id, count(*)::integer,
           -- The zero lends its 40 decimals to the division.
           round((sum(value::text::numeric) + 0::numeric(41, 40)) / count(*), 40)::double precision
    from sensor_reading
    where building_uuid = of_building
      and time >= of_start
      and time < of_start + interval '15 minutes'
      and value is not null
    group by sensor_id
$$;

-- Reading a virtual register ------------------------------------------------------------------------
--
-- plpgsql with generic plans: a connection plans each function once. As plain SQL they would be planned
-- anew with every read, which costs several times what they do. A plan may be older than what has grown
-- since, so it never scans a table that was empty when it was made.

-- The first minute of a series with a sample that starts at or after `from_start` and before
-- `before_start`, with the time of its first sample. A minute that is marked is folded here and now.
create function first_sampled_minute(
    of_building uuid, of_series bigint, from_start timestamptz, before_start timestamptz
)
returns table (start timestamptz, first_at timestamptz)
language plpgsql stable parallel safe rows 1
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
begin
    return query
    select start, first_at
    from (
        (
            select kept.start, kept.first_at, 1 as preference
            from minute_bucket kept
            where kept.building_uuid = of_building and kept.series = of_series
              and kept.start >= from_start and kept.start < before_start
            order by kept.start
            limit 1
        )
        union all
        (
            select touched.start, folded.first_at, 0
            from touched_minute touched
            cross join lateral fold_minute(touched.building_uuid, touched.start) folded
            where touched.building_uuid = of_building
              and touched.start >= from_start and touched.start < before_start
              and folded.series = of_series
            order by touched.start
            limit 1
        )
    ) minute
    order by start, preference
    limit 1;
end
$$;

-- The same for the last one.
create function last_sampled_minute(
    of_building uuid, of_series bigint, from_start timestamptz, before_start timestamptz
)
returns table (start timestamptz, first_at timestamptz)
language plpgsql stable parallel safe rows 1
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
begin
    return query
    select start, first_at
    from (
        (
            select kept.start, kept.first_at, 1 as preference
            from minute_bucket kept
            where kept.building_uuid = of_building and kept.series = of_series
              and kept.start >= from_start and kept.start < before_start
            order by kept.start desc
            limit 1
        )
        union all
        (
            select touched.start, folded.first_at, 0
            from touched_minute touched
            cross join lateral fold_minute(touched.building_uuid, touched.start) folded
            where touched.building_uuid = of_building
              and touched.start >= from_start and touched.start < before_start
              and folded.series = of_series
            order by touched.start desc
            limit 1
        )
    ) minute
    order by start desc, preference
    limit 1;
end
$$;

-- What a series has counted from its first sample until the start of a minute that has a sample, the
-- first of them at `next_at`; watt-microseconds, 0 when that is the very first sample.
--
-- Put together from few pieces: the total of the days before, whole days since, quarters of the day,
-- minutes of the quarter. What is marked is not taken but replaced by the pieces one level down, a
-- marked minute by folding it, so that the answer depends on the stored records only and not on how
-- far folding has come. Power holds from one piece to the next if that comes within 120 s.
--
-- The limits cut nothing off. They tell the planner that a day has few quarters and a quarter few
-- minutes; without them it reads all buckets of the series and joins them.
create function register_before(
    of_building uuid, of_series bigint, until timestamptz, next_at timestamptz
)
returns table (positive_wus numeric, negative_wus numeric)
language plpgsql stable parallel safe rows 1
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
begin
    return query
    with marked_minute as materialized (
        select start from touched_minute where building_uuid = of_building and start < until
    ), stale_quarter as materialized (
        select date_bin('15 minutes', start, 'epoch') as start from marked_minute
        union
        select start from touched_quarter where building_uuid = of_building and start < until
    ), stale_day as materialized (
        select date_bin('1 day', start, 'epoch') as start from stale_quarter
        union
        select start from touched_day where building_uuid = of_building and start < until
    ), open_day as materialized (
        select start from stale_day union select date_bin('1 day', until, 'epoch')
    ), open_quarter as materialized (
        select start from stale_quarter union select date_bin('15 minutes', until, 'epoch')
    ), piece as (
        (
            select last_at as first_at, last_at, last_power_w,
                   positive_total_wus as positive_wus, negative_total_wus as negative_wus
            from day_bucket
            where building_uuid = of_building and series = of_series
              and start < (select min(start) from open_day)
            order by start desc
            limit 1
        )
        union all
        select first_at, last_at, last_power_w, positive_energy_wus, negative_energy_wus
        from day_bucket
        where building_uuid = of_building and series = of_series
          and start >= (select min(start) from open_day)
          and start < until
          and start not in (select start from open_day)
        union all
        select quarter.first_at, quarter.last_at, quarter.last_power_w,
               quarter.positive_energy_wus, quarter.negative_energy_wus
        from open_day day
        cross join lateral (
            select *
            from quarter_bucket bucket
            where bucket.building_uuid = of_building and bucket.series = of_series
              and bucket.start >= day.start and bucket.start < day.start + interval '1 day'
              and bucket.start < until
            order by bucket.start
            limit 96
        ) quarter
        where quarter.start not in (select start from open_quarter)
        union all
        select minute.first_at, minute.last_at, minute.last_power_w,
               minute.positive_energy_wus, minute.negative_energy_wus
        from open_quarter quarter
        cross join lateral (
            select *
            from minute_bucket bucket
            where bucket.building_uuid = of_building and bucket.series = of_series
              and bucket.start >= quarter.start
              and bucket.start < quarter.start + interval '15 minutes'
              and bucket.start < until
            order by bucket.start
            limit 15
        ) minute
        where minute.start not in (select start from marked_minute)
        union all
        select folded.first_at, folded.last_at, folded.last_power_w,
               folded.positive_energy_wus, folded.negative_energy_wus
        from marked_minute
        cross join lateral fold_minute(of_building, marked_minute.start) folded
        where folded.series = of_series
    ), joined as (
        select piece.*, lead(first_at) over (order by last_at) as after_at
        from piece
    ), held as (
        select joined.*,
               case when coalesce(after_at, next_at) - last_at <= interval '120 seconds'
                    then extract(epoch from coalesce(after_at, until) - last_at) * 1000000
                    else 0 end as held_us
        from joined
    )
    select coalesce(sum(positive_wus + greatest(last_power_w::numeric, 0) * held_us), 0),
           coalesce(sum(negative_wus + greatest(-last_power_w::numeric, 0) * held_us), 0)
    from held;
end
$$;

-- Buckets with all the time and energy that belongs to their interval: also that from its start to
-- its first sample and from its last sample to its end, where the neighbour's sample is within 120 s.
create view minute_interval as
select building_uuid, series, start, samples, revision, positive_sum_w, negative_sum_w,
       covered_us + head_us + tail_us as covered_us,
       positive_energy_wus + greatest(power_before_w::bigint, 0) * head_us
           + greatest(last_power_w::bigint, 0) * tail_us as positive_energy_wus,
       negative_energy_wus + greatest(-power_before_w::bigint, 0) * head_us
           + greatest(-last_power_w::bigint, 0) * tail_us as negative_energy_wus
from (
    select bordered.*,
           case when first_at - last_before <= interval '120 seconds'
                then (extract(epoch from first_at - greatest(start, last_before)) * 1000000)::bigint
                else 0 end as head_us,
           case when first_after - last_at <= interval '120 seconds'
                then (extract(epoch from least(start + interval '1 minute', first_after) - last_at)
                      * 1000000)::bigint
                else 0 end as tail_us
    from (
        select bucket.*,
               lag(last_at) over series_order as last_before,
               coalesce(lag(last_power_w) over series_order, 0) as power_before_w,
               lead(first_at) over series_order as first_after
        from minute_bucket bucket
        window series_order as (partition by building_uuid, series order by start)
    ) bordered
) covered;

create view quarter_interval as
select building_uuid, series, start, samples, revision, positive_sum_w, negative_sum_w,
       covered_us + head_us + tail_us as covered_us,
       positive_energy_wus + greatest(power_before_w::bigint, 0) * head_us
           + greatest(last_power_w::bigint, 0) * tail_us as positive_energy_wus,
       negative_energy_wus + greatest(-power_before_w::bigint, 0) * head_us
           + greatest(-last_power_w::bigint, 0) * tail_us as negative_energy_wus
from (
    select bordered.*,
           case when first_at - last_before <= interval '120 seconds'
                then (extract(epoch from first_at - greatest(start, last_before)) * 1000000)::bigint
                else 0 end as head_us,
           case when first_after - last_at <= interval '120 seconds'
                then (extract(epoch from least(start + interval '15 minutes', first_after) - last_at)
                      * 1000000)::bigint
                else 0 end as tail_us
    from (
        select bucket.*,
               lag(last_at) over series_order as last_before,
               coalesce(lag(last_power_w) over series_order, 0) as power_before_w,
               lead(first_at) over series_order as first_after
        from quarter_bucket bucket
        window series_order as (partition by building_uuid, series order by start)
    ) bordered
) covered;
