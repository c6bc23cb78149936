-- Makes the newest registration of each key of a building ($1) the newest of those that are stored;
-- answers how many were not. One whose registrations are gone stays. Run after the rows are locked.
with wanted as materialized (
    select distinct on (key_sha256) key_sha256, time, key, value
    from key_value
    where building_uuid = $1
    order by key_sha256, time desc
), put as (
    update latest_key_value kept
    set time = wanted.time, key = wanted.key, value = wanted.value
    from wanted
    where kept.building_uuid = $1
      and kept.key_sha256 = wanted.key_sha256
      and (kept.time, kept.key, kept.value) is distinct from (wanted.time, wanted.key, wanted.value)
    returning kept.key_sha256
), new as (
    insert into latest_key_value (building_uuid, key_sha256, time, key, value)
    select $1, wanted.* from wanted
    on conflict (building_uuid, key_sha256) do nothing
    returning key_sha256
), gone as (
    delete from latest_key_value kept
    where kept.building_uuid = $1
      and kept.time >= (select moment from raw_horizon)
      and not exists (select from wanted where wanted.key_sha256 = kept.key_sha256)
    returning kept.key_sha256
)
select (select count(*) from put) + (select count(*) from new) + (select count(*) from gone)
