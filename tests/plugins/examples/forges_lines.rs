//! Names, log lines and ops in which lines of their own stand.
#[cfg(target_arch = "wasm32")]
passhost_hostile_plugins::hostile!(|mut graph| {
    use passhost_hostile_plugins::passhost::pass::{host::log, types::NodeKind};

    const LINE: &str = "\u{1b}[2J\u{9b}31m\u{202e}\u{7}\r\nFORGED";
    log(LINE);
    for value in &mut graph.values {
        value.name.push_str(LINE);
    }
    for node in &mut graph.nodes {
        if let NodeKind::Aten(call) = &mut node.kind {
            call.op.overload.push_str(LINE);
        }
    }
    Ok(graph)
});
