#![doc = include_str!("../README.md")]

#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
mod gnu;

/// Has this binary's `cnd_timedwait` linked into it; does nothing else, and nothing at all where the C library
/// is not GNU's.
pub fn install() {
    #[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
    gnu::install();
}

/// How many waits went this way since the start: none where the C library is not GNU's.
#[must_use]
pub fn waits() -> u64 {
    #[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
    return gnu::waits();
    #[cfg(not(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64")))]
    0
}
