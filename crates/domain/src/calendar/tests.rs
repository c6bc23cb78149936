use super::*;
use proptest::prelude::*;

/// Zones with every oddity that clocks have known.
const ZONES: [&str; 12] = [
    "UTC",
    "Europe/Amsterdam",
    "America/New_York",
    "America/Sao_Paulo",
    "America/Havana",
    "America/St_Johns",
    "America/Toronto",
    "Asia/Beirut",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Africa/Monrovia",
];

fn zone(name: &str) -> Timezone {
    Timezone::parse(name).unwrap()
}

fn at(text: &str) -> Timestamp {
    let instant: jiff::Timestamp = text.parse().unwrap();
    Timestamp::from_micros(instant.as_microsecond())
}

fn check_day(name: &str, moment: &str, start: &str, quarters: i64) {
    let day = zone(name).day_of(at(moment));
    let length = day.end.micros_since(day.start);
    assert_eq!(day.start, at(start), "{name} {moment}");
    assert_eq!(
        length,
        quarters * Interval::Quarter.micros(),
        "{name} {moment}"
    );
}

#[test]
fn days_have_92_96_or_100_quarters_where_clocks_change() {
    check_day("UTC", "2026-03-29T23:59:59Z", "2026-03-29T00:00:00Z", 96);
    let amsterdam = |moment, start, quarters| {
        check_day("Europe/Amsterdam", moment, start, quarters);
    };
    amsterdam("2026-03-28T23:00:00Z", "2026-03-28T23:00:00Z", 92);
    amsterdam("2026-03-29T21:59:59.999999Z", "2026-03-28T23:00:00Z", 92);
    amsterdam("2026-03-29T22:00:00Z", "2026-03-29T22:00:00Z", 96);
    amsterdam("2026-10-24T21:59:59.999999Z", "2026-10-23T22:00:00Z", 96);
    amsterdam("2026-10-24T22:00:00Z", "2026-10-24T22:00:00Z", 100);
    amsterdam("2026-10-25T22:59:59.999999Z", "2026-10-24T22:00:00Z", 100);
    let new_york = |moment, start, quarters| {
        check_day("America/New_York", moment, start, quarters);
    };
    new_york("2026-03-08T12:00:00Z", "2026-03-08T05:00:00Z", 92);
    new_york("2026-11-02T04:59:59Z", "2026-11-01T04:00:00Z", 100);
    new_york("2026-11-02T05:00:00Z", "2026-11-02T05:00:00Z", 96);
}

#[test]
fn a_day_without_midnight_starts_when_clocks_leap_over_it() {
    // 00:00 became 01:00.
    let sao_paulo = "America/Sao_Paulo";
    check_day(
        sao_paulo,
        "2017-10-15T12:00:00Z",
        "2017-10-15T03:00:00Z",
        92,
    );
    check_day(
        sao_paulo,
        "2017-10-15T02:59:59Z",
        "2017-10-14T03:00:00Z",
        96,
    );
    // 24:00 became 23:00, so midnight comes once, an hour later.
    check_day(
        sao_paulo,
        "2018-02-18T02:30:00Z",
        "2018-02-17T02:00:00Z",
        100,
    );
    check_day(
        "Asia/Beirut",
        "2021-03-28T12:00:00Z",
        "2021-03-27T22:00:00Z",
        92,
    );
    // 01:00 became 00:00: the first midnight counts.
    check_day(
        "America/Havana",
        "2026-11-01T05:30:00Z",
        "2026-11-01T04:00:00Z",
        100,
    );
    // 23:30 became 00:30.
    check_day(
        "America/Toronto",
        "1919-03-31T12:00:00Z",
        "1919-03-31T04:30:00Z",
        94,
    );
    // A whole date was left out.
    check_day(
        "Pacific/Apia",
        "2011-12-30T09:59:59Z",
        "2011-12-29T10:00:00Z",
        96,
    );
    check_day(
        "Pacific/Apia",
        "2011-12-30T10:00:00Z",
        "2011-12-30T10:00:00Z",
        96,
    );
}

#[test]
fn offsets_and_changes_need_not_be_whole_hours() {
    check_day(
        "Asia/Kathmandu",
        "2026-06-01T18:14:59Z",
        "2026-05-31T18:15:00Z",
        96,
    );
    let lord_howe = "Australia/Lord_Howe";
    check_day(
        lord_howe,
        "2026-04-05T00:00:00Z",
        "2026-04-04T13:00:00Z",
        98,
    );
    check_day(
        lord_howe,
        "2026-10-04T00:00:00Z",
        "2026-10-03T13:30:00Z",
        94,
    );
}

#[test]
fn days_are_counted_back_over_a_change_of_clocks() {
    let amsterdam = zone("Europe/Amsterdam");
    let noon = at("2026-03-30T10:00:00Z");
    let check = |days, start, end| {
        assert_eq!(amsterdam.day_before(noon, days), at(start)..at(end));
    };
    check(0, "2026-03-29T22:00:00Z", "2026-03-30T22:00:00Z");
    check(1, "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z");
    check(2, "2026-03-27T23:00:00Z", "2026-03-28T23:00:00Z");
}

#[test]
fn an_interval_starts_at_the_moment_rounded_down() {
    let check = |interval: MinInterval, start: &str, end: &str| {
        // 11:49:33 in Amsterdam.
        let found = interval.containing(at("2026-11-21T10:49:33.5Z"), &zone("Europe/Amsterdam"));
        assert_eq!(found, at(start)..at(end), "{interval:?}");
        assert_eq!(MinInterval::parse(interval.as_str()), Some(interval));
    };
    check(
        MinInterval::Minute,
        "2026-11-21T10:49:00Z",
        "2026-11-21T10:50:00Z",
    );
    check(
        MinInterval::Quarter,
        "2026-11-21T10:45:00Z",
        "2026-11-21T11:00:00Z",
    );
    check(
        MinInterval::Day,
        "2026-11-20T23:00:00Z",
        "2026-11-21T23:00:00Z",
    );
    assert_eq!(MinInterval::parse("hour"), None);
}

#[test]
fn only_names_of_the_timezone_database_are_timezones() {
    for name in ["", "Mars/Base", "+01:00", "Europe"] {
        assert_eq!(Timezone::parse(name), None, "{name}");
    }
}

#[test]
fn days_beyond_all_calendars_are_those_of_utc() {
    for micros in [i64::MIN, i64::MIN / 2, i64::MAX / 2, i64::MAX] {
        let moment = Timestamp::from_micros(micros);
        let day = zone("Europe/Amsterdam").day_of(moment);
        assert!(day.start <= moment && moment <= day.end, "{micros}");
    }
}

/// From 1900 to 2100.
fn moment() -> impl Strategy<Value = Timestamp> {
    (-2_208_988_800_000_000_i64..4_102_444_800_000_000).prop_map(Timestamp::from_micros)
}

/// At and around the changes of clocks, where there are any.
fn changes(name: &str) -> Vec<Timestamp> {
    let tz = TimeZone::get(name).unwrap();
    let first: jiff::Timestamp = "1900-01-01T00:00:00Z".parse().unwrap();
    let changes = tz.following(first).take(400);
    let around = changes.flat_map(|change| {
        let micros = change.timestamp().as_microsecond();
        [-86_400_000_000, -3_600_000_000, -1, 0, 1, 3_600_000_000].map(|it| micros + it)
    });
    around.map(Timestamp::from_micros).collect()
}

fn days_tile_time_around(timezone: &Timezone, moment: Timestamp) {
    let day = timezone.day_of(moment);
    assert!(day.contains(&moment), "{timezone:?} {moment:?}");
    assert_eq!(timezone.day_of(day.start), day, "{timezone:?} {moment:?}");
    let last = Timestamp::from_micros(day.end.micros() - 1);
    assert_eq!(timezone.day_of(last), day, "{timezone:?} {moment:?}");
    assert_eq!(timezone.day_of(day.end).start, day.end, "{moment:?}");
    assert_eq!(timezone.day_before(moment, 1).end, day.start, "{moment:?}");
}

#[test]
fn days_tile_time_at_every_change_of_clocks() {
    for name in ZONES {
        for moment in changes(name) {
            days_tile_time_around(&zone(name), moment);
        }
    }
}

proptest! {
    #[test]
    fn days_tile_time(moment in moment(), name in prop::sample::select(&ZONES[..])) {
        days_tile_time_around(&zone(name), moment);
    }

    #[test]
    fn rounding_down_twice_is_rounding_down_once(
        moment in moment(),
        name in prop::sample::select(&ZONES[..]),
    ) {
        for interval in MinInterval::ALL {
            let found = interval.containing(moment, &zone(name));
            prop_assert!(found.contains(&moment));
            prop_assert_eq!(interval.containing(found.start, &zone(name)), found);
        }
    }

    #[test]
    fn a_date_starts_its_day_with_the_first_instant_that_has_it(
        moment in moment(),
        name in prop::sample::select(&ZONES[..]),
    ) {
        let day = zone(name).day_of(moment);
        let tz = TimeZone::get(name).unwrap();
        let date = |it: i64| tz.to_datetime(jiff::Timestamp::from_microsecond(it).unwrap()).date();
        prop_assert!(date(day.start.micros() - 1) < date(day.start.micros()));
    }
}
