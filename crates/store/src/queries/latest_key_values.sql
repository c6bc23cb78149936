-- "C" sorts by code point, whatever the database's own collation is.
select key, value::text as value, time
from latest_key_value
where building_uuid = $1
order by key collate "C"
