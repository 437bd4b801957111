//! Returns a kernel that names an input it does not have.
#[cfg(target_arch = "wasm32")]
passhost_hostile_plugins::hostile!(|graph| {
    use passhost_hostile_plugins::{build::replace_output_by_copy, passhost::pass::types::Op};
    Ok(replace_output_by_copy(graph, |kernel| {
        if let Op::Load(load) = &mut kernel.body[0].op {
            load.input = 7;
        }
    }))
});
