//! Ops by name on the CPU.

#![allow(
    clippy::panic,
    clippy::type_complexity,
    reason = "a test fails by panicking, and its tables name their columns"
)]

use passhost_ir::{Arg, Dtype, MemoryFormat, OpName, TensorType};
use passhost_runtime::EngineTensor;
use passhost_torch::{OutOfMemory, PreparedCall, Target, Tensor, TorchError, allocator, process};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

fn start() {
    process::install_allocator();
    process::set_threads(2);
}

/// The allocator's guards are the process's: one test at a time has them.
fn alone() -> MutexGuard<'static, ()> {
    static GUARDS: Mutex<()> = Mutex::new(());
    GUARDS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn f32s(shape: &[i64]) -> TensorType {
    TensorType::contiguous(Dtype::F32, shape)
}

fn zeros(shape: &[i64]) -> Tensor {
    let ty = f32s(shape);
    Tensor::from_bytes(&Target::cpu(), &ty, &vec![0; ty.bytes() as usize]).expect("the bytes fit the type")
}

fn call(op: &str, args: &[Arg<()>], tensors: &[&Tensor]) -> Vec<Tensor> {
    let target = Target::cpu();
    PreparedCall::new(&target, &OpName::parse(op), args)
        .and_then(|call| target.within(|scope| call.call(scope, tensors)))
        .unwrap_or_else(|error| panic!("{op}: {error}"))
}

fn values(tensor: &Tensor) -> Vec<f32> {
    tensor.to_bytes().chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

#[test]
fn ops_are_called_by_name_with_every_kind_of_argument() {
    start();
    let x =
        Tensor::from_bytes(&Target::cpu(), &f32s(&[2, 2]), &[1.0f32, -2.0, 3.0, -4.0].map(f32::to_le_bytes).concat())
            .expect("four floats");
    let v = Arg::Value(());
    let cases: [(&str, Vec<Arg<()>>, usize, Vec<f32>); 8] = [
        ("aten::relu", vec![v.clone()], 1, vec![1.0, 0.0, 3.0, 0.0]),
        ("aten::add.Tensor", vec![v.clone(), v.clone(), Arg::Int(2)], 2, vec![3.0, -6.0, 9.0, -12.0]),
        ("aten::mul.Scalar", vec![v.clone(), Arg::Float(0.5)], 1, vec![0.5, -1.0, 1.5, -2.0]),
        ("aten::mean.dim", vec![v.clone(), Arg::Ints(vec![1]), Arg::Bool(true), Arg::None], 1, vec![-0.5, -0.5]),
        (
            "aten::cat",
            vec![Arg::Values(vec![(), ()]), Arg::Int(0)],
            2,
            vec![1.0, -2.0, 3.0, -4.0, 1.0, -2.0, 3.0, -4.0],
        ),
        ("aten::clamp", vec![v.clone(), Arg::Int(0), Arg::Float(2.0)], 1, vec![1.0, 0.0, 2.0, 0.0]),
        (
            "aten::gelu",
            vec![v.clone(), Arg::Str("none".into())],
            1,
            vec![0.841_344_7, -0.045_500_264, 2.995_950_2, -0.000_126_689_8],
        ),
        (
            "aten::contiguous",
            vec![v.clone(), Arg::MemoryFormat(MemoryFormat::Contiguous)],
            1,
            vec![1.0, -2.0, 3.0, -4.0],
        ),
    ];
    for (op, args, count, expected) in cases {
        let found = values(&call(op, &args, &vec![&x; count])[0]);
        let close = found.len() == expected.len() && found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(close, "{op}: {found:?} instead of {expected:?}");
    }
    let parts = call("aten::split.Tensor", &[v, Arg::Int(1), Arg::Int(0)], &[&x]);
    assert_eq!(parts.iter().map(values).collect::<Vec<_>>(), [[1.0, -2.0], [3.0, -4.0]]);
}

#[test]
fn what_libtorch_refuses_is_one_clear_line() {
    start();
    let x = zeros(&[2, 3]);
    let y = zeros(&[4, 5]);
    let v = Arg::Value(());
    let cases: [(&str, Vec<Arg<()>>, Vec<&Tensor>, &str); 5] = [
        ("aten::frobnicate", vec![v.clone()], vec![&x], "aten::frobnicate"),
        ("prim::Print", vec![v.clone()], vec![&x], "not in the namespace aten"),
        ("aten::relu", vec![], vec![], "0 arguments, its schema has 1"),
        ("aten::relu", vec![v.clone(), v.clone()], vec![&x, &x], "more arguments"),
        ("aten::add.Tensor", vec![v.clone(), v, Arg::Int(1)], vec![&x, &y], "must match the size"),
    ];
    for (op, args, tensors, text) in cases {
        let target = Target::cpu();
        let result = PreparedCall::new(&target, &OpName::parse(op), &args)
            .and_then(|call| target.within(|scope| call.call(scope, &tensors)));
        let message = result.map(|_| ()).expect_err(op).to_string();
        assert!(message.contains(text), "{op}: {message}");
        assert!(!message.contains('\n') && !message.contains("frame #"), "{op}: {message}");
    }
}

#[test]
fn elements_of_a_type_that_graphs_do_not_have_are_refused() {
    start();
    let target = Target::cpu();
    // c10's number of unsigned elements of 16 bits.
    let args = [Arg::Value(()), Arg::Int(27), Arg::Bool(false), Arg::Bool(false), Arg::None];
    let made = PreparedCall::new(&target, &OpName::parse("aten::to.dtype"), &args)
        .and_then(|call| target.within(|scope| call.call(scope, &[&zeros(&[2])])));
    assert_eq!(made.err(), Some(TorchError::ElementType(27)));
}

#[test]
fn a_copy_that_fails_for_another_reason_is_no_want_of_the_devices_memory() {
    let _alone = alone();
    start();
    let args = [Arg::Value(()), Arg::Ints(vec![1 << 20, 4]), Arg::Bool(false)];
    let wide = call("aten::expand", &args, &[&zeros(&[4])]).remove(0);
    let guard = allocator::Guarded::start(1 << 20);
    let panic = catch_unwind(AssertUnwindSafe(|| wide.deep_clone())).expect_err("the limit is a sixteenth of it");
    drop(guard);
    assert!(!panic.is::<OutOfMemory>());
    assert!(panic.downcast_ref::<String>().is_some_and(|said| said.contains("the limit is 1048576")));
}

#[test]
fn guarded_memory_is_poisoned_limited_and_watched() {
    let _alone = alone();
    start();
    let ty = f32s(&[4]);
    let guard = allocator::Guarded::start(1 << 20);
    let fresh = Tensor::empty(&Target::cpu(), &ty).expect("sixteen bytes");
    assert_eq!(fresh.to_bytes(), [allocator::POISON; 16]);
    assert_eq!(guard.overwritten_guards(), 0);
    let large = Tensor::empty(&Target::cpu(), &f32s(&[1 << 20]));
    assert!(large.expect_err("four megabytes").to_string().contains("the limit is 1048576"));
    // SAFETY: the byte behind the data belongs to the guard zone of the same allocation.
    unsafe { *fresh.data_ptr().add(16) = 0 };
    assert_eq!(guard.overwritten_guards(), 1);
    drop(fresh);
    assert_eq!(guard.overwritten_guards(), 1);
    assert!(guard.peak_bytes() >= 16);
    drop(guard);
    let guard = allocator::Guarded::start(1 << 20);
    assert_eq!(guard.overwritten_guards(), 0);
}
