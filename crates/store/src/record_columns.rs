//! Records as the database takes them: rows to be copied, or one array a column, so that a batch is one statement.

use crate::binary_copy::Rows;
use crate::instant::Instant;
use crate::series::status_code;
use domain::record::{Battery, MainMeter, Solar, Status, TelemetryRecord};
use domain::time::Timestamp;
use sqlx::Postgres;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use uuid::Uuid;

/// How many columns `copy_records.sql` names.
const COLUMNS: i16 = 21;
/// A row's bytes, when it has all values.
pub(crate) const ROW_BYTES: usize = 192;

/// Appends one record as a row of `copy_records.sql`.
pub(crate) fn put_row(
    rows: &mut Rows,
    building: Uuid,
    received_at: Timestamp,
    record: &TelemetryRecord,
) {
    rows.begin_row(COLUMNS);
    rows.put(Some(building.into_bytes()));
    rows.put(Some(Instant(record.time).to_bytes()));
    rows.put(Some(Instant(received_at).to_bytes()));
    let number = |rows: &mut Rows, value: Option<i32>| rows.put(value.map(i32::to_be_bytes));
    let status = |rows: &mut Rows, value: Option<Status>| {
        rows.put(value.map(|it| status_code(it).to_be_bytes()));
    };
    let meter = record.main_meter;
    status(rows, meter.map(|it| it.status));
    number(rows, meter.and_then(|it| it.active_power_w));
    let battery = record.battery;
    status(rows, battery.map(|it| it.status));
    number(rows, battery.and_then(|it| it.active_power_w));
    number(rows, battery.and_then(|it| it.active_power_setpoint_w));
    number(rows, battery.and_then(|it| it.baseline_power_w));
    rows.put(battery.and_then(|it| it.soc_percent).map(f64::to_be_bytes));
    number(rows, battery.and_then(|it| it.charge_limit_w));
    number(rows, battery.and_then(|it| it.remaining_charge_time_s));
    number(rows, battery.and_then(|it| it.discharge_limit_w));
    number(rows, battery.and_then(|it| it.remaining_discharge_time_s));
    let solar = record.solar;
    status(rows, solar.map(|it| it.status));
    number(rows, solar.and_then(|it| it.active_power_w));
    number(rows, solar.and_then(|it| it.active_power_setpoint_w));
    number(rows, solar.and_then(|it| it.rated_power_w));
    number(rows, solar.and_then(|it| it.min_power_w));
    number(rows, solar.and_then(|it| it.max_power_w));
    number(rows, solar.and_then(|it| it.baseline_power_w));
}

/// The columns of `telemetry_record`, in the order of `insert_records.sql`.
#[derive(Debug, Default)]
pub(crate) struct RecordColumns {
    building_uuid: Vec<Uuid>,
    time: Vec<Instant>,
    received_at: Vec<Instant>,
    main_meter_status: Vec<Option<i16>>,
    main_meter_active_power_w: Vec<Option<i32>>,
    battery_status: Vec<Option<i16>>,
    battery_active_power_w: Vec<Option<i32>>,
    battery_active_power_setpoint_w: Vec<Option<i32>>,
    battery_baseline_power_w: Vec<Option<i32>>,
    battery_soc_percent: Vec<Option<f64>>,
    battery_charge_limit_w: Vec<Option<i32>>,
    battery_remaining_charge_time_s: Vec<Option<i32>>,
    battery_discharge_limit_w: Vec<Option<i32>>,
    battery_remaining_discharge_time_s: Vec<Option<i32>>,
    solar_status: Vec<Option<i16>>,
    solar_active_power_w: Vec<Option<i32>>,
    solar_active_power_setpoint_w: Vec<Option<i32>>,
    solar_rated_power_w: Vec<Option<i32>>,
    solar_min_power_w: Vec<Option<i32>>,
    solar_max_power_w: Vec<Option<i32>>,
    solar_baseline_power_w: Vec<Option<i32>>,
}

impl RecordColumns {
    /// Appends one record.
    pub(crate) fn push(
        &mut self,
        building: Uuid,
        received_at: Timestamp,
        record: &TelemetryRecord,
    ) {
        self.building_uuid.push(building);
        self.time.push(Instant(record.time));
        self.received_at.push(Instant(received_at));
        self.push_main_meter(record.main_meter);
        self.push_battery(record.battery);
        self.push_solar(record.solar);
    }

    fn push_main_meter(&mut self, section: Option<MainMeter>) {
        self.main_meter_status
            .push(section.map(|it| status_code(it.status)));
        self.main_meter_active_power_w
            .push(section.and_then(|it| it.active_power_w));
    }

    fn push_battery(&mut self, section: Option<Battery>) {
        self.battery_status
            .push(section.map(|it| status_code(it.status)));
        self.battery_active_power_w
            .push(section.and_then(|it| it.active_power_w));
        self.battery_active_power_setpoint_w
            .push(section.and_then(|it| it.active_power_setpoint_w));
        self.battery_baseline_power_w
            .push(section.and_then(|it| it.baseline_power_w));
        self.battery_soc_percent
            .push(section.and_then(|it| it.soc_percent));
        self.battery_charge_limit_w
            .push(section.and_then(|it| it.charge_limit_w));
        self.battery_remaining_charge_time_s
            .push(section.and_then(|it| it.remaining_charge_time_s));
        self.battery_discharge_limit_w
            .push(section.and_then(|it| it.discharge_limit_w));
        self.battery_remaining_discharge_time_s
            .push(section.and_then(|it| it.remaining_discharge_time_s));
    }

    fn push_solar(&mut self, section: Option<Solar>) {
        self.solar_status
            .push(section.map(|it| status_code(it.status)));
        self.solar_active_power_w
            .push(section.and_then(|it| it.active_power_w));
        self.solar_active_power_setpoint_w
            .push(section.and_then(|it| it.active_power_setpoint_w));
        self.solar_rated_power_w
            .push(section.and_then(|it| it.rated_power_w));
        self.solar_min_power_w
            .push(section.and_then(|it| it.min_power_w));
        self.solar_max_power_w
            .push(section.and_then(|it| it.max_power_w));
        self.solar_baseline_power_w
            .push(section.and_then(|it| it.baseline_power_w));
    }

    /// A statement with all columns bound as `$1` to `$21`.
    pub(crate) fn bind(&self, statement: &'static str) -> Query<'_, Postgres, PgArguments> {
        sqlx::query(statement)
            .bind(&self.building_uuid)
            .bind(&self.time)
            .bind(&self.received_at)
            .bind(&self.main_meter_status)
            .bind(&self.main_meter_active_power_w)
            .bind(&self.battery_status)
            .bind(&self.battery_active_power_w)
            .bind(&self.battery_active_power_setpoint_w)
            .bind(&self.battery_baseline_power_w)
            .bind(&self.battery_soc_percent)
            .bind(&self.battery_charge_limit_w)
            .bind(&self.battery_remaining_charge_time_s)
            .bind(&self.battery_discharge_limit_w)
            .bind(&self.battery_remaining_discharge_time_s)
            .bind(&self.solar_status)
            .bind(&self.solar_active_power_w)
            .bind(&self.solar_active_power_setpoint_w)
            .bind(&self.solar_rated_power_w)
            .bind(&self.solar_min_power_w)
            .bind(&self.solar_max_power_w)
            .bind(&self.solar_baseline_power_w)
    }
}
