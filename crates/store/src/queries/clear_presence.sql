-- Some of the messages of presence from before $1. A building keeps the first one of the run that its
-- newest message belongs to, which tells since when: the one before it says something else or is not
-- there, and none after it does. The oldest go first, so that what goes does not make another one seem to
-- be that.
delete from presence
where (building_uuid, received_at) in (
    select building_uuid, received_at
    from presence old
    where received_at < $1
      and (
          exists (
              select from presence later
              where later.building_uuid = old.building_uuid
                and later.received_at > old.received_at
                and later.online <> old.online
          )
          or (
              select earlier.online
              from presence earlier
              where earlier.building_uuid = old.building_uuid
                and earlier.received_at < old.received_at
              order by earlier.received_at desc
              limit 1
          ) = old.online
      )
    order by received_at
    limit $2
)
