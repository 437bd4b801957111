//! Programs of any ops as one launch, recorded from their stream.

use super::{compiled, doubled, graph, input, multiples, on_stream};
use anyhow::{Context as _, Result, ensure};
use cudarc::driver::result;
use passhost_ir::{Graph, NodeKind, TensorType};
use passhost_runtime::{Compiler, Gpu, Hints, Mode, RecordError};
use passhost_torch::{Context, Program, Target, Tensor};
use std::sync::Arc;
use std::time::Instant;

/// Products, a convolution, a softmax and a norm, ops in place, views, a kernel, a node that is calculated once; the first
/// input is overwritten.
const MIXTURE: &str = "graph(%x: f32[64,128], %w: f32[128,128], %b: f32[128], %i: f32[2,3,16,16], %f: f32[8,3,3,3]) {
  %z: f32[128] = aten::full([128], 0.5)
  %a: f32[64,128] = aten::mm(%x, %w)
  %r: f32[64,128] = aten::relu_(%a)
  %l: f32[64,128] = aten::addmm(%b, %r, %w)
  %k: f32[64,128] = kernel(%l, %z) { space p0=64, p1=128 in x0: f32[64,128] in x1: f32[128] i0 = p0 i1 = p1 \
v0: f32 = load x0[i0, i1] pad 0.0 v1: f32 = load x1[i1] pad 0.0 v2: f32 = mul v0, v1 \
out v2 over [p0, p1] as [64,128] }
  %t: f32[128,64]{1,128} = aten::t(%k)
  %s: f32[128,64] = aten::softmax.int(%t, 1)
  %n: f32[64,128] = aten::layer_norm(%k, [128])
  %v: f32[2,8,14,14] = aten::conv2d(%i, %f)
  %g: f32[2,8,14,14] = aten::gelu(%v)
  %y: f32[64,128] = aten::add_.Tensor(%x, %n)
  return (%s, %g, %y)
}
";

/// How many recordings there are before memory is looked at, and in all.
const RECORDINGS: (usize, usize) = (20, 200);
/// Bytes by which the GPU may be fuller after all of them: much less than one recording in ten takes.
const GROWTH: usize = 16 << 20;
const ROUNDS: usize = 1000;

fn mixture(context: &Arc<Context>) -> Result<Program> {
    let graph = Graph::parse(MIXTURE).context("the mixture")?;
    let is_full = |kind: &NodeKind| matches!(kind, NodeKind::Aten { op, .. } if op.name == "aten::full");
    let once = graph.nodes.iter().filter(|node| is_full(&node.kind)).map(|node| node.id).collect();
    let hints = Hints { once, ..Hints::default() };
    let program = Program::compile(&graph, Mode::Found, &hints, context)?;
    ensure!(program.mutated_inputs == [0], "the first input is overwritten");
    Ok(program)
}

/// Inputs of the mixture, other ones for each seed.
fn inputs(context: &Context, seed: u32) -> Result<Vec<Tensor>> {
    let types = Graph::parse(MIXTURE).context("the mixture")?;
    let types: Vec<TensorType> = types.inputs.iter().map(|&input| types.ty(input).clone()).collect();
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 8_388_608.0 - 1.0
    };
    let tensor = |ty: &TensorType| {
        let bytes: Vec<u8> = (0..ty.numel()).flat_map(|_| next().to_le_bytes()).collect();
        Ok(Tensor::from_bytes(context.engine(), ty, &bytes)?)
    };
    types.iter().map(tensor).collect()
}

fn bytes(outputs: &[Tensor]) -> Vec<Vec<u8>> {
    outputs.iter().map(Tensor::to_bytes).collect()
}

/// What a program gives op by op, on copies of these inputs.
fn op_by_op(program: &Program, inputs: &[Tensor]) -> Result<Vec<Vec<u8>>> {
    let copies: Vec<Tensor> = inputs.iter().map(Tensor::deep_clone).collect();
    Ok(bytes(&program.run_timed(&copies)?))
}

/// Launches give bit by bit what runs give, on what the inputs hold then; several recordings live side by side, and runs
/// op by op in between change nothing.
pub(super) fn equals_runs(gpu: &Arc<Gpu>, compiler: &Arc<Compiler>) -> Result<String> {
    let context = Arc::new(Context::gpu(gpu, compiler, |number| Target::gpu(number).map(Target::inference))?);
    let programs = [mixture(&context)?, mixture(&context)?];
    let mut fixed = [inputs(&context, 1)?, inputs(&context, 1)?];
    let recorded = [programs[0].record(&fixed[0])?, programs[1].record(&fixed[1])?];
    let mut compared = 0;
    for seed in [1, 2, 3, 2] {
        let given = inputs(&context, seed)?;
        let expected = op_by_op(&programs[0], &given)?;
        for (recorded, fixed) in recorded.iter().zip(&mut fixed) {
            for (input, given) in fixed.iter_mut().zip(&given) {
                input.copy_from(given)?;
            }
            recorded.launch_timed()?;
            let found = bytes(recorded.outputs());
            for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
                ensure!(found == expected, "output {at} with seed {seed} differs from a run op by op");
                compared += 1;
            }
            ensure!(fixed[0].to_bytes() == expected[2], "the first input is overwritten by a launch");
        }
    }
    Ok(format!("{compared} outputs are equal, bit by bit"))
}

/// A graph without a launch is one, and gives what its input holds.
pub(super) fn views_alone(gpu: &Arc<Gpu>, compiler: &Arc<Compiler>) -> Result<String> {
    let context = on_stream(gpu, compiler)?;
    let program =
        compiled(&graph(&[format!("%a: f32[{0}] = aten::view(%x, [{0}])\n", super::LENGTH)], "a")?, &context)?;
    let mut x = input(&context, 1.0)?;
    let recorded = program.record(std::slice::from_ref(&x))?;
    x.copy_from(&input(&context, 3.0)?)?;
    recorded.launch_timed()?;
    ensure!(recorded.outputs()[0].to_bytes() == multiples(3.0), "a view of an input is another");
    Ok("a view follows its input".into())
}

/// Programs with an op that waits for the device, or draws random numbers, and something before and behind it, so that the
/// recording has begun and would go on.
fn refusals() -> Result<[(&'static str, Graph); 2]> {
    let n = super::LENGTH;
    let between = |nodes: String| graph(&[doubled("b", "x"), nodes, doubled("c", "a")], "c");
    let repeated = format!("%a: f32[{n}] = aten::repeat_interleave.self_Tensor(%b, %i)\n");
    Ok([
        (
            "aten::repeat_interleave.self_Tensor",
            between(format!("%i: i64[{n}] = aten::ones([{n}], dtype=i64)\n{repeated}"))?,
        ),
        ("aten::dropout", between(format!("%a: f32[{n}] = aten::dropout(%b, 0.5, true)\n"))?),
    ])
}

/// Such an op is named; then the stream runs and records as before.
pub(super) fn refused(gpu: &Arc<Gpu>, compiler: &Arc<Compiler>) -> Result<String> {
    let context = on_stream(gpu, compiler)?;
    let mut said = vec![];
    for (op, graph) in refusals()? {
        let program = compiled(&graph, &context)?;
        let x = input(&context, 1.0)?;
        match program.record(std::slice::from_ref(&x)).map(drop) {
            Err(RecordError::Op { op: named, message, .. }) => {
                ensure!(named == op, "`{named}` is named in place of `{op}`: {message}");
                said.push(format!("{op}: {message}"));
            }
            Err(error) => anyhow::bail!("{op}: {error}"),
            Ok(()) => anyhow::bail!("{op} was recorded"),
        }
        program.run_timed(std::slice::from_ref(&x)).context("a run after a recording that failed")?;
        let other = compiled(&super::chain(true)?, &context)?;
        let recorded = other.record(std::slice::from_ref(&x)).context("a recording after one that failed")?;
        recorded.launch_timed()?;
        ensure!(recorded.outputs()[0].to_bytes() == multiples(32.0), "a recording after one that failed is wrong");
    }
    Ok(said.join("; "))
}

/// The thread has no context of the driver before, and none afterwards, whatever became of a recording.
pub(super) fn leaves_the_thread(gpu: &Arc<Gpu>, compiler: &Arc<Compiler>) -> Result<String> {
    let work = || -> Result<()> {
        let context = on_stream(gpu, compiler)?;
        let x = input(&context, 1.0)?;
        let program = compiled(&super::chain(true)?, &context)?;
        let recorded = program.record(std::slice::from_ref(&x))?;
        recorded.launch_timed()?;
        drop(recorded);
        for (op, graph) in refusals()? {
            let recorded = compiled(&graph, &context)?.record(std::slice::from_ref(&x)).map(drop);
            ensure!(recorded.is_err(), "{op} was recorded");
        }
        Ok(())
    };
    let on_thread = || -> Result<()> {
        let before = result::ctx::get_current()?;
        work()?;
        let after = result::ctx::get_current()?;
        ensure!(before.is_none() && after.is_none(), "a thread without a context has {after:?} afterwards");
        Ok(())
    };
    std::thread::scope(|scope| scope.spawn(on_thread).join().map_err(|_| anyhow::anyhow!("a check panicked"))?)?;
    Ok("no context before, none after".into())
}

/// A GPU is as full after many recordings as after a few.
pub(super) fn memory(gpu: &Arc<Gpu>, compiler: &Arc<Compiler>) -> Result<String> {
    let context = on_stream(gpu, compiler)?;
    let program = mixture(&context)?;
    let fixed = inputs(&context, 1)?;
    let free = || -> Result<usize> {
        context.synchronize()?;
        let _entered = gpu.enter()?;
        Ok(result::mem_get_info()?.0)
    };
    let (few, many) = RECORDINGS;
    let mut after_few = 0;
    for count in 1..=many {
        let recorded = program.record(&fixed)?;
        recorded.launch()?;
        drop(recorded);
        if count == few {
            after_few = free()?;
        }
    }
    let after_many = free()?;
    let grown = after_few.saturating_sub(after_many);
    ensure!(grown <= GROWTH, "{grown} bytes are gone between recording {few} and {many}");
    Ok(format!("{grown} bytes more after {many} recordings than after {few}"))
}

/// Prints microseconds of a run and a wait.
pub(super) fn overhead(gpu: &Arc<Gpu>, compiler: &Arc<Compiler>) -> Result<String> {
    let context = on_stream(gpu, compiler)?;
    let program = mixture(&context)?;
    let fixed = inputs(&context, 1)?;
    let recorded = program.record(&fixed)?;
    let mut times: [Vec<f64>; 2] = Default::default();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let outputs = program.run_timed(&fixed)?;
        times[0].push(start.elapsed().as_secs_f64() * 1e6);
        drop(outputs);
        let start = Instant::now();
        recorded.launch_timed()?;
        times[1].push(start.elapsed().as_secs_f64() * 1e6);
    }
    let [op_by_op, at_once] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    ensure!(at_once < op_by_op, "{at_once:.1} us recorded, {op_by_op:.1} us op by op");
    Ok(format!("{op_by_op:.1} us op by op, {at_once:.1} us recorded, of {} nodes", program.node_count()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn the_mixture_runs_and_depends_on_its_inputs() {
        let context = Arc::new(Context::cpu(Target::cpu()));
        let program = mixture(&context).unwrap();
        let run = |seed| op_by_op(&program, &inputs(&context, seed).unwrap()).unwrap();
        let (first, second) = (run(1), run(2));
        assert_eq!(first.len(), 3);
        assert!(first.iter().zip(&second).all(|(one, other)| one != other && one.len() == other.len()));
        assert_eq!(first, run(1));
        assert_eq!(program.record(&inputs(&context, 1).unwrap()).map(drop), Err(RecordError::Cpu));
    }

    #[test]
    fn programs_that_are_not_recorded_run() {
        let context = Arc::new(Context::cpu(Target::cpu()));
        for (op, graph) in refusals().unwrap() {
            let program = compiled(&graph, &context).unwrap();
            let outputs = program.run_timed(&[input(&context, 1.0).unwrap()]).unwrap();
            let found = outputs[0].to_bytes();
            assert_eq!(found == multiples(4.0), op != "aten::dropout", "{op}");
        }
    }
}
