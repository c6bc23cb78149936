-- Keeps a failure, and clears away those of the name that count no longer ($4).
with outdated as (
    delete from login_failure
    where name_sha256 = $1
      and failed_at <= $4
)
insert into login_failure (name_sha256, address, failed_at) values ($1, $2, $3)
