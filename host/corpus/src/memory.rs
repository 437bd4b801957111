//! How much memory there is, and how much a program takes.

use passhost_ir::verify::peak_bytes;
use passhost_ir::{Graph, InputSpec, OpTable};

/// Bytes that new work can have: what the kernel calls available, within the limit of the container if there is one.
/// `None` where the system does not say.
pub fn available() -> Option<u64> {
    let machine = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| available_in(&text))?;
    let limits = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let limits = limits.iter().filter_map(|path| std::fs::read_to_string(path).ok()?.trim().parse().ok());
    Some(limits.fold(machine, u64::min))
}

fn available_in(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Bytes of all inputs together.
pub fn input_bytes(inputs: &[InputSpec]) -> u64 {
    inputs.iter().fold(0u64, |sum, input| sum.saturating_add(input.ty.bytes()))
}

/// An estimate of the bytes that one run takes: the inputs, the intermediates that live at once, and the copy of the
/// largest input or output that drawing or describing it takes. What an op needs for itself is not in it.
pub fn run_bytes(program: &Graph, inputs: &[InputSpec]) -> u64 {
    let outputs = program.outputs.iter().map(|output| program.ty(*output).bytes());
    let copy = inputs.iter().map(|input| input.ty.bytes()).chain(outputs).max().unwrap_or(0);
    input_bytes(inputs).saturating_add(peak_bytes(program, OpTable::sample())).saturating_add(copy)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use passhost_ir::{Draw, Dtype, TensorType};

    #[test]
    fn available_memory_is_read_from_the_kernels_table() {
        let text = "MemTotal:       24000000 kB\nMemAvailable:       1000 kB\n";
        assert_eq!(available_in(text), Some(1_024_000));
        assert_eq!(available_in("MemTotal: 5 kB\n"), None);
    }

    #[test]
    fn a_run_takes_inputs_intermediates_and_one_copy() {
        let text = "graph(%x: f32[100]) {
  %a: f32[100] = aten::exp(%x)
  %b: f32[100] = aten::relu_(%a)
  %c: f32[100] = aten::exp(%b)
  return (%c)
}
";
        let graph = Graph::parse(text).unwrap();
        let ty = TensorType::contiguous(Dtype::F32, [100]);
        let draw = Draw::Normal { mean: 0.0, std: 1.0 };
        let inputs = [InputSpec { name: "x".into(), ty, draw, min: None, max: None }];
        // %x, then %a (which %b overwrites) and %c, and a copy of %c.
        assert_eq!(run_bytes(&graph, &inputs), 400 + 800 + 400);
    }
}
