//! Making a pass the pass of a component.

/// Makes a type that implements [`Pass`](crate::Pass) the pass of this component. Takes a constant expression of that type:
/// `register!(FusePointwise);`. Once per crate; natively it only checks the type.
#[macro_export]
macro_rules! register {
    ($pass:expr) => {
        #[cfg(target_arch = "wasm32")]
        const _: () = {
            struct Component;

            impl $crate::wasm::Guest for Component {
                fn describe() -> $crate::wasm::PassInfo {
                    $crate::wasm::describe(&$pass)
                }

                fn run(graph: $crate::wasm::Graph, device: $crate::wasm::DeviceFacts) -> $crate::wasm::PassOutcome {
                    $crate::wasm::run(&$pass, graph, device)
                }
            }

    $crate::wasm::export!(Component with_types_in $crate::wasm::bindings);
        };
        #[cfg(not(target_arch = "wasm32"))]
        const _: &dyn $crate::Pass = &$pass;
    };
}
