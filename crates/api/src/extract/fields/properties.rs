//! What a property can be. What is taken is `None` where it is not there or breaks a rule, which is
//! then told.

use super::Fields;
use super::number::{OddNumber, double, integer};
use crate::extract::parse_uuid;
use crate::limits::{LARGEST_INTEGER, LARGEST_NUMBER};
use serde_json::{Number, Value};
use std::collections::HashSet;
use std::ops::RangeInclusive;
use uuid::Uuid;

impl Fields {
    /// Takes a string that must be there.
    pub(crate) fn required_string(&mut self, name: &str) -> Option<String> {
        match self.take(name)? {
            Value::String(text) => Some(text),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => {
                self.violate(name, "not_a_string", "must be a string");
                None
            }
        }
    }

    /// Takes a uuid that must be there.
    pub(crate) fn required_uuid(&mut self, name: &str) -> Option<Uuid> {
        let value = self.take(name)?;
        let uuid = value.as_str().and_then(parse_uuid);
        if uuid.is_none() {
            self.violate(name, "not_a_uuid", "must be a uuid");
        }
        uuid
    }

    /// Takes an integer that must be there: a number without a fraction, however it is written, within
    /// ±[`LARGEST_INTEGER`].
    pub(crate) fn required_integer(&mut self, name: &str) -> Option<i32> {
        let value = self.take(name)?;
        let rule = format!("must be within ±{LARGEST_INTEGER}");
        self.number_of(
            name,
            &value,
            integer,
            ("not_an_integer", "an integer"),
            &rule,
        )
    }

    /// The same within bounds of its own.
    pub(crate) fn required_integer_within(
        &mut self,
        name: &str,
        bounds: &RangeInclusive<i32>,
    ) -> Option<i32> {
        let value = self.required_integer(name);
        self.within(name, value, bounds)
    }

    /// Takes an integer that may be left out.
    pub(crate) fn integer_within(
        &mut self,
        name: &str,
        bounds: &RangeInclusive<i32>,
    ) -> Option<i32> {
        if self.has(name) {
            self.required_integer_within(name, bounds)
        } else {
            None
        }
    }

    /// Takes a number that must be there.
    pub(crate) fn required_number(&mut self, name: &str) -> Option<f64> {
        let value = self.take(name)?;
        let rule = format!("must be within ±{LARGEST_NUMBER:e}");
        self.number_of(name, &value, double, ("not_a_number", "a number"), &rule)
    }

    /// Takes a number that may be left out.
    pub(crate) fn number_within(
        &mut self,
        name: &str,
        bounds: &RangeInclusive<f64>,
    ) -> Option<f64> {
        if !self.has(name) {
            return None;
        }
        let value = self.required_number(name);
        self.within(name, value, bounds)
    }

    fn number_of<T>(
        &mut self,
        name: &str,
        value: &Value,
        read: fn(&Number) -> Result<T, OddNumber>,
        (code, kind): (&'static str, &str),
        range: &str,
    ) -> Option<T> {
        match value.as_number().map(read) {
            Some(Ok(number)) => return Some(number),
            Some(Err(OddNumber::TooLarge)) => self.violate(name, "out_of_range", range),
            Some(Err(OddNumber::Fraction)) | None => {
                self.violate(name, code, &format!("must be {kind}"));
            }
        }
        None
    }

    /// Takes a boolean that must be there.
    pub(crate) fn required_boolean(&mut self, name: &str) -> Option<bool> {
        let value = self.take(name)?;
        if !value.is_boolean() {
            self.violate(name, "not_a_boolean", "must be true or false");
        }
        value.as_bool()
    }

    /// Takes a property if it is null, and tells whether it was; any other one stays.
    pub(crate) fn take_null(&mut self, name: &str) -> bool {
        let is_null = self.properties.get(name).is_some_and(Value::is_null);
        if is_null {
            self.properties.shift_remove(name);
        }
        is_null
    }

    /// Takes an object that may be left out; whoever is done with it gives it to [`Fields::close`].
    pub(crate) fn object(&mut self, name: &str) -> Option<Self> {
        match self.properties.shift_remove(name)? {
            Value::Object(properties) => Some(Self::at(self.pointer(name), properties)),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => {
                self.violate(name, "not_an_object", "must be an object");
                None
            }
        }
    }

    /// Takes a list of objects that may be left out, as many as `lengths` allows; each goes to
    /// [`Fields::close`]. `None` stands in the place of an item that is no object, which is then told.
    pub(crate) fn objects(
        &mut self,
        name: &str,
        lengths: &RangeInclusive<usize>,
    ) -> Option<Vec<Option<Self>>> {
        if !self.has(name) {
            return None;
        }
        let items = self.required_array(name, lengths)?;
        let place = self.pointer(name);
        let mut objects = Vec::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            if let Value::Object(properties) = item {
                objects.push(Some(Self::at(format!("{place}/{index}"), properties)));
            } else {
                objects.push(None);
                self.violate_item(name, index, "not_an_object", "must be an object");
            }
        }
        Some(objects)
    }

    /// Takes a list of uuids that must be there: at least one, at most `most`, none twice.
    pub(crate) fn required_uuids(&mut self, name: &str, most: usize) -> Option<Vec<Uuid>> {
        let items = self.required_array(name, &(1..=most))?;
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

    /// Its items are looked at when there are no more than may be.
    fn required_array(
        &mut self,
        name: &str,
        lengths: &RangeInclusive<usize>,
    ) -> Option<Vec<Value>> {
        let Value::Array(items) = self.take(name)? else {
            self.violate(name, "not_an_array", "must be an array");
            return None;
        };
        if items.len() < *lengths.start() {
            self.violate(name, "too_few", "must have at least one item");
        }
        if items.len() > *lengths.end() {
            let rule = format!("must have at most {} items", lengths.end());
            self.violate(name, "too_many", &rule);
            return None;
        }
        Some(items)
    }

    /// Takes a property that must be there.
    fn take(&mut self, name: &str) -> Option<Value> {
        self.require(name);
        self.properties.shift_remove(name)
    }
}
