-- What administration asks of the tables.

-- A disabled building is kept with all its data, but its messages are refused and no user sees it.
alter table building add column disabled boolean not null default false;

-- Removing a building or a hub looks for what refers to it.
create index membership_by_building on membership (building_uuid);
create index sensor_by_hub on sensor (hub_uuid);
