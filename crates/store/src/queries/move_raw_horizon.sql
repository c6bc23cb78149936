-- Moves the horizon forward, unless something from before it is still marked. Nobody stores meanwhile, so a
-- mark that is not seen here does not come either.
update raw_horizon
set moment = $1
where moment < $1
  and not exists (select from touched_minute where start < $1)
  and not exists (select from touched_quarter where start < $1)
  and not exists (select from touched_day where start < $1)
