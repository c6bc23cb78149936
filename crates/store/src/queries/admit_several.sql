-- As admit.sql, of several requests at once: one row for each that is of an active user. $1 are the
-- users and $2 the buildings of the requests (null when the path has none), $3 is now, $4 the least
-- limit, $5 the limit for each building, $6 the length of the window.
--
-- The requests of one user (`wanted`) are counted all together or not at all, so that the row tells
-- what became of each: when they are admitted, they are the last `wanted` of those that are spent;
-- when they are not, nothing is changed, and the caller asks for as many as fit. So the row's lock
-- is taken once for all of them, and what came of them is what would have come of one after the
-- other.
--
-- Users are counted in the order of their names: statements that count the same users do not wait
-- for each other in a ring.
with asked as materialized (
    select number, username, building_uuid
    from unnest($1::text[], $2::uuid[]) with ordinality as asked (username, building_uuid, number)
), account as materialized (
    select
        app_user.username,
        several.wanted,
        greatest($4::bigint, $5::bigint * (
            select count(*) from membership as link where link.username = app_user.username
        )) as request_limit
    from (select username, count(*) as wanted from asked group by username) several
    join app_user on app_user.username = several.username
    where not app_user.disabled
), counted as (
    insert into request_budget as budget (username, window_start, spent, admitted)
    select
        username,
        $3::timestamptz,
        case when wanted <= request_limit then wanted else 0 end,
        wanted <= request_limit
    from account
    order by username collate "C"
    on conflict (username) do update
    set (window_start, spent, admitted) = (
        select
            case when runs then budget.window_start else excluded.window_start end,
            before + case when before + wanted <= request_limit then wanted else 0 end,
            before + wanted <= request_limit
        from account
        cross join lateral (
            select
                budget.window_start > excluded.window_start - $6::interval
                and budget.window_start <= excluded.window_start + $6::interval
        ) as window_now (runs)
        cross join lateral (
            select case when runs then budget.spent else 0 end
        ) as spent_now (before)
        where account.username = budget.username
    )
    returning username, window_start, spent, admitted
)
select asked.number, membership.role, request_limit, wanted, window_start, spent, admitted
from asked
join account on account.username = asked.username
join counted on counted.username = asked.username
left join (
    membership
    join building on building.uuid = membership.building_uuid and not building.disabled
) on membership.username = asked.username and membership.building_uuid = asked.building_uuid
order by asked.number
