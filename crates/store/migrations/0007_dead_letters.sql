-- Dead letters that are replayed, and marks of intervals that cannot be folded.

-- A letter that is replayed stays: what the log brings once more is known by it. What a judgement after
-- that of its arrival says is written over reason, pointer and detail.
alter table dead_letter
    add column replayed_at timestamptz,
    -- What became of its record: it was new, or it was there already.
    add column outcome text check (outcome in ('stored', 'duplicate')),
    add constraint dead_letter_replayed_with_outcome
        check ((replayed_at is null) = (outcome is null));

-- Letters are read in the order of their receipt, those that are refused still: of a building, of a reason, or all.
-- The first holds all that `dead-letters stats` counts.
create index dead_letter_open_by_building on dead_letter (building_uuid, received_at) include (reason)
    where replayed_at is null;
create index dead_letter_open_by_reason on dead_letter (reason, received_at) where replayed_at is null;
create index dead_letter_open_by_time on dead_letter (received_at) where replayed_at is null;
create index dead_letter_replayed_by_time on dead_letter (received_at) where replayed_at is not null;
drop index dead_letter_by_building;
drop index dead_letter_by_time;

-- A mark that could not be folded waits until then, so that it holds up no other.
alter table touched_minute add column not_before timestamptz;
alter table touched_quarter add column not_before timestamptz;
alter table touched_day add column not_before timestamptz;
