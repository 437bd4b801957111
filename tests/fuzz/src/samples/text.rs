//! Python text with something changed: tokens, lines, bytes.

use crate::components;
use crate::random::Random;

/// Tokens that stand for something else than those that the samples have.
const ODD: [&str; 26] = [
    "(",
    ")",
    "[",
    "]",
    ",",
    ":",
    "*",
    "**",
    "-1",
    "0",
    "None",
    "True",
    "slice",
    "...",
    "lambda",
    "'x'",
    "1e309",
    "inf",
    "9223372036854775807",
    "-9223372036854775808",
    "99999999999999999999",
    "in_0",
    "torch.float16",
    "inplace = True",
    "\u{202e}",
    "\\",
];

/// Expressions that open what they do not close soon.
const DEEP: [(&str, &str); 4] = [("(", ")"), ("[", "]"), ("-", ""), ("torch.tanh(", ")")];

/// With one to five changes; pieces come from `other`.
pub(super) fn changed(text: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    if random.chance(10) {
        return components::changed(text.to_vec(), random);
    }
    let (mut tokens, others) = (tokens(text), tokens(other));
    for _ in 0..=random.below(5) {
        if tokens.is_empty() || others.is_empty() {
            break;
        }
        let at = random.below(tokens.len());
        match random.below(36) {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(at, tokens[at].clone()),
            2 => {
                let to = random.below(tokens.len());
                tokens.swap(at, to);
            }
            3 | 4 => tokens[at] = random.pick(&others).clone(),
            5 => tokens[at] = random.pick(&ODD).as_bytes().to_vec(),
            6..9 => line(&mut tokens, at, random),
            9..20 => number(&mut tokens, at, random),
            20..34 => word(&mut tokens, at, &others, random),
            34 => {
                let from = random.below(others.len());
                let piece = others[from..others.len().min(from + 1 + random.below(30))].to_vec();
                tokens.splice(at..at, piece);
            }
            _ => {
                let (open, close) = random.pick(&DEEP);
                let depth = *random.pick(&[1, 3, 50, 3000]);
                tokens.insert(at, open.repeat(depth).into_bytes());
                let end = (at + 2).min(tokens.len());
                tokens.insert(end, close.repeat(depth).into_bytes());
            }
        }
    }
    tokens.concat()
}

/// Replaces the next number by another.
fn number(tokens: &mut [Vec<u8>], at: usize, random: &mut Random) {
    let is_number = |token: &Vec<u8>| token.first().is_some_and(u8::is_ascii_digit);
    if let Some(token) = tokens[at..].iter_mut().find(|token| is_number(token)) {
        *token = random.integer().to_string().into_bytes();
    }
}

/// Replaces the next word by another: a name, an operator, a keyword.
fn word(tokens: &mut [Vec<u8>], at: usize, others: &[Vec<u8>], random: &mut Random) {
    let is_word = |token: &Vec<u8>| token.first().is_some_and(u8::is_ascii_alphabetic);
    let from = random.below(others.len());
    let mine = tokens.iter().skip(random.below(tokens.len())).find(|token| is_word(token)).cloned();
    let another = if random.chance(50) { mine } else { others[from..].iter().find(|token| is_word(token)).cloned() };
    if let (Some(place), Some(another)) = (tokens[at..].iter_mut().find(|token| is_word(token)), another) {
        *place = another;
    }
}

/// Removes, repeats or moves a line.
fn line(tokens: &mut Vec<Vec<u8>>, at: usize, random: &mut Random) {
    let is_end = |token: &Vec<u8>| token == b"\n";
    let start = tokens[..at].iter().rposition(is_end).map_or(0, |end| end + 1);
    let end = tokens[at..].iter().position(is_end).map_or(tokens.len(), |end| at + end + 1);
    let line: Vec<Vec<u8>> = tokens[start..end].to_vec();
    match random.below(3) {
        0 => drop(tokens.drain(start..end)),
        1 => {
            let copies = *random.pick(&[1, 2, 60]);
            for _ in 0..copies {
                tokens.splice(end..end, line.clone());
            }
        }
        _ => {
            tokens.drain(start..end);
            let ends: Vec<usize> = (0..tokens.len()).filter(|at| is_end(&tokens[*at])).collect();
            let to = if ends.is_empty() { 0 } else { random.pick(&ends) + 1 };
            tokens.splice(to..to, line);
        }
    }
}

/// Words and numbers whole, everything else byte by byte.
fn tokens(text: &[u8]) -> Vec<Vec<u8>> {
    let mut tokens: Vec<Vec<u8>> = vec![];
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'.';
    for byte in text {
        match tokens.last_mut() {
            Some(token) if is_word(byte) && token.last().is_some_and(is_word) => token.push(*byte),
            _ => tokens.push(vec![*byte]),
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_together_are_the_text() {
        let text = b"x = torch.add(in_0, 1.5)\n";
        assert_eq!(tokens(text).concat(), text);
        assert_eq!(tokens(text)[4], b"torch.add");
    }
}
