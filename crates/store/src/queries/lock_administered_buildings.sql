-- Of no key update: batches may go on, only sensors that the service adds wait.
select from building
where $1 or uuid = $2
order by uuid
for no key update
