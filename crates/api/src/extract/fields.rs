//! JSON objects, taken apart property by property, so that all violations are told at once.

mod number;
mod properties;

use crate::error::{Problem, Violation};
use crate::limits::NAME_CHARACTERS;
use serde_json::{Map, Value};
use std::fmt::Display;
use std::ops::RangeInclusive;

/// The properties of an object that have not been taken yet, and what was wrong with the others.
#[derive(Debug)]
pub(crate) struct Fields {
    /// JSON pointer of the object; empty for the body itself.
    place: String,
    properties: Map<String, Value>,
    violations: Vec<Violation>,
}

impl Fields {
    /// The properties of a body.
    pub(crate) fn new(properties: Map<String, Value>) -> Self {
        Self::at(String::new(), properties)
    }

    fn at(place: String, properties: Map<String, Value>) -> Self {
        Self {
            place,
            properties,
            violations: Vec::new(),
        }
    }

    /// Whether a property is there and has not been taken yet.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.properties.contains_key(name)
    }

    /// Whether a property is there; tells where it is not.
    pub(crate) fn require(&mut self, name: &str) -> bool {
        let is_there = self.has(name);
        if !is_there {
            self.violate(name, "required", "must be there");
        }
        is_there
    }

    /// Tells that one of these properties must be there, at each of them: nobody knows which was meant.
    pub(crate) fn require_one_of(&mut self, names: &[&str]) {
        let rule = format!("must be there, or another one of {}", names.join(", "));
        for name in names {
            self.violate(name, "required", &rule);
        }
    }

    /// Remembers that a property breaks a rule; `rule` goes on where its name ends.
    pub(crate) fn violate(&mut self, name: &str, code: &'static str, rule: &str) {
        let field = self.pointer(name);
        self.refuse(Violation::new(
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
        let field = format!("{}/{index}", self.pointer(name));
        self.refuse(Violation::new(
            field,
            code,
            format!("{}[{index}] {rule}", shown(name)),
        ));
    }

    /// Remembers a broken rule, wherever it is told.
    pub(crate) fn refuse(&mut self, violation: Violation) {
        self.violations.push(violation);
    }

    /// Gives a value that is within its bounds.
    fn within<T: PartialOrd + Display>(
        &mut self,
        name: &str,
        value: Option<T>,
        bounds: &RangeInclusive<T>,
    ) -> Option<T> {
        let value = value?;
        if value < *bounds.start() {
            let rule = format!("must be at least {}", bounds.start());
            self.violate(name, "below_minimum", &rule);
        } else if value > *bounds.end() {
            let rule = format!("must be at most {}", bounds.end());
            self.violate(name, "above_maximum", &rule);
        } else {
            return Some(value);
        }
        None
    }

    /// Takes over what is wrong with an object that is a part of this one.
    pub(crate) fn close(&mut self, part: Self) {
        self.violations.extend(part.closed());
    }

    /// What is wrong, now that everything that is known was taken.
    fn closed(mut self) -> Vec<Violation> {
        let unknown: Vec<String> = self.properties.keys().cloned().collect();
        for name in unknown {
            self.violate(
                &name,
                "unknown_property",
                "is not a property of this request",
            );
        }
        self.violations
    }

    /// Gives `value`, what was made of the properties, unless a rule is broken; a property that
    /// nobody took is unknown.
    pub(crate) fn finish<T>(self, value: Option<T>) -> Result<T, Problem> {
        let violations = self.closed();
        if !violations.is_empty() {
            return Err(Problem::Invalid(violations));
        }
        value.ok_or_else(|| Problem::Internal("a body without violation has no value".to_owned()))
    }

    /// The JSON pointer of a property.
    pub(crate) fn pointer(&self, name: &str) -> String {
        format!("{}{}", self.place, pointer(name))
    }
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

#[cfg(test)]
mod tests;
