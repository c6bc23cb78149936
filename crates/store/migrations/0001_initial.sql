-- The whole database of a new installation. The same on plain PostgreSQL 15+ and on TimescaleDB
-- (`migrate` turns telemetry_record into a hypertable where it finds the extension).
--
-- Tables that grow lead their key with the building, and no statement of the hot path crosses
-- buildings except by listing them, so that the store can be distributed by building.

-- Who and where -----------------------------------------------------------------------------------

create table building (
    uuid uuid primary key,
    name text not null,
    -- IANA name; rules where a day starts. Minutes and quarters are the same everywhere.
    timezone text not null default 'UTC',
    consumption_compensated_curtailment boolean not null default false,
    -- Which sections its telemetry has ever had: bit 0 main_meter, 1 battery, 2 solar.
    -- From these and the fleet file follow the sensors that the service adds.
    reported_sections smallint not null default 0,
    created_at timestamptz not null default now()
);

create table sensor_hub (
    uuid uuid primary key,
    building_uuid uuid not null references building on delete cascade,
    name text not null,
    kind text not null,
    -- Order of the fleet file.
    position integer not null,
    -- 'fleet': named in the fleet file; 'service': added because telemetry reported it.
    origin text not null check (origin in ('fleet', 'service'))
);

create index sensor_hub_by_building on sensor_hub (building_uuid);

create table sensor (
    sensor_uuid uuid primary key,
    id bigint generated always as identity unique,
    building_uuid uuid not null references building on delete cascade,
    hub_uuid uuid not null references sensor_hub on delete cascade,
    name text not null,
    kind text not null,
    min_interval text not null check (min_interval in ('minute', 'quarter', 'day')),
    meter_name text,
    tariff text,
    -- Order of the fleet file: telemetry feeds the building's first sensor of a kind.
    position integer not null,
    origin text not null check (origin in ('fleet', 'service'))
);

create index sensor_by_building on sensor (building_uuid);

create table app_user (
    username text primary key,
    -- argon2id, PHC string.
    password_hash text not null,
    disabled boolean not null default false
);

create table membership (
    username text not null references app_user on delete cascade,
    building_uuid uuid not null references building on delete cascade,
    role text not null check (role in ('viewer', 'operator')),
    primary key (username, building_uuid)
);

-- A refresh token that was handed out. Outstanding: not expired and not used.
create table refresh_token (
    jti uuid primary key,
    username text not null references app_user on delete cascade,
    issued_at timestamptz not null,
    expires_at timestamptz not null,
    used_at timestamptz
);

create index refresh_token_by_user on refresh_token (username, expires_at);

-- What came in --------------------------------------------------------------------------------------

-- Where the aggregator stands in the log. Moved by compare-and-set in the transaction that stores
-- what was read, so a process that lost its partition cannot commit, and nothing is stored twice.
create table log_position (
    -- Which Kafka it is: after it was wiped or changed for another one, the same offsets are other
    -- messages, and reading starts anew.
    cluster text not null,
    topic text not null,
    partition integer not null,
    next_offset bigint not null,
    primary key (cluster, topic, partition)
);

-- One accepted realtime record. Its identity is building + time; the first one stored wins.
-- Powers in watt, signs as in the specification. A status is 0 available, 1 degraded,
-- 2 unavailable, null without the section. No foreign key: the batch locks its buildings instead,
-- once for all its records.
create table telemetry_record (
    building_uuid uuid not null,
    time timestamptz not null,
    received_at timestamptz not null,
    main_meter_status smallint,
    main_meter_active_power_w integer,
    battery_status smallint,
    battery_active_power_w integer,
    battery_active_power_setpoint_w integer,
    battery_baseline_power_w integer,
    battery_soc_percent double precision,
    battery_charge_limit_w integer,
    battery_remaining_charge_time_s integer,
    battery_discharge_limit_w integer,
    battery_remaining_discharge_time_s integer,
    solar_status smallint,
    solar_active_power_w integer,
    solar_active_power_setpoint_w integer,
    solar_rated_power_w integer,
    solar_min_power_w integer,
    solar_max_power_w integer,
    solar_baseline_power_w integer,
    primary key (building_uuid, time)
);

-- The newest measurement of a building's section: what actual/ and latest/ read, in one probe,
-- however old it is and whether or not its record is still kept.
create table latest_sample (
    building_uuid uuid not null,
    -- 0 main_meter, 1 battery, 2 solar.
    section smallint not null,
    time timestamptz not null,
    power_w integer not null,
    primary key (building_uuid, section)
) with (fillfactor = 50);

-- What was refused, with its own bytes. `building_uuid` is null when the topic named none.
create table dead_letter (
    id bigint generated always as identity primary key,
    building_uuid uuid,
    reason text not null,
    pointer text not null,
    detail text not null,
    source text not null,
    received_at timestamptz not null,
    traceparent text,
    payload bytea not null,
    -- Of source and payload. A topic may be longer than an index can hold.
    content_sha256 bytea not null
);

-- The same message of the same moment is one dead letter, however often the log is read.
create unique index dead_letter_once on dead_letter (content_sha256, received_at, reason);
create index dead_letter_by_building on dead_letter (building_uuid, received_at);
create index dead_letter_by_time on dead_letter (received_at);

-- What is made of it --------------------------------------------------------------------------------

-- Minutes whose records have changed since they were last folded. A batch marks them in its own
-- transaction; folding deletes the mark, reads the records and writes the bucket in one transaction.
-- Both lock the mark's row, so a mark is never lost: see queries/mark_minutes.sql.
create table touched_minute (
    building_uuid uuid not null,
    start timestamptz not null,
    primary key (building_uuid, start)
) with (fillfactor = 50);

create index touched_minute_by_start on touched_minute (start);

-- Quarters whose minute buckets have changed since they were last folded: the same one level up.
create table touched_quarter (
    building_uuid uuid not null,
    start timestamptz not null,
    primary key (building_uuid, start)
) with (fillfactor = 50);

create index touched_quarter_by_start on touched_quarter (start);

-- What a section measured in a minute: a pure function of the records with start <= time < end.
-- It keeps its first and last sample, so that buckets combine exactly into longer ones: power holds
-- until the next sample if that comes within 120 s, also across the border of two buckets.
create table minute_bucket (
    building_uuid uuid not null,
    section smallint not null,
    start timestamptz not null,
    samples integer not null,
    -- Sums over the samples of max(power, 0) and of max(-power, 0), watt.
    positive_sum_w bigint not null,
    negative_sum_w bigint not null,
    first_at timestamptz not null,
    last_at timestamptz not null,
    last_power_w integer not null,
    -- Microseconds between the first and the last sample in which a power held, and the energy of
    -- that time, watt-microseconds.
    covered_us bigint not null,
    positive_energy_wus bigint not null,
    negative_energy_wus bigint not null,
    -- 1 when first made, one more with each change of what stands above.
    revision integer not null default 1,
    primary key (building_uuid, section, start)
) with (fillfactor = 90);

create table quarter_bucket (
    like minute_bucket including defaults including storage,
    primary key (building_uuid, section, start)
) with (fillfactor = 90);

-- Folds the records of one minute, a row for each section that has a sample. The one definition of
-- a minute: folding stores its answer, and a read of a minute that is still marked asks it directly.
create function fold_minute(of_building uuid, of_start timestamptz)
returns table (
    section smallint, samples integer, positive_sum_w bigint, negative_sum_w bigint,
    first_at timestamptz, last_at timestamptz, last_power_w integer,
    covered_us bigint, positive_energy_wus bigint, negative_energy_wus bigint
)
language sql stable parallel safe as $$
    with sample as (
        select measured.section, record.time, measured.power_w,
               -- Inside a minute the next sample always comes within 120 s.
               (extract(epoch from
                   lead(record.time) over (partition by measured.section order by record.time)
                   - record.time) * 1000000)::bigint as held_us
        from telemetry_record record
        cross join lateral (values
            (0::smallint, record.main_meter_status, record.main_meter_active_power_w),
            (1::smallint, record.battery_status, record.battery_active_power_w),
            (2::smallint, record.solar_status, record.solar_active_power_w)
        ) measured (section, status, power_w)
        where record.building_uuid = of_building
          and record.time >= of_start
          and record.time < of_start + interval '1 minute'
          -- A section measures when it has a power and is available (0) or degraded (1).
          and measured.power_w is not null
          and measured.status < 2
    )
    select section,
           count(*)::integer,
           sum(greatest(power_w::bigint, 0))::bigint,
           sum(greatest(-power_w::bigint, 0))::bigint,
           min(time),
           max(time),
           (array_agg(power_w order by time desc))[1],
           coalesce(sum(held_us), 0)::bigint,
           coalesce(sum(greatest(power_w::bigint, 0) * held_us), 0)::bigint,
           coalesce(sum(greatest(-power_w::bigint, 0) * held_us), 0)::bigint
    from sample
    group by section
$$;

-- Folds the minute buckets of one quarter in the same way; the power of a minute's last sample holds
-- until the first sample of the next one, if that comes within 120 s.
create function fold_quarter(of_building uuid, of_start timestamptz)
returns table (
    section smallint, samples integer, positive_sum_w bigint, negative_sum_w bigint,
    first_at timestamptz, last_at timestamptz, last_power_w integer,
    covered_us bigint, positive_energy_wus bigint, negative_energy_wus bigint
)
language sql stable parallel safe as $$
    with minute as (
        select bucket.*,
               (extract(epoch from
                   lead(bucket.first_at) over (partition by bucket.section order by bucket.start)
                   - bucket.last_at) * 1000000)::bigint as gap_us
        from minute_bucket bucket
        where bucket.building_uuid = of_building
          and bucket.start >= of_start
          and bucket.start < of_start + interval '15 minutes'
    ), held as (
        select minute.*, case when gap_us <= 120000000 then gap_us else 0 end as held_us
        from minute
    )
    select section,
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
    group by section
$$;

-- Buckets with all the time and energy that belongs to their interval: also that from its start to
-- its first sample and from its last sample to its end, where the neighbour's sample is within 120 s.
create view minute_interval as
select building_uuid, section, start, samples, revision, positive_sum_w, negative_sum_w,
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
               lag(last_at) over section_order as last_before,
               coalesce(lag(last_power_w) over section_order, 0) as power_before_w,
               lead(first_at) over section_order as first_after
        from minute_bucket bucket
        window section_order as (partition by building_uuid, section order by start)
    ) bordered
) covered;

create view quarter_interval as
select building_uuid, section, start, samples, revision, positive_sum_w, negative_sum_w,
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
               lag(last_at) over section_order as last_before,
               coalesce(lag(last_power_w) over section_order, 0) as power_before_w,
               lead(first_at) over section_order as first_after
        from quarter_bucket bucket
        window section_order as (partition by building_uuid, section order by start)
    ) bordered
) covered;
