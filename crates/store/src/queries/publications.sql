-- The newest revision settles the rows of the outbox that are seen together with it, and no others: a
-- row whose transaction is still open may have a lower number, and a revision that is not seen here. A
-- building that is no more has no state.
select queued.building_uuid, queued.settles, queued.again, state.revision, state.issued_at, state.state
from (
    select building_uuid, array_agg(number) as settles, bool_and(again) as again, max(number) as turn
    from desired_outbox
    where building_uuid = any($1)
      -- What is to be published again later is: a document that goes out before does not make up for it.
      and (not_before > $2) is not true
    group by building_uuid
) queued
left join control_state state on state.building_uuid = queued.building_uuid
order by queued.turn
