//! Who PostgreSQL runs as: it refuses to be root.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, chown},
    path::Path,
};

use crate::{StartFailure, process::User};

/// Who it may be when we are root, best first.
const CANDIDATES: [&str; 2] = ["postgres", "nobody"];

/// Who it will be.
pub(super) fn user() -> Result<User, StartFailure> {
    if !rustix::process::geteuid().is_root() {
        return Ok(User::Same);
    }
    let file = "/etc/passwd";
    let known = fs::read_to_string(file).map_err(StartFailure::about(file))?;
    CANDIDATES
        .iter()
        .find_map(|name| find(&known, name))
        .ok_or_else(|| {
            StartFailure::Unsuitable(
                "there is no user for PostgreSQL: add one named postgres".to_owned(),
            )
        })
}

fn find(known: &str, name: &str) -> Option<User> {
    known.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next() == Some(name)).then_some(())?;
        let uid = fields.nth(1)?.parse().ok()?;
        let gid = fields.next()?.parse().ok()?;
        Some(User::Other {
            name: name.to_owned(),
            uid,
            gid,
        })
    })
}

/// Gives the folder to that user, and checks that he can come to it.
pub(super) fn give(folder: &Path, user: &User) -> Result<(), StartFailure> {
    const OWNER_ONLY: u32 = 0o700;
    let User::Other { name, uid, gid } = user else {
        return Ok(());
    };
    chown(folder, Some(*uid), Some(*gid))
        .and_then(|()| fs::set_permissions(folder, fs::Permissions::from_mode(OWNER_ONLY)))
        .map_err(StartFailure::about(folder))?;
    match folder
        .ancestors()
        .skip(1)
        .find(|above| !lets_through(above, *uid, *gid))
    {
        None => Ok(()),
        Some(closed) => Err(StartFailure::Unsuitable(format!(
            "PostgreSQL runs as {name} and cannot come to {}: run chmod a+x {}, or use another folder",
            folder.display(),
            closed.display(),
        ))),
    }
}

/// Gives one file to that user.
pub(super) fn give_file(path: &Path, user: &User) -> Result<(), StartFailure> {
    let User::Other { uid, gid, .. } = user else {
        return Ok(());
    };
    chown(path, Some(*uid), Some(*gid)).map_err(StartFailure::about(path))
}

fn lets_through(folder: &Path, uid: u32, gid: u32) -> bool {
    let Ok(metadata) = fs::metadata(folder) else {
        return false;
    };
    let bit = match () {
        () if metadata.uid() == uid => 0o100,
        () if metadata.gid() == gid => 0o010,
        () => 0o001,
    };
    metadata.mode() & bit != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_folder_above_is_named() {
        let closed = tempfile::tempdir().unwrap();
        fs::set_permissions(closed.path(), fs::Permissions::from_mode(0o700)).unwrap();
        assert!(!lets_through(closed.path(), 1, 1));
        let open = crate::temporary_folder().unwrap();
        assert!(lets_through(open.path(), 1, 1));
    }

    #[test]
    fn a_user_is_found_by_its_whole_name() {
        let known = "postgres-x:x:1:1::/:\npostgres:x:111:112:,,,:/var/lib:/bin/sh\n";
        let Some(User::Other { uid, gid, .. }) = find(known, "postgres") else {
            panic!("not found");
        };
        assert_eq!((uid, gid), (111, 112));
    }
}
