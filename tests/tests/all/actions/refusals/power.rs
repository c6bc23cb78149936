//! Rules of powers: of inverters, batteries and the grid connection.

use super::{
    BATTERY_TIMEOUT, CANCEL, CHARGE, DELIVERY, DISCHARGE, DURATION, Fixture, NOW, P, RETURN, T, TP,
    TW, Told, W, body, breaks, check_all,
};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn rules_of_inverters() {
    let fixture = Fixture::at(NOW).await;
    let cases: &[(Value, Told)] = &[
        (body([(P, json!(100.001))]), &[(P, "above_maximum")]),
        (body([(P, json!(-0.001))]), &[(P, "below_minimum")]),
        (body([(P, json!(1e308))]), &[(P, "out_of_range")]),
        (body([(P, Value::Null)]), &[(P, "not_a_number")]),
        (body([(P, json!("50"))]), &[(P, "not_a_number")]),
        (body([(P, json!(true))]), &[(P, "not_a_number")]),
        (body([(W, json!(-1))]), &[(W, "below_minimum")]),
        (
            body([(W, json!(2_147_483_648_i64))]),
            &[(W, "out_of_range")],
        ),
        (body([(W, json!(0.5))]), &[(W, "not_an_integer")]),
        (body([(W, Value::Null)]), &[(W, "not_an_integer")]),
        (
            body([(P, json!(50)), (T, json!(59))]),
            &[(T, "below_minimum")],
        ),
        (
            body([(P, json!(50)), (T, json!(-60))]),
            &[(T, "below_minimum")],
        ),
        (
            body([(P, json!(50)), (T, json!(60.5))]),
            &[(T, "not_an_integer")],
        ),
        (
            body([(W, json!(50)), (T, json!("60"))]),
            &[(T, "not_an_integer")],
        ),
        (
            body([(W, json!(50)), (T, json!(2_147_483_648_i64))]),
            &[(T, "out_of_range")],
        ),
        (body([(T, json!(60))]), &[(P, "required"), (W, "required")]),
        (
            body([(T, Value::Null)]),
            &[(P, "required"), (W, "required")],
        ),
        (body([(TP, json!(5))]), &[(P, "required"), (T, "required")]),
        (body([(TW, json!(5))]), &[(W, "required"), (T, "required")]),
        (body([(T, json!(60)), (TP, json!(5))]), &[(P, "required")]),
        (body([(T, json!(60)), (TW, json!(5))]), &[(W, "required")]),
        (body([(P, json!(50)), (TP, json!(5))]), &[(T, "required")]),
        (body([(W, json!(50)), (TW, json!(5))]), &[(T, "required")]),
        (
            body([(P, json!(50)), (T, Value::Null), (TP, json!(5))]),
            &[(T, "required")],
        ),
        (
            body([(P, json!(50)), (T, json!(60)), (TP, json!(101))]),
            &[(TP, "above_maximum")],
        ),
        (
            body([(P, json!(50)), (T, json!(60)), (TP, Value::Null)]),
            &[(TP, "not_a_number")],
        ),
        (
            body([(W, json!(50)), (T, json!(60)), (TW, json!(-5))]),
            &[(TW, "below_minimum")],
        ),
        (
            body([
                (P, json!(-1)),
                (T, json!(0)),
                (TP, json!("x")),
                ("/x", json!(1)),
            ]),
            &[
                (P, "below_minimum"),
                (T, "below_minimum"),
                (TP, "not_a_number"),
                ("/x", "unknown_property"),
            ],
        ),
    ];
    check_all(&fixture, cases).await;
    // The sticky timeout does for values, not for fallbacks.
    fixture.acted(&body([(P, json!(50)), (T, json!(60))])).await;
    let answer = fixture.act(&body([(P, json!(50)), (TP, json!(5))])).await;
    breaks(&answer, &[(T, "required")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_of_batteries_and_the_grid_target() {
    let fixture = Fixture::at(NOW).await;
    let directed = [
        (CHARGE, DISCHARGE, BATTERY_TIMEOUT, 60),
        (DELIVERY, RETURN, DURATION, 1),
    ];
    for (one, other, time, least) in directed {
        let good = || (time, json!(least));
        let cases: &[(Value, Told)] = &[
            (body([(one, json!(1))]), &[(time, "required")]),
            (body([(other, json!(1))]), &[(time, "required")]),
            (body([good()]), &[(one, "required"), (other, "required")]),
            (
                body([(one, json!(1)), (other, json!(1)), good()]),
                &[(other, "not_together")],
            ),
            (
                body([(one, json!(0)), (other, json!(0)), good()]),
                &[(other, "not_together")],
            ),
            (
                body([(one, json!(1)), (time, json!(least - 1))]),
                &[(time, "below_minimum")],
            ),
            (
                body([(one, json!(1)), (time, Value::Null)]),
                &[(time, "not_an_integer")],
            ),
            (body([(one, json!(-1)), good()]), &[(one, "below_minimum")]),
            (
                body([(other, json!(-1)), good()]),
                &[(other, "below_minimum")],
            ),
            (
                body([(one, Value::Null), good()]),
                &[(one, "not_an_integer")],
            ),
            (
                body([(other, json!(1.5)), good()]),
                &[(other, "not_an_integer")],
            ),
            (
                body([(other, json!(1e10)), good()]),
                &[(other, "out_of_range")],
            ),
            (
                body([(one, json!(-1)), (other, json!("x")), (time, json!(-1))]),
                &[
                    (one, "below_minimum"),
                    (other, "not_an_integer"),
                    (other, "not_together"),
                    (time, "below_minimum"),
                ],
            ),
        ];
        check_all(&fixture, cases).await;
    }
    let cases: &[(Value, Told)] = &[
        (body([(CANCEL, json!(false))]), &[(CANCEL, "not_true")]),
        (body([(CANCEL, json!(1))]), &[(CANCEL, "not_a_boolean")]),
        (body([(CANCEL, Value::Null)]), &[(CANCEL, "not_a_boolean")]),
        (
            body([
                (CANCEL, json!(true)),
                (DELIVERY, json!(5)),
                (DURATION, json!(60)),
            ]),
            &[(CANCEL, "not_alone")],
        ),
        (
            body([(CANCEL, json!(true)), (DURATION, json!(60))]),
            &[(CANCEL, "not_alone")],
        ),
        (
            body([(CANCEL, json!(false)), (RETURN, json!(5))]),
            &[
                (CANCEL, "not_true"),
                (CANCEL, "not_alone"),
                (DURATION, "required"),
            ],
        ),
    ];
    check_all(&fixture, cases).await;
}
