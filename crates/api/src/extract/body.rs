//! JSON bodies, read as a whole and taken apart property by property, so that all violations are
//! told at once.

use crate::error::{Problem, Violation};
use crate::extract::bytes::read_in_time;
use crate::extract::{parse_uuid, tree};
use crate::limits::{LARGEST_INTEGER, NAME_CHARACTERS};
use axum::extract::{FromRequest, Request};
use serde_json::{Map, Number, Value};
use std::collections::HashSet;
use uuid::Uuid;

const NOT_AN_INTEGER: &str = "must be an integer";

/// A body that is one JSON object; whatever content type it claims to have.
pub(crate) struct JsonObject(pub(crate) Fields);

/// The properties of an object that have not been taken yet, and what was wrong with the others.
#[derive(Debug)]
pub(crate) struct Fields {
    properties: Map<String, Value>,
    violations: Vec<Violation>,
}

impl Fields {
    pub(crate) fn new(properties: Map<String, Value>) -> Self {
        Self {
            properties,
            violations: Vec::new(),
        }
    }

    /// Takes a string that must be there.
    pub(crate) fn required_string(&mut self, name: &str) -> Option<String> {
        match self.properties.shift_remove(name) {
            Some(Value::String(text)) => return Some(text),
            Some(_) => self.violate(name, "not_a_string", "must be a string"),
            None => self.violate(name, "required", "must be there"),
        }
        None
    }

    /// Takes an integer that must be there: a number without a fraction, however it is written, within
    /// ±[`LARGEST_INTEGER`].
    pub(crate) fn required_integer(&mut self, name: &str) -> Option<i32> {
        match self.properties.shift_remove(name) {
            Some(Value::Number(number)) => match integer(&number) {
                Ok(integer) => return Some(integer),
                Err(OddNumber::Fraction) => self.violate(name, "not_an_integer", NOT_AN_INTEGER),
                Err(OddNumber::TooLarge) => {
                    let rule = format!("must be within ±{LARGEST_INTEGER}");
                    self.violate(name, "out_of_range", &rule);
                }
            },
            Some(_) => self.violate(name, "not_an_integer", NOT_AN_INTEGER),
            None => self.violate(name, "required", "must be there"),
        }
        None
    }

    /// Takes a list of uuids that must be there: at least one, at most `most`, none twice.
    pub(crate) fn required_uuids(&mut self, name: &str, most: usize) -> Option<Vec<Uuid>> {
        let items = self.required_array(name)?;
        if items.is_empty() {
            self.violate(name, "too_few", "must have at least one item");
        }
        if items.len() > most {
            self.violate(name, "too_many", &format!("must have at most {most} items"));
            // The items are looked at when there are no more than may be.
            return None;
        }
        let mut uuids = Vec::with_capacity(items.len());
        let mut seen = HashSet::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let Some(uuid) = item.as_str().and_then(parse_uuid) else {
                self.violate_item(name, index, "not_a_uuid", "is not a uuid");
                continue;
            };
            if !seen.insert(uuid) {
                self.violate_item(name, index, "repeated", "is there already");
            }
            uuids.push(uuid);
        }
        Some(uuids)
    }

    fn required_array(&mut self, name: &str) -> Option<Vec<Value>> {
        match self.properties.shift_remove(name) {
            Some(Value::Array(items)) => return Some(items),
            Some(_) => self.violate(name, "not_an_array", "must be an array"),
            None => self.violate(name, "required", "must be there"),
        }
        None
    }

    /// Remembers that a property breaks a rule; `rule` goes on where its name ends.
    pub(crate) fn violate(&mut self, name: &str, code: &'static str, rule: &str) {
        let field = pointer(name);
        self.violations.push(Violation::new(
            field,
            code,
            format!("{} {rule}", shown(name)),
        ));
    }

    /// The same of an item of an array.
    pub(crate) fn violate_item(
        &mut self,
        name: &str,
        index: usize,
        code: &'static str,
        rule: &str,
    ) {
        let field = item_pointer(name, index);
        self.violations.push(Violation::new(
            field,
            code,
            format!("{}[{index}] {rule}", shown(name)),
        ));
    }

    /// Gives `value`, what was made of the properties, unless a rule is broken; a property that
    /// nobody took is unknown.
    pub(crate) fn finish<T>(mut self, value: Option<T>) -> Result<T, Problem> {
        let unknown: Vec<String> = self.properties.keys().cloned().collect();
        for name in unknown {
            self.violate(
                &name,
                "unknown_property",
                "is not a property of this request",
            );
        }
        if !self.violations.is_empty() {
            return Err(Problem::Invalid(self.violations));
        }
        value.ok_or_else(|| Problem::Internal("a body without violation has no value".to_owned()))
    }
}

/// Why a number is no integer that a body may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OddNumber {
    Fraction,
    TooLarge,
}

/// JSON Schema's integer: `60.0` and `6e1` are the same as `60`.
fn integer(number: &Number) -> Result<i32, OddNumber> {
    let integer = match number.as_i64() {
        Some(integer) => integer,
        None => {
            let float = number.as_f64().ok_or(OddNumber::TooLarge)?;
            if float.fract() != 0.0 {
                return Err(OddNumber::Fraction);
            }
            whole(float).ok_or(OddNumber::TooLarge)?
        }
    };
    let integer = i32::try_from(integer).ok();
    integer
        .filter(|it| *it >= -LARGEST_INTEGER)
        .ok_or(OddNumber::TooLarge)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a double without a fraction and within the bound is an integer"
)]
fn whole(float: f64) -> Option<i64> {
    (float.abs() <= f64::from(LARGEST_INTEGER)).then_some(float as i64)
}

/// A property's name as words repeat it: not more of it than people read.
fn shown(name: &str) -> &str {
    let cut = name.char_indices().nth(NAME_CHARACTERS);
    let shown = cut.and_then(|(end, _)| name.get(..end));
    shown.unwrap_or(name)
}

/// The JSON pointer of an item of a top-level array.
pub(crate) fn item_pointer(name: &str, index: usize) -> String {
    format!("{}/{index}", pointer(name))
}

/// The JSON pointer of a top-level property.
fn pointer(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

impl<S: Send + Sync> FromRequest<S> for JsonObject {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let bytes = read_in_time(&parts, body).await?;
        match tree::parse(&bytes) {
            Ok(Value::Object(properties)) => Ok(Self(Fields::new(properties))),
            Ok(_) => Err(whole_body(
                "not_an_object",
                "the body must be a JSON object",
            )),
            Err(_) => Err(whole_body("not_json", "the body must be JSON")),
        }
    }
}

/// What is wrong with a body as a whole.
pub(super) fn whole_body(code: &'static str, detail: &str) -> Problem {
    Problem::Invalid(vec![Violation::new("", code, detail)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fields(value: Value) -> Fields {
        let Value::Object(properties) = value else {
            panic!("{value} is no object");
        };
        Fields::new(properties)
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
            let mut fields = fields(tree::parse(format!(r#"{{"n":{text}}}"#).as_bytes()).unwrap());
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
}
