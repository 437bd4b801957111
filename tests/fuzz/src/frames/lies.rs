//! One change of a conversation: of a message, of its frame, of what is done instead.

use super::honest;
use crate::components;
use crate::liar::{Act, Role};
use crate::random::Random;

/// Bytes of a header.
const HEADER: usize = 4;

/// Changes one act of a child.
pub(super) fn change((role, acts): &mut (Role, Vec<Act>), random: &mut Random) {
    let spoken: Vec<usize> = (0..acts.len()).filter(|at| matches!(acts[*at], Act::Say(_))).collect();
    let at = *random.pick(&spoken);
    let Act::Say(frame) = &acts[at] else { return };
    let mut frame = frame.clone();
    // A child that has not said anything yet is waited for for minutes, as is a reader: a cold disk is slow. It does not
    // leave the supervisor waiting here, as a run would take hours.
    let is_waited_for = at == spoken[0] || *role == Role::Reader;
    match random.below(16) {
        0..7 => acts[at] = Act::Say(other_bytes(&frame, random)),
        7 => {
            let length = *random.pick(&[0, 1, frame.len() as u32, 256 << 20, (256 << 20) + 1, u32::MAX]);
            frame[..HEADER].copy_from_slice(&length.to_le_bytes());
            instead(acts, at, frame, is_waited_for);
        }
        8 => {
            frame.truncate(random.below(frame.len()));
            instead(acts, at, frame, true);
        }
        9 => acts[at] = any_message(random),
        10 if !is_waited_for => drop(acts.remove(at)),
        11 => {
            let more = std::iter::repeat_n(acts[at].clone(), *random.pick(&[1, 2, 2000]));
            let more: Vec<Act> = more.collect();
            acts.splice(at..at, more);
        }
        12 => acts[at] = if random.chance(50) { Act::Abort } else { Act::Exit(random.bits() as u8) },
        13 => acts.insert(at, any_message(random)),
        14 if !is_waited_for && random.chance(20) => acts[at] = Act::Sleep,
        15 if random.chance(30) => acts.insert(at, Act::Flood(large(frame, random))),
        _ => {
            let count = random.below(200);
            instead(acts, at, random.bytes(count), is_waited_for);
        }
    }
}

/// Says these bytes in place of an act, and nothing any more where the supervisor would wait for more of them.
fn instead(acts: &mut Vec<Act>, at: usize, bytes: Vec<u8>, ends: bool) {
    acts[at] = Act::Say(bytes);
    if ends {
        acts.insert(at + 1, Act::Exit(0));
    }
}

/// A message with other bytes in it, and a header that tells its length.
fn other_bytes(frame: &[u8], random: &mut Random) -> Vec<u8> {
    let payload = components::changed(frame[HEADER..].to_vec(), random);
    [(payload.len() as u32).to_le_bytes().to_vec(), payload].concat()
}

/// A message of any child.
fn any_message(random: &mut Random) -> Act {
    let scripts = honest::scripts(random);
    let (_, acts) = random.pick(&scripts);
    let spoken: Vec<&Act> = acts.iter().filter(|act| matches!(act, Act::Say(_))).collect();
    (*random.pick(&spoken)).clone()
}

/// The same message, or one with a lot behind it that belongs to no message.
fn large(frame: Vec<u8>, random: &mut Random) -> Vec<u8> {
    if random.chance(50) {
        return frame;
    }
    let mut large = (8u32 << 20).to_le_bytes().to_vec();
    large.resize((8 << 20) + HEADER, 1);
    large
}
