-- Offered means: the files are there and the library is loaded at start; without the second the
-- extension can be created but not used. A library that is loaded has settings of its own, which every
-- role may look at; shared_preload_libraries only an administrator may.
select exists (select from pg_settings where name = 'timescaledb.max_background_workers')
       and exists (select from pg_available_extensions where name = 'timescaledb') as offered
