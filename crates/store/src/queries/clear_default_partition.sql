-- Some rows from before $1 that came for a day without a partition; rarely any.
delete from RAW_TABLE_default
where ctid = any(array(select ctid from RAW_TABLE_default where time < $1 limit $2))
