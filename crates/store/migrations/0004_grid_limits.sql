-- Occurrences of a building's grid limit schedule: from start_time until before end_time. They may
-- overlap; the strictest limit holds. The api has checked quarter hours, notice and horizon.
create table grid_limit (
    building_uuid uuid not null references building on delete cascade,
    grid_limit_uuid uuid not null,
    start_time timestamptz not null,
    end_time timestamptz not null,
    delivery_limit_watts integer not null check (delivery_limit_watts >= 0),
    return_delivery_limit_watts integer not null check (return_delivery_limit_watts >= 0),
    primary key (building_uuid, grid_limit_uuid),
    check (start_time < end_time)
);

-- The order of the list, in which several may share a start.
create index grid_limit_by_start on grid_limit (building_uuid, start_time, grid_limit_uuid);
