//! The script: where it lies in a component, and what its steps are.

/// What the buffer begins with. The text begins after it.
pub const MAGIC: &[u8; 32] = b"passhost script, written here:> ";

/// Bytes of the buffer, [`MAGIC`] included.
pub const ROOM: usize = 64 << 10;

/// Spaces, so that it is stored in the component byte by byte.
static BUFFER: [u8; ROOM] = {
    let mut buffer = [b' '; ROOM];
    let mut at = 0;
    while at < MAGIC.len() {
        buffer[at] = MAGIC[at];
        at += 1;
    }
    buffer
};

/// The text that was written into this component.
#[cfg_attr(not(target_arch = "wasm32"), allow(dead_code, reason = "only a component has one"))]
pub(crate) fn text() -> Result<&'static str, String> {
    // The compiler must not know what is in it: the component is changed after it was compiled.
    let buffer: &'static [u8; ROOM] = std::hint::black_box(&BUFFER);
    let text =
        std::str::from_utf8(&buffer[MAGIC.len()..]).map_err(|error| format!("the script is no text: {error}"))?;
    Ok(text.trim_end())
}

/// One step: a verb with its words, and the indented lines below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step<'a> {
    /// Number of its first line, from 1.
    pub line: usize,
    /// What to do.
    pub verb: &'a str,
    /// The rest of the line.
    pub rest: &'a str,
    /// The indented lines, as they stand.
    pub block: &'a str,
}

impl<'a> Step<'a> {
    /// The words of the rest of the line.
    pub fn words(&self) -> impl Iterator<Item = &'a str> {
        self.rest.split_whitespace()
    }

    /// A whole number among the words.
    pub fn number(&self, position: usize) -> Result<usize, String> {
        let word = self.words().nth(position).unwrap_or_default();
        word.parse().map_err(|_| format!("`{}` needs a number at word {}", self.verb, position + 1))
    }
}

/// The steps of a script. Empty lines and lines that begin with `#` are none.
pub fn steps(text: &str) -> Vec<Step<'_>> {
    let mut steps: Vec<Step<'_>> = vec![];
    let mut at = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let (start, end) = (at, at + line.len());
        at = end;
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        if !line.starts_with(char::is_whitespace) {
            let (verb, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
            steps.push(Step { line: number + 1, verb, rest: rest.trim(), block: &text[end..end] });
        } else if let Some(step) = steps.last_mut() {
            let begins = if step.block.is_empty() { start } else { offset(text, step.block) };
            step.block = &text[begins..end];
        }
    }
    steps
}

/// Where a part of a text begins.
fn offset(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_has_a_verb_words_and_the_lines_below_it() {
        let found = steps("# why\ndrop aten::relu\n\ndefine %a\n  one\n  two\nfuse\n");
        let parts: Vec<_> = found.iter().map(|step| (step.line, step.verb, step.rest, step.block)).collect();
        assert_eq!(parts, [(2, "drop", "aten::relu", ""), (4, "define", "%a", "  one\n  two\n"), (7, "fuse", "", "")]);
    }

    #[test]
    fn the_buffer_holds_the_mark_and_spaces() {
        assert_eq!(text().as_deref(), Ok(""));
        assert!(BUFFER.starts_with(MAGIC));
    }
}
