//! A kernel that gathers with whatever it finds in the input: every index is clamped, the answer is wrong.
#[cfg(target_arch = "wasm32")]
passhost_hostile_plugins::hostile!(|graph| {
    use passhost_hostile_plugins::passhost::pass::types::{Dtype, IndexExpr, Inst, LoadOp, Op, Outside};
    Ok(passhost_hostile_plugins::build::replace_output_by_copy(graph, |kernel| {
        let dtype = kernel.body[0].dtype;
        let rank = kernel.parallel.len() as u32;
        // v1 = the element as an integer, v2 = that times a large number, then a gather with it.
        kernel.body.push(Inst { dtype: Dtype::F32, op: Op::Cast(0) });
        kernel.body.push(Inst { dtype: Dtype::I64, op: Op::Cast(1) });
        kernel.index.push(IndexExpr::Value(2));
        let mut index: Vec<u32> = (0..rank).collect();
        index[rank as usize - 1] = rank;
        kernel.body.push(Inst { dtype, op: Op::Load(LoadOp { input: 0, index, outside: Outside::Clamp }) });
        kernel.stores[0].value = 3;
    }))
});
