-- The partitions of the raw tables ($2) that end at $1 or before it. The default one has no end.
select relname::text as name
from pg_inherits
join pg_class on pg_class.oid = inhrelid
where inhparent = any(select to_regclass(name) from unnest($2::text[]) as raw (name))
  and substring(pg_get_expr(relpartbound, pg_class.oid) from 'TO \(''([^'']+)''\)')::timestamptz <= $1
order by name
