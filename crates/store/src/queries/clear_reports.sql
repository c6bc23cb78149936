delete from report
where (building_uuid, time) in (
    select building_uuid, time from report
    where received_at < $1 and handled
    limit $2
    for update skip locked
)
