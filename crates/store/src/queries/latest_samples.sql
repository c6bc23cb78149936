select series, time, power_w from latest_sample where building_uuid = $1 order by series
