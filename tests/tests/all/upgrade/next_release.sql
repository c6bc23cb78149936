-- What a next release may do to the tables that the hot path uses and older processes can go on with: a column more that
-- has no default, one that has, an index, a table.
alter table building add column storeys integer;
alter table telemetry_record add column quality smallint not null default 0;
alter table latest_sample add column seen_by text;
alter table minute_bucket add column remark text;
alter table quarter_bucket add column remark text;
alter table touched_minute add column cause smallint not null default 1;
alter table log_position add column moved_at timestamptz not null default now();
alter table dead_letter add column remark text;
create index telemetry_record_by_quality on telemetry_record (quality, time);
create table quality_report (building_uuid uuid primary key references building on delete cascade, worst smallint);
