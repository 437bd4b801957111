//! A claim that does not hold is found: alignment as it was once taken for granted, and others.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use passhost_fuzz::Random;
use passhost_fuzz::claims::{Meaning, check};
use passhost_ir::Kernel;
use passhost_ir::kernel::{Facts, Reg, verify};
use passhost_kernels::KernelLayout;
use passhost_kernels::cuda::{Claim, ClaimAccess, Claims, DeviceProperties, Term, emit};
use std::slice::from_ref;

/// Row `2 i` is clamped to 5, so that it is no multiple of anything.
const CLAMPED_ROWS: &str = include_str!("../../../host/run/kernels/tests/golden/clamped_rows.kernel");

/// A kernel as it is emitted for an H200.
fn emitted(text: &str) -> (Kernel, Facts, KernelLayout, Claims) {
    let kernel: Kernel = text.parse().unwrap();
    let facts = verify(&kernel).unwrap();
    let layout = KernelLayout::contiguous(&kernel);
    let claims = emit(&kernel, &facts, &layout, &DeviceProperties::H200).claims.remove(0);
    (kernel, facts, layout, claims)
}

/// What is wrong with a claim that is made besides those of the generator.
fn wrong(text: &str, lanes: u32, claim: Claim) -> Result<(), String> {
    let (kernel, facts, layout, mut claims) = emitted(text);
    let check = |claims: &Claims| {
        let meaning = Meaning::new(&kernel, &facts, &layout, from_ref(claims), None);
        check(&meaning, claims, 20_000, &mut Random::new(1, 1))
    };
    assert_eq!(check(&claims), Ok(()));
    claims.lanes = lanes;
    claims.list.push(claim);
    check(&claims)
}

#[test]
fn four_lanes_at_a_clamped_row_are_not_aligned() {
    let error = wrong(CLAMPED_ROWS, 4, Claim::Neighbours(ClaimAccess::Load(Reg(0)))).unwrap_err();
    assert!(error.contains("16 bytes at byte 120"), "{error}");
}

#[test]
fn claims_of_each_kind_can_be_wrong() {
    let load = ClaimAccess::Load(Reg(0));
    let term = Term { of_row: true, inner: 1, extent: 4, slope: 1 };
    for (claim, expected) in [
        (Claim::OneElement(load), " and At("),
        (Claim::Inside { load: Reg(0), dim: 0 }, " of 6"),
        (Claim::Offset { access: load, base: 0, terms: vec![term], narrow: true }, " of 6"),
        (Claim::Offset { access: ClaimAccess::Store(0), base: 1, terms: vec![], narrow: true }, "offset 1, expected"),
        (Claim::Together { of_row: true, inner: 3, extent: 5 }, "positions ["),
        (Claim::Together { of_row: true, inner: 1, extent: 5 }, "positions [4, 0]"),
    ] {
        let error = wrong(CLAMPED_ROWS, 2, claim).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn rows_that_no_thread_reaches_are_found() {
    let (kernel, facts, layout, mut claims) = emitted(CLAMPED_ROWS);
    claims.reach.0 = 1000;
    let meaning = Meaning::new(&kernel, &facts, &layout, from_ref(&claims), None);
    let error = check(&meaning, &claims, 10, &mut Random::new(1, 1)).unwrap_err();
    assert!(error.contains("1000"), "{error}");
}

/// Rows of both batches lie side by side in the first factor.
const TWO_SIDES: &str = "kernel {
  space p0=2, p1=6, p2=8; reduce r0=16
  in x0: f32[16,2,6]
  in x1: f32[2,16,8]
  i0 = p0
  i1 = p1
  i2 = p2
  i3 = r0
  v0: f32 = load x0[i3, i0, i1] clamp
  v1: f32 = load x1[i0, i3, i2] clamp
  v2: f32 = mul v0, v1
  v3: f32 = reduce sum v2
  out v3 over [p0, p1, p2] as [2,6,8]
}";

#[test]
fn lanes_that_lie_on_two_sides_are_found() {
    let (kernel, facts, layout, mut claims) = emitted(TWO_SIDES);
    let check = |claims: &Claims| {
        let meaning = Meaning::new(&kernel, &facts, &layout, from_ref(claims), None);
        check(&meaning, claims, 20_000, &mut Random::new(1, 1))
    };
    assert_eq!((claims.lanes, check(&claims)), (2, Ok(())));
    // Four divide all rows, and are neighbours at aligned addresses.
    claims.lanes = 4;
    let error = check(&claims).unwrap_err();
    assert!(error.contains("OneSide(6): rows [4, 5, 6, 7]"), "{error}");
    claims.list.retain(|claim| !matches!(claim, Claim::OneSide(_)));
    assert_eq!(check(&claims), Ok(()), "nothing else is wrong with them");
}
