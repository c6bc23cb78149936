-- The failure with whose end attempts of this name ($1) and from this address ($2) are looked at again:
-- the $4-th newest of the name that still counts (later than $3) and the $5-th newest of the address,
-- the later of the two; null when neither has as many. So the answer tells the limit and the wait at once.
select max(failed_at) as failed_at
from (
    (
        select failed_at
        from login_failure
        where name_sha256 = $1
          and failed_at > $3
        order by failed_at desc
        offset $4 - 1
        limit 1
    )
    union all
    (
        select failed_at
        from login_failure
        where address = $2
          and failed_at > $3
        order by failed_at desc
        offset $5 - 1
        limit 1
    )
) as decisive
