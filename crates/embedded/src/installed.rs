//! Where the machine keeps the programs that `deploy/servers/install.sh` brought.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::StartFailure;

/// Where programs are that are not on the path of an ordinary user.
const SYSTEM_FOLDERS: [&str; 4] = ["/usr/bin", "/usr/sbin", "/bin", "/sbin"];

/// Where a cache is that root filled; `deploy/servers/cache.sh` says the same.
const SYSTEM_CACHE: &str = "/var/cache/wattline";

/// Finds a program on the path, or in the folders that only root has there.
pub(crate) fn program(name: &'static str) -> Result<PathBuf, StartFailure> {
    let path = ops::settings::environment()("PATH").unwrap_or_default();
    path.split(':')
        .filter(|folder| !folder.is_empty())
        .chain(SYSTEM_FOLDERS)
        .map(|folder| Path::new(folder).join(name))
        .find(|candidate| candidate.is_file())
        .ok_or(StartFailure::Missing(name))
}

/// Finds the newest folder of PostgreSQL's programs below `root`, the file system's or one unpacked.
pub(crate) fn postgres_programs(root: &Path) -> Option<PathBuf> {
    newest(&root.join("usr/lib/postgresql"), "", "bin/postgres").map(|version| version.join("bin"))
}

/// Finds the newest folder `<prefix><version>` in a cache that holds `content`.
pub(crate) fn cached(prefix: &str, content: &str) -> Option<PathBuf> {
    caches()
        .iter()
        .find_map(|cache| newest(cache, prefix, content))
}

/// The folders that fetched servers are kept in, in order of search.
fn caches() -> Vec<PathBuf> {
    let environment = ops::settings::environment();
    let given = |name: &str| environment(name).filter(|text| !text.is_empty());
    if let Some(cache) = given("WATTLINE_CACHE") {
        return vec![PathBuf::from(cache)];
    }
    // Root's own folder is closed to the user that PostgreSQL runs as.
    let home = given("HOME").filter(|_| !rustix::process::geteuid().is_root());
    let own = given("XDG_CACHE_HOME").or_else(|| home.map(|home| format!("{home}/.cache")));
    own.map(|cache| Path::new(&cache).join("wattline"))
        .into_iter()
        .chain([PathBuf::from(SYSTEM_CACHE)])
        .collect()
}

fn newest(folder: &Path, prefix: &str, content: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?;
    entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let version = version(name.strip_prefix(prefix)?)?;
            Some((version, entry.path()))
        })
        .filter(|(_, path)| path.join(content).exists())
        .max()
        .map(|(_, path)| path)
}

/// Reads `4.2.0` as numbers, so that 17 is newer than 9.6.
fn version(text: &str) -> Option<Vec<u32>> {
    text.split('.').map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_that_is_complete_wins() {
        let folder = tempfile::tempdir().unwrap();
        for path in [
            "kafka-9.1.0/libs",
            "kafka-10.0.0/libs",
            "kafka-11.0.0",
            "kafka-x/libs",
        ] {
            fs::create_dir_all(folder.path().join(path)).unwrap();
        }
        let found = newest(folder.path(), "kafka-", "libs").unwrap();
        assert_eq!(found, folder.path().join("kafka-10.0.0"));
    }

    #[test]
    fn a_missing_program_says_what_to_do() {
        let failure = program("no-such-server").unwrap_err();
        assert_eq!(
            failure.to_string(),
            "no-such-server is not on this machine: run `make servers`"
        );
    }
}
