-- What a table is: r plain (a hypertable too), p partitioned.
select relkind::text as kind from pg_class where oid = to_regclass($1)
