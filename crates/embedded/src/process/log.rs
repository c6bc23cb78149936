//! What a server writes, kept in a file of its folder.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use crate::StartFailure;

/// How much of a log's end is read, and how many of its lines an error tells.
const TAIL_BYTES: u64 = 16 * 1024;
const TAIL_LINES: usize = 12;

/// The log of one server; a new start begins it anew.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
}

impl Log {
    /// The log at `path`.
    pub(crate) fn at(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
        }
    }

    /// Empties the file and opens it for standard output and standard error.
    pub(crate) fn handles(&self) -> Result<(File, File), StartFailure> {
        File::create(&self.path)
            .and_then(|_emptied| {
                // Appending, for two handles that write where each thinks the end is would overwrite.
                let output = File::options().append(true).open(&self.path)?;
                let errors = output.try_clone()?;
                Ok((output, errors))
            })
            .map_err(StartFailure::about(&self.path))
    }

    /// The last lines.
    pub(crate) fn tail(&self) -> String {
        let text = read_end(&self.path).unwrap_or_else(|error| format!("(no log: {error})"));
        last_lines(&text)
    }
}

/// The last lines of a text that are not empty.
pub(super) fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let first = lines.len().saturating_sub(TAIL_LINES);
    lines.get(first..).unwrap_or_default().join("\n")
}

fn read_end(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut end = Vec::new();
    file.read_to_end(&mut end)?;
    Ok(String::from_utf8_lossy(&end).into_owned())
}
