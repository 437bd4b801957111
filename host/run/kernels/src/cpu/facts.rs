//! What is known of the processor without trying: nominal figures.

use passhost_ir::{DeviceFacts, DeviceKind};
use std::fs;

/// Bytes per second that one thread moves, and all of them: nothing says how fast memory is without privileges, and a
/// measurement would differ from run to run.
const BANDWIDTH_OF_ONE: u64 = 10_000_000_000;
const BANDWIDTH_OF_ALL: u64 = 200_000_000_000;
/// What calling a kernel and handing its rows to threads costs, about.
const LAUNCH_NS: u32 = 1_000;
/// Where the system does not say.
const L2_BYTES: u64 = 1 << 20;

/// The facts of the processor, for kernels that run on as many threads.
pub fn facts(threads: u32) -> DeviceFacts {
    DeviceFacts {
        kind: DeviceKind::Cpu,
        multiprocessors: threads,
        l2_bytes: l2_bytes().unwrap_or(L2_BYTES),
        bandwidth: (u64::from(threads) * BANDWIDTH_OF_ONE).min(BANDWIDTH_OF_ALL),
        launch_ns: LAUNCH_NS,
    }
}

/// The second-level cache of the first core, which Linux gives as `2048K`.
fn l2_bytes() -> Option<u64> {
    let caches = fs::read_dir("/sys/devices/system/cpu/cpu0/cache").ok()?;
    caches.filter_map(Result::ok).find_map(|cache| {
        let of = |name: &str| fs::read_to_string(cache.path().join(name)).ok();
        (of("level")?.trim() == "2").then(|| of("size")).flatten().as_deref().and_then(size)
    })
}

fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, unit) = match text.strip_suffix('K') {
        Some(digits) => (digits, 1 << 10),
        None => text.strip_suffix('M').map_or((text, 1), |digits| (digits, 1 << 20)),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_their_unit() {
        for (text, expected) in [("2048K\n", Some(2 << 20)), ("1M", Some(1 << 20)), ("512", Some(512)), ("much", None)]
        {
            assert_eq!(size(text), expected, "{text}");
        }
    }

    #[test]
    fn facts_are_the_same_each_time() {
        assert_eq!(facts(4), facts(4));
        assert_eq!((facts(4).multiprocessors, facts(4).bandwidth), (4, 40_000_000_000));
    }
}
