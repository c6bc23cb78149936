select from control_state where building_uuid = any($1) order by building_uuid for no key update
