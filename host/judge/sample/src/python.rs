//! The straight-line Python of a sample, parsed and never executed: statements and expressions with their places.

use passhost_protocol::reader::{SampleError, SourceLocation};
use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::{Ranged, TextSize};

/// Brackets, indentation and expression length beyond this are in no real file and would cost the parser's stack.
const NESTING: usize = 48;
const INDENTATION: usize = 64;
const EXPRESSION_TOKENS: usize = 1200;

/// A parsed file.
#[derive(Debug)]
pub struct PythonSource<'a> {
    file: String,
    text: &'a str,
}

impl<'a> PythonSource<'a> {
    /// Of this text; `file` is for messages.
    pub fn new(file: String, text: &'a str) -> PythonSource<'a> {
        PythonSource { file, text }
    }

    /// The file's name in messages.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The statements of the file.
    pub fn statements(&self) -> Result<Vec<Stmt>, SampleError> {
        self.check_depth()?;
        let parsed = ruff_python_parser::parse_module(self.text)
            .map_err(|error| self.error(error.location.start(), error.error.to_string()))?;
        Ok(parsed.into_suite().into_iter().collect())
    }

    /// Where an offset is.
    pub fn place(&self, offset: TextSize) -> SourceLocation {
        let before = self.text.get(..offset.to_usize()).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        SourceLocation { file: self.file.clone(), line, column }
    }

    /// A syntax error at an offset.
    pub fn error(&self, offset: TextSize, message: impl Into<String>) -> SampleError {
        SampleError::Syntax { place: self.place(offset), message: message.into() }
    }

    /// The text of a node, cut to a readable length.
    pub fn excerpt(&self, node: &impl Ranged) -> String {
        let text = self.text.get(node.start().to_usize()..node.end().to_usize()).unwrap_or("");
        let cut: String = text.chars().take(80).collect();
        if cut.len() < text.len() { format!("{cut}...") } else { cut }
    }

    /// The parser and the tree it makes are recursive: text that would nest them deeply is refused beforehand. Brackets in
    /// strings count as well, which real files do not have.
    fn check_depth(&self) -> Result<(), SampleError> {
        let (mut depth, mut tokens, mut indentation, mut line_start, mut word) = (0usize, 0usize, 0usize, true, false);
        for (offset, byte) in self.text.bytes().enumerate() {
            let refuse = |what: &str| {
                let offset = TextSize::try_from(offset).unwrap_or_default();
                Err(self.error(offset, format!("{what}; real samples are far below that")))
            };
            match byte {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > NESTING {
                return refuse("brackets are nested too deeply");
            }
            let in_word = byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.' || !byte.is_ascii();
            if byte == b'\n' || byte == b',' {
                tokens = 0;
            } else if !byte.is_ascii_whitespace() && (!in_word || !word || byte == b'.') {
                tokens += 1;
                if tokens > EXPRESSION_TOKENS {
                    return refuse("an expression is too long");
                }
            }
            word = in_word;
            if byte == b'\n' {
                (line_start, indentation) = (true, 0);
            } else if line_start && (byte == b' ' || byte == b'\t') {
                indentation += 1;
                if indentation > INDENTATION && depth == 0 {
                    return refuse("a line is indented too deeply");
                }
            } else {
                line_start = false;
            }
        }
        Ok(())
    }
}

/// The dotted name of an expression, such as `torch.nn.functional.relu`.
pub fn dotted(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Name(name) => Some(name.id.to_string()),
        Expr::Attribute(attribute) => Some(format!("{}.{}", dotted(&attribute.value)?, attribute.attr)),
        _ => None,
    }
}
