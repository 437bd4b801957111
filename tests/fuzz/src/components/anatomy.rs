//! Where the parts of a real plugin lie, and the plugin with some of them changed. Most changes keep every length, so
//! that what comes of them is still a component.

use super::bytes;
use crate::random::Random;
use std::ops::Range;
use wasmparser::{Operator, Parser, Payload};

/// Opcodes of one byte that take and give the same: any may stand in place of another.
const ALIKE: [std::ops::RangeInclusive<u8>; 8] = [
    // i32 and i64: tests, comparisons, then arithmetic.
    0x46..=0x4f,
    0x51..=0x5a,
    0x67..=0x69,
    0x6a..=0x78,
    0x79..=0x7b,
    0x7c..=0x8a,
    // f32 and f64: arithmetic.
    0x92..=0x98,
    0xa0..=0xa6,
];

/// Options of a lifted or lowered function: strings are UTF-8, UTF-16, or Latin-1 and UTF-16.
const ENCODINGS: Range<u8> = 0..3;

/// A plugin and its parts, as ranges and positions in its bytes.
pub(crate) struct Plugin {
    pub(crate) wasm: Vec<u8>,
    /// Outermost sections, headers included.
    sections: Vec<Range<usize>>,
    /// Outermost core modules.
    modules: u32,
    /// Opcodes that others are [`ALIKE`] to.
    operators: Vec<usize>,
    /// Numbers of `i32.const` and `i64.const`, and offsets of loads and stores.
    numbers: Vec<Range<usize>>,
    /// Bytes of data segments.
    data: Vec<Range<usize>>,
    /// Options of functions that say how strings are encoded.
    encodings: Vec<usize>,
    /// Where names of interfaces begin.
    names: Vec<usize>,
}

impl Plugin {
    /// Looks at a plugin.
    pub(crate) fn new(wasm: Vec<u8>) -> wasmparser::Result<Plugin> {
        let mut plugin = Plugin {
            sections: sections(&wasm),
            modules: 0,
            operators: vec![],
            numbers: vec![],
            data: vec![],
            encodings: vec![],
            names: vec![],
            wasm: vec![],
        };
        let mut depth = 0usize;
        for payload in Parser::new(0).parse_all(&wasm) {
            match payload? {
                Payload::ModuleSection { .. } => {
                    plugin.modules += u32::from(depth == 0);
                    depth += 1;
                }
                Payload::ComponentSection { .. } => depth += 1,
                Payload::End(_) => depth = depth.saturating_sub(1),
                Payload::CodeSectionEntry(body) => plugin.code(&wasm, &body)?,
                Payload::DataSection(segments) => {
                    for segment in segments {
                        let segment = segment?;
                        plugin.data.push(segment.range.end - segment.data.len()..segment.range.end);
                    }
                }
                Payload::ComponentCanonicalSection(functions) => {
                    let mut starts = vec![];
                    let end = functions.range().end;
                    for function in functions.into_iter_with_offsets() {
                        starts.push(function?.0);
                    }
                    starts.push(end);
                    plugin.encodings.extend(starts.windows(2).filter_map(|ends| encoding(&wasm, ends[0]..ends[1])));
                }
                _ => {}
            }
        }
        for start in [&b"passhost:pass/"[..], b"wasi:"] {
            plugin.names.extend((0..wasm.len()).filter(|at| wasm[*at..].starts_with(start)));
        }
        Ok(Plugin { wasm, ..plugin })
    }

    fn code(&mut self, wasm: &[u8], body: &wasmparser::FunctionBody<'_>) -> wasmparser::Result<()> {
        let mut reader = body.get_operators_reader()?;
        while !reader.eof() {
            let (operator, at) = reader.read_with_offset()?;
            let end = reader.original_position();
            match operator {
                Operator::I32Const { .. } | Operator::I64Const { .. } => self.numbers.push(at + 1..end),
                _ if ALIKE.iter().any(|alike| alike.contains(&wasm[at])) => self.operators.push(at),
                _ => {}
            }
        }
        Ok(())
    }

    /// With one to four other operators or numbers in its functions.
    pub(super) fn with_other_code(&self, random: &mut Random) -> Vec<u8> {
        let mut wasm = self.wasm.clone();
        for _ in 0..=random.below(4) {
            if random.chance(50) {
                let at = *random.pick(&self.operators);
                let alike =
                    ALIKE.iter().find(|alike| alike.contains(&wasm[at])).cloned().unwrap_or(wasm[at]..=wasm[at]);
                wasm[at] = random.between(i64::from(*alike.start()), i64::from(*alike.end())) as u8;
            } else {
                // As many bytes of a number in LEB128, of which the last alone has no high bit.
                let number = random.pick(&self.numbers).clone();
                let last = number.end - 1;
                let least = |bytes: usize| if bytes >= 5 { 0x07 } else { 0x7f };
                let keep = least(number.len());
                for at in number {
                    let bits = random.bits() as u8;
                    wasm[at] = if at == last { bits & keep } else { bits | 0x80 };
                }
            }
        }
        wasm
    }

    /// With other bytes in its data: text that is no UTF-8, lengths and addresses that are not there.
    pub(super) fn with_other_data(&self, random: &mut Random) -> Vec<u8> {
        let mut wasm = self.wasm.clone();
        for _ in 0..=random.below(12) {
            let segment = random.pick(&self.data).clone();
            if segment.is_empty() {
                continue;
            }
            let at = segment.start + random.below(segment.len());
            let end = segment.end.min(at + 1 + random.below(8));
            let odd: &[&[u8]] = &[
                b"\xff",
                b"\xc0\x80",
                b"\xed\xa0\x80",
                b"\x00",
                b"\xf4\x90\x80\x80",
                b"\x1b[2J",
                "\u{202e}".as_bytes(),
            ];
            let piece = if random.chance(60) { random.pick(odd).to_vec() } else { random.bytes(8) };
            for (at, byte) in (at..end).zip(piece) {
                wasm[at] = byte;
            }
        }
        wasm
    }

    /// With strings that cross the boundary in another encoding than the plugin's.
    pub(super) fn with_other_encodings(&self, random: &mut Random) -> Vec<u8> {
        let mut wasm = self.with_other_data(random);
        for at in &self.encodings {
            if random.chance(60) {
                wasm[*at] = random.between(i64::from(ENCODINGS.start), i64::from(ENCODINGS.end) - 1) as u8;
            }
        }
        wasm
    }

    /// With one more core module, which is made an instance of before any function of the plugin is called.
    pub(super) fn with_module(&self, module: &[u8], instantiate: bool) -> Vec<u8> {
        let mut wasm = self.wasm.clone();
        let mut section = |id: u8, contents: &[u8]| {
            wasm.push(id);
            wasm.extend(leb(contents.len() as u32));
            wasm.extend(contents);
        };
        section(1, module);
        if instantiate {
            let instance = [vec![1, 0], leb(self.modules), vec![0]].concat();
            section(2, &instance);
        }
        wasm
    }

    /// With an outermost section left out, repeated, or in the place of another; or one of other bytes.
    pub(super) fn with_other_sections(&self, random: &mut Random) -> Vec<u8> {
        let mut order: Vec<Vec<u8>> = self.sections.iter().map(|range| self.wasm[range.clone()].to_vec()).collect();
        let (a, b) = (random.below(order.len()), random.below(order.len()));
        match random.below(4) {
            0 => drop(order.remove(a)),
            1 => order.insert(b, order[a].clone()),
            2 => order.swap(a, b),
            _ => order[a] = bytes::changed(order[a].clone(), random),
        }
        [self.wasm[..8].to_vec(), order.concat()].concat()
    }

    /// With another interface, version or letter in the names of what it imports and exports.
    pub(super) fn with_other_names(&self, random: &mut Random) -> Vec<u8> {
        let mut wasm = self.wasm.clone();
        for _ in 0..=random.below(3) {
            let at = *random.pick(&self.names) + random.below(32);
            let odd = [b'0', b'9', b'/', b'@', b'.', b'-', b'A', 0, 0xff, 0xc3, 0x1b, b' '];
            if let Some(byte) = wasm.get_mut(at) {
                *byte = *random.pick(&odd);
            }
        }
        wasm
    }
}

/// The outermost sections of a component: an id, a length, and so many bytes.
fn sections(wasm: &[u8]) -> Vec<Range<usize>> {
    let (mut sections, mut at) = (vec![], 8);
    while at + 1 < wasm.len() {
        let (length, bytes) = read_leb(&wasm[at + 1..]);
        let end = (at + 1 + bytes).saturating_add(length as usize).min(wasm.len());
        sections.push(at..end);
        at = end;
    }
    sections
}

/// Where a lifted or lowered function says how its strings are encoded, if it does.
fn encoding(wasm: &[u8], function: Range<usize>) -> Option<usize> {
    let kind = *wasm.get(function.start)?;
    if kind > 1 {
        return None;
    }
    // The kind, a zero, the function's index, the number of options.
    let mut at = function.start + 2;
    at += read_leb(&wasm[at..]).1;
    let (options, bytes) = read_leb(&wasm[at..]);
    at += bytes;
    for _ in 0..options {
        let option = *wasm.get(at)?;
        if ENCODINGS.contains(&option) {
            return Some(at);
        }
        at += 1 + if (3..=5).contains(&option) { read_leb(&wasm[at + 1..]).1 } else { 0 };
    }
    None
}

fn leb(mut number: u32) -> Vec<u8> {
    let mut bytes = vec![];
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A number and how many bytes it takes.
fn read_leb(bytes: &[u8]) -> (u32, usize) {
    let (mut number, mut taken) = (0u32, 0);
    for byte in bytes.iter().take(5) {
        number |= u32::from(byte & 0x7f).wrapping_shl(7 * taken as u32);
        taken += 1;
        if byte & 0x80 == 0 {
            break;
        }
    }
    (number, taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_variable_length_round_trip() {
        for number in [0, 1, 127, 128, 300, 65_535, u32::MAX] {
            let bytes = leb(number);
            assert_eq!(read_leb(&bytes), (number, bytes.len()));
        }
    }
}
