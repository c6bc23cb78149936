//! The data folder: made once, belonging to one major version.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    StartFailure,
    process::{self, Launch, User},
};

/// What the log of a server says when another still has the data folder.
const STALE: [&str; 2] = [
    "postmaster.pid\" already exists",
    "pre-existing shared memory block",
];

/// Where the data is.
pub(super) fn data(folder: &Path) -> PathBuf {
    folder.join("data")
}

/// Makes the data folder when there is none, and refuses one of another major version.
pub(super) fn prepare(
    programs: &Path,
    folder: &Path,
    user: &User,
    durable: bool,
) -> Result<(), StartFailure> {
    let data = data(folder);
    if data.exists() {
        return check_version(programs, &data);
    }
    // Made beside its place: half a data folder would look like a whole one at the next start.
    let new = folder.join("data.new");
    if new.exists() {
        fs::remove_dir_all(&new).map_err(StartFailure::about(&new))?;
    }
    let mut arguments: Vec<String> = ["-D", &new.display().to_string()]
        .into_iter()
        .chain(["-U", "postgres", "-A", "trust", "-E", "UTF8"])
        .chain(["--locale=C.UTF-8", "--no-instructions"])
        .map(str::to_owned)
        .collect();
    if !durable {
        arguments.push("--no-sync".to_owned());
    }
    let program = programs.join("initdb");
    process::run(
        "initdb",
        &Launch {
            program,
            arguments,
            user: user.clone(),
            on_parent_death: "KILL",
        },
    )?;
    fs::rename(&new, &data).map_err(StartFailure::about(&data))
}

/// Tells whether a start failed only because the server before is not quite gone: after `kill -9` it may be a
/// zombie that `postmaster.pid` still names, or its processes may still be ending.
pub(super) fn is_stale(failure: &StartFailure) -> bool {
    matches!(failure, StartFailure::Died { log, .. } if STALE.iter().any(|text| log.contains(text)))
}

fn check_version(programs: &Path, data: &Path) -> Result<(), StartFailure> {
    let file = data.join("PG_VERSION");
    let found = fs::read_to_string(&file).map_err(StartFailure::about(&file))?;
    // …/postgresql/17/bin
    let ours = programs
        .parent()
        .and_then(Path::file_name)
        .unwrap_or_default();
    if ours == found.trim() {
        return Ok(());
    }
    Err(StartFailure::Unsuitable(format!(
        "{} belongs to PostgreSQL {} and the server here is {}: use another folder, or move the data with pg_dump",
        data.display(),
        found.trim(),
        ours.display(),
    )))
}
