//! Schedules of kernels that were measured, kept beside their machine code.
//!
//! A device child says which schedule of a kernel is the fastest. It runs what a plugin returned, so that what it says may
//! be a lie one day. What it says of a node is kept for the kernel that the verified rewrite has there: whoever lies
//! spoils the choice for kernels that it submitted itself, and a choice is never more than one among texts that the host
//! wrote, all of which give the same bits.

use passhost_cache::{Cache, CacheKey};
use passhost_ir::{Graph, Node, NodeKind};
use passhost_result::{DeviceInfo, TunedKernel};

/// What is known of the kernels of a verified rewrite on a device.
pub(crate) fn known(cache: &Cache, rewrite: &Graph, device: &DeviceInfo) -> Vec<TunedKernel> {
    let of_node = |node: &Node| {
        let bytes = cache.get(&key(rewrite, node, device)?)?;
        let found: TunedKernel = serde_json::from_slice(&bytes).ok()?;
        Some(TunedKernel { node: node.id, ..found }).filter(TunedKernel::is_sound)
    };
    rewrite.nodes.iter().filter_map(of_node).collect()
}

/// Keeps what was measured.
pub(crate) fn keep(cache: &Cache, rewrite: &Graph, device: &DeviceInfo, tuned: &[TunedKernel]) {
    for kernel in tuned.iter().filter(|kernel| !kernel.is_kept) {
        let node = rewrite.nodes.iter().find(|node| node.id == kernel.node);
        if let Some(key) = node.and_then(|node| key(rewrite, node, device))
            && let Ok(bytes) = serde_json::to_vec(kernel)
        {
            cache.put(&key, &bytes);
        }
    }
}

/// What a device says of the kernels of a rewrite, without what no device says: nodes that are no kernels or are named
/// twice, and what is not sound.
pub fn sound(rewrite: &Graph, tuned: Vec<TunedKernel>) -> Vec<TunedKernel> {
    let mut sound: Vec<TunedKernel> = vec![];
    for kernel in tuned {
        let is_kernel = |node: &Node| node.id == kernel.node && matches!(node.kind, NodeKind::Kernel { .. });
        let is_new = sound.iter().all(|known| known.node != kernel.node);
        if is_new && kernel.is_sound() && rewrite.nodes.iter().any(is_kernel) {
            sound.push(kernel);
        }
    }
    sound
}

/// By the kernel, the types of what it reads, strides included, and the device. `None` for what is no kernel.
fn key(rewrite: &Graph, node: &Node, device: &DeviceInfo) -> Option<CacheKey> {
    let NodeKind::Kernel { kernel, .. } = &node.kind else { return None };
    let operands: Vec<String> = node.operands().iter().map(|&operand| rewrite.ty(operand).to_string()).collect();
    let DeviceInfo { name, facts, torch, .. } = device;
    Some(CacheKey::of(&[
        b"schedule of a kernel",
        kernel.to_string().as_bytes(),
        operands.join(", ").as_bytes(),
        name.as_bytes(),
        format!("{facts:?}").as_bytes(),
        torch.as_bytes(),
    ]))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use passhost_ir::{DeviceFacts, DeviceKind, NodeId};
    use passhost_result::Candidate;
    use std::fs;

    /// Doubles `x`, whose columns lie so many elements apart.
    fn doubled(stride: i64) -> Graph {
        let text = format!(
            "graph(%x: f32[4,8]{{8,{stride}}}) {{
              %y: f32[4,8] = kernel(%x) {{
                space p0=4, p1=8
                in x0: f32[4,8]
                i0 = p0
                i1 = p1
                v0: f32 = load x0[i0, i1] clamp
                v1: f32 = add v0, v0
                out v1 over [p0, p1] as [4,8]
              }}
              %z: f32[4,8] = aten::relu(%y)
              return (%z)
            }}"
        );
        Graph::parse(&text).unwrap()
    }

    fn device(name: &str) -> DeviceInfo {
        let facts =
            DeviceFacts { kind: DeviceKind::Cuda, multiprocessors: 132, l2_bytes: 1, bandwidth: 1, launch_ns: 1 };
        let of = |text: &str| text.to_owned();
        let (device, id, torch, settings, note) = (of("cuda:0"), of("uuid"), of("2.11.0"), of(""), of(""));
        DeviceInfo { device, name: name.into(), id, facts, threads: 1, torch, settings, note }
    }

    fn tuned(node: NodeId) -> TunedKernel {
        let candidate = |schedule: &str, ns| Candidate { schedule: schedule.into(), ns };
        let candidates = vec![candidate("columns wide=128", 3000), candidate("columns wide=256", 2000)];
        TunedKernel { node, sources_sha256: "0a".into(), candidates, chosen: 1, is_kept: false }
    }

    fn cache() -> (tempfile::TempDir, Cache) {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::open(&directory.path().join("kernels")).unwrap();
        (directory, cache)
    }

    #[test]
    fn what_was_measured_is_found_for_the_same_kernel_layout_and_device_alone() {
        let ((_directory, cache), rewrite) = (cache(), doubled(1));
        let node = rewrite.nodes[0].id;
        assert_eq!(known(&cache, &rewrite, &device("H200")), []);
        keep(&cache, &rewrite, &device("H200"), &[tuned(node)]);
        assert_eq!(known(&cache, &rewrite, &device("H200")), [tuned(node)]);
        assert_eq!(known(&cache, &doubled(9), &device("H200")), []);
        assert_eq!(known(&cache, &rewrite, &device("H100")), []);
        // In another graph it may be another node.
        let mut other = rewrite.clone();
        other.nodes[0].id = NodeId(70);
        assert_eq!(known(&cache, &other, &device("H200")), [tuned(NodeId(70))]);
    }

    #[test]
    fn what_was_found_before_is_not_written_again() {
        let ((_directory, cache), rewrite) = (cache(), doubled(1));
        keep(&cache, &rewrite, &device("H200"), &[TunedKernel { is_kept: true, ..tuned(rewrite.nodes[0].id) }]);
        assert_eq!(known(&cache, &rewrite, &device("H200")), []);
    }

    #[test]
    fn a_damaged_or_senseless_entry_is_none() {
        let ((_directory, cache), rewrite) = (cache(), doubled(1));
        let node = &rewrite.nodes[0];
        keep(&cache, &rewrite, &device("H200"), &[tuned(node.id)]);
        let [entries, _] = cache.paths();
        let file = fs::read_dir(entries).unwrap().next().unwrap().unwrap().path();
        let mut bytes = fs::read(&file).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&file, bytes).unwrap();
        assert_eq!(known(&cache, &rewrite, &device("H200")), []);
        let key = key(&rewrite, node, &device("H200")).unwrap();
        let senseless = serde_json::to_vec(&TunedKernel { chosen: 7, ..tuned(node.id) }).unwrap();
        for entry in [b"no JSON".to_vec(), senseless] {
            assert!(cache.put(&key, &entry));
            assert_eq!(known(&cache, &rewrite, &device("H200")), []);
        }
        keep(&cache, &rewrite, &device("H200"), &[tuned(node.id)]);
        assert_eq!(known(&cache, &rewrite, &device("H200")), [tuned(node.id)]);
    }

    #[test]
    fn a_device_is_heard_of_each_kernel_of_the_rewrite_once() {
        let rewrite = doubled(1);
        let [kernel, relu] = [0, 1].map(|at| rewrite.nodes[at].id);
        let said = vec![
            TunedKernel { chosen: 0, ..tuned(kernel) },
            tuned(relu),
            tuned(NodeId(99)),
            tuned(kernel),
            TunedKernel { sources_sha256: "0b".into(), ..tuned(kernel) },
        ];
        assert_eq!(sound(&rewrite, said), [tuned(kernel)]);
    }
}
