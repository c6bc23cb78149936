select username, password_hash, disabled
from app_user
where $1 or username = $2
