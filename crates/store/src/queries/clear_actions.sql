-- One that another process is at is left to it. The steps go with the action.
delete from action
where (building_uuid, action_uuid) in (
    select building_uuid, action_uuid from action where ended_at < $1 limit $2 for update skip locked
)
