-- Service sensors that the building no longer needs: the fleet file names one of the kind by now.
-- Their data belong to the building's section and stay.
delete from sensor where building_uuid = $1 and origin = 'service' and kind <> all($2)
