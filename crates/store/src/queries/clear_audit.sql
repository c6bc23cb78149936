delete from audit_entry
where number in (select number from audit_entry where at < $1 limit $2 for update skip locked)
