//! `cnd_timedwait` as C11 has it, for GNU's C library, whose `cnd_t` and `mtx_t` are its `pthread_cond_t` and
//! `pthread_mutex_t`.
#![expect(unsafe_code, reason = "C calls it, and it calls C")]

use libc::{CLOCK_MONOTONIC, CLOCK_REALTIME, ETIMEDOUT, c_int, c_void, clockid_t, timespec};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Longest wait: who waits for longer is told that time is up, sees by the monotonic clock that it is not, and waits on. So
/// even a step between librdkafka's look at the clock and ours costs no more than this.
const LONGEST: Duration = Duration::from_secs(1);

// What `threads.h` calls success, error and timed out.
const SUCCESS: c_int = 0;
const ERROR: c_int = 2;
const TIMED_OUT: c_int = 4;

static WAITS: AtomicU64 = AtomicU64::new(0);

unsafe extern "C" {
    /// Since version 2.30 of the C library.
    fn pthread_cond_clockwait(
        condition: *mut c_void,
        mutex: *mut c_void,
        clock: clockid_t,
        until: *const timespec,
    ) -> c_int;
}

/// Waits for `condition` with `mutex` locked, as long as it was until `deadline` (a time of day) when this was called.
///
/// # Safety
/// As C has it: `condition` and `mutex` are initialised, the caller has locked `mutex`, `deadline` points to a time.
#[unsafe(no_mangle)]
unsafe extern "C" fn cnd_timedwait(
    condition: *mut c_void,
    mutex: *mut c_void,
    deadline: *const timespec,
) -> c_int {
    WAITS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the caller promises that it points to a time.
    let deadline = unsafe { *deadline };
    let left = left(deadline, time_of(CLOCK_REALTIME)).min(LONGEST);
    let until = after(time_of(CLOCK_MONOTONIC), left);
    // SAFETY: condition and mutex are the caller's, as they came; `until` lives until this returns.
    let ended =
        unsafe { pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, &raw const until) };
    match ended {
        0 => SUCCESS,
        ETIMEDOUT => TIMED_OUT,
        _ => ERROR,
    }
}

fn time_of(clock: clockid_t) -> timespec {
    let mut now = timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: it writes to `now`, which lives until this returns. Both clocks exist on every Linux.
    unsafe { libc::clock_gettime(clock, &raw mut now) };
    now
}

/// From `now` to `deadline`; nothing when that has passed.
fn left(deadline: timespec, now: timespec) -> Duration {
    since_epoch(deadline).saturating_sub(since_epoch(now))
}

fn since_epoch(time: timespec) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanoseconds)
}

/// `wait` is at most [`LONGEST`].
fn after(time: timespec, wait: Duration) -> timespec {
    const SECOND_NS: i64 = 1_000_000_000;
    let nanoseconds = time.tv_nsec + i64::from(wait.subsec_nanos());
    timespec {
        tv_sec: time.tv_sec
            + i64::try_from(wait.as_secs()).unwrap_or_default()
            + nanoseconds / SECOND_NS,
        tv_nsec: nanoseconds % SECOND_NS,
    }
}

/// Refers to the function, so that the linker takes it before it looks into the C library.
pub(crate) fn install() {
    std::hint::black_box(cnd_timedwait as *const ());
}

pub(crate) fn waits() -> u64 {
    WAITS.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn time(tv_sec: i64, tv_nsec: i64) -> timespec {
        timespec { tv_sec, tv_nsec }
    }

    #[test]
    fn what_is_left_is_never_negative() {
        let now = time(100, 500_000_000);
        assert_eq!(left(time(101, 0), now), Duration::from_millis(500));
        assert_eq!(left(time(100, 0), now), Duration::ZERO);
        assert_eq!(left(time(-1, 0), now), Duration::ZERO);
    }

    #[test]
    fn nanoseconds_carry_over() {
        let until = after(time(7, 900_000_000), Duration::from_millis(200));
        assert_eq!((until.tv_sec, until.tv_nsec), (8, 100_000_000));
    }
}
