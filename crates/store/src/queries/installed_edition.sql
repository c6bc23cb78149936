-- installed_edition
-- The version of TimescaleDB and the licence that it runs under: apache, or timescale for the
-- Community edition. No row without it; no licence where its library is not loaded.
select extversion as version, current_setting('timescaledb.license', true) as license
from pg_extension
where extname = 'timescaledb'
