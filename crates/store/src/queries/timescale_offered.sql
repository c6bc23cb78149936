-- Offered means: the files are there and the library is loaded at start; without the second the
-- extension can be created but not used.
select current_setting('shared_preload_libraries') like '%timescaledb%'
       and exists (select from pg_available_extensions where name = 'timescaledb') as offered
