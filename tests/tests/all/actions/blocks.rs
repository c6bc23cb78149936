//! FCR blocks in Amsterdam time, also in the nights in which clocks change.

use super::{Fixture, HOUR, breaks, planning};

const START: &str = "/fcr_planning/start_timestamp";
const STOP: &str = "/fcr_planning/stop_timestamp";

/// 2024-03-30T23:00:00Z: midnight in Amsterdam; clocks go forward at two.
const SPRING: i64 = 1_711_839_600;
/// 2024-10-26T22:00:00Z: midnight in Amsterdam; clocks go back at three.
const AUTUMN: i64 = 1_729_980_000;
const DAY: i64 = 24 * HOUR;

#[tokio::test(flavor = "multi_thread")]
async fn the_first_block_has_three_hours_in_spring_and_five_in_autumn() {
    for (midnight, first) in [(SPRING, 3), (AUTUMN, 5)] {
        let fixture = Fixture::at(midnight - 30 * HOUR).await;
        let check = async |start: i64, hours: i64| {
            for wrong in (1..=8).filter(|it| *it != hours) {
                let answer = fixture
                    .act(&planning(start, start + wrong * HOUR, true))
                    .await;
                breaks(&answer, &[(STOP, "not_the_block_end")]);
            }
            for enabled in [true, false] {
                fixture
                    .acted(&planning(start, start + hours * HOUR, enabled))
                    .await;
            }
        };
        check(midnight, first).await;
        for before in 1..=6 {
            check(midnight - before * 4 * HOUR, 4).await;
        }
        for block in 0..6 {
            check(midnight + (first + block * 4) * HOUR, 4).await;
        }
        // No other hour of the night is a boundary.
        for hour in (1..=7).filter(|it| *it != first) {
            let start = midnight + hour * HOUR;
            if hour < first || (hour - first) % 4 != 0 {
                let answer = fixture.act(&planning(start, start + 1, true)).await;
                breaks(
                    &answer,
                    &[(START, "not_a_block_start"), (STOP, "not_the_block_end")],
                );
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_block_lies_ahead_and_not_beyond_400_days() {
    let fixture = Fixture::at(SPRING - HOUR).await;
    let plan = |enabled| planning(SPRING, SPRING + 3 * HOUR, enabled);
    for enabled in [true, false] {
        fixture.set_clock(SPRING - 1);
        fixture.acted(&plan(enabled)).await;
        for now in [SPRING, SPRING + 1] {
            fixture.set_clock(now);
            breaks(&fixture.act(&plan(enabled)).await, &[(START, "not_ahead")]);
        }
        fixture.set_clock(SPRING - 400 * DAY);
        fixture.acted(&plan(enabled)).await;
        fixture.set_clock(SPRING - 400 * DAY - 1);
        breaks(
            &fixture.act(&plan(enabled)).await,
            &[(START, "too_far_ahead")],
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_block_that_is_wrong_in_several_ways_is_told_all_of_them() {
    let fixture = Fixture::at(SPRING).await;
    let answer = fixture.act(&planning(SPRING - 1, SPRING, true)).await;
    breaks(
        &answer,
        &[(START, "not_ahead"), (START, "not_a_block_start")],
    );
    let answer = fixture.act(&planning(SPRING - 1, SPRING + 1, true)).await;
    let expected = [
        (START, "not_ahead"),
        (START, "not_a_block_start"),
        (STOP, "not_the_block_end"),
    ];
    breaks(&answer, &expected);
    let far = SPRING + 500 * DAY + 1;
    let answer = fixture.act(&planning(far, far, false)).await;
    let expected = [
        (START, "too_far_ahead"),
        (START, "not_a_block_start"),
        (STOP, "not_the_block_end"),
    ];
    breaks(&answer, &expected);
}
