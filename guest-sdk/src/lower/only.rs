//! Conditions on calls, in words.

/// What calls of an op must be like to lower, for those who speak of ops: no component has a word of it.
#[derive(Clone, Copy)]
pub(super) struct Only(#[cfg(not(target_arch = "wasm32"))] Option<&'static str>);

impl Only {
    /// They may be like anything.
    pub(super) const NOTHING: Only = Only(
        #[cfg(not(target_arch = "wasm32"))]
        None,
    );

    /// They must be like this.
    pub(super) const fn calls(_condition: &'static str) -> Only {
        Only(
            #[cfg(not(target_arch = "wasm32"))]
            Some(_condition),
        )
    }

    pub(super) fn condition(self) -> Option<&'static str> {
        #[cfg(not(target_arch = "wasm32"))]
        return self.0;
        #[cfg(target_arch = "wasm32")]
        None
    }
}
