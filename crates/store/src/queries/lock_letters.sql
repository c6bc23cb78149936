-- Another replay of the same letters is waited for; what it has replayed is not there any more. In one order
-- of locks for all.
with locked as materialized (
    select id, building_uuid, source, received_at, traceparent, payload
    from dead_letter
    where id = any($1)
      and replayed_at is null
    order by id
    for update
)
select * from locked order by received_at, id
