-- Turns the table into a hypertable, with what is in it. Six hours a chunk: the newest one and its index
-- stay in memory, and retention drops whole chunks.
select create_hypertable(
    to_regclass($1)::regclass, by_range('time', interval '6 hours'),
    create_default_indexes => false, if_not_exists => true, migrate_data => true
)
