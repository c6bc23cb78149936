-- Marks minutes for folding. The update never takes place; it is there for its row lock: folding
-- claims marks with `skip locked`, so while this batch is not committed nobody folds its minutes
-- without its records, and a mark that is being folded now makes this statement wait and set it anew.
insert into touched_minute (building_uuid, start)
select * from unnest($1::uuid[], $2::timestamptz[])
on conflict (building_uuid, start) do update set start = excluded.start where false
