-- All that a request with a valid access token depends on, in one round trip: no row when the user ($1)
-- is disabled or unknown; else the role in the building ($2, null when the path has none), the limit and
-- what is spent of it, this request included if it is admitted. $3 is now, $4 the least limit, $5 the
-- limit for each building, $6 the length of the window.
--
-- Exact under concurrency: the update sees the row as the request before left it, since it waits for
-- the row's lock. What it decided is told by the row that it returns; only a request that is admitted is
-- counted, so that a limit that grows lets exactly the difference through.
--
-- In a disabled building nobody has a role; its links stay, and count.
--
-- A window that lies its own length or more away from now, in either direction, is over: a clock that was
-- wrong once shuts nobody out for longer.
with account as (
    select
        membership.role,
        greatest($4::bigint, $5::bigint * (
            select count(*) from membership as link where link.username = app_user.username
        )) as request_limit
    from app_user
    left join (
        membership
        join building on building.uuid = membership.building_uuid and not building.disabled
    ) on membership.username = app_user.username and membership.building_uuid = $2::uuid
    where app_user.username = $1
      and not app_user.disabled
), counted as (
    insert into request_budget as budget (username, window_start, spent, admitted)
    select $1, $3::timestamptz, 1, true
    from account
    on conflict (username) do update
    set (window_start, spent, admitted) = (
        select
            case when runs then budget.window_start else excluded.window_start end,
            before + case when before < request_limit then 1 else 0 end,
            before < request_limit
        from account
        cross join lateral (
            select
                budget.window_start > excluded.window_start - $6::interval
                and budget.window_start <= excluded.window_start + $6::interval
        ) as window_now (runs)
        cross join lateral (
            select case when runs then budget.spent else 0 end
        ) as spent_now (before)
    )
    returning window_start, spent, admitted
)
select role, request_limit, window_start, spent, admitted
from account
cross join counted
