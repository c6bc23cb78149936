-- The actions that are in the published documents, and whether telemetry may show them to be done from
-- now on.
with published as (
    update action
    set status = 'published'
    from unnest($1::uuid[], $2::bigint[]) document (building_uuid, revision)
    where action.building_uuid = document.building_uuid
      and action.revision <= document.revision
      and action.status = 'accepted'
      and action.ended_at is null
    returning action.building_uuid, action.action_uuid, action.family, document.revision
), steps as (
    insert into action_step (building_uuid, action_uuid, status, at, detail)
    select building_uuid, action_uuid, 'published', $3,
           'the broker confirmed revision ' || revision
    from published
)
update control_state state
set watched_since = $4
where state.building_uuid in (
    select building_uuid from published where family in ('inverters', 'battery')
) or (
    -- The controller was quicker with its report than the broker's confirmation was noted.
    state.building_uuid = any($1)
    and state.watched_since is null
    and exists (
        select from action
        where action.building_uuid = state.building_uuid
          and action.family in ('inverters', 'battery')
          and action.ended_at is null
          and action.status in ('published', 'delivered')
    )
)
