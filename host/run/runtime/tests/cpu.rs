//! Programs of kernels on the plain engine.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use passhost_ir::{Dtype, Graph, NodeId, NodeKind, TensorType};
use passhost_runtime::{
    Cause, Context, DeviceKernel, EngineTensor, GUARD, Hints, Mode, NodeError, Plain, PlainTensor, Program,
    RecordError, Temporary, Watch,
};
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

const LENGTH: i64 = 1000;

/// `%to = %a + %b` as a kernel.
fn sum(to: &str, a: &str, b: &str) -> String {
    let n = LENGTH;
    format!(
        "%{to}: f32[{n}] = kernel(%{a}, %{b}) {{ space p0={n} in x0: f32[{n}] in x1: f32[{n}] i0 = p0 \
         v0: f32 = load x0[i0] pad 0.0 v1: f32 = load x1[i0] pad 0.0 v2: f32 = add v0, v1 out v2 over [p0] as [{n}] }}\n"
    )
}

fn doubled(to: &str, from: &str) -> String {
    sum(to, from, from)
}

fn context() -> Arc<Context<Plain>> {
    Arc::new(Context::cpu(Plain(2)))
}

fn compiled(nodes: &[String], results: &str, hints: &Hints) -> Result<Program<Plain>, NodeError> {
    let text = format!("graph(%x: f32[{LENGTH}]) {{\n{}return ({results})\n}}", nodes.concat());
    Program::compile(&Graph::parse(&text).unwrap(), Mode::Declared, hints, &context())
}

fn program(nodes: &[String], results: &str) -> Program<Plain> {
    compiled(nodes, results, &Hints::default()).unwrap()
}

fn ty() -> TensorType {
    TensorType::contiguous(Dtype::F32, [LENGTH])
}

fn multiples(factor: f32) -> Vec<u8> {
    (0..LENGTH).flat_map(|at| (at as f32 * factor).to_le_bytes()).collect()
}

fn input(factor: f32) -> PlainTensor {
    PlainTensor::from_bytes(&ty(), &multiples(factor)).unwrap()
}

/// 36 times the input. What `%b` holds is read last of all, so that four temporaries lie in the space of three.
fn chain() -> Vec<String> {
    vec![
        doubled("a", "x"),
        doubled("b", "a"),
        doubled("c", "b"),
        doubled("d", "c"),
        doubled("e", "d"),
        sum("f", "e", "b"),
    ]
}

#[test]
fn programs_and_what_they_are_made_of_can_go_to_another_thread() {
    fn is_send<T: Send>() {}
    fn is_sync<T: Sync>() {}
    is_send::<Program<Plain>>();
    is_send::<DeviceKernel>();
    is_send::<PlainTensor>();
    is_send::<Context<Plain>>();
    is_sync::<Context<Plain>>();
    let program = program(&chain(), "%f");
    let bytes = std::thread::spawn(move || program.run(&[input(1.0)]).unwrap()[0].to_bytes()).join().unwrap();
    assert_eq!(bytes, multiples(36.0));
}

/// Poisons every temporary before it is written, and checks its guard zones when it is no longer read.
#[derive(Default)]
struct Poison {
    begun: u32,
    ended: u32,
}

impl Watch<Plain> for Poison {
    const TEMPORARIES: bool = true;

    fn begin(&mut self, temporary: Temporary<PlainTensor>) -> Result<(), Cause> {
        self.begun += 1;
        let bytes = temporary.memory.bytes_from_data();
        assert_eq!(bytes as u64, GUARD + temporary.bytes + GUARD);
        // SAFETY: it is a temporary's, of as many bytes, and nobody reads them before they are written.
        unsafe { temporary.memory.data_ptr().write_bytes(0xff, bytes) };
        Ok(())
    }

    fn end(&mut self, temporary: Temporary<PlainTensor>) -> Result<(), Cause> {
        self.ended += 1;
        let bytes = temporary.memory.to_bytes();
        let (front, back) = (&bytes[..GUARD as usize], &bytes[(GUARD + temporary.bytes) as usize..]);
        assert!(front.iter().chain(back).all(|byte| *byte == 0xff), "a guard zone was overwritten");
        Ok(())
    }
}

#[test]
fn temporaries_share_one_arena_and_survive_poison() {
    let program = program(&chain(), "%f");
    let one = (GUARD + 4 * LENGTH as u64 + GUARD).next_multiple_of(256);
    assert_eq!(program.arena_bytes(), 3 * one);
    let mut poison = Poison::default();
    for _ in 0..2 {
        assert_eq!(program.run_watched(&[input(1.0)], &mut poison).unwrap()[0].to_bytes(), multiples(36.0));
        assert_eq!(program.run(&[input(1.0)]).unwrap()[0].to_bytes(), multiples(36.0));
    }
    assert_eq!((poison.begun, poison.ended), (10, 10));
}

#[test]
fn outputs_of_a_run_are_written_to_by_no_later_one() {
    let program = program(&[doubled("a", "x"), doubled("b", "a")], "%a, %x, %a, %b");
    assert_eq!(program.arena_bytes(), 0);
    let all = |outputs: &[PlainTensor]| outputs.iter().map(PlainTensor::to_bytes).collect::<Vec<_>>();
    let first = program.run(&[input(1.0)]).unwrap();
    assert_eq!(first[0].data_ptr(), first[2].data_ptr(), "a value that is returned twice");
    assert_eq!(all(&program.run(&[input(-1.0)]).unwrap()), [-2.0, -1.0, -2.0, -4.0].map(multiples));
    assert_eq!(all(&first), [2.0, 1.0, 2.0, 4.0].map(multiples));
}

#[test]
fn another_layout_is_prepared_anew_and_a_known_one_is_not() {
    let context = context();
    let text = "graph(%x: f32[4,3]) {
      %y: f32[4,3] = kernel(%x) { space p0=4, p1=3 in x0: f32[4,3] i0 = p0 i1 = p1
        v0: f32 = load x0[i0, i1] pad 0.0 out v0 over [p0, p1] as [4,3] }
      return (%y) }";
    let graph = Graph::parse(text).unwrap();
    let NodeKind::Kernel { kernel, .. } = &graph.nodes[0].kind else { unreachable!("it is a kernel") };
    let mut kernel = DeviceKernel::new(&context, kernel).unwrap();
    let bytes: Vec<u8> = (0..12).flat_map(|at| (at as f32).to_le_bytes()).collect();
    let ty = TensorType::contiguous(Dtype::F32, [4, 3]);
    let [output, dense] = [&[0; 48][..], &bytes].map(|bytes| PlainTensor::from_bytes(&ty, bytes).unwrap());
    // SAFETY: the same twelve floats, which nobody writes to.
    let transposed = unsafe { dense.part(0, &TensorType { strides: vec![1, 4], ..ty }) }.unwrap();
    assert_eq!(transposed.to_bytes()[4..8], 4f32.to_le_bytes(), "row 0, column 1");
    assert_eq!(transposed.copy().unwrap().to_bytes(), transposed.to_bytes());
    for (input, preparations) in [(&dense, 1), (&dense, 1), (&transposed, 2), (&transposed, 2), (&dense, 3)] {
        // SAFETY: the output is of the kernel's type and of its own memory, and nobody else uses the tensors.
        unsafe { kernel.run(&context, &[input], &[&output]) }.unwrap();
        assert_eq!(output.to_bytes(), input.to_bytes());
        assert_eq!(kernel.preparations(), preparations);
    }
}

/// The values that came to exist; it panics at one if that is wanted.
#[derive(Default)]
struct Seen {
    values: Vec<usize>,
    panics_at: Option<usize>,
}

impl Watch<Plain> for Seen {
    const TEMPORARIES: bool = false;

    fn value(&mut self, number: usize, _tensor: &PlainTensor) {
        assert!(self.panics_at != Some(number), "value {number} exists");
        self.values.push(number);
    }
}

#[test]
fn what_no_input_reaches_is_calculated_once() {
    let n = LENGTH;
    let numbers = format!(
        "%a: f32[{n}] = kernel() {{ space p0={n} i0 = p0 v0: i64 = index i0 v1: f32 = cast v0 out v1 over [p0] as [{n}] }}\n"
    );
    let once = HashSet::from([NodeId(0), NodeId(1)]);
    let nodes = [numbers, doubled("b", "a"), sum("c", "x", "b")];
    let program = compiled(&nodes, "%c", &Hints { once, ..Hints::default() }).unwrap();
    let seen = || {
        let mut seen = Seen::default();
        assert_eq!(program.run_watched(&[input(1.0)], &mut seen).unwrap()[0].to_bytes(), multiples(3.0));
        seen.values
    };
    assert_eq!([seen(), seen()], [vec![0, 1, 2, 3], vec![0, 3]]);
    // After a run that failed nothing is taken for granted.
    let mut panics = Seen { panics_at: Some(3), ..Seen::default() };
    assert!(catch_unwind(AssertUnwindSafe(|| program.run_watched(&[input(1.0)], &mut panics))).is_err());
    assert!(program.run(&[]).unwrap_err().to_string().contains("0 inputs, expected 1"));
    assert_eq!([seen(), seen()], [vec![0, 1, 2, 3], vec![0, 3]]);
}

#[test]
fn what_the_engine_has_not_is_an_error_that_says_so() {
    let relu = format!("%a: f32[{LENGTH}] = aten::relu(%x)\n");
    let refused = compiled(&[relu], "%a", &Hints::default()).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("node #0 (aten::relu)") && refused.contains("a library of ops"), "{refused}");
    assert_eq!(program(&[doubled("a", "x")], "%a").record(&[input(1.0)]).err(), Some(RecordError::Cpu));
    let huge = TensorType::contiguous(Dtype::U8, [i64::MAX]);
    // SAFETY: nothing is read or written.
    let full = unsafe { input(1.0).part(0, &huge) }.unwrap().copy();
    assert!(matches!(full, Err(Cause::OutOfMemory(_))), "8 EiB have room");
    let short = PlainTensor::from_bytes(&ty(), &[0; 3]).map(|_| ()).unwrap_err();
    assert_eq!(short, Cause::Failed(format!("3 bytes for a tensor of type f32[{LENGTH}]")));
}

#[test]
fn the_cpu_has_no_schedules_to_choose_from() {
    let schedules = (0..6).map(|node| (NodeId(node), "rows threads=32".to_owned())).collect();
    let program = compiled(&chain(), "%f", &Hints { schedules, ..Hints::default() }).unwrap();
    let mut asked = 0;
    let tuned = program.tune(&[input(1.0)], &mut |_, _| {
        asked += 1;
        true
    });
    assert_eq!((tuned, asked), (Ok(vec![]), 0));
    assert_eq!(program.run(&[input(1.0)]).unwrap()[0].to_bytes(), multiples(36.0));
}
