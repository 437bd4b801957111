//! The text around the bodies of kernels: one kernel as a function to launch, or several as one.
//!
//! Kernels that read and write nothing of each other's can be one launch: its first blocks are those of the first kernel,
//! the next ones those of the second. Each body is the text that it is alone, in a function of its own whose parameter
//! hides `blockIdx`, so that it computes what it computes alone, bit by bit. Blocks are as large as the largest body wants
//! them, and threads that a body has no use for leave before it begins: they are whole warps, and a barrier waits for
//! threads that are there. Shared memory is that of the body that wants the most.

use super::properties::DeviceProperties;
use super::split::RowSplit;
use super::text::Text;
use std::fmt::Write;

const PRELUDE: &str = include_str!("prelude.cu");

/// The function's name in the source.
pub const ENTRY: &str = "k";

/// A kernel without the function around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KernelBody {
    /// Element types of the inputs, which the lines call `x0`, `x1` and so on.
    pub(super) inputs: Vec<&'static str>,
    /// Those of the outputs, `y0` and so on.
    pub(super) outputs: Vec<&'static str>,
    /// Bytes of a block's memory `shared`.
    pub(super) shared_bytes: u64,
    pub(super) blocks: u64,
    /// Threads of a block, whole warps.
    pub(super) threads: u32,
    /// Whether blocks share rows, which only those of a launch of its own can.
    pub(super) split: RowSplit,
    /// One of [`FORMS`](super::FORMS).
    pub(super) form: &'static str,
    /// Indented once.
    pub(super) lines: String,
}

impl KernelBody {
    /// Its parameters: inputs, then outputs. `name` makes their names of a letter and a position.
    fn parameters(&self, name: impl Fn(char, usize) -> String) -> (Vec<String>, Vec<String>) {
        let of_input = |(at, ty): (usize, &&str)| format!("const {ty} *__restrict__ {}", name('x', at));
        let of_output = |(at, ty): (usize, &&str)| format!("{ty} *__restrict__ {}", name('y', at));
        (
            self.inputs.iter().enumerate().map(of_input).collect(),
            self.outputs.iter().enumerate().map(of_output).collect(),
        )
    }

    /// Whether both are the same function.
    fn is_same(&self, other: &KernelBody) -> bool {
        (&self.inputs, &self.outputs, &self.lines) == (&other.inputs, &other.outputs, &other.lines)
    }
}

/// The text of one kernel. The parameters of its function are the inputs, then the outputs.
pub(super) fn alone(body: &KernelBody, device: &DeviceProperties) -> String {
    let (mut parameters, outputs) = body.parameters(|letter, at| format!("{letter}{at}"));
    parameters.extend(outputs);
    let mut text = Text::default();
    let launch = LaunchGrid { blocks: body.blocks, threads: body.threads, split: body.split };
    open_entry(&mut text, launch, body.shared_bytes, &parameters, device);
    text.lines(&body.lines);
    text.close();
    format!("{PRELUDE}\n{}", text.finish())
}

/// The text of several kernels. The parameters are the inputs of all of them, then all outputs.
pub(super) fn joined(bodies: &[KernelBody], device: &DeviceProperties) -> String {
    if let [body] = bodies {
        return alone(body, device);
    }
    let mut text = Text::default();
    text.line("// The number of a block among those of one body.");
    text.line("struct Block { u32 x; };");
    for (number, body) in bodies.iter().enumerate() {
        if body.blocks > 0 && function_of(bodies, number) == number {
            text.line("");
            write_function(&mut text, number, body);
        }
    }
    text.line("");
    let (mut parameters, mut outputs) = (vec![], vec![]);
    for (number, body) in bodies.iter().enumerate() {
        let (of_inputs, of_outputs) = body.parameters(|letter, at| name(number, letter, at));
        parameters.extend(of_inputs);
        outputs.extend(of_outputs);
    }
    parameters.extend(outputs);
    let shared = bodies.iter().map(|body| body.shared_bytes).max().unwrap_or(0);
    let threads = threads(bodies);
    let launch = LaunchGrid { blocks: bodies.iter().map(|body| body.blocks).sum(), threads, split: RowSplit::Whole };
    open_entry(&mut text, launch, shared, &parameters, device);
    let mut first = 0;
    for (number, body) in bodies.iter().enumerate().filter(|(_, body)| body.blocks > 0) {
        let end = first + body.blocks;
        text.open(format_args!("if (blockIdx.x < {end}u)"));
        if body.threads < threads {
            text.line(format_args!("if (threadIdx.x >= {}u) return;", body.threads));
        }
        text.line(format_args!("{}", call(bodies, number, first)));
        text.line("return;");
        text.close();
        first = end;
    }
    text.close();
    format!("{PRELUDE}\n{}", text.finish())
}

/// Threads of a block that has room for each body.
pub(super) fn threads(bodies: &[KernelBody]) -> u32 {
    bodies.iter().map(|body| body.threads).max().unwrap_or(1)
}

/// Blocks of a grid, threads of a block, and whether blocks share rows.
#[derive(Clone, Copy)]
struct LaunchGrid {
    blocks: u64,
    threads: u32,
    split: RowSplit,
}

impl LaunchGrid {
    /// Whether the blocks of a next launch like this one may take their places while these run. They must all find room:
    /// where some do and others wait for blocks to end, they are spread unevenly when they go on.
    fn leaves_room(self, device: &DeviceProperties) -> bool {
        2 * self.blocks.saturating_mul(self.threads.into()) <= device.busy_threads()
    }
}

fn open_entry(
    text: &mut Text,
    launch: LaunchGrid,
    shared_bytes: u64,
    parameters: &[String],
    device: &DeviceProperties,
) {
    let parameters = parameters.join(", ");
    let threads = launch.threads;
    let cluster = match launch.split {
        RowSplit::Cluster { blocks } => format!(" __cluster_dims__({blocks}, 1, 1)"),
        RowSplit::Whole | RowSplit::Last { .. } | RowSplit::Scanned { .. } => String::new(),
    };
    text.open(format_args!("extern \"C\" __global__ void __launch_bounds__({threads}){cluster} {ENTRY}({parameters})"));
    text.line(format_args!("__shared__ __align__(16) u8 shared[{}];", shared_bytes.max(1)));
    text.line("begin();");
    if launch.leaves_room(device) {
        text.line("let_next_begin();");
    }
}

fn write_function(text: &mut Text, number: usize, body: &KernelBody) {
    let (mut parameters, outputs) = body.parameters(|letter, at| format!("{letter}{at}"));
    parameters.extend(outputs);
    let parameters = parameters.join(", ");
    text.open(format_args!("D void {ENTRY}{number}(const Block blockIdx, u8 *shared, {parameters})"));
    text.lines(&body.lines);
    text.close();
}

/// The number of the function that a body is: bodies that are alike share one.
fn function_of(bodies: &[KernelBody], number: usize) -> usize {
    bodies[..number].iter().position(|before| before.blocks > 0 && before.is_same(&bodies[number])).unwrap_or(number)
}

fn call(bodies: &[KernelBody], number: usize, first: u64) -> String {
    let mut call = format!("{ENTRY}{}(Block{{blockIdx.x - {first}u}}, shared", function_of(bodies, number));
    let body = &bodies[number];
    let inputs = (0..body.inputs.len()).map(|at| name(number, 'x', at));
    for argument in inputs.chain((0..body.outputs.len()).map(|at| name(number, 'y', at))) {
        // Writing to a string does not fail.
        let _ = write!(call, ", {argument}");
    }
    call + ");"
}

/// What the launched function calls a tensor of a body.
fn name(number: usize, letter: char, at: usize) -> String {
    format!("{letter}{number}_{at}")
}
