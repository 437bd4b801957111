//! What a kernel moves and calculates, and what that takes at least on a device: for its author, never for a score.

use super::{Class, Facts, Interval, Kernel, Op, Reg};
use crate::{DeviceFacts, DeviceKind, numel};
use std::fmt;

/// Operations of a load.
pub const LOAD: u64 = 2;
/// From this many loads of each element on, a kernel that has more to calculate than to move is likely slow.
const OFTEN: u64 = 32;
/// How many times as long as its memory its arithmetic may take.
const ARITHMETIC: f64 = 8.0;
/// Nanoseconds below which nothing is worth a warning.
const SHORT: f64 = 20_000.0;
/// Remarks about one kernel.
const REMARKS: usize = 4;

/// Operations per nanosecond of one multiprocessor of a GPU, or of one thread of a CPU: those of the column `cost` in the
/// tables of operations.
pub const fn rate(kind: DeviceKind) -> f64 {
    match kind {
        DeviceKind::Cuda => 200.0,
        DeviceKind::Cpu => 12.0,
    }
}

/// What a kernel does, over all of its points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Effort {
    /// Bytes of its inputs that are needed, each counted once.
    pub read: u64,
    /// Bytes that its loads ask for, repetitions included.
    pub loaded: u64,
    /// Bytes of its outputs.
    pub written: u64,
    /// Scalar operations, weighed by what each costs.
    pub operations: u64,
}

impl Effort {
    /// Of a verified kernel.
    pub fn of(kernel: &Kernel, facts: &Facts) -> Effort {
        let mut effort = Effort::default();
        let mut loaded = vec![0u64; kernel.inputs.len()];
        for (position, inst) in kernel.body.iter().enumerate() {
            let times = match facts.class(Reg(position as u32)) {
                Class::Row => kernel.rows(),
                Class::Elem => kernel.work(),
            };
            // A reduction takes in each element of its row.
            let times = if matches!(inst.op, Op::Reduce(..)) { kernel.work() } else { times };
            if let Op::Load { input, .. } = &inst.op {
                let bytes = times.saturating_mul(inst.dtype.size());
                loaded[*input as usize] = loaded[*input as usize].saturating_add(bytes);
            }
            effort.operations = effort.operations.saturating_add(times.saturating_mul(cost(&inst.op)));
        }
        for (input, loaded) in kernel.inputs.iter().zip(loaded) {
            let whole = numel(&input.shape).saturating_mul(input.dtype.size());
            effort.read = effort.read.saturating_add(loaded.min(whole));
            effort.loaded = effort.loaded.saturating_add(loaded);
        }
        let outputs = kernel.output_types();
        effort.written = outputs.iter().fold(0, |sum: u64, ty| sum.saturating_add(ty.bytes()));
        effort
    }

    /// Nanoseconds that moving its bytes takes at the bandwidth of the device.
    pub fn memory_ns(&self, device: &DeviceFacts) -> f64 {
        self.read.saturating_add(self.written) as f64 / device.bandwidth.max(1) as f64 * 1e9
    }

    /// Nanoseconds that its operations take if all of the device works on them.
    pub fn arithmetic_ns(&self, device: &DeviceFacts) -> f64 {
        self.operations as f64 / (rate(device.kind) * f64::from(device.multiprocessors.max(1)))
    }

    /// How often each byte that is needed is loaded, rounded.
    pub fn repeats(&self) -> u64 {
        (self.loaded + self.read / 2).checked_div(self.read).unwrap_or(1)
    }
}

/// `reads 4.0 MiB, writes 4.0 MiB, 12.6 million operations`.
impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "reads {}, writes {}", bytes(self.read), bytes(self.written))?;
        if self.repeats() > 1 {
            write!(f, ", loads each byte {} times", self.repeats())?;
        }
        write!(f, ", {:.3} million operations", self.operations as f64 / 1e6)
    }
}

fn bytes(count: u64) -> String {
    const UNITS: [&str; 4] = ["bytes", "KiB", "MiB", "GiB"];
    let mut value = count as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{count} bytes") } else { format!("{value:.1} {}", UNITS[unit]) }
}

/// Operations of an instruction, as the tables of operations count them.
pub fn cost(op: &Op) -> u64 {
    match op {
        Op::Const(_) | Op::Index(_) => 0,
        Op::Load { .. } => LOAD,
        Op::Unary(op, _) => op.cost(),
        Op::Binary(op, ..) => op.cost(),
        Op::Compare(..) | Op::Select(..) | Op::Fma(..) | Op::Cast(_) | Op::Reduce(..) | Op::Scan(..) => 1,
    }
}

/// What the author of a verified kernel should look at: loads that clamp although nothing gathers, and a kernel that is
/// likely slow on the device.
pub fn remarks(kernel: &Kernel, facts: &Facts, device: &DeviceFacts) -> Vec<String> {
    let mut remarks = clamped(kernel, facts);
    let effort = Effort::of(kernel, facts);
    let (memory, arithmetic) = (effort.memory_ns(device), effort.arithmetic_ns(device));
    if effort.repeats() >= OFTEN && arithmetic > ARITHMETIC * memory && arithmetic > SHORT {
        remarks.push(format!(
            "it loads each byte {} times, and takes at least {:.0} us where moving its bytes once takes {:.0}: store what \
             many elements share in a kernel of its own, or leave it to the library",
            effort.repeats(),
            arithmetic / 1e3,
            memory / 1e3
        ));
    }
    remarks.truncate(REMARKS);
    remarks
}

/// Loads whose index leaves the tensor by its axes alone, so that clamping gives another element than was asked for.
fn clamped(kernel: &Kernel, facts: &Facts) -> Vec<String> {
    let mut found = vec![];
    for (position, inst) in kernel.body.iter().enumerate() {
        let Op::Load { input, index, padding: super::PaddingMode::Clamp } = &inst.op else { continue };
        let shape = &kernel.inputs[*input as usize].shape;
        for (dim, (id, &extent)) in index.iter().zip(shape).enumerate() {
            let Interval { low, high } = facts.index_interval(*id);
            let gathers = facts.index_needs[id.0 as usize] > 0;
            if gathers || facts.in_bounds[position][dim] {
                continue;
            }
            found.push(format!(
                "v{position} loads x{input} at {id}, which goes from {low} to {high}, in a dimension of {extent} elements: \
                 what lies outside is clamped to its ends"
            ));
        }
    }
    found
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::kernel::verify;

    const DEVICE: DeviceFacts = DeviceFacts {
        kind: DeviceKind::Cuda,
        multiprocessors: 100,
        l2_bytes: 1 << 25,
        bandwidth: 2_000_000_000_000,
        launch_ns: 2000,
    };

    fn of(text: &str) -> (Effort, Vec<String>) {
        let kernel: Kernel = text.parse().unwrap();
        let facts = verify(&kernel).unwrap();
        (Effort::of(&kernel, &facts), remarks(&kernel, &facts, &DEVICE))
    }

    #[test]
    fn bytes_are_counted_once_and_loads_as_often_as_they_happen() {
        let (effort, remarks) =
            of("kernel { space p0=1000; reduce r0=500 in x0: f32[1000] in x1: f32[500] i0 = p0 i1 = r0
            v0: f32 = load x0[i0] pad 0.0 v1: f32 = load x1[i1] pad 0.0 v2: f32 = mul v0, v1
            v3: f32 = reduce sum v2 out v3 over [p0] as [1000] }");
        let expected = Effort { read: 6000, loaded: 4000 + 4 * 500_000, written: 4000, operations: 2_002_000 };
        assert_eq!(effort, expected);
        assert!(remarks.is_empty(), "{remarks:?}");
    }

    #[test]
    fn a_matrix_product_by_hand_is_likely_slow() {
        let (_, remarks) =
            of("kernel { space p0=1024, p1=1024; reduce r0=1024 in x0: f32[1024,1024] in x1: f32[1024,1024]
            i0 = p0 i1 = p1 i2 = r0 v0: f32 = load x0[i0, i2] pad 0.0 v1: f32 = load x1[i2, i1] pad 0.0
            v2: f32 = mul v0, v1 v3: f32 = reduce sum v2 out v3 over [p0, p1] as [1024,1024] }");
        assert_eq!(remarks.len(), 1);
        assert!(remarks[0].contains("loads each byte 1024 times"), "{remarks:?}");
    }

    #[test]
    fn a_load_that_clamps_by_its_axes_is_told_and_a_gather_is_not() {
        let (_, remarks) = of("kernel { space p0=8 in x0: f32[8] in x1: i64[8] i0 = p0 i1 = 1 i2 = i0 + i1
            v0: f32 = load x0[i2] clamp v1: i64 = load x1[i0] clamp i3 = v1 v2: f32 = load x0[i3] clamp
            v3: f32 = add v0, v2 out v3 over [p0] as [8] }");
        let expected = "v0 loads x0 at i2, which goes from 1 to 8, in a dimension of 8 elements: what lies outside is \
                        clamped to its ends";
        assert_eq!(remarks, [expected]);
    }
}
