-- Control: what users wish of a building, what is therefore desired of its controller, and what becomes
-- of each wish.
--
-- Who changes a building's control state or the fate of one of its actions locks its row of
-- control_state first; who needs several locks them in the order of the building, or passes over
-- those that are locked. So nobody waits in a circle.

-- What is desired of a building now, a row for each building from its creation on.
create table control_state (
    building_uuid uuid primary key references building on delete cascade,
    -- Of the desired document: rises with every change of it.
    revision bigint not null default 1,
    -- When this revision came about.
    issued_at timestamptz not null default now(),
    -- domain::control::State as JSON; the document is made from it.
    state jsonb not null default '{}',
    -- When it changes by itself next, or shall be looked at; null: never.
    due_at timestamptz,
    -- Since when the controller may know of what telemetry can show to be done; null: there is no such thing.
    watched_since timestamptz
) with (fillfactor = 50);

create index control_state_due on control_state (due_at) where due_at is not null;
create index control_state_watched on control_state (building_uuid) where watched_since is not null;

-- A wish that was accepted. What it asked for is in the control state; this is its fate.
create table action (
    building_uuid uuid not null references building on delete cascade,
    action_uuid uuid not null,
    -- The order of acceptance.
    number bigint generated always as identity,
    created_at timestamptz not null,
    -- No foreign key: who asked is remembered longer than there is such a user.
    username text not null,
    -- From where, as far as proxies are believed.
    address text not null,
    family text not null,
    -- As it was sent.
    body json not null,
    -- The first revision of the desired document with its effect.
    revision bigint not null,
    status text not null check (status in ('accepted', 'published', 'delivered', 'confirmed',
        'rejected', 'partial', 'expired', 'superseded')),
    -- Null while it is in force.
    ended_at timestamptz,
    -- Of the header Idempotency-Key, where there was one.
    idempotency_key text,
    primary key (building_uuid, action_uuid)
) with (fillfactor = 70);

create index action_by_number on action (building_uuid, number);
-- Those whose controller has not answered.
create index action_open on action (building_uuid, revision)
    where ended_at is null and status in ('accepted', 'published', 'delivered');
create index action_by_key on action (building_uuid, username, idempotency_key, created_at)
    where idempotency_key is not null;
create index action_by_end on action (ended_at) where ended_at is not null;

-- Every step of an action's fate.
create table action_step (
    building_uuid uuid not null,
    action_uuid uuid not null,
    number bigint generated always as identity,
    status text not null,
    at timestamptz not null,
    -- Why, in words for people.
    detail text not null,
    primary key (building_uuid, action_uuid, number),
    foreign key (building_uuid, action_uuid) references action on delete cascade
);

-- What is to be published. A row comes with the change itself, in its transaction, and goes when the broker
-- has confirmed this revision or a later one. No foreign key: that a building is no more is
-- to be published too.
create table desired_outbox (
    number bigint generated always as identity primary key,
    building_uuid uuid not null,
    revision bigint not null,
    -- Published before, and again since the broker may have lost it: comes after what is new.
    again boolean not null default false,
    -- Not before this moment; null: at once.
    not_before timestamptz
);

create index desired_outbox_by_building on desired_outbox (building_uuid, revision);

-- The last revision that the broker confirmed. Who publishes for a building holds its row from before
-- it reads the revision until the broker has confirmed it: so no revision comes after a higher one.
create table desired_publication (
    building_uuid uuid primary key,
    revision bigint not null default 0,
    published_at timestamptz
) with (fillfactor = 50);

-- Who has begun to publish for a building, told before the first byte is sent and in a transaction of
-- its own: it is there still when the process has died or lost its way, and bytes of it may arrive
-- later. Whoever publishes next publishes once more when that cannot be any more.
create table desired_attempt (
    building_uuid uuid primary key,
    attempts integer not null
);

-- What a controller reported on a revision. Its identity is building + time; the first one stored wins.
create table report (
    building_uuid uuid not null,
    time timestamptz not null,
    received_at timestamptz not null,
    revision bigint not null,
    -- [{"action_uuid", "status", "detail"?}]
    outcomes jsonb not null,
    -- Whether the fates of the actions tell of it.
    handled boolean not null default false,
    primary key (building_uuid, time)
);

create index report_unhandled on report (building_uuid, received_at) where not handled;
create index report_by_receipt on report (received_at);

-- Who asked what, when and from where: actions, and changes of the grid limit schedule. It outlives users,
-- buildings and the actions themselves.
create table audit_entry (
    number bigint generated always as identity primary key,
    at timestamptz not null,
    building_uuid uuid not null,
    username text not null,
    address text not null,
    operation text not null check (operation in ('action', 'grid_limit_created', 'grid_limit_deleted')),
    -- The action's or the occurrence's uuid.
    subject uuid not null,
    -- The body, or the occurrence.
    detail json not null
);

create index audit_entry_by_building on audit_entry (building_uuid, number);
create index audit_entry_by_time on audit_entry (at);

-- A building's control state begins with the building: revision 1, nothing in force.
create function begin_control() returns trigger language plpgsql as $$
begin
    insert into control_state (building_uuid) values (new.uuid);
    insert into desired_publication (building_uuid) values (new.uuid)
        on conflict (building_uuid) do update set revision = 0;
    insert into desired_outbox (building_uuid, revision) values (new.uuid, 1);
    perform pg_notify('wattline_desired', '');
    return null;
end
$$;

create trigger begin_control after insert on building
    for each row execute function begin_control();

-- And ends with it: the retained document is to be taken from the broker.
create function end_control() returns trigger language plpgsql as $$
begin
    insert into desired_outbox (building_uuid, revision) values (old.uuid, 0);
    perform pg_notify('wattline_desired', '');
    return null;
end
$$;

create trigger end_control after delete on building
    for each row execute function end_control();

-- The flag is a part of the desired document: the state is to be looked at, at once.
create function touch_control() returns trigger language plpgsql as $$
begin
    update control_state set due_at = 'epoch' where building_uuid = new.uuid;
    return null;
end
$$;

create trigger touch_control after update of consumption_compensated_curtailment on building
    for each row
    when (old.consumption_compensated_curtailment is distinct from new.consumption_compensated_curtailment)
    execute function touch_control();

-- Buildings and occurrences from before: everything is looked at once.
insert into control_state (building_uuid, due_at) select uuid, 'epoch' from building;
insert into desired_publication (building_uuid) select uuid from building;
insert into desired_outbox (building_uuid, revision) select uuid, 1 from building;
