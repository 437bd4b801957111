//! Ops by name on the CPU, and inferred types against real runs.

#![allow(
    clippy::panic,
    clippy::type_complexity,
    reason = "a test fails by panicking, and its tables name their columns"
)]

use passhost_ir::{Arg, Dtype, Infer, InferError, MemoryFormat, OpName, TensorType};
use passhost_torch::{MetaInfer, PreparedCall, Tensor, allocator};

fn start() {
    passhost_torch::start(2);
}

fn contiguous(dtype: Dtype, shape: &[i64]) -> TensorType {
    TensorType::contiguous(dtype, shape)
}

fn f32s(shape: &[i64]) -> TensorType {
    contiguous(Dtype::F32, shape)
}

/// A tensor of this type filled with small distinct numbers, strides included.
fn filled(ty: &TensorType) -> Tensor {
    let dense = contiguous(ty.dtype, &ty.shape);
    let count = dense.numel() as usize;
    let bytes: Vec<u8> = (0..count)
        .flat_map(|i| {
            let x = (i % 13) as f32 * 0.25 + 0.5;
            match ty.dtype {
                Dtype::F32 => x.to_le_bytes().to_vec(),
                Dtype::F64 => f64::from(x).to_le_bytes().to_vec(),
                Dtype::Bf16 => x.to_bits().to_le_bytes()[2..].to_vec(),
                Dtype::I64 => ((i % 3) as i64).to_le_bytes().to_vec(),
                Dtype::Bool => vec![(i % 2) as u8],
                _ => vec![0x00, 0x3c],
            }
        })
        .collect();
    let tensor = Tensor::from_bytes(&dense, &bytes).expect("the bytes fit the type");
    if ty.strides == dense.strides {
        return tensor;
    }
    // A transposed copy: strides sorted in descending order give the memory order.
    let args = [Arg::Value(()), Arg::Ints(ty.shape.clone()), Arg::Ints(ty.strides.clone()), Arg::None];
    call("aten::as_strided", &args, &[&tensor]).remove(0)
}

fn call(op: &str, args: &[Arg<()>], tensors: &[&Tensor]) -> Vec<Tensor> {
    PreparedCall::new(&OpName::parse(op), args)
        .and_then(|call| call.call(tensors))
        .unwrap_or_else(|error| panic!("{op}: {error}"))
}

fn values(tensor: &Tensor) -> Vec<f32> {
    tensor.to_bytes().chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

#[test]
fn ops_are_called_by_name_with_every_kind_of_argument() {
    start();
    let x = Tensor::from_bytes(&f32s(&[2, 2]), &[1.0f32, -2.0, 3.0, -4.0].map(f32::to_le_bytes).concat())
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
    let x = filled(&f32s(&[2, 3]));
    let y = filled(&f32s(&[4, 5]));
    let v = Arg::Value(());
    let cases: [(&str, Vec<Arg<()>>, Vec<&Tensor>, &str); 5] = [
        ("aten::frobnicate", vec![v.clone()], vec![&x], "aten::frobnicate"),
        ("prim::Print", vec![v.clone()], vec![&x], "not in the namespace aten"),
        ("aten::relu", vec![], vec![], "0 arguments, its schema has 1"),
        ("aten::relu", vec![v.clone(), v.clone()], vec![&x, &x], "more arguments"),
        ("aten::add.Tensor", vec![v.clone(), v, Arg::Int(1)], vec![&x, &y], "must match the size"),
    ];
    for (op, args, tensors, text) in cases {
        let result = PreparedCall::new(&OpName::parse(op), &args).and_then(|call| call.call(&tensors));
        let message = result.map(|_| ()).expect_err(op).to_string();
        assert!(message.contains(text), "{op}: {message}");
        assert!(!message.contains('\n') && !message.contains("frame #"), "{op}: {message}");
    }
}

/// Ops, their arguments with types for tensors.
fn typed_calls() -> Vec<(&'static str, Vec<Arg<TensorType>>)> {
    let t = |ty: TensorType| Arg::Value(ty);
    let nchw = f32s(&[2, 4, 6, 5]);
    let nhwc = TensorType { dtype: Dtype::F32, shape: vec![2, 4, 6, 5], strides: vec![120, 1, 20, 4] };
    let matrix = f32s(&[4, 6]);
    let transposed = TensorType { dtype: Dtype::F32, shape: vec![6, 4], strides: vec![1, 6] };
    let ints = contiguous(Dtype::I64, &[3, 2]);
    let mask = contiguous(Dtype::Bool, &[4, 6]);
    let half = contiguous(Dtype::Bf16, &[4, 6]);
    let (none, yes, no) = (Arg::None, Arg::Bool(true), Arg::Bool(false));
    let vector = || t(f32s(&[4]));
    let mut calls = vec![
        ("aten::relu", vec![t(matrix.clone())]),
        ("aten::sigmoid", vec![t(transposed.clone())]),
        ("aten::add.Tensor", vec![t(matrix.clone()), t(f32s(&[6])), Arg::Int(1)]),
        ("aten::add.Tensor", vec![t(half.clone()), t(matrix.clone()), Arg::Int(1)]),
        ("aten::mul.Scalar", vec![t(half.clone()), Arg::Float(2.0)]),
        ("aten::div.Tensor", vec![t(ints.clone()), t(ints.clone())]),
        ("aten::softmax.int", vec![t(matrix.clone()), Arg::Int(-1), none.clone()]),
        (
            "aten::layer_norm",
            vec![t(matrix.clone()), Arg::Ints(vec![6]), t(f32s(&[6])), t(f32s(&[6])), Arg::Float(1e-5), yes.clone()],
        ),
        ("aten::mean.dim", vec![t(nchw.clone()), Arg::Ints(vec![2, 3]), yes.clone(), none.clone()]),
        ("aten::sum.dim_IntList", vec![t(mask.clone()), Arg::Ints(vec![1]), no.clone(), none.clone()]),
        ("aten::transpose.int", vec![t(matrix.clone()), Arg::Int(0), Arg::Int(1)]),
        ("aten::permute", vec![t(nchw.clone()), Arg::Ints(vec![0, 2, 3, 1])]),
        ("aten::reshape", vec![t(transposed.clone()), Arg::Ints(vec![8, 3])]),
        ("aten::view", vec![t(matrix.clone()), Arg::Ints(vec![2, -1])]),
        ("aten::expand", vec![t(f32s(&[1, 6])), Arg::Ints(vec![4, 6]), no.clone()]),
        ("aten::slice.Tensor", vec![t(matrix.clone()), Arg::Int(1), Arg::Int(1), Arg::Int(5), Arg::Int(2)]),
        ("aten::select.int", vec![t(matrix.clone()), Arg::Int(0), Arg::Int(2)]),
        ("aten::unsqueeze", vec![t(matrix.clone()), Arg::Int(1)]),
        ("aten::cat", vec![Arg::Values(vec![matrix.clone(), matrix.clone()]), Arg::Int(1)]),
        ("aten::split.Tensor", vec![t(matrix.clone()), Arg::Int(4), Arg::Int(1)]),
        ("aten::matmul", vec![t(matrix.clone()), t(transposed.clone())]),
        ("aten::linear", vec![t(matrix.clone()), t(f32s(&[3, 6])), t(f32s(&[3]))]),
        ("aten::gelu", vec![t(half), Arg::Str("tanh".into())]),
        ("aten::to.dtype", vec![t(matrix.clone()), Arg::Dtype(Dtype::F16), no.clone(), no.clone(), none.clone()]),
        ("aten::masked_fill.Scalar", vec![t(matrix.clone()), t(mask.clone()), Arg::Float(-1.0)]),
        ("aten::pow.Tensor_Scalar", vec![t(matrix.clone()), Arg::Float(3.0)]),
        ("aten::dropout", vec![t(matrix.clone()), Arg::Float(0.1), no.clone()]),
        ("aten::eq.Scalar", vec![t(ints.clone()), Arg::Int(1)]),
        ("aten::cumsum", vec![t(ints.clone()), Arg::Int(0), none.clone()]),
        ("aten::index.Tensor", vec![t(matrix.clone()), Arg::OptionalValues(vec![None, Some(ints.clone())])]),
        ("aten::rsqrt", vec![t(transposed.clone())]),
        ("aten::neg", vec![t(matrix.clone())]),
        ("aten::clamp", vec![t(matrix.clone()), Arg::Float(1e-9), none.clone()]),
        ("aten::pad", vec![t(matrix.clone()), Arg::Ints(vec![0, 0, 1, 0]), Arg::Str("constant".into()), none.clone()]),
        ("aten::pad", vec![t(transposed.clone()), Arg::Ints(vec![1, 2]), Arg::Str("constant".into()), none.clone()]),
        ("aten::flatten.using_ints", vec![t(nchw.clone()), Arg::Int(1), Arg::Int(-1)]),
        ("aten::flatten.using_ints", vec![t(nhwc.clone()), Arg::Int(1), Arg::Int(-1)]),
        ("aten::contiguous", vec![t(transposed.clone()), Arg::MemoryFormat(MemoryFormat::Contiguous)]),
        ("aten::chunk", vec![t(matrix.clone()), Arg::Int(2), Arg::Int(1)]),
        ("aten::split.sizes", vec![t(matrix.clone()), Arg::Ints(vec![1, 5]), Arg::Int(1)]),
        ("aten::rms_norm", vec![t(matrix.clone()), Arg::Ints(vec![6]), t(f32s(&[6])), Arg::Float(1e-6)]),
        // From here on the table.
        ("aten::hardswish", vec![t(transposed.clone())]),
        ("aten::flip", vec![t(matrix.clone()), Arg::Ints(vec![1])]),
        ("aten::prelu", vec![t(nchw.clone()), vector()]),
        ("aten::roll", vec![t(matrix.clone()), Arg::Ints(vec![1]), Arg::Ints(vec![0])]),
        ("aten::roll", vec![t(transposed.clone()), Arg::Ints(vec![1, 2]), Arg::Ints(vec![1, 0])]),
        ("aten::roll", vec![t(nchw.clone()), Arg::Ints(vec![1, 3]), Arg::Ints(vec![1, 2])]),
        ("aten::roll", vec![t(nhwc.clone()), Arg::Ints(vec![-1, 3]), Arg::Ints(vec![-1, 2])]),
        ("aten::roll", vec![t(nhwc.clone()), Arg::Ints(vec![1, 12]), Arg::Ints(vec![1, 2])]),
        ("aten::roll", vec![t(nhwc.clone()), Arg::Ints(vec![2]), Arg::Ints(vec![])]),
        ("aten::roll", vec![t(f32s(&[0, 4])), Arg::Ints(vec![1]), Arg::Ints(vec![1])]),
        ("aten::where.self", vec![t(mask.clone()), t(matrix.clone()), t(f32s(&[]))]),
        ("aten::where.self", vec![t(mask), t(contiguous(Dtype::I64, &[4, 6])), t(matrix.clone())]),
        ("aten::index_select", vec![t(matrix.clone()), Arg::Int(-1), t(contiguous(Dtype::I64, &[3]))]),
        ("aten::embedding", vec![t(matrix.clone()), t(ints.clone()), Arg::Int(-1), no.clone(), no.clone()]),
        ("aten::adaptive_avg_pool2d", vec![t(nchw.clone()), Arg::Ints(vec![1, 1])]),
        ("aten::adaptive_avg_pool2d", vec![t(nchw.clone()), Arg::Ints(vec![3, 2])]),
        ("aten::adaptive_avg_pool2d", vec![t(nhwc.clone()), Arg::Ints(vec![3, 2])]),
        ("aten::var.correction", vec![t(nchw.clone()), Arg::Ints(vec![-1]), Arg::Int(1), yes.clone()]),
        ("aten::std.correction", vec![t(matrix.clone()), none.clone(), Arg::Int(0), no.clone()]),
        ("aten::repeat_interleave.self_int", vec![t(matrix.clone()), Arg::Int(3), Arg::Int(1), none.clone()]),
        ("aten::repeat_interleave.self_int", vec![t(matrix), Arg::Int(2), none.clone(), none.clone()]),
    ];
    for image in [&nchw, &nhwc] {
        calls.push((
            "aten::batch_norm",
            vec![
                t(image.clone()),
                vector(),
                vector(),
                vector(),
                vector(),
                no.clone(),
                Arg::Float(0.1),
                Arg::Float(1e-5),
                yes.clone(),
            ],
        ));
        let pair = |size: i64| Arg::Ints(vec![size; 2]);
        let window = [t(image.clone()), pair(2), pair(2), pair(0)];
        calls.push(("aten::max_pool2d", [&window[..], &[pair(1), no.clone()]].concat()));
        calls.push(("aten::avg_pool2d", [&window[..], &[no.clone(), yes.clone(), none.clone()]].concat()));
        for (stride, padding) in [(1, 0), (2, 1)] {
            calls.push((
                "aten::conv2d",
                vec![
                    t(image.clone()),
                    t(f32s(&[8, 4, 3, 3])),
                    none.clone(),
                    Arg::Ints(vec![stride, stride]),
                    Arg::Ints(vec![padding, padding]),
                    Arg::Ints(vec![1, 1]),
                    Arg::Int(1),
                ],
            ));
        }
    }
    calls
}

#[test]
fn inferred_types_are_those_of_a_real_run() {
    start();
    let mut wrong = vec![];
    for (op, args) in typed_calls() {
        let name = OpName::parse(op);
        let inferred = MetaInfer.infer(&name, &args);
        let tensors: Vec<Tensor> = args.iter().flat_map(Arg::values).map(filled).collect();
        let places: Vec<Arg<()>> = args.iter().map(|arg| arg.map(|_| ())).collect();
        let results = call(op, &places, &tensors.iter().collect::<Vec<_>>());
        let real: Vec<TensorType> = results.iter().map(Tensor::ty).collect();
        if inferred.as_ref() != Ok(&real) {
            let shown: Vec<String> = real.iter().map(ToString::to_string).collect();
            wrong.push(format!("{op}: inferred {inferred:?}, the run gave {shown:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn inference_takes_no_memory_and_refuses_with_a_reason() {
    start();
    let huge = f32s(&[1 << 19, 1 << 19]);
    let relu = OpName::parse("aten::relu");
    assert_eq!(MetaInfer.infer(&relu, &[Arg::Value(huge.clone())]), Ok(vec![huge]));
    let too_large = f32s(&[1 << 30, 1 << 30]);
    assert!(matches!(MetaInfer.infer(&relu, &[Arg::Value(too_large)]), Err(InferError::Refused { .. })));
    let print = OpName::parse("aten::_print");
    assert!(matches!(MetaInfer.infer(&print, &[Arg::Str("x".into())]), Err(InferError::NotAllowed(_))));
    // Its layout depends on which fused kernel the CPU picks, so nobody promises one.
    let attention = OpName::parse("aten::scaled_dot_product_attention");
    let q = Arg::Value(f32s(&[3, 7, 4]));
    let (none, no) = (Arg::None, Arg::Bool(false));
    let args = [q.clone(), q.clone(), q, none.clone(), Arg::Float(0.0), no.clone(), none, no];
    assert!(matches!(MetaInfer.infer(&attention, &args), Err(InferError::Unknown(_))));
    let add = OpName::parse("aten::add.Tensor");
    let mismatch = [Arg::Value(f32s(&[2])), Arg::Value(f32s(&[3])), Arg::Int(1)];
    assert!(matches!(MetaInfer.infer(&add, &mismatch), Err(InferError::Refused { .. })));
}

#[test]
fn guarded_memory_is_poisoned_limited_and_watched() {
    start();
    let ty = f32s(&[4]);
    let guard = allocator::Guarded::start(1 << 20);
    let fresh = Tensor::empty(&ty).expect("sixteen bytes");
    assert_eq!(fresh.to_bytes(), [allocator::POISON; 16]);
    assert_eq!(guard.overwritten_guards(), 0);
    let large = Tensor::empty(&f32s(&[1 << 20]));
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
