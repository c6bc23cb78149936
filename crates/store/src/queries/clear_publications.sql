delete from desired_publication gone
where gone.revision = 0
  and gone.published_at < $1
  and not exists (select from control_state state where state.building_uuid = gone.building_uuid)
  and not exists (select from desired_outbox queued where queued.building_uuid = gone.building_uuid)
