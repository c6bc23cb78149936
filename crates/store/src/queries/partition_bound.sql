-- The first midnight (UTC) after tomorrow that is behind everything in the table; null when it is empty.
select (
    date_bin('1 day', greatest(max(time), now() + interval '24 hours'), 'epoch') + interval '24 hours'
)::text
from RAW_TABLE
having count(*) > 0
