//! Bytes with something changed, whatever they mean.

use crate::random::Random;

/// Bytes that often mean something: ends of numbers, and of variable lengths.
const TELLING: [u8; 9] = [0, 1, 0x7f, 0x80, 0xff, 0x0f, 0x41, 0x0b, 0xc0];

/// With one to eight changes: bits, bytes, a piece removed, repeated or moved, the end cut off.
pub(crate) fn changed(mut bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    for _ in 0..=random.below(8) {
        if bytes.is_empty() {
            return random.bytes(8);
        }
        let at = random.below(bytes.len());
        let length = 1 + random.below(64.min(bytes.len() - at));
        match random.below(8) {
            0 | 1 => bytes[at] ^= 1 << random.below(8),
            2 | 3 => bytes[at] = *random.pick(&TELLING),
            4 => drop(bytes.drain(at..at + length)),
            5 => {
                let piece: Vec<u8> = bytes[at..at + length].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            6 => {
                let piece = random.bytes(length);
                bytes[at..at + length].copy_from_slice(&piece);
            }
            _ if random.chance(10) => bytes.truncate(at),
            _ => bytes[at] = random.bits() as u8,
        }
    }
    bytes
}
