//! Never says who it is.
#[cfg(target_arch = "wasm32")]
mod component {
    use passhost_hostile_plugins::exports::passhost::pass::pass::{Guest, PassInfo, Rewrite};
    use passhost_hostile_plugins::passhost::pass::types::{DeviceFacts, Graph};

    struct Endless;

    impl Guest for Endless {
        fn describe() -> PassInfo {
            loop {
                std::hint::black_box(());
            }
        }

        fn run(_: Graph, _: DeviceFacts) -> Result<Rewrite, String> {
            Err("nobody asks before it has said who it is".into())
        }
    }

    passhost_hostile_plugins::export!(Endless with_types_in passhost_hostile_plugins);
}
