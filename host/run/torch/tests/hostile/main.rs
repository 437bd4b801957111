//! Questions about types with absurd numbers: an answer or an error, at once and without memory.
//!
//! A test of its own because it looks at what the process allocates.

#![allow(clippy::panic, reason = "a test fails by panicking")]

#[allow(dead_code, reason = "what the cases expect is of no interest here")]
#[path = "../inference/notation.rs"]
mod notation;
#[path = "../inference/tables.rs"]
mod tables;

use notation::{Case, cases};
use passhost_ir::{Arg, Dtype, Infer, InferError, OpName, TensorType};
use passhost_torch::{MetaInfer, Target, allocator::Peak};
use tables::TABLES;

const NUMBERS: [i64; 12] =
    [i64::MIN, i64::MIN + 1, -(1 << 31), -1, 0, 1, 64, 1 << 31, 1 << 39, 1 << 60, i64::MAX - 1, i64::MAX];
const FLOATS: [f64; 7] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, 1e-300, 1e300];
/// More than scalars and lists take that ops make of numbers on the way.
const MEMORY: u64 = 1 << 16;

/// The tensor with each extent in turn replaced, and with each stride.
fn absurd_types(ty: &TensorType) -> Vec<TensorType> {
    let mut types = vec![];
    for dim in 0..ty.rank() {
        for number in NUMBERS {
            let mut shape = ty.shape.clone();
            shape[dim] = number;
            types.push(TensorType::contiguous(ty.dtype, shape.clone()));
            types.push(TensorType { shape, ..ty.clone() });
            let mut strides = ty.strides.clone();
            strides[dim] = number;
            types.push(TensorType { strides, ..ty.clone() });
        }
    }
    types.push(TensorType::contiguous(ty.dtype, vec![1; 16]));
    types.push(TensorType::contiguous(ty.dtype, []));
    types.extend(Dtype::ALL.map(|dtype| TensorType { dtype, ..ty.clone() }));
    types
}

/// The list with each item in turn replaced by each of these, and lists of other lengths.
fn absurd_lists<T: Copy>(items: &[T], numbers: &[T]) -> Vec<Vec<T>> {
    let mut lists = vec![vec![], items.repeat(20)];
    for &number in numbers {
        for position in 0..items.len() {
            let mut list = items.to_vec();
            list[position] = number;
            lists.push(list);
        }
        lists.push(vec![number]);
        lists.push(vec![number; items.len()]);
    }
    lists
}

/// Arguments in the place of this one.
fn absurd_args(arg: &Arg<TensorType>) -> Vec<Arg<TensorType>> {
    match arg {
        Arg::Int(_) => NUMBERS.map(Arg::Int).to_vec(),
        Arg::Float(_) => [&FLOATS.map(Arg::Float)[..], &NUMBERS.map(Arg::Int)].concat(),
        Arg::Ints(items) => absurd_lists(items, &NUMBERS).into_iter().map(Arg::Ints).collect(),
        Arg::Floats(items) => absurd_lists(items, &FLOATS).into_iter().map(Arg::Floats).collect(),
        Arg::Str(text) => ["", "nonsense", "...", "i->", "a,b,c->z"]
            .map(|other| Arg::Str(other.to_owned()))
            .into_iter()
            .chain([Arg::Str(text.repeat(100))])
            .collect(),
        Arg::Bool(value) => vec![Arg::Bool(!value)],
        Arg::Value(ty) => absurd_types(ty).into_iter().map(Arg::Value).collect(),
        Arg::Values(types) => {
            let replaced = |position: usize| {
                absurd_types(&types[position]).into_iter().map(move |ty| {
                    let mut types = types.clone();
                    types[position] = ty;
                    Arg::Values(types)
                })
            };
            if types.is_empty() {
                return vec![Arg::None];
            }
            (0..types.len())
                .flat_map(replaced)
                .chain([Arg::Values(vec![]), Arg::Values(vec![types[0].clone(); 100])])
                .collect()
        }
        Arg::OptionalValues(types) => {
            let replaced = |position: usize| {
                types[position].iter().flat_map(absurd_types).map(move |ty| {
                    let mut types = types.clone();
                    types[position] = Some(ty);
                    Arg::OptionalValues(types)
                })
            };
            (0..types.len()).flat_map(replaced).chain([Arg::OptionalValues(vec![])]).collect()
        }
        // What is left out may also be given.
        Arg::None => [&NUMBERS.map(Arg::Int)[..], &FLOATS.map(Arg::Float), &[Arg::Ints(vec![i64::MAX])]].concat(),
        Arg::Dtype(_) => Dtype::ALL.map(Arg::Dtype).to_vec(),
        Arg::MemoryFormat(_) | Arg::Strided | Arg::Device | Arg::Bools(_) => vec![Arg::None],
    }
}

/// What is wrong with the answer to this question.
fn complaint(case: &Case<'_>, args: &[Arg<TensorType>]) -> Option<String> {
    let peak = Peak::start(&Target::cpu());
    let answer = MetaInfer.infer(&case.op, args);
    let bytes = peak.bytes();
    let absurd = answer.iter().flatten().find(|ty| ty.check().is_err());
    let shown = || format!("{} with {args:?}", case.op);
    match absurd {
        Some(ty) => Some(format!("{} gives {ty}", shown())),
        None => (bytes > MEMORY).then(|| format!("{} takes {bytes} bytes", shown())),
    }
}

/// The first and the last case of each line of each table.
fn chosen_cases() -> Vec<Case<'static>> {
    let tables = TABLES.iter().map(|(_, table)| cases(table));
    let ends = |line: &[Case<'static>]| line.iter().step_by(line.len().max(2) - 1).cloned().collect::<Vec<_>>();
    tables.flat_map(|cases| cases.chunk_by(|a, b| a.line == b.line).flat_map(ends).collect::<Vec<_>>()).collect()
}

#[test]
fn absurd_arguments_are_answered_without_memory() {
    passhost_torch::process::install_allocator();
    passhost_torch::process::set_threads(1);
    let mut complaints = vec![];
    for case in chosen_cases() {
        for position in 0..case.args.len() {
            for arg in absurd_args(&case.args[position]) {
                let mut args = case.args.clone();
                args[position] = arg;
                complaints.extend(complaint(&case, &args));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn several_absurd_arguments_at_once_are_answered_without_memory() {
    passhost_torch::process::install_allocator();
    passhost_torch::process::set_threads(1);
    let mut complaints = vec![];
    // A linear congruential generator, so that every run asks the same.
    let mut state = 1u64;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for case in chosen_cases() {
        let choices: Vec<Vec<Arg<TensorType>>> = case.args.iter().map(absurd_args).collect();
        for _ in 0..50 {
            let mut args = case.args.clone();
            for (arg, choices) in args.iter_mut().zip(&choices) {
                if draw(3) == 0 {
                    *arg = choices[draw(choices.len())].clone();
                }
            }
            complaints.extend(complaint(&case, &args));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn questions_that_have_no_answer_are_refused_with_a_reason() {
    passhost_torch::process::install_allocator();
    passhost_torch::process::set_threads(1);
    let tensor = |shape: &[i64]| Arg::Value(TensorType::contiguous(Dtype::F32, shape));
    let infer = |op: &str, args: &[Arg<TensorType>]| MetaInfer.infer(&OpName::parse(op), args);
    let huge = tensor(&[1 << 19, 1 << 19]);
    assert!(infer("aten::relu", std::slice::from_ref(&huge)).is_ok());
    for (op, args, words) in [
        ("aten::relu", vec![tensor(&[1 << 30, 1 << 30])], "spans more than"),
        ("aten::relu", vec![], "found 0"),
        ("aten::relu", vec![Arg::Int(1)], "Tensor self"),
        ("aten::add.Tensor", vec![tensor(&[2]), tensor(&[3]), Arg::Int(1)], "must match the size"),
        ("aten::unbind.int", vec![huge.clone(), Arg::Int(0)], "524288 tensors"),
        ("aten::chunk", vec![huge.clone(), Arg::Int(i64::MAX), Arg::Int(0)], "524288 tensors"),
        ("aten::chunk", vec![tensor(&[0]), Arg::Int(1 << 40), Arg::Int(0)], "1099511627776 tensors"),
        ("aten::repeat", vec![huge.clone(), Arg::Ints(vec![1 << 19, 1])], "spans more than"),
        ("aten::zeros", vec![Arg::Ints(vec![1 << 60]), Arg::None, Arg::None, Arg::None, Arg::None], "spans more than"),
    ] {
        let answer = infer(op, &args);
        let found = matches!(&answer, Err(InferError::Refused { message, .. }) if message.contains(words));
        assert!(found, "{op}: {answer:?}, expected `{words}`");
    }
    assert!(matches!(infer("aten::_print", &[Arg::Str("x".into())]), Err(InferError::NotAllowed(_))));
}
