-- Nothing is to be seen any more where no such action waits for an answer.
update control_state state
set watched_since = null
where state.building_uuid = any($1)
  and not exists (
    select from action
    where action.building_uuid = state.building_uuid
      and action.family in ('inverters', 'battery')
      and action.ended_at is null
      and action.status in ('accepted', 'published', 'delivered')
  )
