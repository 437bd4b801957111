//! What the standard library prints in a component, and the environment that it asks for.
//!
//! Both stand in for WASI's C library, which keeps tables of files and a copy of the environment for them: a tenth of a
//! small component. What is printed goes to the author, as [`log!`](crate::log) does, line by line; a panic is one of those
//! who print. There are no variables.

use std::cell::UnsafeCell;
use std::ffi::{c_char, c_int};
use std::ptr::null_mut;

/// What was printed since the last end of a line.
struct OutputLine(UnsafeCell<Vec<u8>>);

// SAFETY: a component has one thread.
unsafe impl Sync for OutputLine {}

static LINE: OutputLine = OutputLine(UnsafeCell::new(vec![]));

#[unsafe(no_mangle)]
unsafe extern "C" fn write(_: c_int, from: *const u8, count: usize) -> isize {
    // SAFETY: the caller has this many bytes there, and nothing else has a reference to the line while this runs.
    let (printed, line) = unsafe { (std::slice::from_raw_parts(from, count), &mut *LINE.0.get()) };
    line.extend_from_slice(printed);
    if let [lines @ .., b'\n'] = &line[..] {
        crate::log_line(&String::from_utf8_lossy(lines));
        line.clear();
    }
    count as isize
}

#[unsafe(no_mangle)]
extern "C" fn getenv(_: *const c_char) -> *mut c_char {
    null_mut()
}
