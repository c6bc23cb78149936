-- What guards accounts: failed logins, and how much of the rate limit a user has spent.

-- A login that failed, kept as long as it counts (15 minutes). Right logins leave nothing here.
create table login_failure (
    id bigint generated always as identity primary key,
    -- Not the name itself: people type their password into the wrong field, and a name that nobody has
    -- may be as long as a body.
    name_sha256 bytea not null,
    -- An IPv4 address, or the /64 network of an IPv6 address.
    address text not null,
    failed_at timestamptz not null
);

create index login_failure_by_name on login_failure (name_sha256, failed_at);
create index login_failure_by_address on login_failure (address, failed_at);
create index login_failure_by_time on login_failure (failed_at);

-- A user's requests in the hour that began with the first one.
--
-- Unlogged: every request writes here, and a commit that wrote no log record waits for no disk. After
-- a crash of the database (not after a stop) it is empty and every user's hour begins anew, which
-- errs in the user's favour. No foreign key: its check would lock the user's row, which is logged. What
-- a user leaves behind is cleared away with the hour.
create unlogged table request_budget (
    username text primary key,
    window_start timestamptz not null,
    spent bigint not null,
    -- What the request that wrote the row last was told.
    admitted boolean not null
) with (fillfactor = 50);

-- Counting what is outstanding must not read what was used: a client that refreshes every 15 minutes
-- leaves 5,760 used tokens before the first expires.
create index refresh_token_outstanding on refresh_token (username) where used_at is null;
create index refresh_token_by_expiry on refresh_token (expires_at);
