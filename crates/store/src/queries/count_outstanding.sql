-- Expired ones have been deleted in this transaction.
select count(*) from refresh_token where username = $1 and used_at is null
