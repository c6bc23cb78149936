//! Every rule that a property can break by itself.

use super::*;
use serde_json::json;
use wire::json::parse_to_keep;

fn fields(value: Value) -> Fields {
    let Value::Object(properties) = value else {
        panic!("{value} is no object");
    };
    Fields::new(properties)
}

/// As a body is read.
fn read(text: &str) -> Value {
    let (tree, _) = parse_to_keep(text.into()).unwrap();
    tree
}

fn violations<T: std::fmt::Debug>(finished: Result<T, Problem>) -> Vec<Violation> {
    match finished {
        Ok(_) => Vec::new(),
        Err(problem) => {
            let Problem::Invalid(violations) = problem else {
                panic!("{problem:?}");
            };
            violations
        }
    }
}

#[test]
fn all_violations_are_told_at_once_and_unknown_properties_are_named() {
    let mut fields = fields(json!({"username": 5, "user/na~me": 1, "x": null}));
    let username = fields.required_string("username");
    let password = fields.required_string("password");
    let Err(Problem::Invalid(violations)) = fields.finish(username.zip(password)) else {
        panic!("accepted");
    };
    let told: Vec<_> = violations
        .iter()
        .map(|it| (it.field.as_str(), it.code))
        .collect();
    let expected = [
        ("/username", "not_a_string"),
        ("/password", "required"),
        ("/user~1na~0me", "unknown_property"),
        ("/x", "unknown_property"),
    ];
    assert_eq!(told, expected);
}

#[test]
fn words_repeat_a_hundred_characters_of_a_name_and_its_pointer_all() {
    let name = "é".repeat(101);
    let told = violations(fields(json!({&name: 1})).finish(Some(())));
    assert_eq!(told[0].field, format!("/{name}"));
    let words = format!("{} is not a property of this request", "é".repeat(100));
    assert_eq!(told[0].detail, words);
}

#[test]
fn an_integer_is_a_number_without_a_fraction_however_it_is_written() {
    let check = |text: &str, expected: Result<i32, &str>| {
        let mut fields = fields(read(&format!(r#"{{"n":{text}}}"#)));
        let n = fields.required_integer("n");
        let finished = fields.finish(n);
        let found = match &finished {
            Ok(integer) => Ok(*integer),
            Err(_) => Err(violations(finished)[0].code),
        };
        assert_eq!(found, expected, "{text}");
    };
    for same in ["60", "60.0", "6e1", "600e-1", "60.00000000000000000001"] {
        check(same, Ok(60));
    }
    check("-0", Ok(0));
    check("-0.0", Ok(0));
    check("1.7e9", Ok(1_700_000_000));
    check("2147483647", Ok(2_147_483_647));
    check("-2147483647.0", Ok(-2_147_483_647));
    for large in [
        "2147483648",
        "-2147483648",
        "2147483648.0",
        "18446744073709551615",
        "1e300",
        "1e400",
        "-1e400",
        &"9".repeat(400),
    ] {
        check(large, Err("out_of_range"));
    }
    for other in ["60.5", "1e-3", "\"60\"", "null", "true", "[60]", "{}"] {
        check(other, Err("not_an_integer"));
    }
}

#[test]
fn every_item_of_a_list_of_uuids_is_looked_at() {
    let a = "aaaaaaaa-0000-4000-8000-000000000000";
    let check = |value: Value, expected: &[(&str, &str)]| {
        let mut fields = fields(json!({"uuids": value}));
        let uuids = fields.required_uuids("uuids", 3);
        let told = violations(fields.finish(uuids));
        let told: Vec<_> = told.iter().map(|it| (it.field.as_str(), it.code)).collect();
        assert_eq!(told, expected, "{value}");
    };
    check(json!([a]), &[]);
    check(json!([]), &[("/uuids", "too_few")]);
    check(json!(a), &[("/uuids", "not_an_array")]);
    check(
        json!([a, 1, a.to_uppercase()]),
        &[("/uuids/1", "not_a_uuid"), ("/uuids/2", "repeated")],
    );
    check(json!([a.replace('-', "")]), &[("/uuids/0", "not_a_uuid")]);
    check(json!([a, 1, a, a]), &[("/uuids", "too_many")]);
}

/// What is told of a body that `take` takes apart.
fn told(body: &str, take: impl FnOnce(&mut Fields)) -> Vec<(String, &'static str)> {
    let mut fields = fields(read(body));
    take(&mut fields);
    let violations = violations(fields.finish(Some(())));
    violations
        .into_iter()
        .map(|it| (it.field, it.code))
        .collect()
}

#[test]
fn a_number_is_finite_and_within_its_bounds() {
    let check = |text: &str, expected: Result<f64, &str>| {
        let mut number = None;
        let told = told(&format!(r#"{{"n":{text}}}"#), |fields| {
            number = fields.number_within("n", &(0.0..=100.0));
        });
        let found = number.ok_or_else(|| told[0].1);
        assert_eq!(
            (found, told.len()),
            (expected, usize::from(expected.is_err())),
            "{text}"
        );
    };
    check("0", Ok(0.0));
    check("-0.0", Ok(0.0));
    check("100", Ok(100.0));
    check("99.5", Ok(99.5));
    check("1e-400", Ok(0.0));
    check("100.00000000000002", Err("above_maximum"));
    check("-1e-300", Err("below_minimum"));
    check("9e307", Err("above_maximum"));
    for large in ["1e400", "-1e400", "1e308", &"9".repeat(400)] {
        check(large, Err("out_of_range"));
    }
    for other in ["\"60\"", "null", "true", "[60]", "{}"] {
        check(other, Err("not_a_number"));
    }
}

#[test]
fn a_property_that_may_be_left_out_is_told_only_where_it_is_there() {
    let take = |fields: &mut Fields| {
        fields.integer_within("integer", &(1..=5));
        fields.number_within("number", &(1.0..=5.0));
        fields.object("object");
        fields.objects("objects", &(1..=2));
    };
    assert_eq!(told("{}", take), []);
    let body = r#"{"integer": null, "number": null, "object": null, "objects": null}"#;
    let codes: Vec<_> = told(body, take).into_iter().map(|it| it.1).collect();
    let expected = [
        "not_an_integer",
        "not_a_number",
        "not_an_object",
        "not_an_array",
    ];
    assert_eq!(codes, expected);
}

#[test]
fn what_is_wrong_with_a_part_is_told_at_its_own_place() {
    let take = |fields: &mut Fields| {
        let mut outer = fields.object("a/b").unwrap();
        let items = outer.objects("items", &(1..=3)).unwrap();
        assert!(items[1].is_none());
        for mut item in items.into_iter().flatten() {
            item.required_boolean("on");
            item.required_uuid("uuid");
            outer.close(item);
        }
        outer.require_one_of(&["this", "that"]);
        fields.close(outer);
    };
    let body = r#"{"a/b": {"items": [{"on": 1, "x~": 2}, 5, {"on": true, "uuid": "x"}], "y": 3}}"#;
    let expected = [
        ("/a~1b/items/1", "not_an_object"),
        ("/a~1b/items/0/on", "not_a_boolean"),
        ("/a~1b/items/0/uuid", "required"),
        ("/a~1b/items/0/x~0", "unknown_property"),
        ("/a~1b/items/2/uuid", "not_a_uuid"),
        ("/a~1b/this", "required"),
        ("/a~1b/that", "required"),
        ("/a~1b/y", "unknown_property"),
    ];
    let expected = expected.map(|(field, code)| (field.to_owned(), code));
    assert_eq!(told(body, take), expected);
}

#[test]
fn only_null_is_taken_as_null() {
    let check = |text: &str, taken: bool| {
        let body = format!(r#"{{"n":{text}}}"#);
        let told = told(&body, |fields| assert_eq!(fields.take_null("n"), taken));
        assert_eq!(told.is_empty(), taken, "{text}");
    };
    check("null", true);
    check("0", false);
    check("\"null\"", false);
}
