-- Stretches of the log that are to be read besides what comes in now: what piled up in an outage, so that nothing
-- new waits behind it, and what an operator wants to be read again. Each is read from its begin, and its begin moves
-- by compare-and-set in the transaction that stores what was read, as positions do.
create table log_stretch (
    cluster text not null,
    topic text not null,
    partition integer not null,
    -- Of the first message that is not read yet, and of the first one behind the stretch.
    next_offset bigint not null,
    end_offset bigint not null,
    begun_at timestamptz not null default now(),
    -- Two stretches that end alike are one: the one that begins earlier.
    primary key (cluster, topic, partition, end_offset),
    check (next_offset < end_offset)
);
