-- Partitions RAW_TABLE. What it has stays where it is, as the partition of everything before BOUND, which
-- is dropped as a whole one day; nothing is copied, only looked through once.
alter table RAW_TABLE rename to RAW_TABLE_earlier;
alter index RAW_TABLE_pkey rename to RAW_TABLE_earlier_pkey;
create table RAW_TABLE (like RAW_TABLE_earlier including all) partition by range (time);
alter table RAW_TABLE attach partition RAW_TABLE_earlier for values from (minvalue) to ('BOUND');
-- For days that nobody has made a partition of, so that nothing is ever refused.
create table RAW_TABLE_default partition of RAW_TABLE default;
