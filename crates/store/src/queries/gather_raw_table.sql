-- Moves the partitioned RAW_TABLE with all of its rows into a hypertable: a partitioned table cannot
-- become one. The rows go straight to their chunks.
alter table RAW_TABLE rename to RAW_TABLE_partitioned;
alter index RAW_TABLE_pkey rename to RAW_TABLE_partitioned_pkey;
create table RAW_TABLE (like RAW_TABLE_partitioned including all);
select create_hypertable(
    'RAW_TABLE'::regclass, by_range('time', interval '6 hours'), create_default_indexes => false
);
insert into RAW_TABLE select * from RAW_TABLE_partitioned;
drop table RAW_TABLE_partitioned;
