//! Bytes to a JSON tree, by the rules that the schemas leave to JSON itself.
//!
//! Duplicate keys take the last value; numbers are read as the nearest double, integers of 64 bits
//! exactly; a byte order mark, a lone surrogate, invalid UTF-8 and 128 levels or more are errors.

pub(crate) mod overflow;

use overflow::{HUGE, neutralized};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// Reads one JSON document.
///
/// `serde_json` reads its own `Value` with a private key that stands for embedded JSON when some
/// crate of the build asks for raw values; payloads must not reach that, so this reads by itself.
///
/// # Errors
/// Where the bytes are not one UTF-8 JSON document, or a number is beyond every double.
pub fn parse(payload: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice::<Tree>(payload).map(|tree| tree.0)
}

/// The same, where a number that is beyond every double stands for one that is out of every range, ±1e308, so
/// that what else is wrong can be told with it. Answers also the document with those numbers in it, which whoever
/// reads it again can read.
///
/// # Errors
/// Where the bytes are not one UTF-8 JSON document.
pub fn parse_to_keep(document: Vec<u8>) -> Result<(Value, Vec<u8>), serde_json::Error> {
    let error = match parse(&document) {
        Ok(tree) => return Ok((tree, document)),
        Err(error) => error,
    };
    // JSON's reader may have stopped at a number only.
    let document = neutralized(&document, HUGE).ok_or(error)?;
    Ok((parse(&document)?, document))
}

/// A JSON value read as what it says, whatever its keys are called.
struct Tree(Value);

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor).map(Self)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("number out of range"))?;
        Ok(Value::Number(number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(Tree(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((key, Tree(value))) = entries.next_entry()? {
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_tree_is_what_serde_json_reads() {
        for text in [
            r#"{"a":[1,-2,3.5,1e3,-0,null,true,false,"x\u00e9\n"],"b":{},"a":[]}"#,
            r#"{"a":[1,-2,3.5,1e3,-0,null,true,false,"x\u00e9\n"],"b":{"c":[[]]}}"#,
            "18446744073709551616",
            "\"\\ud83d\\ude00\"",
        ] {
            let theirs: Value = serde_json::from_str(text).unwrap();
            assert_eq!(parse(text.as_bytes()).unwrap(), theirs, "{text}");
        }
    }

    #[test]
    fn no_key_stands_for_embedded_json() {
        for key in ["RawValue", "Number"] {
            let text = format!(r#"{{"$serde_json::private::{key}":"1"}}"#);
            let tree = parse(text.as_bytes()).unwrap();
            assert_eq!(tree.to_string(), text);
        }
    }

    #[test]
    fn a_hundred_and_twenty_seven_levels_are_the_deepest() {
        let nested = |levels| "[".repeat(levels) + &"]".repeat(levels);
        assert!(parse(nested(127).as_bytes()).is_ok());
        assert!(parse(nested(128).as_bytes()).is_err());
    }

    #[test]
    fn a_number_that_overflows_is_kept_as_one_that_is_out_of_every_range() {
        let text = format!(r#"{{"a":-1e400,"b":[{}],"c":"1e400"}}"#, "9".repeat(400));
        assert!(parse(text.as_bytes()).is_err());
        let expected = json!({"a": -1e308, "b": [1e308], "c": "1e400"});
        let (tree, kept) = parse_to_keep(text.into_bytes()).unwrap();
        assert_eq!(tree, expected);
        assert_eq!(parse(&kept).unwrap(), expected);
        let (_, kept) = parse_to_keep(b" [1.50]".to_vec()).unwrap();
        assert_eq!(
            kept, b" [1.50]",
            "what need not be changed stays as it came"
        );
        for broken in ["{\"a\":1e400", "1e400.5", "01e400", "[1e400,]"] {
            assert!(parse_to_keep(broken.into()).is_err(), "{broken}");
        }
    }
}
