select uuid, name, timezone, consumption_compensated_curtailment, disabled
from building
where $1 or uuid = $2
