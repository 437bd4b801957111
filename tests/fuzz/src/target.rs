//! What is fuzzed: something that draws cases, and puts one to the host.

use crate::random::Random;

/// What came of a case: a few words by which such cases are counted, or what is wrong with the host.
pub type Outcome = Result<String, String>;

/// One way in.
pub trait Target {
    /// What is put to the host.
    type Case;

    /// Draws a case. It depends on nothing but `random` and on what the target was made with.
    fn make(&mut self, random: &mut Random) -> Self::Case;

    /// Puts it to the host.
    ///
    /// # Errors
    ///
    /// If the host does something that it must not do. A panic says the same.
    fn run(&mut self, case: &Self::Case) -> Outcome;

    /// The case for somebody who wants to look at it.
    fn written(&self, case: &Self::Case) -> Vec<u8>;
}

/// The name of the variant that a value of an enum is, from its debug form: what refusals are counted by.
pub fn variant(value: &impl std::fmt::Debug) -> String {
    let text = format!("{value:?}");
    let end = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
    text[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_counted_by_their_variant() {
        #[derive(Debug)]
        #[allow(dead_code, reason = "only their debug form is asked for")]
        enum Refusal {
            Size { limit: u64 },
            Alone,
        }
        assert_eq!(variant(&Refusal::Size { limit: 3 }), "Size");
        assert_eq!(variant(&Refusal::Alone), "Alone");
    }
}
