//! What a kernel does, as part of an identifier.

use passhost_ir::Kernel;
use passhost_ir::kernel::Op;

/// Characters of it, about.
const LENGTH: usize = 40;

/// Its operations in their order, each once: `mul_sum_rsqrt`. Those that only say where elements lie are left out.
pub(super) fn operations(kernel: &Kernel) -> String {
    let mut words: Vec<String> = vec![];
    for inst in &kernel.body {
        let word = match &inst.op {
            Op::Unary(op, _) => op.name().to_owned(),
            Op::Binary(op, ..) => op.name().to_owned(),
            Op::Reduce(op, _) => format!("reduce_{}", op.name()),
            Op::Scan(op, _) => format!("scan_{}", op.name()),
            Op::Fma(..) => "fma".to_owned(),
            Op::Select(..) => "select".to_owned(),
            Op::Const(_) | Op::Index(_) | Op::Load { .. } | Op::Compare(..) | Op::Cast(_) => continue,
        };
        if words.iter().map(|word| word.len() + 1).sum::<usize>() + word.len() > LENGTH {
            break;
        }
        if !words.contains(&word) {
            words.push(word);
        }
    }
    if words.is_empty() { "copy".to_owned() } else { words.join("_") }
}
