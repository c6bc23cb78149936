//! Memory with nothing around it: whoever reads a byte too much, before or behind, ends the test's process.
#![expect(
    unsafe_code,
    reason = "the kernel is asked for memory that must not be touched"
)]

use std::ptr::null_mut;

/// A whole number of pages wherever pages are of up to 64 KiB.
const SIZE: usize = 65_536;

/// Memory that may be read, between two stretches that may not.
pub(crate) struct Page {
    begin: *mut u8,
}

impl Page {
    pub(crate) fn new() -> Self {
        let (nothing, flags) = (libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: the kernel chooses a place where nothing is.
        let mapping = unsafe { libc::mmap(null_mut(), 3 * SIZE, nothing, flags, -1, 0) };
        assert_ne!(mapping, libc::MAP_FAILED);
        let begin = mapping.cast::<u8>().wrapping_add(SIZE);
        // SAFETY: the middle third of the mapping, which is nobody else's.
        let done =
            unsafe { libc::mprotect(begin.cast(), SIZE, libc::PROT_READ | libc::PROT_WRITE) };
        assert_eq!(done, 0);
        Self { begin }
    }

    /// The payload with its first byte right behind what must not be read.
    pub(crate) fn at_the_begin(&mut self, payload: &[u8]) -> &[u8] {
        let place = &mut self.bytes()[..payload.len()];
        place.copy_from_slice(payload);
        place
    }

    /// The payload with its last byte right before what must not be read.
    pub(crate) fn at_the_end(&mut self, payload: &[u8]) -> &[u8] {
        let place = &mut self.bytes()[SIZE - payload.len()..];
        place.copy_from_slice(payload);
        place
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the middle third is this page's own, may be read and written, and the kernel has zeroed it.
        unsafe { std::slice::from_raw_parts_mut(self.begin, SIZE) }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // SAFETY: the whole mapping, to which no reference is left.
        let done = unsafe { libc::munmap(self.begin.wrapping_sub(SIZE).cast(), 3 * SIZE) };
        assert_eq!(done, 0);
    }
}
