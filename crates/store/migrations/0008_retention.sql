-- Retention: what is dropped of the raw records, and when it may be.
--
-- The raw tables are telemetry_record, sensor_reading, key_value and presence. The first three are
-- hypertables on TimescaleDB and partitioned by day (UTC) elsewhere; `migrate` arranges them
-- (src/raw_tables.rs), also when the server became another one. presence is small, and keeps the row that
-- says since when.

-- Where the raw records begin: everything from before is gone, and final. What arrives from before it has
-- been there already, and changes nothing. Always a midnight (UTC), so that minutes, quarters and days
-- are wholly on one side of it. It only moves forward.
create table raw_horizon (
    one boolean primary key default true check (one),
    moment timestamptz not null default '-infinity',
    -- How long records were taken when it moved there, microseconds: what is from before it and was received
    -- within so long has been read.
    kept_us bigint not null default 0
);

insert into raw_horizon default values;

-- How far the log has been read by time: every message that stood in the partition at `read_through` is
-- stored; null: not known yet. `seen_end` is an end of the partition that was seen at `seen_end_at` and
-- has not been reached yet. Who serves the partition looks every few minutes, at `served_at`.
alter table log_position
    add column read_through timestamptz,
    add column seen_end bigint,
    add column seen_end_at timestamptz,
    add column served_at timestamptz not null default now();

-- Removal goes by time.
create index presence_by_receipt on presence (received_at);

-- The horizon, that nobody moves until the transaction ends. Two statements, so that the second sees what
-- was committed while the first one waited.
create function hold_raw_horizon() returns setof raw_horizon language plpgsql volatile rows 1 as $$
begin
    perform pg_advisory_xact_lock_shared(hashtextextended('raw_horizon', 0));
    return query select * from raw_horizon;
end
$$;

-- What follows are functions, so that each is one statement: whoever asks for it may be stopped at any moment,
-- and must not leave everybody else waiting for a lock. None waits long for its own, since others wait behind.

-- Moves the horizon forward, unless something from before it is still marked; answers whether it has moved.
-- Nobody stores meanwhile, so a mark that is not seen here does not come either.
create function move_raw_horizon(to_moment timestamptz, to_kept_us bigint)
returns boolean language plpgsql volatile set lock_timeout = '1s' as $$
begin
    perform pg_advisory_xact_lock(hashtextextended('raw_horizon', 0));
    update raw_horizon
    set moment = to_moment, kept_us = to_kept_us
    where moment < to_moment
      and not exists (select from touched_minute where start < to_moment)
      and not exists (select from touched_quarter where start < to_moment)
      and not exists (select from touched_day where start < to_moment);
    return found;
end
$$;

-- Drops a partition; answers how many were dropped, none while somebody else is dropping.
create function drop_raw_partition(raw_partition text)
returns bigint language plpgsql volatile set lock_timeout = '1s' as $$
begin
    if not pg_try_advisory_xact_lock(hashtextextended('drop_raw', 0)) or to_regclass(raw_partition) is null then
        return 0;
    end if;
    execute format('drop table %I', raw_partition);
    return 1;
end
$$;

-- The same with the chunks of a hypertable that end at a moment or before it.
create function drop_raw_chunks(raw_table text, before_moment timestamptz)
returns bigint language plpgsql volatile set lock_timeout = '1s' as $$
declare
    dropped bigint;
begin
    if not pg_try_advisory_xact_lock(hashtextextended('drop_raw', 0)) then
        return 0;
    end if;
    execute 'select count(*) from drop_chunks($1::regclass, older_than => $2)'
        into dropped using raw_table, before_moment;
    return dropped;
end
$$;

-- Makes the daily partitions of a raw table from $2 on and before $3 that are not there; answers how
-- many. A day of which the default partition has rows already is left to it.
create function make_raw_partitions(raw_table text, from_day timestamptz, until_day timestamptz)
returns integer language plpgsql volatile
-- Attaching waits for whoever is in the default partition, and others wait behind it.
set lock_timeout = '1s' as $$
declare
    day timestamptz;
    name text;
    made integer := 0;
begin
    if (select relkind from pg_class where oid = to_regclass(raw_table)) is distinct from 'p' then
        return 0;
    end if;
    for day in
        select generate_series(
            date_bin('1 day', from_day, 'epoch'), until_day - interval '1 microsecond', interval '24 hours'
        )
    loop
        name := raw_table || '_' || to_char(day at time zone 'UTC', 'YYYYMMDD');
        continue when to_regclass(name) is not null;
        begin
            -- Attached, not made in place: so only the default partition is locked against everybody.
            execute format('create table %I (like %I including all)', name, raw_table);
            execute format(
                'alter table %I attach partition %I for values from (%L) to (%L)',
                raw_table, name, day, day + interval '24 hours'
            );
            made := made + 1;
        exception
            -- Rows in the default partition, a partition that has the day, or somebody else was quicker.
            when check_violation or invalid_object_definition or duplicate_table or unique_violation then
                null;
        end;
    end loop;
    return made;
end
$$;

-- The series that a building can have: the sections of its telemetry, and its sensors.
create function series_of(of_building uuid) returns setof bigint language sql stable as $$
    select generate_series(-2, 0)::bigint
    union all
    select id from sensor where building_uuid = of_building
$$;
