//! The product on tensor cores that is written by hand as a loop form, against exact sums.

#[path = "../../../host/run/kernels/tests/tile/mod.rs"]
mod tile;

use crate::memory::Arena;
use anyhow::{Context, Result, ensure};
use cudarc::driver::result;
use passhost_kernels::cuda::loops::source;
use passhost_kernels::cuda::{Compiler, ENTRY, Gpu};
use std::ffi::{CString, c_void};

/// Small numbers with their bits as `f16`: all sums of their products are exact, in any order.
const NUMBERS: [(f32, u16); 7] =
    [(0.0, 0x0000), (1.0, 0x3c00), (-1.0, 0xbc00), (2.0, 0x4000), (-2.0, 0xc000), (3.0, 0x4200), (-0.5, 0xb800)];

/// Multiplies two matrices, and returns how many elements the product has.
pub(crate) fn run(gpu: &Gpu, compiler: &Compiler) -> Result<usize> {
    let _entered = gpu.enter()?;
    let [rows, columns, depth] = tile::SIZES.map(|size| size as usize);
    let number = |at: usize| NUMBERS[at * at % 1009 % NUMBERS.len()];
    let factor = |first: usize, count: usize| (first..first + count).map(number).collect::<Vec<_>>();
    let (a, b) = (factor(1, rows * depth), factor(7, depth * columns));
    let bytes = |factor: &[(f32, u16)]| factor.iter().flat_map(|(_, bits)| bits.to_le_bytes()).collect::<Vec<u8>>();
    let mut arena = Arena::new(1 << 20)?;
    let size = 4 * rows * columns;
    let places = [arena.place(&bytes(&a), 16), arena.place(&bytes(&b), 16), arena.reserve(size)];
    arena.upload()?;
    let cubin = compiler.compile(&source(&[tile::function()]))?;
    // SAFETY: a cubin is self-contained, and says itself how long it is.
    let module = unsafe { result::module::load_data(cubin.0.as_ptr().cast()) }.context("loading the product")?;
    // SAFETY: the module was just loaded.
    let function = unsafe { result::module::get_function(module, CString::new(ENTRY)?) }.context("finding it")?;
    let mut addresses = places.map(|place| arena.address(place) as u64);
    let mut arguments = addresses.each_mut().map(|address| std::ptr::from_mut(address).cast::<c_void>());
    let (grid, block) = ((tile::blocks(), 1, 1), (tile::THREADS, 1, 1));
    // SAFETY: the function takes three addresses, of tensors of the sizes that it is written for.
    unsafe { result::launch_kernel(function, grid, block, 0, std::ptr::null_mut(), &mut arguments) }
        .context("launching the product")?;
    let found = arena.download(&[(places[2], size)])?;
    for (at, bytes) in found[0].as_chunks::<4>().0.iter().enumerate() {
        let (row, column) = (at / columns, at % columns);
        let expected: f32 = (0..depth).map(|k| a[row * depth + k].0 * b[k * columns + column].0).sum();
        let found = f32::from_le_bytes(*bytes);
        ensure!(found == expected, "row {row}, column {column} of the product is {found}, expected {expected}");
    }
    // SAFETY: nothing of the module runs any more: what it wrote was copied.
    unsafe { result::module::unload(module) }.context("unloading the product")?;
    Ok(rows * columns)
}
