-- The action, the first step of its fate, and who asked for it.
with taken as (
    insert into action (
        building_uuid, action_uuid, created_at, username, address, family, body, revision, status,
        idempotency_key
    )
    values ($1, $2, $3, $4, $5, $6, $7::json, $8, 'accepted', $9)
), step as (
    insert into action_step (building_uuid, action_uuid, status, at, detail)
    values ($1, $2, 'accepted', $3, 'stored')
)
insert into audit_entry (at, building_uuid, username, address, operation, subject, detail)
values ($3, $1, $4, $5, 'action', $2, $7::json)
