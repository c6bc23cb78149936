//! How records get into their table: copied while all of them are new, inserted while some may be known.

use std::sync::atomic::{AtomicU32, Ordering};

/// Fewer records are inserted: a copy is dearer to begin, since the server plans it every time.
const COPIED_FROM: usize = 200;
/// So many batches without a known record are inserted before copying is tried again. A copy that meets a known
/// record is for nothing, and its rows are left to be cleared away.
const CAREFUL_BATCHES: u32 = 16;

/// One of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// The cheapest; refused as a whole when a record is known.
    Copy,
    /// Answers which records were new.
    Insert,
}

/// Which way the next batch goes.
#[derive(Debug, Default)]
pub(crate) struct Ways {
    /// Batches that are still to be inserted.
    careful: AtomicU32,
}

impl Way {
    /// Whether so many records are copied.
    pub(super) fn copies(self, records: usize) -> bool {
        self == Self::Copy && records >= COPIED_FROM
    }
}

impl Ways {
    pub(super) fn next(&self) -> Way {
        if self.careful.load(Ordering::Relaxed) == 0 {
            Way::Copy
        } else {
            Way::Insert
        }
    }

    /// A batch was inserted, or could not be copied, and had so many known records.
    pub(super) fn note(&self, known: u64) {
        let careful = self.careful.load(Ordering::Relaxed);
        let careful = if known > 0 {
            CAREFUL_BATCHES
        } else {
            careful.saturating_sub(1)
        };
        self.careful.store(careful, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_records_are_looked_out_for_until_there_were_none_for_some_batches() {
        let ways = Ways::default();
        assert_eq!(ways.next(), Way::Copy);
        ways.note(1);
        for _ in 0..CAREFUL_BATCHES {
            assert_eq!(ways.next(), Way::Insert);
            ways.note(0);
        }
        assert_eq!(ways.next(), Way::Copy);
    }

    #[test]
    fn a_few_records_are_inserted_anyway() {
        assert!(!Way::Copy.copies(COPIED_FROM - 1));
        assert!(Way::Copy.copies(COPIED_FROM));
        assert!(!Way::Insert.copies(COPIED_FROM));
    }
}
