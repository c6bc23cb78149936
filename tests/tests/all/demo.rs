//! The demo does what it prints, and leaves nothing behind.

use crate::WATTLINE;
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn free_address() -> String {
    format!("127.0.0.1:{}", embedded::free_port().unwrap())
}

/// Processes whose command line names this text.
fn processes_that_name(text: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap();
    // A process may end between its listing and its reading.
    let command_lines = processes
        .filter_map(|entry| std::fs::read(entry.unwrap().path().join("cmdline")).ok())
        .map(|bytes| String::from_utf8_lossy(&bytes).replace('\0', " "));
    command_lines.filter(|line| line.contains(text)).collect()
}

fn the_demo(arguments: &[&str]) {
    let mut child = Command::new(WATTLINE)
        .arg("demo")
        .args(arguments)
        .args([
            "--http-listen",
            &free_address(),
            "--ops-listen",
            &free_address(),
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap);
    let folder = lines.find_map(|line| line.strip_prefix("servers run in ").map(str::to_owned));
    let folder = folder.unwrap();
    let curl = lines
        .find(|line| line.trim_start().starts_with("curl "))
        .unwrap();
    let progress = lines.find(|line| line.starts_with("received ")).unwrap();
    for word in ["received", "stored", "refused", "in flight"] {
        assert!(progress.contains(word), "{progress}");
    }
    let answer = Command::new("sh").args(["-c", &curl]).output().unwrap();
    let answer: Value = serde_json::from_slice(&answer.stdout).unwrap();
    assert!(
        answer["value"].is_i64() && answer["delivery"].is_u64(),
        "{answer}"
    );
    assert!(!processes_that_name(&folder).is_empty());

    testkit::send_signal(child.id(), "INT");
    let rest: Vec<String> = lines.collect();
    assert_eq!(rest.last().unwrap(), "stopped: nothing is left running");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let begun = Instant::now();
    while !processes_that_name(&folder).is_empty() {
        assert!(
            begun.elapsed() < Duration::from_secs(5),
            "{:?}",
            processes_that_name(&folder)
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(!std::path::Path::new(&folder).exists());
}

#[test]
fn the_demo_answers_its_own_curl_and_leaves_nothing_running() {
    the_demo(&[]);
}

#[test]
fn the_direct_demo_answers_its_own_curl_and_leaves_nothing_running() {
    the_demo(&["--direct"]);
}

#[test]
fn a_port_in_use_stops_the_demo_with_one_line() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = Command::new(WATTLINE)
        .args([
            "demo",
            "--direct",
            "--http-listen",
            &address,
            "--ops-listen",
            &free_address(),
        ])
        .args(["--log", "error"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(told.contains(&address), "{told}");
}
