-- Newest first; with what became of an action, as long as the action is kept.
select entry.number, entry.at, entry.building_uuid, entry.username, entry.address, entry.operation,
       entry.subject, entry.detail::text as detail, action.status, action.ended_at
from audit_entry entry
left join action on action.building_uuid = entry.building_uuid
  and action.action_uuid = entry.subject
  and entry.operation = 'action'
where ($1::uuid is null or entry.building_uuid = $1)
  and ($2::text is null or entry.username = $2)
  and ($3::timestamptz is null or entry.at >= $3)
  and ($4::timestamptz is null or entry.at < $4)
order by entry.at desc, entry.number desc
limit $5
