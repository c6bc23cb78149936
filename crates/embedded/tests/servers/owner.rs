//! What happens to the servers of a process that is killed.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::running;

fn example() -> PathBuf {
    // target/debug/deps/servers-… and target/debug/examples/servers
    let ours = std::env::current_exe().unwrap();
    ours.ancestors().nth(2).unwrap().join("examples/servers")
}

#[test]
fn the_servers_of_a_killed_process_end() {
    let folder = embedded::temporary_folder().unwrap();
    let name = folder.path().display().to_string();
    let mut owner = Command::new(example())
        .arg(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(owner.stdout.take().unwrap()).lines();
    let servers: Vec<String> = lines.take(3).map(|line| line.unwrap()).collect();
    assert_eq!(servers.len(), 3, "{servers:?}");
    let postmaster = Path::new(&name).join("postgres/data/postmaster.pid");
    assert!(postmaster.exists());
    owner.kill().unwrap();
    owner.wait().unwrap();
    running::eventually("no process is left", || running::with(&name) == 0);
    assert!(!postmaster.exists(), "PostgreSQL ended in order");
}
