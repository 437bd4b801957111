//! The memory of a component: blocks whose sizes are powers of two, and for each size a list of those that are free.
//!
//! It stands in for the allocator of WASI's C library, for Rust and for what of that library runs: that is as long as some
//! passes, and a pass pays fuel for every allocation. A component has one thread and lives for one graph.

use std::alloc::{GlobalAlloc, Layout};
use std::arch::wasm32::{memory_grow, memory_size};
use std::cell::UnsafeCell;
use std::ptr::null_mut;

const PAGE: usize = 1 << 16;

/// The smallest block, and the alignment of all that are not asked for with a larger one.
const LEAST: usize = 16;

/// A component allocates at least this much of its memory at a time.
const STEP: usize = 1 << 20;

struct FreeBlocks {
    /// For each power of two the first free block of that size; each holds the address of the next.
    free: [*mut u8; usize::BITS as usize],
    /// What was never handed out.
    unused: usize,
    end: usize,
}

struct Blocks(UnsafeCell<FreeBlocks>);

// SAFETY: a component has one thread.
unsafe impl Sync for Blocks {}

#[global_allocator]
static BLOCKS: Blocks =
    Blocks(UnsafeCell::new(FreeBlocks { free: [null_mut(); usize::BITS as usize], unused: 0, end: 0 }));

/// The size of the block for a request.
fn block(size: usize, align: usize) -> usize {
    size.max(align).max(LEAST).next_power_of_two()
}

impl FreeBlocks {
    /// A block that was never used.
    fn fresh(&mut self, size: usize, align: usize) -> *mut u8 {
        let align = align.max(LEAST);
        loop {
            let start = self.unused.next_multiple_of(align);
            let Some(end) = start.checked_add(size) else { return null_mut() };
            if start > 0 && end <= self.end {
                self.unused = end;
                return start as *mut u8;
            }
            if !self.grow(size.saturating_add(align)) {
                return null_mut();
            }
        }
    }

    /// Asks for room for `size` bytes; what the host adds follows on what is there, unless somebody else asked between.
    fn grow(&mut self, size: usize) -> bool {
        let pages = size.max(STEP).div_ceil(PAGE);
        let start = memory_size(0) * PAGE;
        if memory_grow(0, pages) == usize::MAX {
            return false;
        }
        if start != self.end {
            self.unused = start;
        }
        self.end = start + pages * PAGE;
        true
    }
}

// SAFETY: blocks are multiples of 16 bytes apart and at least as large as asked for; a block is in use or in one list.
unsafe impl GlobalAlloc for Blocks {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let size = block(layout.size(), layout.align());
        // SAFETY: nothing else has a reference to it while this runs, because a component has one thread.
        let memory = unsafe { &mut *self.0.get() };
        let first = &mut memory.free[size.trailing_zeros() as usize];
        let found = *first;
        // Only a block that was asked for with a larger alignment surely has it.
        if found.is_null() || !(found as usize).is_multiple_of(layout.align()) {
            return memory.fresh(size, layout.align());
        }
        // SAFETY: a free block holds the address of the next one.
        *first = unsafe { found.cast::<*mut u8>().read() };
        found
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        let size = block(layout.size(), layout.align());
        // SAFETY: as in `alloc`.
        let first = unsafe { &mut (*self.0.get()).free[size.trailing_zeros() as usize] };
        // SAFETY: the block is not used any more, and has room for an address.
        unsafe { at.cast::<*mut u8>().write(*first) };
        *first = at;
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if block(size, layout.align()) == block(layout.size(), layout.align()) {
            return at;
        }
        // SAFETY: the caller keeps the rules of `realloc`, which are those of these calls and of this copy.
        unsafe {
            let moved = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !moved.is_null() {
                std::ptr::copy_nonoverlapping(at, moved, layout.size().min(size));
                self.dealloc(at, layout);
            }
            moved
        }
    }
}

/// What the C library's blocks have in front: their size.
const HEADER: usize = LEAST;

/// Room for a block of so many bytes, if there can be such a one.
fn of_c(size: usize) -> Option<Layout> {
    Layout::from_size_align(size.checked_add(HEADER)?, LEAST).ok()
}

#[unsafe(no_mangle)]
extern "C" fn malloc(size: usize) -> *mut u8 {
    let Some(layout) = of_c(size) else { return null_mut() };
    // SAFETY: the layout is not empty; the header lies within.
    unsafe {
        let at = BLOCKS.alloc(layout);
        if at.is_null() {
            return at;
        }
        at.cast::<usize>().write(size);
        at.add(HEADER)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn free(at: *mut u8) {
    if !at.is_null() {
        // SAFETY: `malloc` made it, and wrote its size in front.
        unsafe {
            let start = at.sub(HEADER);
            if let Some(layout) = of_c(start.cast::<usize>().read()) {
                BLOCKS.dealloc(start, layout);
            }
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn calloc(count: usize, size: usize) -> *mut u8 {
    let Some(bytes) = count.checked_mul(size) else { return null_mut() };
    let at = malloc(bytes);
    if !at.is_null() {
        // SAFETY: `malloc` gave this many bytes.
        unsafe { at.write_bytes(0, bytes) };
    }
    at
}

#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(at: *mut u8, size: usize) -> *mut u8 {
    let moved = malloc(size);
    if !at.is_null() && !moved.is_null() {
        // SAFETY: both have the smaller of the two sizes; `at` is `malloc`'s.
        unsafe {
            let before = at.sub(HEADER).cast::<usize>().read();
            std::ptr::copy_nonoverlapping(at, moved, before.min(size));
            free(at);
        }
    }
    moved
}

/// All blocks have the alignment that C asks for; nothing that runs here asks for more.
#[unsafe(no_mangle)]
extern "C" fn aligned_alloc(align: usize, size: usize) -> *mut u8 {
    if align <= LEAST { malloc(size) } else { null_mut() }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn posix_memalign(to: *mut *mut u8, align: usize, size: usize) -> i32 {
    const OUT_OF_MEMORY: i32 = 48;
    let at = aligned_alloc(align, size);
    if at.is_null() {
        return OUT_OF_MEMORY;
    }
    // SAFETY: the caller gives a place for the address.
    unsafe { to.write(at) };
    0
}
