//! The prompt for a password, on a terminal of the test's own.

use crate::WATTLINE;
use rustix::fs::{Mode as FileMode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::{Read, Write};
use std::process::{ChildStderr, Command, Stdio};
use testkit::{Mode, World};

/// Reads standard error until this has come.
fn await_text(stderr: &mut ChildStderr, expected: &str) {
    let mut text = String::new();
    while !text.ends_with(expected) {
        let mut byte = [0];
        assert_eq!(stderr.read(&mut byte).unwrap(), 1, "{text}");
        text.push(char::from(byte[0]));
    }
}

/// Types two lines at the two prompts; answers with the exit code, standard output, and what the
/// terminal showed.
fn type_twice(world: &World, first: &str, second: &str) -> (Option<i32>, String, String) {
    let mut terminal = File::from(openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap());
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY;
    let theirs = rustix::fs::open(&name, flags, FileMode::empty()).unwrap();
    let mut child = Command::new(WATTLINE)
        .args(["admin", "user", "add", "grace"])
        .envs(&world.settings)
        .stdin(Stdio::from(theirs.try_clone().unwrap()))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = child.stderr.take().unwrap();
    await_text(&mut stderr, "password of \"grace\": ");
    writeln!(terminal, "{first}").unwrap();
    await_text(&mut stderr, "again: ");
    writeln!(terminal, "{second}").unwrap();
    let output = child.wait_with_output().unwrap();
    // Whether the terminal shows again what is typed.
    writeln!(terminal, "seen").unwrap();
    let mut shown = String::new();
    while !shown.contains("seen") {
        let mut some = [0; 64];
        let count = terminal.read(&mut some).unwrap();
        shown.push_str(&String::from_utf8_lossy(&some[..count]));
    }
    drop(theirs);
    let out = String::from_utf8(output.stdout).unwrap();
    (output.status.code(), out, shown)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_is_asked_twice_and_does_not_show_the_password() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let (code, _, shown) = type_twice(&world, "open sesame", "open sesam");
    assert_eq!(code, Some(2));
    assert!(!shown.contains("sesam"), "{shown}");
    assert_eq!(world.count("select count(*) from app_user").await, 0);

    let (code, out, shown) = type_twice(&world, "open sesame", "open sesame");
    assert_eq!(
        (code, out.as_str()),
        (Some(0), "+ user \"grace\" disabled false\n")
    );
    assert!(!shown.contains("sesam"), "{shown}");
    let (_, out, _) = type_twice(&world, "open sesame", "open sesame");
    assert_eq!(out, "nothing to change\n");
}
