//! A small file system for the database, which can be made full.

use crate::Outcome;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Far more than a run writes; memory is used for what is really in it.
const ROOMY: &str = "6g";
/// How often it is tried to leave no room, each time with a little more of it.
const ATTEMPTS: u64 = 20;
const SPARE_BYTES: u64 = 64 * 1024;

/// A file system in memory, mounted where the database keeps its files; unmounted when dropped.
#[derive(Debug)]
pub(crate) struct SmallDisk {
    folder: PathBuf,
}

impl SmallDisk {
    /// Mounts one on `folder`, which must be there.
    pub(crate) fn mount(folder: &Path) -> Outcome<Self> {
        let folder = folder.to_owned();
        let options = format!("size={ROOMY},mode=0711");
        let path = folder.display().to_string();
        run(
            "mount",
            &["-t", "tmpfs", "-o", &options, "wattline-faults", &path],
        )?;
        Ok(Self { folder })
    }

    /// Makes it as large as what is in it, so that nothing more fits. What is in it grows meanwhile, and it cannot become
    /// smaller than that.
    pub(crate) fn fill(&self) -> Outcome<()> {
        let mut outcome = Ok(());
        for spare in 0..ATTEMPTS {
            let disk = rustix::fs::statvfs(&self.folder)?;
            let used = (disk.f_blocks - disk.f_bfree) * disk.f_frsize;
            outcome = self.resize(&(used + spare * SPARE_BYTES).to_string());
            if outcome.is_ok() {
                break;
            }
        }
        outcome
    }

    /// Makes room again.
    pub(crate) fn empty(&self) -> Outcome<()> {
        self.resize(ROOMY)
    }

    fn resize(&self, size: &str) -> Outcome<()> {
        let path = self.folder.display().to_string();
        run("mount", &["-o", &format!("remount,size={size}"), &path])
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let path = self.folder.display().to_string();
        // Lazily: the database may still be ending. What stays mounted goes with this process's mounts.
        run("umount", &["-l", &path]).ok();
    }
}

fn run(program: &str, arguments: &[&str]) -> Outcome<()> {
    let output = Command::new(program).args(arguments).output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{program} {}: {}", arguments.join(" "), said.trim()).into())
}
