-- not_owned
-- Those of the tables that the role may not drop pieces of, since neither it nor a role that it is a
-- member of owns them. A table that is not there has no row.
select relname::text as table_name
from pg_class
where oid in (select to_regclass(name) from unnest($1::text[]) name)
  and not pg_has_role(relowner, 'usage')
order by 1
