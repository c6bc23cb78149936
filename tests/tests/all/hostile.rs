//! Clients that mean harm, on real servers: others are answered meanwhile, nothing is lost, and neither memory nor
//! open files grow.

#[path = "hostile/broker.rs"]
mod broker;
#[path = "hostile/http.rs"]
mod http;
#[path = "hostile/inputs.rs"]
mod inputs;
#[path = "hostile/malformed.rs"]
mod malformed;
#[path = "hostile/retained.rs"]
mod retained;
#[path = "hostile/site.rs"]
mod site;

use std::time::{Duration, Instant};
use testkit::{Client, Running, eventually};

/// How much more memory a process may have after an attack, in KiB: what allocators keep, not what inputs leave.
const MEMORY_KIB: u64 = 24 * 1024;
/// How many more files it may have open: connections that the pool of the database has made meanwhile.
const FILES: usize = 16;
/// A normal answer on a loaded machine, in a debug build.
const NORMAL: Duration = Duration::from_secs(3);

/// A process before it was attacked.
struct Before {
    memory_kib: u64,
    open_files: usize,
}

impl Before {
    fn of(process: &Running) -> Self {
        Self {
            memory_kib: process.memory_kib(),
            open_files: process.open_files(),
        }
    }

    /// Asserts that the process is as it was: ready, in the same memory, with as many files, without a complaint.
    async fn is_still_so(&self, process: &Running) {
        process.ready().await;
        eventually(async || {
            let (memory, files) = (process.memory_kib(), process.open_files());
            if memory <= self.memory_kib + MEMORY_KIB && files <= self.open_files + FILES {
                Ok(())
            } else {
                let (memory_before, files_before) = (self.memory_kib, self.open_files);
                Err(format!(
                    "{memory} KiB after {memory_before}, {files} files after {files_before}"
                ))
            }
        })
        .await;
        let log = process.log();
        assert!(!log.contains("ERROR") && !log.contains("panicked"), "{log}");
    }
}

/// Asks like any other user, and asserts that the answers come in normal time.
async fn others_are_answered(client: &Client, times: usize) {
    for _ in 0..times {
        let begun = Instant::now();
        assert_eq!(client.get("/buildings/").await.0, 200);
        assert!(begun.elapsed() < NORMAL, "{:?}", begun.elapsed());
    }
}
