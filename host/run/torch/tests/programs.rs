//! Programs of libtorch's ops on the CPU, in a process that is not theirs.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use passhost_ir::{Dtype, Graph, NodeId, OpName, OpTable, TensorType, functionalise, in_place_nodes};
use passhost_runtime::{
    Cause, DeviceKernel, Engine, EngineTensor, GUARD, Hints, Mode, NodeError, RecordError, Temporary, Watch,
};
use passhost_torch::{Context, Program, Target, Tensor, gradients_enabled, inference_enabled};
use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const LENGTH: i64 = 1000;

/// `%to = %from + %from` as a kernel.
fn doubled(to: &str, from: &str) -> String {
    let n = LENGTH;
    format!(
        "%{to}: f32[{n}] = kernel(%{from}) {{ space p0={n} in x0: f32[{n}] i0 = p0 v0: f32 = load x0[i0] pad 0.0 \
         v1: f32 = add v0, v0 out v1 over [p0] as [{n}] }}\n"
    )
}

fn graph(nodes: &[String], result: &str) -> Graph {
    Graph::parse(&format!("graph(%x: f32[{LENGTH}]) {{\n{}return (%{result})\n}}", nodes.concat())).unwrap()
}

fn program(nodes: &[String], result: &str) -> Program {
    Program::compile(&graph(nodes, result), Mode::Declared, &Hints::default(), &Arc::new(Context::cpu(Target::cpu())))
        .unwrap()
}

fn floats(values: impl Iterator<Item = f32>) -> Vec<u8> {
    values.flat_map(f32::to_le_bytes).collect()
}

fn input() -> Tensor {
    let ty = TensorType::contiguous(Dtype::F32, [LENGTH]);
    Tensor::from_bytes(&Target::cpu(), &ty, &floats((0..LENGTH).map(|at| at as f32))).unwrap()
}

fn multiples(factor: f32) -> Vec<u8> {
    floats((0..LENGTH).map(|at| at as f32 * factor))
}

/// Six kernels and an op between them; the op's result and the temporaries before and after it overlap in time.
fn chain() -> Vec<String> {
    let relu = format!("%d: f32[{LENGTH}] = aten::relu(%c)\n");
    let sum = format!("%g: f32[{LENGTH}] = aten::add.Tensor(%f, %b)\n");
    vec![
        doubled("a", "x"),
        doubled("b", "a"),
        doubled("c", "b"),
        relu,
        doubled("e", "d"),
        doubled("f", "e"),
        sum,
        doubled("h", "g"),
    ]
}

#[test]
fn programs_and_what_they_are_made_of_can_go_to_another_thread() {
    fn is_send<T: Send>() {}
    fn is_sync<T: Sync>() {}
    is_send::<Program>();
    is_send::<DeviceKernel>();
    is_send::<Tensor>();
    is_send::<Context>();
    is_sync::<Context>();
    let program = program(&chain(), "h");
    let bytes = std::thread::spawn(move || program.run(&[input()]).unwrap()[0].to_bytes()).join().unwrap();
    assert_eq!(bytes, multiples(72.0));
}

#[test]
fn the_callers_modes_survive_every_call() {
    let good = program(&chain(), "h");
    let fails = program(&[doubled("a", "x")], "a");
    let short = Tensor::from_bytes(
        &Target::cpu(),
        &TensorType::contiguous(Dtype::F32, [3]),
        &floats([1.0, 2.0, 3.0].into_iter()),
    )
    .unwrap();
    let everything = || {
        let before = (gradients_enabled(), inference_enabled());
        let same = |what: &str| assert_eq!((gradients_enabled(), inference_enabled()), before, "after {what}");
        let input = input();
        same("making a tensor");
        assert_eq!(good.run(std::slice::from_ref(&input)).unwrap()[0].to_bytes(), multiples(72.0));
        same("a run");
        assert!(fails.run(std::slice::from_ref(&short)).is_err());
        same("a kernel that refuses its input");
        let wrong = program(&[format!("%a: f32[{LENGTH}] = aten::view(%x, [7])\n")], "a");
        assert!(wrong.run(std::slice::from_ref(&input)).is_err());
        same("an op that fails");
        let panic = catch_unwind(AssertUnwindSafe(|| good.run_watched(std::slice::from_ref(&input), &mut Panics)));
        assert!(panic.is_err());
        same("a panic");
        assert_eq!(good.run(&[input]).unwrap()[0].to_bytes(), multiples(72.0));
        same("a run after a panic");
    };
    tch::with_grad(everything);
    tch::no_grad(everything);
    Target::cpu().inference().within(|_| everything());
}

struct Panics;

impl Watch<Target> for Panics {
    const TEMPORARIES: bool = false;

    fn value(&mut self, number: usize, _tensor: &Tensor) {
        assert!(number < 3, "value {number} exists");
    }
}

#[test]
fn results_are_ordinary_tensors_unless_a_context_is_for_inference() {
    for (target, expected) in [(Target::cpu(), false), (Target::cpu().inference(), true)] {
        let nodes = [format!("%a: f32[{LENGTH}] = aten::neg(%x)\n"), doubled("b", "a")];
        let context = Arc::new(Context::cpu(target));
        let program = Program::compile(&graph(&nodes, "b"), Mode::Declared, &Hints::default(), &context).unwrap();
        let output = program.run(&[input()]).unwrap().remove(0);
        assert_eq!(output.is_inference(), expected);
    }
}

/// Poisons every temporary before it is written, and checks its guard zones when it is no longer read.
#[derive(Default)]
struct Poison {
    begun: u32,
    ended: u32,
}

impl Watch<Target> for Poison {
    const TEMPORARIES: bool = true;

    fn begin(&mut self, mut temporary: Temporary<Tensor>) -> Result<(), Cause> {
        self.begun += 1;
        assert_eq!(temporary.memory.to_bytes().len() as u64, GUARD + temporary.bytes + GUARD);
        temporary.memory.fill(0xff);
        Ok(())
    }

    fn end(&mut self, temporary: Temporary<Tensor>) -> Result<(), Cause> {
        self.ended += 1;
        let bytes = temporary.memory.to_bytes();
        let (front, back) = (&bytes[..GUARD as usize], &bytes[(GUARD + temporary.bytes) as usize..]);
        assert!(front.iter().chain(back).all(|byte| *byte == 0xff), "a guard zone was overwritten");
        Ok(())
    }
}

#[test]
fn temporaries_share_one_arena_and_survive_poison() {
    let program = program(&chain(), "h");
    // `%a`, `%b`, `%c`, `%e` and `%f`; no more than three are needed at once.
    let one = (GUARD + 4 * LENGTH as u64 + GUARD).next_multiple_of(256);
    assert_eq!(program.arena_bytes(), 3 * one);
    let mut poison = Poison::default();
    for _ in 0..2 {
        assert_eq!(program.run_watched(&[input()], &mut poison).unwrap()[0].to_bytes(), multiples(72.0));
        assert_eq!(program.run(&[input()]).unwrap()[0].to_bytes(), multiples(72.0));
    }
    assert_eq!((poison.begun, poison.ended), (10, 10));
}

#[test]
fn what_an_output_may_be_a_view_of_has_memory_of_its_own() {
    let view = format!("%b: f32[1,{LENGTH}] = aten::unsqueeze(%a, 0)\n");
    let program = program(&[doubled("a", "x"), view, doubled("c", "a")], "b");
    let first = program.run(&[input()]).unwrap().remove(0);
    let one = (GUARD + 4 * LENGTH as u64 + GUARD).next_multiple_of(256);
    assert_eq!(program.arena_bytes(), one, "`%c` alone is a temporary");
    let negative = Tensor::from_bytes(first.target(), &input().ty(), &multiples(-1.0)).unwrap();
    let second = program.run(&[negative]).unwrap().remove(0);
    assert_eq!(first.to_bytes(), multiples(2.0), "a later run does not write to the outputs of an earlier one");
    assert_eq!(second.to_bytes(), multiples(-2.0));
}

#[test]
fn a_value_that_is_returned_twice_and_an_input_come_back_in_every_run() {
    let text = format!("graph(%x: f32[{LENGTH}]) {{\n{}return (%a, %x, %a)\n}}", doubled("a", "x"));
    let context = Arc::new(Context::cpu(Target::cpu()));
    let program = Program::compile(&Graph::parse(&text).unwrap(), Mode::Declared, &Hints::default(), &context).unwrap();
    for _ in 0..2 {
        let outputs = program.run(&[input()]).unwrap();
        let found: Vec<Vec<u8>> = outputs.iter().map(Tensor::to_bytes).collect();
        assert_eq!(found, [multiples(2.0), multiples(1.0), multiples(2.0)]);
        assert!(outputs[0].data_ptr() == outputs[2].data_ptr());
    }
}

#[test]
fn another_layout_is_prepared_anew_and_a_known_one_is_not() {
    let context = Context::cpu(Target::cpu());
    let text = "graph(%x: f32[4,3]) {
      %y: f32[4,3] = kernel(%x) { space p0=4, p1=3 in x0: f32[4,3] i0 = p0 i1 = p1
        v0: f32 = load x0[i0, i1] pad 0.0 out v0 over [p0, p1] as [4,3] }
      return (%y) }";
    let graph = Graph::parse(text).unwrap();
    let passhost_ir::NodeKind::Kernel { kernel, .. } = &graph.nodes[0].kind else { unreachable!("it is a kernel") };
    let mut kernel = DeviceKernel::new(&context, kernel).unwrap();
    let bytes = floats((0..12).map(|at| at as f32));
    let dense = TensorType::contiguous(Dtype::F32, [4, 3]);
    let output = Tensor::empty(context.engine(), &dense).unwrap();
    let mut words: Vec<f32> = (0..12).map(|at| at as f32).collect();
    let transposed = TensorType { strides: vec![1, 4], ..dense.clone() };
    // SAFETY: twelve floats, which live on and are written to by nobody.
    let transposed = unsafe { Tensor::from_foreign(context.engine(), words.as_mut_ptr().cast(), &transposed, || ()) };
    let (dense, transposed) = (Tensor::from_bytes(context.engine(), &dense, &bytes).unwrap(), transposed.unwrap());
    for (input, preparations) in [(&dense, 1), (&dense, 1), (&transposed, 2), (&transposed, 2), (&dense, 3)] {
        // SAFETY: the output is of the kernel's type and of its own memory, and nobody else uses the tensors.
        unsafe { kernel.run(&context, &[input], &[&output]) }.unwrap();
        assert_eq!(output.to_bytes(), input.to_bytes());
        assert_eq!(kernel.preparations(), preparations);
    }
}

#[test]
fn a_foreign_tensor_is_released_exactly_once() {
    static RELEASED: AtomicU32 = AtomicU32::new(0);
    let program = program(&chain(), "h");
    let target = *program.context().engine();
    let mut words: Vec<f32> = (0..LENGTH).map(|at| at as f32).collect();
    let ty = TensorType::contiguous(Dtype::F32, [LENGTH]);
    let release = || {
        RELEASED.fetch_add(1, Ordering::SeqCst);
    };
    // SAFETY: as many floats, which live on and are written to by nobody.
    let foreign = unsafe { Tensor::from_foreign(&target, words.as_mut_ptr().cast(), &ty, release) }.unwrap();
    let other = foreign.clone();
    assert_eq!(program.run(&[foreign]).unwrap()[0].to_bytes(), multiples(72.0));
    assert_eq!(RELEASED.load(Ordering::SeqCst), 0, "another handle is left");
    drop(other);
    assert_eq!(RELEASED.load(Ordering::SeqCst), 1);
    let negative = TensorType { dtype: Dtype::F32, shape: vec![-1], strides: vec![1] };
    // SAFETY: no tensor is made.
    let refused = unsafe { Tensor::from_foreign(&target, words.as_mut_ptr().cast(), &negative, release) };
    assert!(refused.is_err());
    assert_eq!(RELEASED.load(Ordering::SeqCst), 2, "refused, and released");
}

#[test]
fn a_wrong_type_and_a_wrong_number_of_inputs_are_errors_with_their_node() {
    let program = program(&[format!("%a: f32[{LENGTH}] = aten::mean(%x)\n")], "a");
    let NodeError { op, cause, .. } = program.run(&[input()]).unwrap_err();
    assert_eq!(op, "aten::mean");
    assert_eq!(cause, Cause::Type { declared: format!("f32[{LENGTH}]"), found: "f32[]".into() });
    assert!(program.run(&[]).unwrap_err().to_string().contains("0 inputs, expected 1"));
}

#[test]
fn nothing_is_recorded_on_the_cpu() {
    assert_eq!(program(&[doubled("a", "x")], "a").record(&[input()]).err(), Some(RecordError::Cpu));
    assert!(Target::cpu().captured(|| ()).is_err());
}

/// The values that came to exist.
#[derive(Default)]
struct Seen(Vec<usize>);

impl Watch<Target> for Seen {
    const TEMPORARIES: bool = false;

    fn value(&mut self, number: usize, _tensor: &Tensor) {
        self.0.push(number);
    }
}

#[test]
fn what_no_input_reaches_is_calculated_once_and_overwritten_by_nobody() {
    // Values: 0 is the input, 1 and 2 are constant, 3 is 2 made negative, in place if it may be, and 4 the sum.
    let ones = format!("%a: f32[{LENGTH}] = aten::ones([{LENGTH}])\n");
    let negative = format!("%c: f32[{LENGTH}] = aten::neg(%b)\n");
    let sum = format!("%d: f32[{LENGTH}] = aten::add.Tensor(%x, %c)\n");
    let graph = graph(&[ones, doubled("b", "a"), negative, sum], "d");
    let ids: Vec<NodeId> = graph.nodes.iter().map(|node| node.id).collect();
    let in_place = HashMap::from([(ids[2], OpName::new("aten::neg_", ""))]);
    let seen = |program: &Program| {
        let mut seen = Seen::default();
        let output = program.run_watched(&[input()], &mut seen).unwrap().remove(0);
        assert_eq!(output.to_bytes(), floats((0..LENGTH).map(|at| at as f32 - 2.0)));
        seen.0
    };
    let context = Arc::new(Context::cpu(Target::cpu()));
    let each_time = Hints { in_place: in_place.clone(), ..Hints::default() };
    let each_time = Program::compile(&graph, Mode::Declared, &each_time, &context).unwrap();
    assert_eq!([seen(&each_time), seen(&each_time)], [[0, 1, 2, 3, 4]; 2]);
    let once = Hints { in_place, once: HashSet::from([ids[0], ids[1]]), ..Hints::default() };
    let once = Program::compile(&graph, Mode::Declared, &once, &context).unwrap();
    assert_eq!([seen(&once), seen(&once)], [vec![0, 1, 2, 3, 4], vec![0, 3, 4]]);
    // After a run that failed nothing is taken for granted.
    let panic = catch_unwind(AssertUnwindSafe(|| once.run_watched(&[input()], &mut Panics)));
    assert!(panic.is_err());
    assert!(once.run(&[]).is_err());
    assert_eq!(seen(&once), [0, 1, 2, 3, 4]);
    assert_eq!(seen(&once), [0, 3, 4]);
}

/// Notes where each value lies.
#[derive(Default)]
struct Places(HashMap<usize, i64>);

impl Watch<Target> for Places {
    const TEMPORARIES: bool = false;

    fn value(&mut self, number: usize, tensor: &Tensor) {
        self.0.insert(number, tensor.data_ptr() as i64);
    }
}

/// How many scatters of a functional graph return what they were given, written to.
fn scatters_in_place(graph: &Graph, in_place: &HashMap<NodeId, OpName>, inputs: &[Tensor]) -> usize {
    let hints = Hints { in_place: in_place.clone(), ..Hints::default() };
    let program = Program::compile(graph, Mode::Declared, &hints, &Arc::new(Context::cpu(Target::cpu()))).unwrap();
    let mut places = Places::default();
    program.run_watched(inputs, &mut places).unwrap();
    let scatters = graph.nodes.iter().filter(|node| in_place.get(&node.id).is_some_and(|op| op.name == "aten::copy_"));
    let place = |value: passhost_ir::ValueId| places.0.get(&value.index());
    scatters.filter(|node| place(node.operands()[0]).is_some_and(|at| place(node.outputs[0]) == Some(at))).count()
}

/// Programs that write to parts of tensors: with what is returned.
const WRITES: [(&str, &str); 7] = [
    (
        "%a: f32[10,100] = aten::clone(%x)\n%b: f32[3,100] = aten::slice.Tensor(%a, 0, 2, 5)\n%c: f32[3,100] = aten::zero_(%b)\n",
        "%a",
    ),
    (
        "%a: f32[10,100] = aten::relu(%x)\n%b: f32[10,50]{100,1} = aten::slice.Tensor(%a, 1, 0, 50)\n\
         %c: f32[10,50]{100,1} = aten::mul_.Tensor(%b, %y)\n",
        "%c",
    ),
    (
        "%a: f32[10,100] = aten::relu(%x)\n%b: f32[100] = aten::select.int(%a, 0, -1)\n\
         %c: f32[100] = aten::neg_(%b)\n%d: f32[100] = aten::select.int(%a, 0, 3)\n\
         %e: f32[100] = aten::add_.Tensor(%d, %c)\n",
        "%a, %e",
    ),
    (
        "%a: f32[10,100] = aten::relu(%x)\n%b: f32[10,50]{100,1} = aten::slice.Tensor(%a, 1, 0, 50)\n\
         %c: f32[10,50]{100,1} = aten::slice.Tensor(%a, 1, 50, 100)\n%d: f32[10,50]{100,1} = aten::add_.Tensor(%b, %c)\n\
         %e: f32[10,50]{100,1} = aten::mul_.Tensor(%d, %c)\n",
        "%a",
    ),
    (
        "%a: f32[10,100] = aten::relu(%x)\n%b: f32[10,50]{100,1} = aten::slice.Tensor(%a, 1, 0, 50)\n\
         %s: f32[] = aten::sum(%a)\n%c: f32[10,50]{100,1} = aten::mul_.Tensor(%b, %s)\n",
        "%a, %s",
    ),
    (
        "%a: f32[10,100] = aten::relu(%x)\n%b: f32[10,50]{100,1} = aten::slice.Tensor(%a, 1, 0, 50)\n\
         %c: f32[5,50]{200,1} = aten::slice.Tensor(%b, 0, 0, 10, 2)\n%d: f32[5,50]{200,1} = aten::exp_(%c)\n",
        "%a, %b",
    ),
    (
        "%a: f32[10,100] = aten::relu(%x)\n%b: f32[4,100] = aten::slice.Tensor(%a, 0, 2, 6)\n\
         %c: f32[4,30]{100,1} = aten::slice.Tensor(%b, 1, 10, 40)\n%d: f32[4,30]{100,1} = aten::fill_.Scalar(%c, 3)\n\
         %e: f32[4,30]{100,1} = aten::slice.Tensor(%b, 1, 40, 70)\n%f: f32[4,30]{100,1} = aten::add_.Tensor(%e, %d)\n",
        "%a",
    ),
];

#[test]
fn what_is_written_to_part_of_a_tensor_lies_there_as_in_eager() {
    let context = Arc::new(Context::cpu(Target::cpu()));
    let elements: Vec<f32> = (0..1000).map(|at| (at % 37) as f32 * 0.25 - 4.0).collect();
    let tensor = |shape: &[i64]| {
        let ty = TensorType::contiguous(Dtype::F32, shape.to_vec());
        let bytes = floats(elements.iter().copied().take(ty.numel() as usize));
        Tensor::from_bytes(context.engine(), &ty, &bytes).unwrap()
    };
    for ((body, outputs), in_their_place) in WRITES.into_iter().zip([1, 1, 2, 2, 1, 1, 2]) {
        let text = format!("graph(%x: f32[10,100], %y: f32[10,50]) {{\n{body}return ({outputs})\n}}");
        let eager = Graph::parse(&text).unwrap();
        let functional = functionalise(&eager, OpTable::sample()).unwrap().graph;
        let in_place: HashMap<NodeId, OpName> = in_place_nodes(&eager, OpTable::sample()).into_iter().collect();
        let results = |graph: &Graph, mode: Mode, in_place: &HashMap<NodeId, OpName>| {
            let hints = Hints { in_place: in_place.clone(), ..Hints::default() };
            let program = Program::compile(graph, mode, &hints, &context).unwrap();
            let inputs = [tensor(&[10, 100]), tensor(&[10, 50])];
            let outputs = program.run(&inputs).unwrap();
            assert_eq!(inputs[0].to_bytes(), tensor(&[10, 100]).to_bytes(), "{text}");
            outputs.iter().map(Tensor::to_bytes).collect::<Vec<_>>()
        };
        let none = HashMap::new();
        let expected = results(&eager, Mode::Found, &none);
        assert_eq!(results(&functional, Mode::Declared, &none), expected, "{functional}");
        assert_eq!(results(&functional, Mode::Declared, &in_place), expected, "in place: {functional}");
        let inputs = [tensor(&[10, 100]), tensor(&[10, 50])];
        let scatters = scatters_in_place(&functional, &in_place, &inputs);
        assert_eq!(scatters, in_their_place, "{functional}");
    }
}

#[test]
fn the_cpu_has_no_schedules_to_choose_from() {
    let graph = graph(&chain(), "h");
    let schedules = graph.nodes.iter().map(|node| (node.id, "rows threads=32".to_owned())).collect();
    let hints = Hints { schedules, ..Hints::default() };
    let program = Program::compile(&graph, Mode::Declared, &hints, &Arc::new(Context::cpu(Target::cpu()))).unwrap();
    let mut asked = 0;
    let tuned = program.tune(&[input()], &mut |_, _| {
        asked += 1;
        true
    });
    assert_eq!((tuned, asked), (Ok(vec![]), 0));
    assert_eq!(program.run(&[input()]).unwrap()[0].to_bytes(), multiples(72.0));
}

#[test]
fn prepared_views_are_those_of_the_operand_that_is_there() {
    let target = Target::cpu().inference();
    let context = Arc::new(Context::cpu(target));
    let program = |text: &str, products| {
        let hints = Hints { products, ..Hints::default() };
        Program::compile(&Graph::parse(text).unwrap(), Mode::Declared, &hints, &context).unwrap()
    };
    // The last one is a copy, but of the turned input.
    let views = "graph(%x: f32[4,6]) {
      %t: f32[6,4]{1,6} = aten::t(%x)
      %s: f32[2,4]{1,6} = aten::slice.Tensor(%t, dim=0, start=1, end=3)
      %a: f32[2,2]{1,6}, %b: f32[2,2]{1,6} = aten::chunk(%s, 2, 1)
      %r: f32[8] = aten::reshape(%s, [8])
      return (%a, %b, %r)
    }";
    let [each_time, prepared] = [false, true].map(|products| program(views, products));
    let made = |shape: [i64; 2], make: &str| {
        let ty = TensorType::contiguous(Dtype::F32, shape);
        let bytes = floats((0..shape[0] * shape[1]).map(|at| at as f32));
        let tensor = Tensor::from_bytes(&target, &ty, &bytes).unwrap();
        let text = format!("graph(%y: f32[{},{}]) {{\n  {make}\n  return (%x)\n}}", shape[0], shape[1]);
        program(&text, false).run(&[tensor]).unwrap().remove(0)
    };
    let plain = made([4, 6], "%x: f32[4,6] = aten::abs(%y)");
    let turned = made([6, 4], "%x: f32[4,6]{1,4} = aten::t(%y)");
    let shifted = made([5, 6], "%x: f32[4,6] = aten::slice.Tensor(%y, dim=0, start=1, end=5)");
    for input in [&plain, &plain, &turned, &turned, &shifted, &plain, &shifted] {
        let [expected, found] =
            [&each_time, &prepared].map(|program| program.run(std::slice::from_ref(input)).unwrap());
        for (at, (expected, found)) in expected.iter().zip(&found).enumerate() {
            assert_eq!((found.ty(), found.to_bytes()), (expected.ty(), expected.to_bytes()), "{at}");
            assert_eq!(found.data_ptr() == expected.data_ptr(), at < 2 || input.ty() == turned.ty(), "{at}");
        }
    }
}
