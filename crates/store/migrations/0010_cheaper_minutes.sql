-- Folding a minute reads its records once, in the order of time, whatever sections they have. The answer is
-- the same as before: processes of the release before go on with it.
--
-- A sample is one number: microseconds since the minute's start, times 2^32, plus watt, plus 2^31. So the
-- greatest one before a record is the section's sample before it, also where records between them lack the
-- section.
create or replace function fold_minute(of_building uuid, of_start timestamptz)
returns table (
    series bigint, samples integer, positive_sum_w bigint, negative_sum_w bigint,
    first_at timestamptz, last_at timestamptz, last_power_w integer,
    covered_us bigint, positive_energy_wus bigint, negative_energy_wus bigint
)
language sql stable parallel safe as $$
    with measured as (
        -- A section measures when it has a power and is available (0) or degraded (1).
        select (date_part('epoch', record.time - of_start) * 1000000)::bigint * 4294967296
                   + 2147483648 as at,
               case when main_meter_status < 2 then main_meter_active_power_w end as meter_w,
               case when battery_status < 2 then battery_active_power_w end as battery_w,
               case when solar_status < 2 then solar_active_power_w end as solar_w
        from telemetry_record record
        where record.building_uuid = of_building
          and record.time >= of_start
          and record.time < of_start + interval '1 minute'
    ), followed as (
        select *,
               max(at + meter_w) over earlier as meter_before,
               max(at + battery_w) over earlier as battery_before,
               max(at + solar_w) over earlier as solar_before
        from measured
        window earlier as (order by at rows between unbounded preceding and 1 preceding)
    ), held as (
        -- Inside a minute the next sample always comes within 120 s: each power holds until then.
        select *,
               (meter_before & 4294967295) - 2147483648 as meter_before_w,
               ((at + meter_w) >> 32) - (meter_before >> 32) as meter_us,
               (battery_before & 4294967295) - 2147483648 as battery_before_w,
               ((at + battery_w) >> 32) - (battery_before >> 32) as battery_us,
               (solar_before & 4294967295) - 2147483648 as solar_before_w,
               ((at + solar_w) >> 32) - (solar_before >> 32) as solar_us
        from followed
    ), summed as (
        select count(meter_w) as meter_samples,
               sum(greatest(meter_w::bigint, 0)) as meter_positive,
               sum(greatest(-meter_w::bigint, 0)) as meter_negative,
               min(at + meter_w) as meter_first,
               max(at + meter_w) as meter_last,
               sum(greatest(meter_before_w, 0) * meter_us) as meter_positive_energy,
               sum(greatest(-meter_before_w, 0) * meter_us) as meter_negative_energy,
               count(battery_w) as battery_samples,
               sum(greatest(battery_w::bigint, 0)) as battery_positive,
               sum(greatest(-battery_w::bigint, 0)) as battery_negative,
               min(at + battery_w) as battery_first,
               max(at + battery_w) as battery_last,
               sum(greatest(battery_before_w, 0) * battery_us) as battery_positive_energy,
               sum(greatest(-battery_before_w, 0) * battery_us) as battery_negative_energy,
               count(solar_w) as solar_samples,
               sum(greatest(solar_w::bigint, 0)) as solar_positive,
               sum(greatest(-solar_w::bigint, 0)) as solar_negative,
               min(at + solar_w) as solar_first,
               max(at + solar_w) as solar_last,
               sum(greatest(solar_before_w, 0) * solar_us) as solar_positive_energy,
               sum(greatest(-solar_before_w, 0) * solar_us) as solar_negative_energy
        from held
    )
    select section.series,
           samples::integer,
           positive::bigint,
           negative::bigint,
           of_start + (first >> 32) * interval '1 microsecond',
           of_start + (last >> 32) * interval '1 microsecond',
           ((last & 4294967295) - 2147483648)::integer,
           (last >> 32) - (first >> 32),
           coalesce(positive_energy, 0)::bigint,
           coalesce(negative_energy, 0)::bigint
    from summed
    cross join lateral (values
        (0::bigint, meter_samples, meter_positive, meter_negative, meter_first, meter_last,
         meter_positive_energy, meter_negative_energy),
        (-1::bigint, battery_samples, battery_positive, battery_negative, battery_first, battery_last,
         battery_positive_energy, battery_negative_energy),
        (-2::bigint, solar_samples, solar_positive, solar_negative, solar_first, solar_last,
         solar_positive_energy, solar_negative_energy)
    ) section (series, samples, positive, negative, first, last, positive_energy, negative_energy)
    where section.samples > 0
    union all
    select sensor_id,
           count(*)::integer,
           sum(greatest(power_w::bigint, 0))::bigint,
           sum(greatest(-power_w::bigint, 0))::bigint,
           min(time),
           max(time),
           max(power_w) filter (where held_us is null),
           coalesce(sum(held_us), 0)::bigint,
           coalesce(sum(greatest(power_w::bigint, 0) * held_us), 0)::bigint,
           coalesce(sum(greatest(-power_w::bigint, 0) * held_us), 0)::bigint
    from (
        select sensor_id, time, power_w,
               (date_part('epoch',
                   lead(time) over (partition by sensor_id order by time) - time) * 1000000)::bigint
                   as held_us
        from sensor_reading reading
        where reading.building_uuid = of_building
          and reading.time >= of_start
          and reading.time < of_start + interval '1 minute'
          and reading.power_w is not null
    ) read
    group by sensor_id
$$;
