//! The message loop of the types child, which answers questions about types and nothing else. It opens no GPU.

use crate::serve::{DeviceServeError, set_up};
use passhost_confine::{ConfineError, SandboxProfile, types as confinement};
use passhost_ir::{Arg, Dtype, Graph, Infer, OpName, TensorType};
use passhost_protocol::device::GpuProperties;
use passhost_protocol::types::{FromTypes, ToTypes, TypesQuestion};
use passhost_protocol::{FrameError, MAX_FRAME, read_frame, write_frame};
use passhost_runtime::DeviceProperties;
use passhost_torch::MetaInfer;
use std::collections::HashSet;
use std::io::{BufReader, BufWriter};

/// Serves the supervisor until it closes the pipe.
///
/// # Errors
///
/// If the pipe breaks, or a message is malformed.
pub fn serve_types() -> Result<(), DeviceServeError> {
    let mut out = BufWriter::new(set_up()?);
    let mut stdin = BufReader::new(std::io::stdin().lock());
    write_frame(&mut out, &FromTypes::Ready(enclose()?))?;
    loop {
        let answer = match read_frame(&mut stdin, MAX_FRAME) {
            Err(FrameError::Closed) => return Ok(()),
            Ok(ToTypes::Question(TypesQuestion { op, args })) => FromTypes::Typed(MetaInfer.infer(&op, &args)),
            Ok(ToTypes::Sources { rewrite, gpu, all }) => FromTypes::Sources(sources(&rewrite, gpu, all)),
            Err(error) => return Err(error.into()),
        };
        write_frame(&mut out, &answer)?;
    }
}

/// The texts of the kernels of a rewrite, each once, with `all` in every schedule. What is wrong with a kernel is said where it runs.
fn sources(rewrite: &Graph, gpu: GpuProperties, all: bool) -> Vec<String> {
    let properties = DeviceProperties {
        multiprocessors: gpu.multiprocessors,
        threads_per_multiprocessor: gpu.threads_per_multiprocessor,
        shared_bytes_per_multiprocessor: gpu.shared_bytes_per_multiprocessor,
        cluster_blocks: DeviceProperties::cluster_blocks_of(gpu.capability.0),
        warpgroup_shared_bytes: DeviceProperties::warpgroup_shared_bytes_of(gpu.capability),
    };
    // Which nodes are constant the original graph says, which is not here: few are, and they are compiled when they run.
    passhost_runtime::sources(rewrite, &HashSet::new(), properties, all).into_iter().collect()
}

/// Confines the process, once libtorch has looked for all that it looks for.
pub(crate) fn enclose() -> Result<SandboxProfile, ConfineError> {
    // Meta kernels touch no data: there is nothing to share among threads.
    passhost_torch::process::set_threads(1);
    let operand = Arg::Value(TensorType::contiguous(Dtype::F32, [2]));
    // The answer is known; what the first question makes libtorch do is not.
    let _ = MetaInfer.infer(&OpName::new("aten::relu", ""), &[operand]);
    confinement::before_questions()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn the_texts_of_kernels_are_told_each_once() {
        let doubled = |to: &str, from: &str| {
            format!(
                "%{to}: f32[64] = kernel(%{from}) {{ space p0=64 in x0: f32[64] i0 = p0 v0: f32 = load x0[i0] pad 0.0 \
                 v1: f32 = add v0, v0 out v1 over [p0] as [64] }}\n"
            )
        };
        let nodes = [doubled("a", "x"), doubled("b", "a"), "%c: f32[64] = aten::relu(%b)\n".to_owned()];
        let graph = Graph::parse(&format!("graph(%x: f32[64]) {{\n{}return (%c)\n}}", nodes.concat())).unwrap();
        let gpu = GpuProperties {
            capability: (9, 0),
            multiprocessors: 132,
            threads_per_multiprocessor: 2048,
            shared_bytes_per_multiprocessor: 228 << 10,
        };
        let texts = sources(&graph, gpu, false);
        assert_eq!(texts.len(), 1, "{texts:?}");
        assert!(texts[0].contains("__global__"), "{}", texts[0]);
        // Of what lies otherwise the text is another.
        let strided = Graph::parse(&format!("graph(%x: f32[64]{{2}}) {{\n{}return (%b)\n}}", nodes[..2].concat()));
        let strided = strided.unwrap();
        assert_eq!(sources(&strided, gpu, false).len(), 2);
        // A kernel that is not too small to have several schedules has a text for each.
        let large =
            Graph::parse(&format!("graph(%x: f32[64]) {{\n{}return (%a)\n}}", nodes[0]).replace("64", "262144"));
        let [default, all] = [false, true].map(|all| sources(large.as_ref().unwrap(), gpu, all));
        assert!(default.len() == 1 && all.len() > 2 && all.contains(&default[0]), "{} texts", all.len());
    }
}
