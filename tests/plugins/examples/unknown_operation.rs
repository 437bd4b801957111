//! Returns a kernel with an operation that no host knows.
#[cfg(target_arch = "wasm32")]
passhost_hostile_plugins::hostile!(|graph| {
    use passhost_hostile_plugins::{
        build::replace_output_by_copy,
        passhost::pass::types::{Inst, Op},
    };
    Ok(replace_output_by_copy(graph, |kernel| {
        let dtype = kernel.body[0].dtype;
        kernel.operations = vec!["frobnicate".into()];
        kernel.body.push(Inst { dtype, op: Op::Unary((0, 0)) });
        kernel.stores[0].value = 1;
    }))
});
