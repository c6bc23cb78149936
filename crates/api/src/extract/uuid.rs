//! What counts as a uuid.

use uuid::Uuid;

/// Length of a uuid in its one text form, with hyphens.
const HYPHENATED: usize = 36;

/// Reads a uuid with hyphens, in any case; the other forms that libraries know are none here.
pub(crate) fn parse_uuid(text: &str) -> Option<Uuid> {
    (text.len() == HYPHENATED)
        .then(|| Uuid::try_parse(text).ok())
        .flatten()
}
