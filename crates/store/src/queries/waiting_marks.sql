-- How many minutes, quarters and days have ended (before $1, $2, $3) and are still marked. Each count stops
-- at 100,000, so that it costs little also when folding is far behind.
select
    (select count(*) from (select from touched_minute where start < $1 limit 100000) minutes)
    + (select count(*) from (select from touched_quarter where start < $2 limit 100000) quarters)
    + (select count(*) from (select from touched_day where start < $3 limit 100000) days) as marks
